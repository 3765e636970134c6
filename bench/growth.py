"""Time per sample and peak memory as the array grows, each size in a process of its own.

Memory is the most the process held while it released, over what it held before the input was made, as a
multiple of the input's size: the input itself and the output are counted, so 2 is the least possible. Freed
memory stays with the process, so that large arrays reuse their pages as small ones do anyway: otherwise, from
10⁷ values on, what is timed is the kernel finding fresh pages, for numpy as for everyone.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import makers
from makers import Draw
from measure import Contestant, peak_bytes, race, reason, resident_bytes
from tables import Column, Table, seconds, verdict

LINEAR = 1.5  # the time per sample stays within this factor of the best at any smaller size
ARRAYS = 6.0
LARGE = 10**7  # below this, what is loaded on first use weighs as much as the arrays

KEEP_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**40)}  # glibc; no effect elsewhere

COLUMNS = (
    Column("n", "n", "{:,}".format),
    Column("ours", "tacit, per sample", seconds),
    Column("theirs", "numpy, per sample", seconds),
    Column("ratio", "tacit takes", "{:.2f}×".format),
    Column("growth", "growth", "{:.2f}×".format),
    Column("floor_growth", "numpy's", "{:.2f}×".format),
    Column("memory", "peak memory", "{:.2f} arrays".format),
    Column("target", "target"),
    Column("met", "met", verdict),
    Column("note", "note"),
)


@dataclass(frozen=True, slots=True)
class Subject:
    ours: Callable[[], Draw]
    floor: Callable[[], Draw]
    values: Callable[[np.random.Generator, int], Any]


def reals(generator: np.random.Generator, n: int) -> Any:
    return generator.random(n)


def integers(generator: np.random.Generator, n: int) -> Any:
    return generator.integers(0, 100, n)


SUBJECTS = {
    "Laplace": Subject(makers.tacit_laplace, makers.numpy_laplace_added, reals),
    "DiscreteLaplace": Subject(makers.tacit_discrete_laplace, makers.numpy_laplace_rounded, integers),
    "Gaussian": Subject(makers.tacit_gaussian, makers.numpy_gaussian_added, reals),
    "DiscreteGaussian": Subject(makers.tacit_discrete_gaussian, makers.numpy_gaussian_rounded, integers),
}


def tables(largest: int) -> list[Table]:
    return [growth(name, largest) for name in SUBJECTS]


def growth(name: str, largest: int) -> Table:
    rows: list[dict[str, Any]] = []
    n = 1000
    while n <= largest:
        row = {"n": n} | measured_apart(name, n)
        smaller = [other for other in rows if "ours" in other]
        if smaller and "ours" in row:
            row["growth"] = row["ours"] / min(other["ours"] for other in smaller)
            row["floor_growth"] = row["theirs"] / min(other["theirs"] for other in smaller)
        rows.append(row | judged(row))
        n *= 10
    note = "growth: time per sample over the best at any smaller size; memory: input and output counted"
    return Table(f"growth, {name}", COLUMNS, rows, note)


def judged(row: dict[str, Any]) -> dict[str, Any]:
    """Linear: no more per sample than half over the best at any smaller size; and at most 6 arrays."""
    if "growth" not in row:
        return {}
    linear = row["growth"] <= LINEAR
    if "memory" not in row:
        return {"target": f"≤ {LINEAR:g}×", "met": linear}
    return {"target": f"≤ {LINEAR:g}×, ≤ {ARRAYS:g} arrays", "met": linear and row["memory"] <= ARRAYS}


def measured_apart(name: str, n: int) -> dict[str, Any]:
    """The numbers of one size, from a fresh process."""
    command = [sys.executable, "-W", "ignore", __file__, name, str(n)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | KEEP_MEMORY)
    if done.returncode != 0:
        return {"note": f"process ended with {done.returncode}: {done.stderr.strip()[-160:]}"}
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def measure_here(name: str, n: int) -> dict[str, Any]:
    """Memory of the first release, then the race with numpy."""
    subject = SUBJECTS[name]
    generator = np.random.default_rng()
    try:
        ours = subject.ours()
        ours(subject.values(generator, 10))
    except Exception as error:  # not there yet, or broken: the table says so
        return {"note": reason(error)}
    before = resident_bytes()
    values = subject.values(generator, n)
    released = ours(values)
    memory = (peak_bytes() - before) / values.nbytes if n >= LARGE else None
    del released
    floor = subject.floor()
    rounds = max(3, min(50, 10**8 // n))
    left, right = race(
        [
            Contestant("tacit", lambda: lambda: ours(values), n, rounds),
            Contestant("numpy", lambda: lambda: floor(values), n, rounds),
        ]
    )
    times = {"ours": left.best, "theirs": right.best, "ratio": left.best / right.best}
    return times | ({"memory": memory} if memory is not None else {})


if __name__ == "__main__":
    print(json.dumps(measure_here(sys.argv[1], int(sys.argv[2]))))
