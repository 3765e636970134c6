"""Intervals of expressions that combine several released numbers.

If the interval of every aggregate holds, so does the result's: each operation returns an interval that contains the
operation's value for all numbers in its operands' intervals. Where nothing can be said the interval is (-∞, ∞); where
a step is no number of numbers (CASE, a comparison, a cast to text) there is no interval at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np
import numpy.typing as npt

from tacit.tables.expressions import intervals
from tacit.tables.expressions.evaluate import Values
from tacit.tables.expressions.kinds import kind_of_value
from tacit.tables.expressions.operators import OPERATORS
from tacit.tables.expressions.tree import Call, Expression, Literal

__all__ = ["Interval", "interval"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval(intervals.Interval):
    """Ends per group; NaN where nothing is known. ``is_point``: made of constants and keys alone."""

    low: Floats
    high: Floats
    is_point: bool = False

    def around(self, values: Values) -> tuple[Floats, Floats]:
        """The ends, widened to hold the value itself; (-∞, ∞) where nothing is known or the value is null."""
        point = np.asarray(values.data, dtype=np.float64)
        low = np.where(np.isnan(self.low) | ~values.known, -np.inf, np.minimum(self.low, point))
        high = np.where(np.isnan(self.high) | ~values.known, np.inf, np.maximum(self.high, point))
        return low, high

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    def __mul__(self, other: Interval) -> Interval:
        return self._corners(other, _times)

    def __truediv__(self, other: Interval) -> Interval:
        found = self._corners(other, lambda x, y: np.where(np.isinf(y), 0.0, x / y))
        return found._open_where(other._holds_zero)

    def __pow__(self, exponent: Interval) -> Interval:
        """Of a base that is surely positive; otherwise nothing is known, except for whole constant exponents."""
        found = self._corners(exponent, np.power)
        fixed = (exponent.low == exponent.high) & (exponent.low == np.floor(exponent.low)) & (exponent.low > 0)
        even = fixed & (np.fmod(exponent.low, 2) == 0)
        found = replace(found, low=np.where(even & self._holds_zero, 0.0, found.low))
        return found._open_where(~((self.low > 0) | fixed))

    def __abs__(self) -> Interval:
        ends = np.abs(self.low), np.abs(self.high)
        return Interval(np.where(self._holds_zero, 0.0, np.minimum(*ends)), np.maximum(*ends))

    def least(self, *others: Interval) -> Interval:
        every = (self, *others)
        return Interval(np.minimum.reduce([one.low for one in every]), np.minimum.reduce([one.high for one in every]))

    def rising(self, of_numbers: object, of_arrays: Callable[[Floats], Floats], least: int | None = None) -> Interval:
        """An end outside the function's domain is open."""
        low, high = of_arrays(self.low), of_arrays(self.high)
        return Interval(np.where(np.isnan(low) & ~np.isnan(self.low), -np.inf, low), high)

    def whole(self, of_arrays: Callable[[Floats], Floats]) -> Interval:
        return self.rising(None, of_arrays)

    def rounded(self, *digits: Interval) -> Interval:
        step = 10.0 ** -digits[0].low if digits else 1.0
        return Interval(np.floor(self.low / step + 0.5) * step, np.floor(self.high / step + 0.5) * step)

    @property
    def _holds_zero(self) -> npt.NDArray[np.bool_]:
        return (self.low <= 0) & (self.high >= 0)

    def _corners(self, other: Interval, function: Callable[[Floats, Floats], Floats]) -> Interval:
        corners = [function(x, y) for x in (self.low, self.high) for y in (other.low, other.high)]
        return Interval(np.minimum.reduce(corners), np.maximum.reduce(corners))

    def _open_where(self, unknown: npt.NDArray[np.bool_]) -> Interval:
        return Interval(np.where(unknown, -np.inf, self.low), np.where(unknown, np.inf, self.high))


def _times(x: Floats, y: Floats) -> Floats:
    """A product in which 0 · ∞ is 0: an end that is never reached."""
    return np.where((x == 0) | (y == 0), np.where(np.isnan(x) | np.isnan(y), np.nan, 0.0), x * y)


Leaf = Callable[[Expression], "Interval | None"]


def interval(expression: Expression, leaf: Leaf, size: int) -> Interval | None:
    """The interval of a released expression; None if it has none."""
    found = leaf(expression)
    return _interval(expression, leaf, size) if found is None else found


@singledispatch
def _interval(expression: Expression, leaf: Leaf, size: int) -> Interval | None:
    return None


@_interval.register
def _(expression: Literal, leaf: Leaf, size: int) -> Interval | None:
    kind = kind_of_value(expression.value)
    if kind is None or not kind.is_number:
        return None
    point = np.full(size, expression.value, dtype=np.float64)
    return Interval(point, point, is_point=True)


@_interval.register
def _(expression: Call, leaf: Leaf, size: int) -> Interval | None:
    rule = OPERATORS[expression.operator].interval
    parts = [interval(part, leaf, size) for part in expression.arguments]
    known = [part for part in parts if part is not None]
    if rule is None or len(known) != len(parts):
        return None
    with np.errstate(all="ignore"):
        found: Interval = rule(*known)
    return replace(found, is_point=all(part.is_point for part in known))
