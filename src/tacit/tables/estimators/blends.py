"""Sums that share one unit's reach: parts of a column's rows from which each of its statistics is read.

With q between l and h, the distances q - l and h - q are at least 0 and add up to h - l whatever q is; their squares
and twice their product add up to (h - l)². So one row moves all of them together by no more than the largest moves
alone, and each gets the noise of the whole share. Rows of unknown value are one part more.
Proof: docs/proofs/blends.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from tacit.tables.engines.contract import Blend, Measure, One, Present, Quantised, Square
from tacit.tables.estimators.base import Reading, Setting
from tacit.tables.estimators.quantising import argument
from tacit.tables.expressions.tree import Expression
from tacit.tables.query.tree import Aggregate

__all__ = ["Parts", "chosen_count", "chosen_sum", "of_column", "width"]

Weight = int | Fraction

_FINEST = 1 << 10
"""Where one unit moves the parts by fewer steps they are divided further: whole steps of noise are then fine enough."""
_ENDS = "sums of the distances to both bounds"
_SQUARES = "sums of squares and products of the distances to both bounds"
_UNKNOWN = ", and rows without a value"


def chosen_sum(row: Quantised, setting: Setting) -> Measure:
    """Σ of a quantised value over the rows that count."""
    return _sum(row, setting.rows, setting.chosen)


def _sum(row: Quantised, rows: int, chosen: bool) -> Measure:
    return Measure(row, rows * min(row.lowest, 0), rows * max(row.highest, 0), chosen=chosen)


def chosen_count(aggregate: Aggregate, setting: Setting) -> Measure:
    """How many of the rows that count have a known value: the same rows as the sum's."""
    return Measure(Present(argument(aggregate)), 0, setting.rows, chosen=setting.chosen)


def width(row: Quantised) -> int:
    """How many steps lie between the ends of the range."""
    return row.highest - row.lowest


class Parts(NamedTuple):
    """What is released of a column, and what is read from it."""

    blend: Blend
    reading: Reading


def of_column(
    aggregate: Aggregate,
    row: Quantised,
    setting: Setting,
    *,
    squares: bool = False,
    rows: bool = False,
    total: bool = False,
) -> Parts:
    """The parts of the rows that count: distances to both ends, or with ``squares`` theirs and twice their product.

    With ``rows`` there is a part for rows of unknown value. With ``total``, for Gaussian noise, the number of all rows
    is a part of its own, which may move as far as the rest.
    """
    return _of_column(argument(aggregate), row, setting.rows, setting.chosen, squares, rows, total)


@lru_cache(maxsize=512)
def _of_column(
    inner: Expression, row: Quantised, limit: int, chosen: bool, squares: bool, rows: bool, total: bool
) -> Parts:
    """Many plans of one statement are compared."""
    low, high = row.lowest, row.highest
    wide = high - low
    lines: list[tuple[int, ...]]
    measures = [_sum(row, limit, chosen), Measure(Present(inner), 0, limit, chosen=chosen)]
    if squares:
        most = limit * max(low**2, high**2)
        measures.insert(0, Measure(Square(row), 0, most, chosen=chosen))
        lines = [(1, -2 * high, high**2), (-2, 2 * (high + low), -2 * high * low), (1, -2 * low, low**2)]
        whole, about = wide**2, _SQUARES
    elif total:
        lines, whole, about = [(2, -(low + high))], wide, "sum of the distances to the middle"
    else:
        lines, whole, about = [(1, -low), (-1, high)], wide, _ENDS
    if rows:
        measures.append(Measure(One(), 0, limit, chosen=chosen))
        nothing = (0,) * (len(measures) - 2)
        lines = [(*line, 0) for line in lines] + [(*nothing, -whole, whole)]
        lines = [(*nothing, 0, whole), *lines] if total else lines
        about += f"{_UNKNOWN}, and all rows" if total else _UNKNOWN
    fine = max(1, -(-_FINEST // max(limit * whole, 1)))
    reach = limit * whole * fine
    blend = Blend(
        tuple(measures),
        tuple(tuple(fine * factor for factor in line) for line in lines),
        2 * reach if total else reach,
        2 * reach**2 if total else None,
        fine,
        about,
    )
    return Parts(blend, _reading(max(whole, 1) * fine, squares=squares, rows=rows, total=total))


_HALF = Fraction(1, 2)
_READINGS: dict[tuple[bool, bool], tuple[tuple[Weight, ...], ...]] = {
    (False, False): ((1, 1), (1, 0)),  # of Σt, Σ(1-t)
    (True, False): ((1, 1, 1), (0, _HALF, 1), (0, 0, 1)),  # of Σ(1-t)², 2Σt(1-t), Σt²
    (False, True): ((1, 0, -1), (_HALF, _HALF, -_HALF), (), (1, 0, 0)),  # of all rows, Σ(2t-1), unknown ones
    (True, True): ((0, 1, 1, 1, 0), (0, 0, _HALF, 1, 0), (0, 0, 0, 1, 0), (1, 0, 0, 0, 0)),
}
"""What parts add up to, in rows, with t from 0 to 1 between the ends: Σ1, Σt, Σt², and all rows."""


def _reading(unit: int, *, squares: bool, rows: bool, total: bool) -> Reading:
    found = [list(one) for one in _READINGS[squares, total]]
    if rows and not total:
        found = [[*one, 0] for one in found]
        found += [[]] * (3 - len(found)) + [[1] * len(found[0])]
    if squares and total:
        found = [_adjusted(one, (-1, 1, 1, 1, 1)) for one in found]
    return Reading(*(tuple(Fraction(weight) / unit for weight in one) for one in found))


def _adjusted(weights: Sequence[Weight], nothing: Sequence[int]) -> list[Weight]:
    """The same sum with the least noise, where a combination of parts is known to be 0 without noise."""
    own = sum((Fraction(one) * other for one, other in zip(weights, nothing, strict=True)), start=Fraction(0))
    part = own / sum(one**2 for one in nothing)
    return [one - part * other for one, other in zip(weights, nothing, strict=True)]
