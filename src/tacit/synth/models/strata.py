"""Drawing rows so that their tables stay close to the laws they are drawn from: systematic draws, then exchanges.

All of it happens after the release: the coins are public, and a seed gives the same rows again.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.synth.public_coins import Public

__all__ = ["closer", "placed", "spread_evenly"]

Reals = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

MOST_WORK = 60_000_000
"""Rows times columns squared up to which exchanges are tried."""
_PARTS = 6
_WIDEST = 60
"""Columns."""


def spread_evenly(weights: Reals, count: int, random: Public) -> Codes:
    """For each of ``count`` rows a place among the weights, in order: each place as often as its weight says, ±1.

    >>> from tacit.synth.public_coins import public_coins
    >>> spread_evenly(np.array([0.5, 0.25, 0.25]), 8, public_coins(1)).tolist()
    [0, 0, 0, 0, 1, 1, 2, 2]
    """
    ends = np.cumsum(weights) / weights.sum()
    points = (np.arange(count) + random.uniform()) / max(count, 1)
    return np.minimum(np.searchsorted(ends, points, side="right"), len(weights) - 1)


def placed(groups: Codes, laws: Reals, random: Public) -> Codes:
    """A code for each row by the law of its group (``laws[:, group]``), as evenly within each group as can be."""
    count, size = len(groups), laws.shape[0]
    order = np.argsort(groups + random.uniform(size=count) * 0.5, kind="stable")
    sizes = np.bincount(groups, minlength=laws.shape[1])
    starts = np.cumsum(sizes) - sizes
    mine = groups[order]
    shifts = np.asarray(random.uniform(size=laws.shape[1]))
    points: Reals = (np.arange(count) - starts[mine] + shifts[mine]) / sizes[mine]
    ends = np.cumsum(laws, axis=0)
    whole = ends[-1:]
    ends = ends / np.where(whole > 0, whole, 1.0) + np.arange(laws.shape[1])
    found = np.searchsorted(ends.T.reshape(-1), points + mine, side="right") - mine * size
    codes = np.empty(count, dtype=np.int64)
    codes[order] = np.clip(found, 0, size - 1)
    return codes


def closer(rows: Codes, groups: Codes, laws: list[Reals], weights: Reals, random: Public, sweeps: int = 1) -> Codes:
    """Rows whose tables of pairs are nearer to the mixture's, by exchanges of values between rows of one group.

    An exchange leaves all one-way counts and each group's own as they are; it is made if it brings the tables nearer.
    """
    count, width = rows.shape
    if not 2 <= width <= _WIDEST or count < 2 or count * width**2 > MOST_WORK:
        return rows
    sizes = np.array([len(law) for law in laws])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    stacked = np.concatenate(laws).astype(np.float32)
    wanted = (stacked * weights.astype(np.float32)) @ stacked.T * np.float32(count)
    rows = rows.copy()
    apart = _apart(rows, sizes, starts, wanted, range(width))
    for _ in range(sweeps):
        for column in range(width):
            order = np.argsort(groups + random.uniform(size=count) * 0.5, kind="stable")
            first, second = order[: count - 1 : 2], order[1::2]
            fit = (groups[first] == groups[second]) & (rows[first, column] != rows[second, column])
            first, second = first[fit], second[fit]
            for part in range(_PARTS):
                _exchange(rows, starts, apart, column, first[part::_PARTS], second[part::_PARTS])
                mine = slice(int(starts[column]), int(starts[column] + sizes[column]))
                apart[mine] = _apart(rows, sizes, starts, wanted, [column])[mine]
            apart[:, mine] = apart[mine].T
    return rows


def _apart(
    rows: Codes, sizes: Codes, starts: Codes, wanted: npt.NDArray[np.float32], columns: object
) -> npt.NDArray[np.float32]:
    """How far the rows' tables are from the wanted ones, for all pairs with one of these columns."""
    apart = -wanted
    for first in columns:  # type: ignore[attr-defined]
        for second in range(len(sizes)):
            if first != second:
                cells = rows[:, first] * sizes[second] + rows[:, second]
                counts = np.bincount(cells, minlength=sizes[first] * sizes[second])
                down = slice(starts[first], starts[first] + sizes[first])
                along = slice(starts[second], starts[second] + sizes[second])
                apart[down, along] += counts.reshape(sizes[first], sizes[second])
    return apart


def _exchange(
    rows: Codes, starts: Codes, apart: npt.NDArray[np.float32], column: int, first: Codes, second: Codes
) -> None:
    """Exchange a column between pairs of rows wherever that lowers the sum of absolute distances."""
    others = np.delete(np.arange(rows.shape[1]), column)
    here, there = rows[first, column] + starts[column], rows[second, column] + starts[column]
    mine, theirs = rows[np.ix_(first, others)] + starts[others], rows[np.ix_(second, others)] + starts[others]
    change = np.zeros(len(first), dtype=np.float32)
    for value, rest, step in ((here, mine, -1), (there, mine, 1), (there, theirs, -1), (here, theirs, 1)):
        cell = apart[value[:, None], rest]
        moved = np.abs(cell + np.float32(step)) - np.abs(cell)
        change += (moved * (mine != theirs)).sum(axis=1)
    better = change < 0
    one, other = first[better], second[better]
    rows[one, column], rows[other, column] = rows[other, column], rows[one, column]
