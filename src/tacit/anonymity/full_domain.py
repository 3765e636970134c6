"""Full-domain generalisation: one level of its hierarchy for each column, the best of all combinations.

What is lost without suppressing anything is a sum over columns and levels, known before any row is grouped, and no
suppression makes it less: so combinations are tried from the least of these bounds on, until a bound is no better than
what was found. That is optimal for every limit. "All above a passing combination pass" would not do: it holds for k
and distinct l only, and a higher combination can lose less, when it suppresses fewer rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.anonymity.cells import cells_of
from tacit.anonymity.domains import Table
from tacit.anonymity.hierarchy import Hierarchy
from tacit.anonymity.limits import Limits
from tacit.anonymity.measures import broken_by
from tacit.errors import InvalidParameter

__all__ = ["Found", "search"]

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
_MOST_COMBINATIONS = 5_000_000


@dataclass(frozen=True, slots=True)
class Found:
    """The best combination of levels, the rows that it suppresses, and how much was tried."""

    levels: tuple[int, ...]
    suppressed: Flags
    loss: float
    tried: int
    combinations: int


@dataclass(frozen=True, slots=True)
class _Distinct:
    """The distinct combinations of quasi-identifiers, and how many rows have each."""

    codes: tuple[Integers, ...]
    count: Integers
    place: Integers
    """The combination of each row."""
    sensitive: tuple[tuple[Integers, Integers, Integers, bool], ...]
    """For each sensitive column: combination, value, how many rows have both; and whether it is of numbers."""


def search(table: Table, hierarchies: tuple[Hierarchy, ...], limits: Limits, suppress: Fraction) -> Found:
    """The combination that loses least, among those that keep the limits with at most that share of rows suppressed.

    Of equals, the one that suppresses fewer rows, then the one with lower levels.
    """
    heights = [tree.height for tree in hierarchies]
    combinations = int(np.prod(heights, dtype=object))
    if combinations > _MOST_COMBINATIONS:
        allowed = f"at most {_MOST_COMBINATIONS:,} combinations of levels"
        raise InvalidParameter("hierarchies", given=f"{combinations:,}", allowed=allowed, hint="Use Mondrian.")
    distinct = _distinct(table)
    most = int(table.rows * suppress)
    nodes = [[tree.nodes(level) for level in range(tree.height)] for tree in hierarchies]
    losses = [[tree.loss(level) for level in range(tree.height)] for tree in hierarchies]
    best: tuple[float, int, tuple[int, ...]] | None = None
    kept: Flags | None = None
    tried = 0
    for bound, levels in _by_bound(table, losses, heights):
        if best is not None and bound > best[0]:
            break
        tried += 1
        group = _grouped(distinct.codes, [nodes[i][level] for i, level in enumerate(levels)])
        bad = _suppressed(table, distinct, group, limits, most)
        if bad is None:
            continue
        each = np.mean([losses[i][level][distinct.codes[i]] for i, level in enumerate(levels)], axis=0)
        loss = float((np.where(bad, 1.0, each) * distinct.count).sum() / table.rows)
        found = loss, int(distinct.count[bad].sum()), levels
        if best is None or found < best:
            best, kept = found, bad
    if best is None or kept is None:
        what = f"{limits.words} with at most {float(suppress):.4g} of the rows suppressed"
        allowed = "limits that the table as one class keeps"
        raise InvalidParameter("limits", given=what, allowed=allowed)
    return Found(best[2], kept[distinct.place], best[0], tried, combinations)


def _by_bound(table: Table, losses: list[list[Floats]], heights: list[int]) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Every combination with what it loses if nothing is suppressed, least first."""
    means = [[float(each[code].mean()) for each in levels] for levels, code in zip(losses, table.codes, strict=True)]
    sums = np.zeros(1)
    for column in means:
        sums = (sums[:, None] + np.array(column)).ravel()
    bounds = sums / len(means) * (1 - 1e-12)  # a bound must not round up
    order = np.argsort(bounds, kind="stable")
    for place in order:
        yield float(bounds[place]), tuple(int(level) for level in np.unravel_index(place, heights))


def _distinct(table: Table) -> _Distinct:
    key = np.zeros(table.rows, dtype=np.int64)
    for code in table.codes:
        key = _packed(key, code.astype(np.int64))
    _, first, place, count = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    codes = tuple(code[first].astype(np.int64) for code in table.codes)
    sensitive = []
    for value, ordered in table.sensitive.values():
        width = int(value.max()) + 1
        both, times = np.unique(place * width + value, return_counts=True)
        sensitive.append((both // width, both % width, times.astype(np.int64), ordered))
    return _Distinct(codes, count.astype(np.int64), place.astype(np.int64), tuple(sensitive))


def _grouped(codes: tuple[Integers, ...], nodes: list[Integers]) -> Integers:
    """The class of each distinct combination, when each column is at a level."""
    key = np.zeros(len(codes[0]), dtype=np.int64)
    for code, node in zip(codes, nodes, strict=True):
        key = _packed(key, node[code])
    return np.unique(key, return_inverse=True)[1].astype(np.int64)


def _packed(key: Integers, code: Integers) -> Integers:
    """One number for two; numbered anew before it could overflow."""
    width = int(code.max()) + 1
    if width > 1 and int(key.max()) > (2**62) // width:
        key = np.unique(key, return_inverse=True)[1].astype(np.int64)
    return key * width + code


def _suppressed(table: Table, distinct: _Distinct, group: Integers, limits: Limits, most: int) -> Flags | None:
    """Which distinct combinations must go so that the rest keeps the limits; None if that is too many rows.

    t compares with the rows that remain, so that it is judged anew until nothing more has to go.
    """
    bad = np.zeros(len(group), dtype=bool)
    if limits.k is not None:
        bad = (np.bincount(group, weights=distinct.count) < limits.k)[group]
    while True:
        if distinct.count[bad].sum() > most or bad.all():
            return None
        worse = bad | _fails(table, distinct, group, bad, limits)[group] if limits.of_sensitive else bad
        if (worse == bad).all():
            return bad
        bad = worse


def _fails(table: Table, distinct: _Distinct, group: Integers, gone: Flags, limits: Limits) -> Flags:
    """Which classes of the remaining rows break a limit on a sensitive column."""
    failed = np.zeros(int(group.max()) + 1, dtype=bool)
    for place, value, count, ordered in distinct.sensitive:
        left = ~gone[place]
        names, places = np.unique(group[place[left]], return_inverse=True)
        _, present = np.unique(value[left], return_inverse=True)  # t is among the values that remain
        for flags in broken_by(cells_of(places, present, count[left], ordered), limits).values():
            failed[names[flags]] = True
    return failed
