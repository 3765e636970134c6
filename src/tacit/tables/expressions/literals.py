"""Constants: what a literal may be, and reading dates and moments from text."""

from __future__ import annotations

import datetime
import math
from fractions import Fraction

from tacit.errors import InvalidParameter
from tacit.privacy.prices import text
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Literal, Value

__all__ = ["bounds_of", "kind_of_value", "literal", "read_date", "read_timestamp"]

_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_LARGEST_BOUND = 10**300
_ALLOWED = "a whole number, a real number, a text, TRUE, FALSE, NULL, a date or a timestamp"


def literal(value: object) -> Literal:
    """The constant, if it is one that every engine can hold exactly.

    >>> literal(3), literal(Fraction(1, 2))
    (Literal(value=3), Literal(value=0.5))
    """
    if value is None or type(value) is bool or type(value) is datetime.date:
        return Literal(value)
    if isinstance(value, datetime.datetime):
        return Literal(_plain_moment(value))
    if isinstance(value, datetime.date):
        return Literal(datetime.date(value.year, value.month, value.day))
    if isinstance(value, str):
        return Literal(_clean_text(str(value)))
    number = _number(value)
    if isinstance(number, int) and not _LOWEST <= number <= _HIGHEST:
        hint = "Write it with a decimal point to use the nearest double."
        raise InvalidParameter("constant", given=value, allowed="a whole number of 64 bits", hint=hint)
    if isinstance(number, float) and not math.isfinite(number):
        raise InvalidParameter("constant", given=value, allowed="a finite number that a double can hold")
    return Literal(number)


def bounds_of(low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """A pair of bounds, the lower first, of a size that doubles can hold.

    >>> bounds_of(Fraction(0), Fraction(1, 10))
    (Fraction(0, 1), Fraction(1, 10))
    """
    for end in (low, high):
        if abs(end) > _LARGEST_BOUND or end.denominator > _LARGEST_BOUND:
            raise InvalidParameter("bounds", given="longer numbers", allowed="numbers of at most 300 digits")
    if low > high:
        raise InvalidParameter("bounds", given=f"({text(low)}, {text(high)})", allowed="the lower bound first")
    return Fraction(low), Fraction(high)


def kind_of_value(value: Value) -> Kind | None:
    """The kind of a constant; None for NULL."""
    return None if value is None else _KINDS[type(value)]


_KINDS = {
    bool: Kind.BOOLEAN,
    int: Kind.INTEGER,
    float: Kind.REAL,
    str: Kind.TEXT,
    datetime.date: Kind.DATE,
    datetime.datetime: Kind.TIMESTAMP,
}


def read_date(text: str) -> datetime.date | None:
    """A date written as 2024-01-31, or None.

    >>> read_date("2024-01-31"), read_date("yesterday")
    (datetime.date(2024, 1, 31), None)
    """
    if len(text) != 10:
        return None
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        return None


def read_timestamp(text: str) -> datetime.datetime | None:
    """A moment written as 2024-01-31, 2024-01-31 10:20 or 2024-01-31 10:20:30.5, without a time zone; or None."""
    if len(text) < 10 or text[4:5] != "-":
        return None
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is None else None


def _plain_moment(value: datetime.datetime) -> datetime.datetime:
    if value.tzinfo is not None:
        allowed = "a timestamp without a time zone"
        raise InvalidParameter("constant", given=value, allowed=allowed, hint="Convert it first, then drop the zone.")
    part = (value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond)
    return datetime.datetime(*part)


def _clean_text(value: str) -> str:
    if "\0" in value or any("\ud800" <= sign <= "\udfff" for sign in value):
        raise InvalidParameter("constant", given=value, allowed="a text without NUL and without halves of characters")
    return value


def _number(value: object) -> int | float:
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    item = getattr(value, "item", None)  # numpy scalars
    if callable(item) and getattr(value, "shape", None) == ():
        value = item()
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidParameter("constant", given=value, allowed=_ALLOWED)
    return int(value) if isinstance(value, int) else float(value)
