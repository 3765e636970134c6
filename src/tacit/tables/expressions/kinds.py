"""The kinds of value a column can hold, fixed by the policy, never sniffed from the data; constants of each kind."""

from __future__ import annotations

import datetime
import math
from enum import Enum
from fractions import Fraction
from functools import singledispatch
from types import NoneType
from typing import Any, TypeGuard

from tacit.errors import InvalidParameter
from tacit.privacy.prices import text
from tacit.tables.expressions.tree import Literal, Value

__all__ = [
    "Kind",
    "Kinds",
    "bounds_of",
    "common_kind",
    "is_number",
    "is_text",
    "is_whole",
    "kind_of_value",
    "kind_or_none",
    "literal",
    "read_date",
    "read_timestamp",
]


class Kind(Enum):
    """What a value is; the names are those of the policy file."""

    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"

    @property
    def is_number(self) -> bool:
        """Whether it can be added."""
        return self in (Kind.INTEGER, Kind.REAL)

    @property
    def is_time(self) -> bool:
        """Whether it is a day or a moment."""
        return self in (Kind.DATE, Kind.TIMESTAMP)

    def __str__(self) -> str:
        return self.value


Kinds = tuple["Kind | None", ...]
"""Of several values; None stands for an untyped NULL."""


def common_kind(kinds: Kinds) -> Kind | None:
    """The one kind that values of these kinds have together: numbers and times widen; None if there is none."""
    known = {kind for kind in kinds if kind is not None}
    if not known:
        return Kind.TEXT
    if len(known) == 1:
        return next(iter(known))
    if all(kind.is_number for kind in known):
        return Kind.REAL
    return Kind.TIMESTAMP if all(kind.is_time for kind in known) else None


_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_LARGEST_BOUND = 10**300
_ALLOWED = "a whole number, a real number, a text, TRUE, FALSE, NULL, a date or a timestamp"


@singledispatch
def literal(value: object) -> Literal:
    """The constant, if it is one that every engine can hold exactly.

    >>> literal(3), literal(Fraction(1, 2))
    (Literal(value=3), Literal(value=0.5))
    """
    item = getattr(value, "item", None)  # numpy scalars
    found = item() if callable(item) and getattr(value, "shape", None) == () else value
    kind = kind_or_none(found)
    if kind is None or not kind.is_number:
        raise InvalidParameter("constant", given=found, allowed=_ALLOWED)
    return _number(found, value)


@literal.register(NoneType)
@literal.register(bool)
def _(value: bool | None) -> Literal:
    return Literal(value)


@literal.register
def _(value: int) -> Literal:
    return _number(int(value), value)


@literal.register
def _(value: float) -> Literal:
    return _number(float(value), value)


@literal.register
def _(value: Fraction) -> Literal:
    return _number(value.numerator if value.denominator == 1 else float(value), value)


@literal.register
def _(value: str) -> Literal:
    if "\0" in value or any("\ud800" <= sign <= "\udfff" for sign in value):
        raise InvalidParameter("constant", given=value, allowed="a text without NUL and without halves of characters")
    return Literal(str(value))


@literal.register
def _(value: datetime.date) -> Literal:
    return Literal(datetime.date(value.year, value.month, value.day))


@literal.register
def _(value: datetime.datetime) -> Literal:
    if value.tzinfo is not None:
        allowed = "a timestamp without a time zone"
        raise InvalidParameter("constant", given=value, allowed=allowed, hint="Convert it first, then drop the zone.")
    part = (value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond)
    return Literal(datetime.datetime(*part))


def _number(number: Any, given: object) -> Literal:
    if kind_of_value(number) is Kind.INTEGER and not _LOWEST <= number <= _HIGHEST:
        hint = "Write it with a decimal point to use the nearest double."
        raise InvalidParameter("constant", given=given, allowed="a whole number of 64 bits", hint=hint)
    if not math.isfinite(number):
        raise InvalidParameter("constant", given=given, allowed="a finite number that a double can hold")
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


def kind_or_none(value: object) -> Kind | None:
    """The kind of a value, whatever it is; None if it is of no kind."""
    return _KINDS.get(type(value))


def is_text(value: object) -> TypeGuard[str]:
    """Whether a constant is a text."""
    return kind_or_none(value) is Kind.TEXT


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a constant is a number."""
    return kind_or_none(value) in (Kind.INTEGER, Kind.REAL)


def is_whole(value: object, least: int = _LOWEST, most: int = _HIGHEST) -> TypeGuard[int]:
    """Whether a constant is a whole number from one to another."""
    return kind_or_none(value) is Kind.INTEGER and least <= value <= most  # type: ignore[operator]


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
