"""l and t of every class, from its cells. Counts are whole numbers, and so is every comparison that can be.

Definitions: Machanavajjhala et al. 2007 (distinct, entropy and recursive l-diversity), Li, Li & Venkatasubramanian 2007
(t-closeness with the equal and the ordered distance).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.anonymity.cells import Cells
from tacit.anonymity.limits import SLACK, Limits, exact

__all__ = ["broken_by", "distinct", "entropy", "equal_distance", "ordered_distance", "recursive", "sizes"]

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def sizes(cells: Cells) -> Integers:
    """Rows of each class."""
    return np.add.reduceat(cells.count, cells.starts)


def distinct(cells: Cells) -> Integers:
    """How many values each class has."""
    return np.diff(cells.starts, append=len(cells.count))


def entropy(cells: Cells) -> Floats:
    """e to the entropy of each class: the number of equally frequent values that would be as uncertain."""
    rows = sizes(cells)
    weighted = np.add.reduceat(cells.count * np.log(cells.count), cells.starts)
    return np.maximum(np.exp(np.log(rows) - weighted / rows), 1.0)  # of one value it is 1, but for rounding


def recursive(cells: Cells, c: Fraction) -> Integers:
    """The greatest l for which each class is recursively (c, l)-diverse: r₁ < c (r_l + … + r_m); 0 if for none."""
    highest = int(cells.count.max())
    if int(cells.group[-1]) < 2**62 // (highest + 1):
        order = np.argsort(cells.group * (highest + 1) - cells.count)
    else:
        order = np.lexsort((-cells.count, cells.group))
    counts, starts = cells.count[order], cells.starts
    rows, lengths = sizes(cells), distinct(cells)
    before = np.cumsum(counts) - counts
    tail = np.repeat(rows + before[starts], lengths) - before  # r_l + … + r_m at the place of r_l
    most = np.repeat(counts[starts], lengths)
    if c.numerator * int(rows.max()) < 2**62 and c.denominator * int(rows.max()) < 2**62:
        holds = c.denominator * most < c.numerator * tail
    else:
        holds = np.array([c.denominator * int(m) < c.numerator * int(t) for m, t in zip(most, tail, strict=True)])
    return np.add.reduceat(holds.astype(np.int64), starts)


def equal_distance(cells: Cells) -> Floats:
    """Half the sum of the differences between the shares in a class and in the table."""
    rows, total = sizes(cells), int(cells.whole.sum())
    here = np.repeat(rows, distinct(cells)) * cells.whole[cells.value]
    moved = np.add.reduceat(np.abs(cells.count * total - here) - here, cells.starts) + rows * total
    return np.asarray(moved / (2 * rows * total), dtype=np.float64)


def ordered_distance(cells: Cells) -> Floats:
    """How far the class's shares must travel along the order of values, as a part of the longest way."""
    values = len(cells.whole)
    rows, total, starts = sizes(cells), int(cells.whole.sum()), cells.starts
    if values < 2:
        return np.zeros(len(rows))
    up_to = np.cumsum(cells.whole)  # rows of the table with this value or a lower one
    area = np.concatenate([[0], np.cumsum(up_to)])
    lengths = distinct(cells)
    until = np.cumsum(cells.count)
    held = until - np.repeat(until[starts] - cells.count[starts], lengths)  # rows of the class up to here
    size = np.repeat(rows, lengths)
    first, last = cells.value, np.append(cells.value[1:], values)
    last[starts[1:] - 1] = values  # from each value to the one before the next that the class has
    level = _floor_ratio(held, total, size)
    turn = np.clip(np.searchsorted(up_to, level, side="right"), first, last)
    share = held / size
    way = share * (2 * turn - first - last) + (area[first] + area[last] - 2 * area[turn]) / total
    before = area[cells.value[starts]] / total  # the class has nothing up to its first value
    return np.asarray((np.add.reduceat(way, starts) + before) / (values - 1), dtype=np.float64)


def _floor_ratio(held: Integers, total: int, size: Integers) -> Integers:
    """held·total ÷ size, rounded down: below 2⁶³ while the table has fewer than three thousand million rows."""
    return held * total // size


def broken_by(cells: Cells, limits: Limits) -> dict[str, Flags]:
    """Which classes break which of the limits on a sensitive column."""
    found: dict[str, Flags] = {}
    if limits.distinct_l is not None:
        found["distinct l"] = distinct(cells) < limits.distinct_l
    if limits.entropy_l is not None:
        found["entropy l"] = entropy(cells) < limits.entropy_l - SLACK * limits.entropy_l
    if limits.recursive is not None:
        found["recursive l"] = recursive(cells, exact("c", limits.recursive[0])) < limits.recursive[1]
    if limits.t is not None:
        distance = ordered_distance if cells.ordered else equal_distance
        found["t"] = distance(cells) > limits.t + SLACK
    return found
