"""The figures of the pages about games, learning and noise that follows: ``python docs/figures/make_game_figures.py``.

Every number comes from the code of the pages, with bits that can be replayed.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tacit import REPLACE, Exponential, PermuteAndFlip, Quantile, SmoothMedian, games
from tacit.plots.curves import curves
from tacit.testing import seeded

HERE = Path(__file__).resolve().parent


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
        errors = np.abs(m._releases(values, 20_000, seeded(1)) - true)
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


FIGURES = {
    "median_errors": median_errors,
    "wrong_winner": wrong_winner,
    "auction": auction,
    "truthfulness": truthfulness,
}


def main(folder: Path, kind: str = "svg") -> None:
    """Write every figure."""
    import matplotlib

    folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context({"svg.hashsalt": "tacit"}):
        for name, draw in FIGURES.items():
            draw().savefig(
                folder / f"{name}.{kind}", **({"metadata": {"Date": None}} if kind == "svg" else {"dpi": 80})
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE, *sys.argv[2:3])
