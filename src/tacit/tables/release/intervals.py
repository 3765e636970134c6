"""Intervals of expressions that combine several released numbers.

If the interval of every aggregate holds, so does the result's: each operation returns an interval that contains the
operation's value for all numbers in its operands' intervals. Where nothing can be said the interval is (-∞, ∞); where
a step is no number of numbers (CASE, a comparison, a cast to text) there is no interval at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.tables.expressions.evaluate import Values
from tacit.tables.expressions.tree import Call, Expression, Literal

__all__ = ["Interval", "interval"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
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


Leaf = Callable[[Expression], "Interval | None"]


def interval(expression: Expression, leaf: Leaf, size: int) -> Interval | None:
    """The interval of a released expression; None if it has none."""
    found = leaf(expression)
    if found is not None:
        return found
    if isinstance(expression, Literal):
        value = expression.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        point = np.full(size, float(value))
        return Interval(point, point, is_point=True)
    if not isinstance(expression, Call):
        return None
    if expression.operator == "round":
        below = interval(expression.arguments[0], leaf, size)
        rest = [part.value if isinstance(part, Literal) else None for part in expression.arguments[1:]]
        return None if below is None else _round(below, rest)
    rule = _RULES.get(expression.operator)
    parts = [interval(part, leaf, size) for part in expression.arguments]
    known = [part for part in parts if part is not None]
    if rule is None or len(known) != len(parts):
        return None
    with np.errstate(all="ignore"):
        low, high = rule(known)
    return Interval(low, high, all(part.is_point for part in known))


Ends = tuple[Floats, Floats]


def _add(given: Sequence[Interval]) -> Ends:
    a, b = given
    return a.low + b.low, a.high + b.high


def _subtract(given: Sequence[Interval]) -> Ends:
    a, b = given
    return a.low - b.high, a.high - b.low


def _negative(given: Sequence[Interval]) -> Ends:
    return -given[0].high, -given[0].low


def _corners(a: Interval, b: Interval, function: Callable[[Floats, Floats], Floats]) -> Ends:
    corners = [function(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    return np.minimum.reduce(corners), np.maximum.reduce(corners)


def _times(x: Floats, y: Floats) -> Floats:
    """A product in which 0 · ∞ is 0: an end that is never reached."""
    return np.where((x == 0) | (y == 0), np.where(np.isnan(x) | np.isnan(y), np.nan, 0.0), x * y)


def _multiply(given: Sequence[Interval]) -> Ends:
    return _corners(given[0], given[1], _times)


def _divide(given: Sequence[Interval]) -> Ends:
    a, b = given
    low, high = _corners(a, b, lambda x, y: np.where(np.isinf(y), 0.0, x / y))
    open_ended = (b.low <= 0) & (b.high >= 0)
    return np.where(open_ended, -np.inf, low), np.where(open_ended, np.inf, high)


def _whole_quotient(given: Sequence[Interval]) -> Ends:
    low, high = _divide(given)
    return np.trunc(low), np.trunc(high)


def _absolute(given: Sequence[Interval]) -> Ends:
    (a,) = given
    ends = np.abs(a.low), np.abs(a.high)
    inside = (a.low <= 0) & (a.high >= 0)
    return np.where(inside, 0.0, np.minimum(*ends)), np.maximum(*ends)


def _rising(function: Callable[[Floats], Floats]) -> Callable[[Sequence[Interval]], Ends]:
    """A function that never falls; an end outside its domain is open."""

    def rule(given: Sequence[Interval]) -> Ends:
        (a,) = given
        low, high = function(a.low), function(a.high)
        return np.where(np.isnan(low) & ~np.isnan(a.low), -np.inf, low), high

    return rule


def _extreme(function: Callable[[Sequence[Floats]], Floats]) -> Callable[[Sequence[Interval]], Ends]:
    return lambda given: (function([one.low for one in given]), function([one.high for one in given]))


def _power(given: Sequence[Interval]) -> Ends:
    """Of a base that is surely positive; otherwise nothing is known, except for whole constant exponents."""
    base, exponent = given
    low, high = _corners(base, exponent, np.power)
    fixed = (exponent.low == exponent.high) & (exponent.low == np.floor(exponent.low)) & (exponent.low > 0)
    even = fixed & (np.fmod(exponent.low, 2) == 0)
    around_zero = (base.low <= 0) & (base.high >= 0)
    low = np.where(even & around_zero, 0.0, low)
    sure = (base.low > 0) | fixed
    return np.where(sure, low, -np.inf), np.where(sure, high, np.inf)


def _round(below: Interval, rest: Sequence[object]) -> Interval:
    digits = rest[0] if rest else 0
    step = 10.0 ** -int(digits) if isinstance(digits, int) else 1.0
    with np.errstate(all="ignore"):
        low, high = np.floor(below.low / step + 0.5) * step, np.floor(below.high / step + 0.5) * step
    return Interval(low, high, below.is_point)


_RULES: dict[str, Callable[[Sequence[Interval]], Ends]] = {
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "/": _divide,
    "//": _whole_quotient,
    "negative": _negative,
    "abs": _absolute,
    "floor": _rising(np.floor),
    "ceil": _rising(np.ceil),
    "sqrt": _rising(np.sqrt),
    "ln": _rising(np.log),
    "log10": _rising(np.log10),
    "log2": _rising(np.log2),
    "exp": _rising(np.exp),
    "to_real": _rising(np.positive),
    "to_integer": _rising(np.rint),
    "least": _extreme(np.minimum.reduce),
    "greatest": _extreme(np.maximum.reduce),
    "power": _power,
}
