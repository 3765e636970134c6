"""Interval arithmetic: from where the arguments of an operator lie to where its result does.

There is one rule per operator, in its entry of `operators`, and two kinds of ends that it is applied to: exact ones
here, from the public bounds of columns, and arrays of doubles in `release.intervals`, from released estimates.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

__all__ = ["EVERYTHING", "Interval", "Range", "Rule", "rising", "union"]


class Interval(ABC):
    """All numbers from a low end to a high end; each operation contains the results for all numbers in its operands."""

    __slots__ = ()

    @abstractmethod
    def __add__(self, other: Self) -> Self: ...

    @abstractmethod
    def __neg__(self) -> Self: ...

    @abstractmethod
    def __mul__(self, other: Self) -> Self: ...

    @abstractmethod
    def __truediv__(self, other: Self) -> Self: ...

    @abstractmethod
    def __pow__(self, other: Self) -> Self: ...

    @abstractmethod
    def __abs__(self) -> Self: ...

    @abstractmethod
    def least(self, *others: Self) -> Self:
        """Of one number of each."""

    @abstractmethod
    def rising(
        self, of_numbers: Callable[[float], float], of_arrays: Callable[..., Any], least: int | None = None
    ) -> Self:
        """Of a function that never falls, given for one number and for arrays; ``least`` is below all it gives."""

    @abstractmethod
    def whole(self, of_arrays: Callable[..., Any]) -> Self:
        """Of a way of rounding to whole numbers."""

    @abstractmethod
    def rounded(self, *digits: Self) -> Self:
        """To so many digits, which is one number, or to whole numbers; halves go up."""

    def __sub__(self, other: Self) -> Self:
        return self + -other

    def greatest(self, *others: Self) -> Self:
        """Of one number of each."""
        return -(-self).least(*(-one for one in others))


Rule = Callable[..., Any]
"""From the intervals of an operator's arguments to that of its result, which is of the same kind."""


def rising(of_numbers: Callable[[float], float], of_arrays: Callable[..., Any], least: int | None = None) -> Rule:
    """The rule of a function that never falls."""
    return lambda one: one.rising(of_numbers, of_arrays, least)


End = Fraction | None
_LARGEST = Fraction(10) ** 300
"""Beyond this an end counts as open: sums of such values fit no double."""
_FINEST = 10**30
_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class Range(Interval):
    """Ends that are exact fractions; None where there is no end.

    A range only sets a clamp: one that is too narrow would bias an answer, and no range can void a promise.

    >>> Range(Fraction(1), Fraction(2)) - Range(Fraction(0), Fraction(5))
    Range(low=Fraction(-4, 1), high=Fraction(2, 1))
    """

    low: End = None
    high: End = None

    @property
    def bounds(self) -> tuple[Fraction, Fraction] | None:
        """Both ends, if there are both."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def tidy(self) -> Range:
        """Ends of a sensible size: open beyond the largest, moved outward to thirty decimals if they have more."""
        low, high = (None if end is None or abs(end) > _LARGEST else end for end in (self.low, self.high))
        if low is not None and low.denominator > _FINEST:
            low = Fraction(math.floor(low * _FINEST), _FINEST)
        if high is not None and high.denominator > _FINEST:
            high = Fraction(math.ceil(high * _FINEST), _FINEST)
        return Range(low, high)

    def __or__(self, other: Range) -> Range:
        low = None if self.low is None or other.low is None else min(self.low, other.low)
        high = None if self.high is None or other.high is None else max(self.high, other.high)
        return Range(low, high)

    def __add__(self, other: Range) -> Range:
        low = None if self.low is None or other.low is None else self.low + other.low
        return Range(low, None if self.high is None or other.high is None else self.high + other.high)

    def __neg__(self) -> Range:
        return Range(None if self.high is None else -self.high, None if self.low is None else -self.low)

    def __mul__(self, other: Range) -> Range:
        if self.bounds is None or other.bounds is None:
            positive = all(one.low is not None and one.low >= 0 for one in (self, other))
            return Range(_ZERO) if positive else EVERYTHING
        return _around([x * y for x in self.bounds for y in other.bounds])

    def __truediv__(self, other: Range) -> Range:
        if self.bounds is None or other.bounds is None or other.bounds[0] <= 0 <= other.bounds[1]:
            return EVERYTHING
        return _around([x / y for x in self.bounds for y in other.bounds])

    def __mod__(self, other: Range) -> Range:
        if other.bounds is None:
            return EVERYTHING
        most = max(abs(end) for end in other.bounds)
        return Range(_ZERO if self.low is not None and self.low >= 0 else -most, most)

    def __pow__(self, exponent: Range) -> Range:
        if self.bounds is None or exponent.bounds is None:
            return EVERYTHING
        if exponent.bounds[0] == exponent.bounds[1] and exponent.bounds[0].denominator == 1:
            return _whole_power(self.bounds, int(exponent.bounds[0]))
        if self.bounds[0] <= 0:
            return EVERYTHING
        return (self.rising(math.log) * exponent).rising(math.exp, least=0)

    def __abs__(self) -> Range:
        if self.bounds is None:
            return Range(_ZERO)
        found = _around([abs(end) for end in self.bounds])
        return Range(_ZERO, found.high) if self.bounds[0] <= 0 <= self.bounds[1] else found

    def least(self, *others: Range) -> Range:
        low, highs = self, [one.high for one in (self, *others) if one.high is not None]
        for one in others:
            low = low | one
        return Range(low.low, min(highs, default=None))

    def rising(self, of_numbers: Callable[[float], float], of_arrays: object = None, least: int | None = None) -> Range:
        """Where the function has no value or overflows, the end is open."""
        low, high = _outward(of_numbers, self.low, -math.inf), _outward(of_numbers, self.high, math.inf)
        if least is not None:
            low = Fraction(least) if low is None else max(Fraction(least), low)
        return Range(low, high)

    def whole(self, of_arrays: object = None) -> Range:
        """Whichever way is rounded."""
        low = None if self.low is None else Fraction(math.floor(self.low))
        return Range(low, None if self.high is None else Fraction(math.ceil(self.high)))

    def rounded(self, *digits: Range) -> Range:
        step = Fraction(10) ** -int(digits[0].low or 0) if digits else Fraction(1)
        return self._scaled(1 / step).whole()._scaled(step)

    def _scaled(self, factor: Fraction) -> Range:
        return Range(*(None if end is None else end * factor for end in (self.low, self.high)))


EVERYTHING = Range()


def union(ranges: Iterable[Range | None]) -> Range | None:
    """Whichever of them holds; None, the range of NULL, adds nothing."""
    found: Range | None = None
    for one in ranges:
        found = one if found is None else found if one is None else found | one
    return found


def _around(corners: Sequence[Fraction]) -> Range:
    return Range(min(corners), max(corners))


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


def _whole_power(base: tuple[Fraction, Fraction], exponent: int) -> Range:
    if not 0 <= exponent <= 64:
        return EVERYTHING
    corners = [end**exponent for end in base]
    if exponent % 2 == 0 and base[0] <= 0 <= base[1]:
        corners.append(Fraction(0 if exponent else 1))
    return _around(corners)
