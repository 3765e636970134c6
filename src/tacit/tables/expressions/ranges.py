"""Public ranges of row-wise expressions, by interval arithmetic from the bounds of columns.

A range only sets a clamp: one that is too narrow would bias an answer, and no range can void a promise. Ends are exact
fractions; None is an open end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tacit.tables.expressions.tree import Call, Case, Column, Expression, Literal

__all__ = ["EVERYTHING", "Range", "range_of"]

End = Fraction | None
_LARGEST = Fraction(10) ** 300
"""Beyond this an end counts as open: sums of such values fit no double."""
_FINEST = 10**30


@dataclass(frozen=True, slots=True)
class Range:
    """All numbers from low to high; None where there is no end."""

    low: End = None
    high: End = None

    def __or__(self, other: Range) -> Range:
        low = None if self.low is None or other.low is None else min(self.low, other.low)
        high = None if self.high is None or other.high is None else max(self.high, other.high)
        return Range(low, high)

    @property
    def bounds(self) -> tuple[Fraction, Fraction] | None:
        """Both ends, if there are both."""
        return None if self.low is None or self.high is None else (self.low, self.high)


EVERYTHING = Range()
NOTHING = None
"""The range of NULL: no value at all."""

Columns = Callable[[Column], Range]


def range_of(expression: Expression, columns: Columns) -> Range | None:
    """The range of the known values of an expression; None if it is always null."""
    found = _range_of(expression, columns)
    return None if found is None else _tidy(found)


def _range_of(expression: Expression, columns: Columns) -> Range | None:
    if isinstance(expression, Column):
        return columns(expression)
    if isinstance(expression, Literal):
        return _literal(expression)
    if isinstance(expression, Case):
        return _union(
            [range_of(part, columns) for part in (*(v for _, v in expression.branches), expression.otherwise)]
        )
    if not isinstance(expression, Call):
        return EVERYTHING
    if expression.operator == "length":
        return _length(expression.arguments[0])
    if expression.operator in _FIXED:
        return _FIXED[expression.operator]
    if expression.operator == "width_bucket":
        return _buckets(expression)
    if expression.operator in ("to_integer", "to_real"):
        return _cast(expression, columns)
    rule = _RULES.get(expression.operator)
    if rule is None:
        return EVERYTHING
    below = [range_of(part, columns) for part in expression.arguments]
    if expression.operator in ("coalesce", "nullif"):
        return _union(below if expression.operator == "coalesce" else below[:1])
    known = [one for one in below if one is not None]
    return rule(known) if len(known) == len(below) else NOTHING


def _literal(expression: Literal) -> Range | None:
    value = expression.value
    if value is None:
        return NOTHING
    if isinstance(value, bool) or not isinstance(value, int | float):
        return EVERYTHING
    exact = Fraction(repr(value))
    return Range(exact, exact)


def _union(ranges: Sequence[Range | None]) -> Range | None:
    found: Range | None = NOTHING
    for one in ranges:
        found = one if found is None else found if one is None else found | one
    return found


def _tidy(found: Range) -> Range:
    """Ends of a sensible size: open beyond the largest, moved outward to thirty decimals if they have more."""
    low, high = (None if end is None or abs(end) > _LARGEST else end for end in (found.low, found.high))
    if low is not None and low.denominator > _FINEST:
        low = Fraction(math.floor(low * _FINEST), _FINEST)
    if high is not None and high.denominator > _FINEST:
        high = Fraction(math.ceil(high * _FINEST), _FINEST)
    return Range(low, high)


def _length(text: Expression) -> Range:
    if isinstance(text, Call) and text.operator == "substring" and len(text.arguments) == 3:
        longest = text.arguments[2]
        if isinstance(longest, Literal) and isinstance(longest.value, int):
            return Range(Fraction(0), Fraction(longest.value))
    return Range(Fraction(0), None)


def _buckets(expression: Call) -> Range:
    count = expression.arguments[-1]
    most = count.value if isinstance(count, Literal) and isinstance(count.value, int) else 0
    return Range(Fraction(0), Fraction(most + 1))


def _cast(expression: Call, columns: Columns) -> Range | None:
    below = expression.arguments[0]
    if isinstance(below, Literal) and isinstance(below.value, bool):
        return Range(Fraction(0), Fraction(1))
    if _is_condition(below):
        return Range(Fraction(0), Fraction(1))
    found = range_of(below, columns)
    if found is None or expression.operator == "to_real":
        return found
    return _rounded([found])


def _is_condition(expression: Expression) -> bool:
    return isinstance(expression, Call) and expression.operator in _CONDITIONS


_CONDITIONS = {
    "and", "or", "not", "=", "<>", "<", "<=", ">", ">=", "is_null", "in", "like", "ilike", "starts_with", "contains"
}  # fmt: skip


def _add(given: Sequence[Range]) -> Range:
    a, b = given
    return Range(_plus(a.low, b.low), _plus(a.high, b.high))


def _plus(a: End, b: End) -> End:
    return None if a is None or b is None else a + b


def _negative(given: Sequence[Range]) -> Range:
    (a,) = given
    return Range(None if a.high is None else -a.high, None if a.low is None else -a.low)


def _subtract(given: Sequence[Range]) -> Range:
    return _add([given[0], _negative(given[1:])])


def _times(given: Sequence[Range]) -> Range:
    a, b = given
    if a == b == Range(Fraction(0), Fraction(0)):
        return a
    if a.bounds is None or b.bounds is None:
        positive = all(one.low is not None and one.low >= 0 for one in given)
        return Range(Fraction(0), None) if positive else EVERYTHING
    corners = [x * y for x in a.bounds for y in b.bounds]
    return Range(min(corners), max(corners))


def _divide(given: Sequence[Range]) -> Range:
    a, b = given
    if a.bounds is None or b.bounds is None or b.bounds[0] <= 0 <= b.bounds[1]:
        return EVERYTHING
    corners = [x / y for x in a.bounds for y in b.bounds]
    return Range(min(corners), max(corners))


def _whole_quotient(given: Sequence[Range]) -> Range:
    return _rounded([_divide(given)])


def _remainder(given: Sequence[Range]) -> Range:
    a, b = given
    if b.bounds is not None:
        most = max(abs(end) for end in b.bounds)
        return Range(Fraction(0) if a.low is not None and a.low >= 0 else -most, most)
    return EVERYTHING


def _absolute(given: Sequence[Range]) -> Range:
    (a,) = given
    if a.bounds is None:
        return Range(Fraction(0), None)
    low, high = a.bounds
    least = Fraction(0) if low <= 0 <= high else min(abs(low), abs(high))
    return Range(least, max(abs(low), abs(high)))


def _rounded(given: Sequence[Range]) -> Range:
    """Any way of rounding to whole numbers."""
    a = given[0]
    low = None if a.low is None else Fraction(math.floor(a.low))
    high = None if a.high is None else Fraction(math.ceil(a.high))
    return Range(low, high)


def _round(given: Sequence[Range]) -> Range:
    if len(given) == 1:
        return _rounded(given)
    digits = given[1].low
    step = Fraction(10) ** -int(digits) if digits is not None else Fraction(1)
    inside = _rounded([Range(*(None if end is None else end / step for end in (given[0].low, given[0].high)))])
    return Range(*(None if end is None else end * step for end in (inside.low, inside.high)))


def _least(given: Sequence[Range]) -> Range:
    lows, highs = [one.low for one in given], [one.high for one in given if one.high is not None]
    return Range(None if None in lows else min(low for low in lows if low is not None), min(highs, default=None))


def _greatest(given: Sequence[Range]) -> Range:
    return _negative([_least([_negative([one]) for one in given])])


def _rising(function: Callable[[float], float]) -> Callable[[Sequence[Range]], Range]:
    """A function that never falls; where it has no value or overflows, the end is open."""

    def rule(given: Sequence[Range]) -> Range:
        (a,) = given
        return Range(_outward(function, a.low, -math.inf), _outward(function, a.high, math.inf))

    return rule


def _outward(function: Callable[[float], float], end: End, towards: float) -> End:
    if end is None:
        return None
    try:
        found = function(float(end))
    except (ValueError, OverflowError):
        return None
    for _ in range(4):  # a library function may be off by a unit or two in the last place
        found = math.nextafter(found, towards)
    return Fraction(found) if math.isfinite(found) else None


def _root(given: Sequence[Range]) -> Range:
    found = _rising(lambda x: math.sqrt(max(x, 0.0)))(given)
    return Range(Fraction(0) if found.low is None else max(Fraction(0), found.low), found.high)


def _exponential(given: Sequence[Range]) -> Range:
    found = _rising(math.exp)(given)
    return Range(Fraction(0) if found.low is None else max(Fraction(0), found.low), found.high)


def _power(given: Sequence[Range]) -> Range:
    base, exponent = given
    if base.bounds is None or exponent.bounds is None:
        return EVERYTHING
    if exponent.low == exponent.high and exponent.low is not None and exponent.low.denominator == 1:
        return _whole_power(base.bounds, int(exponent.low))
    if base.bounds[0] <= 0:
        return EVERYTHING
    logs = _rising(math.log)([base])
    return _exponential([_times([logs, exponent])])


def _whole_power(base: tuple[Fraction, Fraction], exponent: int) -> Range:
    low, high = base
    if not 0 <= exponent <= 64:
        return EVERYTHING
    corners = [low**exponent, high**exponent]
    if exponent % 2 == 0 and low <= 0 <= high:
        corners.append(Fraction(0 if exponent else 1))
    return Range(min(corners), max(corners))


def _of(low: int, high: int) -> Range:
    return Range(Fraction(low), Fraction(high))


_FIXED = {
    "sign": _of(-1, 1),
    "quarter": _of(1, 4),
    "month": _of(1, 12),
    "week": _of(1, 53),
    "day": _of(1, 31),
    "weekday": _of(1, 7),
    "hour": _of(0, 23),
    "minute": _of(0, 59),
}

_RULES: dict[str, Callable[[Sequence[Range]], Range]] = {
    "+": _add,
    "-": _subtract,
    "*": _times,
    "/": _divide,
    "//": _whole_quotient,
    "%": _remainder,
    "negative": _negative,
    "abs": _absolute,
    "floor": _rounded,
    "ceil": _rounded,
    "round": _round,
    "ln": _rising(math.log),
    "log10": _rising(math.log10),
    "log2": _rising(math.log2),
    "exp": _exponential,
    "sqrt": _root,
    "power": _power,
    "least": _least,
    "greatest": _greatest,
    "coalesce": lambda given: given[0],
    "nullif": lambda given: given[0],
}
