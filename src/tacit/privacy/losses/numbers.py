"""Checks on the numbers people type: each returns a plain float or int, or says what is allowed."""

from __future__ import annotations

import math
import operator
from decimal import Decimal
from fractions import Fraction

from tacit.errors import InvalidParameter
from tacit.privacy.prices import price

Real = float | int | str | Fraction | Decimal


def float_above(exact: Fraction) -> float:
    """The smallest float that is not below ``exact``: a mass that must not be understated.

    >>> Fraction(float(Fraction(8, 21))) < Fraction(8, 21) <= Fraction(float_above(Fraction(8, 21)))
    True
    """
    near = float(exact)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)


def float_below(above: float) -> float:
    """A float that is not above any number whose `float_above` this is; 0 stays 0.

    >>> float_below(float_above(Fraction(8, 21))) < Fraction(8, 21)
    True
    """
    return math.nextafter(above, 0.0)


def real(name: str, value: object, allowed: str) -> float:
    """A finite number as a float: what a price may be typed as, or a number of numpy's."""
    number = float(price(value, name, allowed=allowed))
    if not math.isfinite(number):
        raise InvalidParameter(name, given=value, allowed=allowed)
    return number


def positive(name: str, value: object) -> float:
    """A finite number above 0."""
    number = real(name, value, "a finite number above 0")
    if number <= 0:
        raise InvalidParameter(name, given=value, allowed="a finite number above 0")
    return number


def not_negative(name: str, value: object) -> float:
    """A finite number of at least 0."""
    number = real(name, value, "a finite number of at least 0")
    if number < 0:
        raise InvalidParameter(name, given=value, allowed="a finite number of at least 0")
    return number


def probability(name: str, value: object) -> float:
    """A number from 0 to 1."""
    number = real(name, value, "a number from 0 to 1")
    if not 0 <= number <= 1:
        raise InvalidParameter(name, given=value, allowed="a number from 0 to 1")
    return number


def failure_probability(value: object) -> float:
    """A δ: at least 0 and below 1."""
    number = real("delta", value, "a number of at least 0 and below 1")
    if not 0 <= number < 1:
        raise InvalidParameter("delta", given=value, allowed="a number of at least 0 and below 1")
    return number


def whole(name: str, value: object, *, least: int) -> int:
    """A whole number of at least ``least``; floats are refused even when whole."""
    allowed = f"a whole number of at least {least}"
    if isinstance(value, bool):
        raise InvalidParameter(name, given=value, allowed=allowed)
    try:
        number = operator.index(value)  # type: ignore[arg-type]  # whatever is not an index raises TypeError
    except TypeError:
        raise InvalidParameter(name, given=value, allowed=allowed) from None
    if number < least:
        raise InvalidParameter(name, given=value, allowed=allowed)
    return number
