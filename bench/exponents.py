"""How time and memory grow: an exponent for every mechanism, randomizer, shuffled protocol and statistic of a table.

Sizes double from one small enough to one that takes a quarter of a second; the exponent is the slope of the logarithms
over the last four, with the standard error of the fit. Time is CPU time of this process, the best of several in turns,
so that other work on the machine matters little; memory is the most that Python and numpy held at once, input and
output included (for tables, the most that a process of its own held more than before the question). What is claimed, in
words and in `tacit.advice.growth`, is met within 0.1.
"""

import argparse
import gc
import json
import math
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import growing_tables
import tacit
from tables import RESULTS, Column, Table, publish, verdict
from tacit import local
from tacit.advice.growth import CLAIMS, Growth
from tacit.tables.engines import access

Action = Callable[[], Any]
ENOUGH = 0.25  # seconds of the largest size
SIZES = 4
ROUNDS = 7
WITHIN = 0.1
QUIET = 1 << 18  # bytes: who never holds more is said to hold the same


@dataclass(frozen=True)
class Subject:
    make: Callable[[int], Action]
    first: int = 1 << 10
    largest: int = 1 << 24
    rounds: int = ROUNDS
    held: Callable[[int], float] | None = None
    """Bytes at a size, where Python does not see them."""


def released(build: Callable[[], Any], whole: bool = False) -> Subject:
    made = build()
    kind = np.int64 if whole else np.float64
    return Subject(lambda n: lambda: made.release(np.zeros(n, dtype=kind)))


def one_by_one(build: Callable[[], Any]) -> Subject:
    made = build()

    def make(n: int) -> Action:
        def run() -> None:
            for _ in range(n):
                made.release(1.0)

        return run

    return Subject(make, first=16, largest=1 << 16)


def chosen(build: Callable[[], Any]) -> Subject:
    made = build()
    return Subject(lambda n: lambda: made.index(np.arange(n) % 1000), largest=1 << 22)


def of_values(build: Callable[[int], Any]) -> Subject:
    def make(n: int) -> Action:
        made = build(n)
        return lambda: made.release(np.arange(n, dtype=np.float64) % 1000)

    return Subject(make)


def streamed(build: Callable[[int], Any]) -> Subject:
    def make(n: int) -> Action:
        made = build(n)
        return lambda: made.start().ask_many(np.full(n, -1e6))

    return Subject(make)


def totalled(factorisation: Any, first: int) -> Subject:
    def make(n: int) -> Action:
        made = tacit.ContinualCount(horizon=n, rho=1, sensitivity=1, factorisation=factorisation)
        made.start()  # the table of coefficients is kept
        return lambda: made.start().add_many(np.ones(n, dtype=np.int64))

    return Subject(make, first=first, largest=1 << 20)


def reported(build: Callable[[], Any], values: Callable[[int], Any]) -> Subject:
    """Reports of everybody, and the estimate: both halves."""
    made = build()
    return Subject(lambda n: lambda: made.estimate(made.randomize(values(n))))


def by_categories(kind: Any) -> Subject:
    """A hundred reports, on the device, as the categories become more; many times over where that takes no time."""
    slow = kind in (local.UnaryEncoding, local.SubsetSelection)

    def make(k: int) -> Action:
        made = kind(epsilon=1, categories=range(k))
        values = np.arange(100) % k

        def run() -> None:
            for _ in range(1 if slow else 300):
                made.randomize(values)

        return run

    largest = 1 << 22 if slow else 1 << 20
    return Subject(make, first=largest, largest=largest, rounds=4 if slow else ROUNDS)


def messages(build: Callable[[int], Any], values: Callable[[int], Any], first: int = 256) -> Subject:
    def make(n: int) -> Action:
        made = build(n)
        told = values(n)
        return lambda: made.messages(told)

    return Subject(make, first=first)


def tuned(runs: int) -> Action:
    made = tacit.PrivateSelection(epsilon=1, runs=runs, stopping=tacit.GEOMETRIC)

    def run() -> None:
        for _ in range(250):  # the number of runs is random: many selections even it out
            made.select([lambda: (1.0, 0)])

    return run


def cells(n: int) -> Any:
    return np.arange(n) % 8


def shares(n: int) -> Any:
    return (np.arange(n) % 100) / 100


CENTRAL: dict[str, Callable[[], Subject]] = {
    "Laplace": lambda: released(lambda: tacit.Laplace(epsilon=1, sensitivity=1)),
    "DiscreteLaplace": lambda: released(lambda: tacit.DiscreteLaplace(epsilon=1, sensitivity=1), whole=True),
    "Gaussian": lambda: released(lambda: tacit.Gaussian(rho=0.1, sensitivity=1)),
    "DiscreteGaussian": lambda: released(lambda: tacit.DiscreteGaussian(rho=0.1, sensitivity=1), whole=True),
    "ClampedLaplace": lambda: released(lambda: tacit.ClampedLaplace(epsilon=1, sensitivity=1, bounds=(0, 9))),
    "TruncatedLaplace": lambda: released(
        lambda: tacit.TruncatedLaplace(epsilon=1, delta=1e-6, sensitivity=1, granule=1), whole=True
    ),
    "BoundedLaplace": lambda: one_by_one(lambda: tacit.BoundedLaplace(epsilon=1, sensitivity=1, bounds=(0, 9))),
    "Staircase": lambda: one_by_one(lambda: tacit.Staircase(epsilon=2, sensitivity=1)),
    "Exponential": lambda: chosen(lambda: tacit.Exponential(epsilon=1, sensitivity=1)),
    "PermuteAndFlip": lambda: chosen(lambda: tacit.PermuteAndFlip(epsilon=1, sensitivity=1)),
    "NoisyMax": lambda: chosen(lambda: tacit.NoisyMax(epsilon=1, sensitivity=1, noise=tacit.LAPLACE)),
    "TopK": lambda: Subject(
        lambda n: lambda: tacit.TopK(5, rho=0.1, sensitivity=1).indices(np.arange(n) % 1000),
        first=1 << 23,  # where its arrays have outgrown the caches, whatever the machine
        largest=1 << 23,
        rounds=4,
    ),
    "Quantile": lambda: of_values(lambda n: tacit.Quantile(0.5, bounds=(0, 1000), epsilon=1)),
    "Quantiles": lambda: of_values(lambda n: tacit.Quantiles([0.25, 0.5, 0.75], bounds=(0, 1000), epsilon=1)),
    "SmoothMedian": lambda: of_values(lambda n: tacit.SmoothMedian(n=n, bounds=(0, 1000), granule=1, epsilon=1)),
    "ProposeTestRelease": lambda: of_values(
        lambda n: tacit.ProposeTestRelease(n=n, bounds=(0, 1000), bound=2, granule=1, epsilon=2, delta=1e-6)
    ),
    "SampleAndAggregate": lambda: Subject(
        lambda n: (
            lambda: tacit.SampleAndAggregate(blocks=50, bounds=(0, 1000), granule=1, epsilon=1).release(
                np.arange(n, dtype=np.float64) % 1000, np.mean
            )
        )
    ),
    "AboveThreshold": lambda: streamed(lambda n: tacit.AboveThreshold(epsilon=1, threshold=0, sensitivity=1)),
    "SparseVector": lambda: streamed(lambda n: tacit.SparseVector(epsilon=1, threshold=0, sensitivity=1, hits=3)),
    "GaussianAboveThreshold": lambda: streamed(
        lambda n: tacit.GaussianAboveThreshold(epsilon=1, delta=1e-6, threshold=0, sensitivity=1, length=n)
    ),
    "NaiveThreshold": lambda: streamed(lambda n: tacit.NaiveThreshold(epsilon=n, threshold=0, sensitivity=1, length=n)),
    "NumericSparse": lambda: streamed(lambda n: tacit.NumericSparse(epsilon=1, threshold=0, sensitivity=1, hits=3)),
    "ContinualCount with BINARY_TREE": lambda: totalled(tacit.BINARY_TREE, 1 << 8),
    "ContinualCount with SQUARE_ROOT": lambda: replace(totalled(tacit.SQUARE_ROOT, 1 << 12), largest=1 << 12, rounds=3),
    "PrivateSelection": lambda: Subject(tuned, first=512, largest=512, rounds=4),
    "RandomizedResponse": lambda: Subject(
        lambda n: lambda: tacit.RandomizedResponse(epsilon=1).randomize(np.arange(n) % 2 == 1)
    ),
}

KINDS = {
    "KaryResponse": local.KaryResponse,
    "UnaryEncoding": local.UnaryEncoding,
    "LocalHashing": local.LocalHashing,
    "HadamardResponse": local.HadamardResponse,
    "SubsetSelection": local.SubsetSelection,
}
NUMBERS = {"Duchi": local.Duchi, "Piecewise": local.Piecewise, "Hybrid": local.Hybrid, "SquareWave": local.SquareWave}
NUMBERS |= {"RangeTree": local.RangeTree}


def two(n: int) -> Any:
    return {"x": shares(n), "y": cells(n)}


def parts() -> dict[str, Any]:
    return {"x": local.Duchi(epsilon=1, bounds=(0, 1)), "y": local.KaryResponse(epsilon=1, categories=range(8))}


LOCAL: dict[str, Callable[[], Subject]] = {
    **{
        name: (lambda kind=kind: reported(lambda: kind(epsilon=1, categories=range(8)), cells))
        for name, kind in KINDS.items()
    },
    "SubsetSelection": lambda: replace(
        reported(lambda: local.SubsetSelection(epsilon=1, categories=range(8)), cells),
        first=1 << 22,
        largest=1 << 22,
        rounds=4,
    ),
    **{
        name: (lambda kind=kind: reported(lambda: kind(epsilon=1, bounds=(0, 1)), shares))
        for name, kind in NUMBERS.items()
    },
    **{f"{name}, a report": (lambda kind=kind: by_categories(kind)) for name, kind in KINDS.items()},
    "Rappor": lambda: reported(lambda: local.Rappor(epsilon=2, categories=range(8)), cells),
    "CountMeanSketch": lambda: reported(
        lambda: local.CountMeanSketch(epsilon=1, categories=range(8), hashes=2, buckets=16), cells
    ),
    "PrefixTree": lambda: Subject(
        lambda n: lambda: local.PrefixTree(epsilon=2, hashes=2, buckets=16).randomize(np.arange(n, dtype=np.uint64))
    ),
    "Split": lambda: Subject(lambda n: lambda: local.Split(parts()).randomize(two(n))),
    "Sample": lambda: Subject(lambda n: lambda: local.Sample(parts()).randomize(two(n))),
    "BinarySum": lambda: messages(lambda n: local.BinarySum(n=n, epsilon=1, delta=1e-4), lambda n: cells(n) > 3, 1024),
    "ShuffledHistogram": lambda: messages(
        lambda n: local.ShuffledHistogram(n=n, categories=range(8), epsilon=1, delta=1e-4), cells, 1024
    ),
    "ShuffledSum": lambda: messages(lambda n: local.ShuffledSum(n=n, bounds=(0, 1), epsilon=1), shares, 1024),
    "ShuffledFrequencies": lambda: messages(
        lambda n: local.ShuffledFrequencies(n=n, noise=4, bits=16, epsilon=1, delta=1e-4), cells, 4096
    ),
}


def asked(statistic: str, folder: Path) -> Subject:
    """One question of a Parquet file, bounded by person; alone it takes hundredths, so it begins at a million rows."""
    return Subject(
        lambda n: growing_tables.question(folder, statistic, n),
        first=1 << 23,
        largest=1 << 23,
        rounds=4,
        held=lambda n: growing_tables.held(folder, statistic, 2 * n),  # what an engine holds anyway matters less
    )


def subjects(folder: Path) -> dict[str, Callable[[], Subject]]:
    asks = {name: (lambda name=name: asked(name, folder)) for name in growing_tables.SQL}
    return CENTRAL | LOCAL | asks


def measured(subject: Subject) -> list[tuple[int, float, float]]:
    """(size, seconds, bytes) of the last sizes, the largest of which takes long enough."""
    size = subject.first
    while size < subject.largest:
        action = subject.make(size)
        if min(timed(action) for _ in range(2)) >= ENOUGH:
            break
        size *= 2
    sizes = [size >> back for back in reversed(range(SIZES)) if size >> back >= 2]
    actions = [subject.make(one) for one in sizes]
    laps = [
        [timed(action) for action in actions] for _ in range(subject.rounds)
    ]  # in turns: a slow spell hits all of them
    times = [min(lap[i] for lap in laps) for i in range(len(sizes))]
    kept = [
        held(action) if subject.held is None else subject.held(one) for one, action in zip(sizes, actions, strict=True)
    ]
    return list(zip(sizes, times, kept, strict=True))


def timed(action: Action) -> float:
    gc.collect()
    start = time.process_time()
    action()
    return time.process_time() - start


def held(action: Action) -> float:
    tracemalloc.start()
    action()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(most)


def slope(sizes: list[float], values: list[float]) -> tuple[float, float]:
    """The exponent, and the standard error of the fit."""
    x, y = np.log(sizes), np.log(values)
    x = x - x.mean()
    fitted = float((x * y).sum() / (x * x).sum())
    rest = y - y.mean() - fitted * x
    freedom = max(len(sizes) - 2, 1)
    return fitted, math.sqrt(float((rest**2).sum()) / freedom / float((x * x).sum()))


def row(claim: Growth, subject: Subject) -> dict[str, Any]:
    found = measured(subject)
    sizes = [float(size) for size, _, _ in found]
    spent, spent_error = slope(sizes, [max(seconds, 1e-7) for _, seconds, _ in found])
    grows = found[-1][2] >= QUIET
    kept, kept_error = slope(sizes, [used if grows else QUIET for _, _, used in found])
    return {
        "name": claim.name, "of": claim.of, "from": found[0][0], "to": found[-1][0], "seconds": found[-1][1],
        "time": round(spent, 3), "time_error": round(spent_error, 3),
        "memory": round(kept, 3), "memory_error": round(kept_error, 3),
    }  # fmt: skip


def held_against(claim: Growth, found: dict[str, Any]) -> dict[str, Any]:
    """A row with what is claimed now, also of an earlier run."""
    if "time" not in found:
        return found
    near = abs(found["time"] - claim.time) <= WITHIN and abs(found["memory"] - claim.memory) <= WITHIN
    return found | {"of": claim.of, "claimed": claim.time, "claimed_memory": claim.memory, "met": near}


COLUMNS = (
    Column("name", "what"),
    Column("of", "grows with"),
    Column("from", "from", "{:,}".format),
    Column("to", "to", "{:,}".format),
    Column("time", "time", "{:.2f}".format),
    Column("time_error", "±", "{:.2f}".format),
    Column("claimed", "claimed", "{:g}".format),
    Column("memory", "memory", "{:.2f}".format),
    Column("memory_error", "±", "{:.2f}".format),
    Column("claimed_memory", "claimed", "{:g}".format),
    Column("met", "met", verdict),
    Column("note", "note"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="results are not kept")
    parser.add_argument(
        "--only", action="append", help="measure this name anew (repeatable); the other rows stay as they were"
    )
    parser.add_argument("--folder", type=Path, help="where tables are kept for another run")
    arguments = parser.parse_args()
    access.APART = False  # tables draw in this process, so that their work is seen
    kept = {row["name"]: row for row in earlier()} if arguments.only else {}
    with tempfile.TemporaryDirectory() as folder:
        makers = subjects(arguments.folder or Path(folder))
        for claim in CLAIMS:
            if arguments.only and claim.name not in arguments.only:
                continue
            try:
                kept[claim.name] = row(claim, makers[claim.name]())
            except Exception as error:  # the table says so
                note = f"{type(error).__name__}: {error}"[:200]
                kept[claim.name] = {"name": claim.name, "of": claim.of, "note": note, "met": False}
            print(kept[claim.name], flush=True)
    rows = [held_against(claim, kept[claim.name]) for claim in CLAIMS if claim.name in kept]
    publish("exponents", [Table("exponents of time and memory", COLUMNS, rows)], quick=arguments.quick)


def earlier() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((RESULTS / "exponents.json").read_text(encoding="utf-8"))["tables"][0][
        "rows"
    ]
    return found


if __name__ == "__main__":
    main()
