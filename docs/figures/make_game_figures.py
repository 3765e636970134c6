"""The figures of the pages about games, learning and noise that follows. `make_figures.py` draws them.

Every number comes from the code of the pages, with bits that can be replayed.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from tacit import (
    IMPROVED,
    REPLACE,
    AboveThreshold,
    Exponential,
    NaiveThreshold,
    PermuteAndFlip,
    Quantile,
    SmoothMedian,
    games,
    learn,
)
from tacit.plots.curves import curves
from tacit.testing import seeded


def incomes(count: int) -> list[float]:
    """The incomes of docs/guides/following.md."""
    draw = random.Random(2)
    return [draw.lognormvariate(10.5, 0.6) for _ in range(count)]


def median_errors() -> Any:
    """The errors of three medians, as the share of answers within each."""
    values = incomes(1000)
    true = sorted(values)[499]
    makers: dict[str, Any] = {
        "Quantile": Quantile(0.5, epsilon=1, bounds=(0, 500_000), neighbours=REPLACE),
        "SmoothMedian": SmoothMedian(n=1000, bounds=(0, 500_000), epsilon=1),
        "SmoothMedian.textbook": SmoothMedian.textbook(n=1000, bounds=(0, 500_000), epsilon=1),
    }
    shares = np.arange(1, 200) / 200
    lines = {}
    for name, m in makers.items():
        errors = np.abs(m._releases(values, 4_000, seeded(1)) - true)
        lines[name] = (np.quantile(errors, shares).tolist(), shares.tolist())
    return curves(
        lines,
        title="Median of 1000 incomes at ε = 1, one replaced",
        across="error",
        up="share of answers with at most this error",
        log="x",
    )


def wrong_winner() -> Any:
    """The chance of a wrong winner over the lead, for two and for a hundred candidates."""
    leads = np.linspace(0, 20, 81).tolist()
    kinds = {"PermuteAndFlip": PermuteAndFlip, "Exponential": Exponential}
    lines = {}
    for name, kind in kinds.items():
        m = kind(epsilon=1, sensitivity=1, monotone=True)
        for k in (2, 100):
            chances = [games.chance_of_wrong_winner(m, lead, candidates=k) for lead in leads]
            lines[f"{name}, {k} candidates"] = (leads, chances)
    return curves(
        lines,
        title="Counts of people at ε = 1: how often is the wrong one named?",
        across="lead of the best, in people",
        up="chance of a wrong winner",
        log="y",
    )


def auction() -> Any:
    """Revenue over the price, and where ours and the textbook's choice puts its mass."""
    draw = random.Random(5)
    bids = [draw.betavariate(2, 3) for _ in range(1000)]
    ours = games.DigitalGoods(n=1000, epsilon=1)
    book = games.DigitalGoods.textbook(n=1000, epsilon=1)
    best = games.optimal_revenue(bids)
    lines: dict[str, Any] = {"revenue": (ours.prices.tolist(), ours.revenues(bids).tolist())}
    for name, m in {"chance of a price (scaled)": ours, "textbook's (scaled)": book}.items():
        density = m.probabilities(bids) * len(m.prices)
        lines[name] = (m.prices.tolist(), (density * 0.25 * best / (ours.probabilities(bids) * 1000).max()).tolist())
    return curves(lines, title="1000 bids, ε = 1: revenue and choice of a price", across="price", up="revenue")


def truthfulness() -> Any:
    """The largest gain from lying in an auction of four, over ε."""
    epsilons = np.geomspace(0.05, 4, 12).tolist()
    gains = []
    for epsilon in epsilons:
        m = games.DigitalGoods(n=4, alpha="1/4", epsilon=round(epsilon, 6))
        prices = tuple(m.prices.tolist())
        gains.append(
            games.lies(
                games.FiniteGame(
                    (0.25, 0.5, 0.75, 1.0), prices, lambda v, p: max(0.0, v - p), m.probabilities, 4, anonymous=True
                )
            ).gain
        )
    bounds = [games.TruthBounds.of(round(e, 6)) for e in epsilons]
    small = [(b.epsilon, b.textbook) for b in bounds if b.textbook is not None]
    lines: dict[str, Any] = {
        "textbook: 2ε": ([e for e, _ in small], [t for _, t in small]),
        "pure: tanh(ε/2)": (epsilons, [b.pure for b in bounds]),
        "bounded range: tanh(ε/4)": (epsilons, [b.bounded_range for b in bounds]),
    }
    return curves(
        lines,
        points={"largest gain, by enumeration": (epsilons, gains)},
        title="Lying in an auction with four bidders",
        across="ε",
        up="gain in expected utility",
        log="xy",
    )


def facilities() -> Any:
    """The q that makes truth strictly best, by enumeration and by the general bound."""
    people = [2, 4, 7, 10, 14, 20, 28, 36]
    made = [games.TwoFacilities([0, 0.25, 0.5, 0.75, 1], n=n, epsilon=0.5) for n in people]
    return curves(
        {"by the bound tanh(ε/4) alone": (people, [m.general_q for m in made])},
        points={"by enumeration": (people, [float(m.q) for m in made])},
        title="Two facilities, five places, ε = 0.5",
        across="people",
        up="q, chance of the punishing draw",
    )


def large_game() -> Any:
    """The gains from disobeying over the number of rounds, at two steps."""
    rounds = [5, 10, 20, 50, 100]
    tastes = np.random.default_rng(1).random((3000, 4))
    lines = {}
    for step in (1, 16):
        for name in ("largest", "average"):
            lines[f"{name} gain, step × {step}"] = (rounds, list[float]())
        for count in rounds:
            m = games.Mediator(players=3000, actions=4, rounds=count, epsilon=1, delta="1e-6", step=step)
            gains = m.play(tastes, entropy=seeded(1)).gains(tastes)
            lines[f"largest gain, step × {step}"][1].append(float(gains.max()))
            lines[f"average gain, step × {step}"][1].append(float(gains.mean()))
    return curves(
        lines,
        title="3000 players, 4 routes, (1, 10⁻⁶) for all rounds together",
        across="rounds",
        up="gain from disobeying, of a cost in [0, 1]",
        log="xy",
    )


def frequency_lists() -> Any:
    """Error of both lists for a thousand people."""
    epsilons = [0.05, 0.1, 0.2, 0.5, 1, 2]
    shares = 1 / np.arange(1, 501)
    true = np.sort(np.random.default_rng(0).multinomial(1000, shares / shares.sum()))[::-1]
    padded = np.concatenate((true, np.zeros(500, dtype=np.int64)))
    makers = {
        "FrequencyList": lambda e: games.FrequencyList(length=1000, epsilon=e),
        "PartitionList": lambda e: games.PartitionList(people=1000, epsilon=e),
    }
    lines = {}
    for name, make in makers.items():
        errors = []
        for epsilon in epsilons:
            m, bits = make(epsilon), seeded(3)
            errors.append(float(np.mean([np.abs(m.release(true, entropy=bits) - padded).sum() for _ in range(20)])))
        lines[name] = (epsilons, errors)
    noise = [1000 * 2 * np.exp(-e) / (1 - np.exp(-2 * e)) for e in epsilons]
    return curves(
        {**lines, "noise alone": (epsilons, noise)},
        title="1000 people with values by Zipf's law",
        across="ε",
        up="L1 error of the list, in people",
        log="xy",
    )


def learnability() -> Any:
    """Examples that suffice, over ε."""
    epsilons = np.geomspace(0.01, 3, 40).round(6).tolist()
    sizes = {
        "agnostic": [learn.agnostic_sample(1000, 0.1, 0.05, epsilon=e).examples for e in epsilons],
        "realisable": [learn.realisable_sample(1000, 0.1, 0.05, epsilon=e).examples for e in epsilons],
        "textbook, agnostic": [learn.textbook_sample(1000, 0.1, 0.05, epsilon=e).examples for e in epsilons],
    }
    return curves(
        {name: (epsilons, ys) for name, ys in sizes.items()},
        marks={"2·atanh α: from here on privacy is free, agnostically": 2 * float(np.arctanh(0.1))},
        title="1000 hypotheses, α = 0.1, β = 0.05, one example replaced",
        across="ε",
        up="examples that suffice",
        log="xy",
    )


def first_day() -> Any:
    """How often the first day with more than 100 users is found, paying once and paying per question."""
    counts = [20 + day if day < 20 else 200 + day for day in range(30)]
    epsilons = [0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2]
    makers = {
        "sparse vector, pays once": lambda e: AboveThreshold(epsilon=e, threshold=100, sensitivity=1),
        "improved split": lambda e: AboveThreshold(epsilon=e, threshold=100, sensitivity=1, split=IMPROVED),
        "pays per question": lambda e: NaiveThreshold(epsilon=e, threshold=100, sensitivity=1, length=30),
    }
    lines = {}
    for name, make in makers.items():
        shares = []
        for epsilon in epsilons:
            mechanism, bits = make(epsilon), seeded(1)
            runs = [mechanism.start(entropy=bits).ask_many(counts).tolist() for _ in range(500)]
            shares.append(sum(True in run and run.index(True) == 20 for run in runs) / 500)
        lines[name] = (epsilons, shares)
    return curves(
        lines,
        title="The first of 30 days with more than 100 users",
        across="ε for all days",
        up="share of runs that name it",
    )


FIGURES = {
    "first_day": first_day,
    "learnability": learnability,
    "facilities": facilities,
    "large_game": large_game,
    "frequency_lists": frequency_lists,
    "median_errors": median_errors,
    "wrong_winner": wrong_winner,
    "auction": auction,
    "truthfulness": truthfulness,
}
