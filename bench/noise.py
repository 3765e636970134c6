"""How fast noise is drawn: a million at a time, one at a time, at other scales, and as n grows.

Numpy's generators are the floor: unsafe floats, no promise. OpenDP draws exactly, on fewer values, since its
time per value does not depend on how many there are; diffprivlib and python-dp take one number at a time.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import growth
import makers
from makers import Draw
from measure import AtMost, Contestant, Faster, Target, race, repeated
from peers import load
from tables import Column, Table, comparison, publish, seconds, verdict

Build = Callable[[], Draw]
Entry = tuple[Contestant, Target | None]

VERDICT = (
    Column("tacit", "tacit"),
    Column("target", "target"),
    Column("met", "met", verdict),
    Column("note", "note"),
)
PER_SAMPLE = (Column("who", ""), Column("best", "per sample", seconds), *VERDICT)
PER_CALL = (Column("who", ""), Column("best", "per call", seconds), *VERDICT)
BY_SCALE = (
    Column("who", ""),
    Column("scale", "scale", "{:g}".format),
    Column("ours", "per sample", seconds),
    Column("theirs", "numpy", seconds),
    Column("tacit", "tacit takes", "{:.2f}×".format),
    Column("note", "note"),
)


@dataclass(frozen=True, slots=True)
class Effort:
    """How much of everything: values for the exact peer and for a loop, calls, rounds, the largest n."""

    exact: int
    loop: int
    calls: int
    rounds: int
    largest: int


SAMPLES = 10**6
FULL = Effort(exact=40_000, loop=100_000, calls=2_000, rounds=15, largest=10**8)
QUICK = Effort(exact=4_000, loop=10_000, calls=300, rounds=5, largest=10**7)


def whole(name: str, build: Build, values: Any, rounds: int) -> Contestant:
    """A contestant that takes an array as it is."""

    def prepare() -> Callable[[], Any]:
        draw = build()
        draw(values[:100] if values.size == SAMPLES else values)  # what loads on first use is loaded
        return lambda: draw(values)

    note = "" if values.size == SAMPLES else f"array of {values.size:,}"
    return Contestant(name, prepare, values.size, rounds, note)


def looped(name: str, build: Build, values: Any) -> Contestant:
    """A contestant that takes one number at a time."""

    def prepare() -> Callable[[], Any]:
        draw, items = build(), values.tolist()
        return lambda: [draw(item) for item in items]

    return Contestant(name, prepare, values.size, 3, f"loop over {values.size:,}")


def duel(title: str, entries: list[Entry], columns: tuple[Column, ...]) -> Table:
    """A race of which Tacit is the first entry, as a table."""
    timings = race([contestant for contestant, _ in entries])
    targets = [target for _, target in entries]
    rows = [comparison(timings[0], t, target) for t, target in zip(timings, targets, strict=True)]
    return Table(title, columns, rows)


def million(effort: Effort) -> list[Table]:
    """The arrays of a million."""
    reals = np.random.default_rng().uniform(0, 100, SAMPLES)
    integers = reals.astype(np.int64)
    few, ints, loop, loop_ints = (array[:size] for size in (effort.exact, effort.loop) for array in (reals, integers))
    fast = partial(whole, rounds=effort.rounds)
    exact = partial(whole, rounds=3)
    coarse_laplace = partial(makers.opendp_coarse_laplace, effort.exact)
    coarse_gaussian = partial(makers.opendp_coarse_gaussian, effort.exact)
    tables: dict[str, list[Entry]] = {
        "10⁶ floats, Laplace": [
            (fast("tacit", makers.tacit_laplace, reals), None),
            (fast("numpy laplace, added", makers.numpy_laplace_added, reals), AtMost(2.5)),
            (exact("opendp", makers.opendp_laplace, few), Faster(300)),
            (exact("opendp, lattice 2^-40", coarse_laplace, few), None),
            (looped("diffprivlib", makers.diffprivlib_laplace, loop), None),
            (looped("python-dp", makers.python_dp_laplace, loop), None),
        ],
        "10⁶ integers, DiscreteLaplace": [
            (fast("tacit", makers.tacit_discrete_laplace, integers), None),
            (fast("numpy laplace", makers.numpy_laplace, integers), AtMost(2)),
            (fast("numpy laplace, rounded, added", makers.numpy_laplace_rounded, integers), None),
            (exact("opendp", makers.opendp_discrete_laplace, ints), Faster(300)),
            (looped("diffprivlib", makers.diffprivlib_discrete_laplace, loop_ints), None),
            (looped("python-dp", makers.python_dp_laplace, loop_ints), None),
        ],
        "10⁶ integers, DiscreteGaussian": [
            (fast("tacit", makers.tacit_discrete_gaussian, integers), None),
            (fast("numpy normal", makers.numpy_gaussian, integers), AtMost(6)),
            (fast("numpy normal, rounded, added", makers.numpy_gaussian_rounded, integers), None),
            (exact("opendp", makers.opendp_discrete_gaussian, ints), Faster(300)),
            (looped("diffprivlib", makers.diffprivlib_discrete_gaussian, ints), None),
        ],
        "10⁶ floats, Gaussian": [
            (fast("tacit", makers.tacit_gaussian, reals), None),
            (fast("numpy normal, added", makers.numpy_gaussian_added, reals), None),
            (exact("opendp", makers.opendp_gaussian, few), None),
            (exact("opendp, lattice 2^-40", coarse_gaussian, few), None),
            (looped("diffprivlib", makers.diffprivlib_gaussian, loop), None),
            (looped("python-dp", makers.python_dp_gaussian, loop), None),
        ],
    }
    return [duel(title, entries, PER_SAMPLE) for title, entries in tables.items()]


def one_number(effort: Effort) -> list[Table]:
    """One number, with the construction of the mechanism and without."""
    ten = Faster(10)
    by_mechanism: dict[str, tuple[Any, list[tuple[str, Build, Target | None]]]] = {
        "Laplace": (
            3.7,
            [
                ("tacit", makers.tacit_laplace, None),
                ("opendp", makers.opendp_one_laplace, ten),
                ("diffprivlib", makers.diffprivlib_laplace, None),
                ("python-dp", makers.python_dp_laplace, None),
                ("numpy", makers.numpy_one_laplace, None),
            ],
        ),
        "DiscreteLaplace": (
            42,
            [
                ("tacit", makers.tacit_discrete_laplace, None),
                ("opendp", makers.opendp_one_discrete_laplace, ten),
                ("diffprivlib", makers.diffprivlib_discrete_laplace, None),
                ("python-dp", makers.python_dp_laplace, None),
            ],
        ),
        "Gaussian": (
            3.7,
            [
                ("tacit", makers.tacit_gaussian, None),
                ("opendp", makers.opendp_one_gaussian, ten),
                ("diffprivlib", makers.diffprivlib_gaussian, None),
                ("python-dp", makers.python_dp_gaussian, None),
                ("numpy", makers.numpy_one_gaussian, None),
            ],
        ),
        "DiscreteGaussian": (
            42,
            [
                ("tacit", makers.tacit_discrete_gaussian, None),
                ("opendp", makers.opendp_one_discrete_gaussian, ten),
                ("diffprivlib", makers.diffprivlib_discrete_gaussian, None),
            ],
        ),
    }
    tables = []
    for title, contestant in (("construction included", constructed), ("from a built mechanism", built)):
        for mechanism, (value, field) in by_mechanism.items():
            entries: list[Entry] = [
                (contestant(name, build, value, effort.calls), target) for name, build, target in field
            ]
            tables.append(duel(f"one number, {title}: {mechanism}", entries, PER_CALL))
    return tables


def promised(effort: Effort) -> list[Table]:
    """The same when OpenDP, too, starts from the promise and has to find the scale."""
    calls = effort.calls // 100
    pairs: dict[str, tuple[Build, Build]] = {
        "Laplace": (makers.tacit_laplace, makers.opendp_promised_laplace),
        "Gaussian": (makers.tacit_gaussian, makers.opendp_promised_gaussian),
    }
    return [
        duel(
            f"one number, both from a promise: {mechanism}",
            [
                (constructed("tacit", ours, 3.7, effort.calls), None),
                (constructed("opendp, scale searched", theirs, 3.7, calls), None),
            ],
            PER_CALL,
        )
        for mechanism, (ours, theirs) in pairs.items()
    ]


def constructed(name: str, build: Build, value: Any, calls: int) -> Contestant:
    def prepare() -> Callable[[], Any]:
        build()(value)
        return repeated(lambda: build()(value), calls)

    return Contestant(name, prepare, calls)


def built(name: str, build: Build, value: Any, calls: int) -> Contestant:
    def prepare() -> Callable[[], Any]:
        draw = build()
        draw(value)
        return repeated(lambda: draw(value), calls)

    return Contestant(name, prepare, calls)


def by_scale(effort: Effort) -> Table:
    """Tacit at small and large scales, next to numpy, whose time does not depend on the scale."""
    reals = np.random.default_rng().uniform(0, 100, SAMPLES)
    integers = reals.astype(np.int64)
    floors: dict[str, tuple[Any, Build]] = {
        "Laplace": (reals, makers.numpy_laplace_added),
        "DiscreteLaplace": (integers, makers.numpy_laplace_rounded),
        "Gaussian": (reals, makers.numpy_gaussian_added),
        "DiscreteGaussian": (integers, makers.numpy_gaussian_rounded),
    }
    rows: list[dict[str, Any]] = []
    for mechanism, (values, floor) in floors.items():
        for scale in (1e-2, 1.0, 1e3, 1e9):
            ours, theirs = race(
                [
                    whole("tacit", partial(of_scale, mechanism, scale), values, 5),
                    whole("numpy", floor, values, 5),
                ]
            )
            row = {"who": mechanism, "scale": scale, "theirs": theirs.best}
            measured = {"ours": ours.best, "tacit": ours.best / theirs.best}
            rows.append(row | (measured if ours.ok else {"note": ours.failure}))
    return Table("10⁶ samples at other scales (numpy: drawn, rounded if integers, added)", BY_SCALE, rows)


def of_scale(mechanism: str, scale: float) -> Draw:
    draw: Draw = getattr(load("tacit"), mechanism).of_scale(scale, sensitivity=1).release
    return draw


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds, and arrays up to 10⁷")
    quick = parser.parse_args().quick
    effort = QUICK if quick else FULL
    tables = [*million(effort), *one_number(effort), *promised(effort), by_scale(effort)]
    tables += growth.tables(effort.largest)
    publish("noise", tables, quick=quick)


if __name__ == "__main__":
    main()
