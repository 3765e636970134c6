"""How fast things are chosen, thresholded and answered: next to numpy without any promise, and next to the peers.

Numpy's versions are the floor: floats, no promise, no loop. OpenDP and diffprivlib are asked for the same mechanism
with their own defaults; OpenDP's randomized response, one call per answer, gets fewer of them: its time is per unit.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from measure import AtMost, Contestant, Faster, Target, race
from peers import load
from tables import Column, Table, comparison, publish, seconds, verdict

Action = Callable[[], Any]
Entry = tuple[Contestant, Target | None]

COLUMNS = (
    Column("who", ""),
    Column("best", "per unit", seconds),
    Column("tacit", "tacit"),
    Column("target", "target"),
    Column("met", "met", verdict),
    Column("note", "note"),
)
CANDIDATES = 10**5
QUERIES = 10**5
ANSWERS = 10**6
VALUES = 10**6
FACTOR = 0.5


def entry(name: str, prepare: Callable[[], Action], units: int, rounds: int, target: Target | None = None) -> Entry:
    def warm() -> Action:
        action = prepare()
        action()
        return action

    return Contestant(name, warm, units, rounds, f"{units:,} units"), target


def duel(title: str, entries: list[Entry]) -> Table:
    timings = race([contestant for contestant, _ in entries])
    targets = [target for _, target in entries]
    rows = [comparison(timings[0], t, target) for t, target in zip(timings, targets, strict=True)]
    return Table(title, COLUMNS, rows)


def mechanism(module: str, name: str) -> Any:
    return getattr(load(f"tacit.mechanisms.{module}"), name)


def numpy_gumbel(scores: Any) -> Action:
    rng = np.random.default_rng()
    return lambda: np.argmax(FACTOR * scores + rng.gumbel(size=scores.size))


def opendp_noisy_max(scores: Any) -> Action:
    dp = load("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    chosen = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=1 / FACTOR)
    listed = scores.tolist()
    return lambda: chosen(listed)


def diffprivlib(kind: str, scores: Any) -> Action:
    build = getattr(load("diffprivlib.mechanisms"), kind)
    chosen = build(epsilon=1, sensitivity=1, utility=scores.tolist())
    return lambda: chosen.randomise()


def choices(rounds: int) -> list[Table]:
    """Picking one of 10⁵ candidates."""
    scores = np.random.default_rng(1).integers(0, 1000, CANDIDATES)
    floats = scores / 7
    noisy_max = mechanism("noisy_max", "NoisyMax")
    noises = load("tacit.mechanisms.selection.noisy_max")
    ours: dict[str, tuple[Any, list[Entry]]] = {
        "Exponential": (
            mechanism("exponential", "Exponential")(epsilon=1, sensitivity=1),
            [entry("diffprivlib", lambda: diffprivlib("Exponential", scores), CANDIDATES, 3, Faster(10))],
        ),
        "PermuteAndFlip": (
            mechanism("permute_and_flip", "PermuteAndFlip")(epsilon=1, sensitivity=1),
            [entry("diffprivlib", lambda: diffprivlib("PermuteAndFlip", scores), CANDIDATES, 3, Faster(10))],
        ),
        "NoisyMax, Laplace": (noisy_max(epsilon=1, sensitivity=1, noise=noises.LAPLACE), []),
        "NoisyMax, Gumbel": (noisy_max(epsilon=1, sensitivity=1, noise=noises.GUMBEL), []),
    }
    tables = []
    for name, (m, others) in ours.items():
        entries = [
            entry("tacit", lambda m=m: lambda: m.index(scores), CANDIDATES, rounds),
            entry("numpy Gumbel-max", lambda: numpy_gumbel(scores), CANDIDATES, rounds, AtMost(4)),
            entry("opendp noisy max", lambda: opendp_noisy_max(scores), CANDIDATES, 3, Faster(10)),
            *others,
        ]
        tables.append(duel(f"{name}, 10⁵ integer scores", entries))
    m = ours["Exponential"][0]
    reals = [
        entry("tacit", lambda: lambda: m.index(floats), CANDIDATES, rounds),
        entry("numpy Gumbel-max", lambda: numpy_gumbel(floats), CANDIDATES, rounds, AtMost(4)),
    ]
    return [*tables, duel("Exponential, 10⁵ float scores", reals)]


def numpy_above(values: Any) -> Action:
    rng = np.random.default_rng()
    return lambda: np.argmax(values + rng.laplace(0, 4, values.size) >= 1000 + rng.laplace(0, 2))


def numpy_hits(values: Any) -> Action:
    rng = np.random.default_rng()
    return lambda: np.flatnonzero(values + rng.laplace(0, 400, values.size) >= 2000 + rng.laplace(0, 200))[:100]


def thresholds(rounds: int) -> list[Table]:
    """10⁵ queries, none or a hundred of which reach the threshold."""
    values = np.random.default_rng(2).normal(0, 10, QUERIES)
    spiky = np.where(np.arange(QUERIES) % 1000 == 999, 1e5, -1e5)
    none = mechanism("above_threshold", "AboveThreshold")(epsilon=1, threshold=1000, sensitivity=1)
    some = mechanism("sparse_vector", "SparseVector")(epsilon=1, threshold=2000, sensitivity=1, hits=101)
    return [
        duel(
            "AboveThreshold, 10⁵ queries, no hit",
            [
                entry("tacit", lambda: lambda: none.start().ask_many(values), QUERIES, rounds),
                entry("numpy, loop-free", lambda: numpy_above(values), QUERIES, rounds, AtMost(5)),
            ],
        ),
        duel(
            "SparseVector, 10⁵ queries, 100 hits, threshold redrawn at each",
            [
                entry("tacit", lambda: lambda: some.start().ask_many(spiky), QUERIES, rounds),
                entry("numpy, loop-free, one threshold", lambda: numpy_hits(spiky), QUERIES, rounds, AtMost(5)),
            ],
        ),
    ]


def numpy_response(values: Any) -> Action:
    rng = np.random.default_rng()
    return lambda: values ^ (rng.random(values.size) >= 0.731)


def opendp_response(values: Any) -> Action:
    dp = load("opendp.prelude")
    dp.enable_features("contrib")
    respond = dp.m.make_randomized_response_bool(prob=0.731)
    listed = values.tolist()
    return lambda: [respond(value) for value in listed]


def responses(rounds: int, few: int) -> Table:
    """A million yes-or-no answers."""
    values = np.random.default_rng(3).random(ANSWERS) < 0.3
    response = mechanism("randomized_response", "RandomizedResponse")(epsilon=1)
    return duel(
        "RandomizedResponse, 10⁶ booleans",
        [
            entry("tacit", lambda: lambda: response.randomize(values), ANSWERS, rounds),
            entry("numpy", lambda: numpy_response(values), ANSWERS, rounds, AtMost(5)),
            entry("opendp", lambda: opendp_response(values[:few]), few, 3, Faster(50)),
        ],
    )


def quantiles(rounds: int) -> Table:
    """The median of a million floats, next to sorting them."""
    values = np.random.default_rng(4).normal(50, 10, VALUES)
    median = mechanism("quantile", "Quantile")(0.5, bounds=(0, 100), epsilon=1)
    many = mechanism("quantiles", "Quantiles")([0.1, 0.25, 0.5, 0.75, 0.9], bounds=(0, 100), epsilon=1)
    return duel(
        "median of 10⁶ floats",
        [
            entry("tacit", lambda: lambda: median.release(values), VALUES, rounds),
            entry("numpy sort", lambda: lambda: np.sort(values), VALUES, rounds, AtMost(2)),
            entry("tacit, five quantiles", lambda: lambda: many.release(values), VALUES, rounds),
        ],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds, and fewer answers for the slowest peer")
    quick = parser.parse_args().quick
    rounds, few = (5, 2_000) if quick else (15, 20_000)
    tables = [*choices(rounds), *thresholds(rounds), responses(rounds, few), quantiles(rounds)]
    publish("selection", tables, quick=quick)


if __name__ == "__main__":
    main()
