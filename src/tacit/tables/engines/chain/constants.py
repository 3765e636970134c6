"""Constants as SQL, on whichever engine, and the ends of the calendar."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping

from tacit.errors import InvalidParameter
from tacit.tables.engines.chain.terms import Term
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.texts import fits
from tacit.tables.expressions.tree import Value

__all__ = ["constant", "within_calendar"]

_CALENDAR = {
    Kind.DATE: ("DATE '0001-01-01'", "DATE '9999-12-31'"),
    Kind.TIMESTAMP: ("TIMESTAMP '0001-01-01 00:00:00'", "TIMESTAMP '9999-12-31 23:59:59.999999'"),
}


def constant(value: Value, types: Mapping[Kind, str], text: Callable[[str], str], real: Callable[[float], str]) -> Term:
    """An integer beyond 64 bits, an infinity, NaN and a text too long are null, as if computed.

    An engine says how its types are called, and how it writes texts and finite reals.
    """
    match value:
        case None:
            return Term("NULL", None)
        case bool():
            return Term("TRUE" if value else "FALSE", Kind.BOOLEAN)
        case int():
            inside = -(2**63) <= value < 2**63
            return Term(f"CAST({value if inside else 'NULL'} AS {types[Kind.INTEGER]})", Kind.INTEGER)
        case float():
            return Term(real(value) if math.isfinite(value) else f"CAST(NULL AS {types[Kind.REAL]})", Kind.REAL)
        case str():
            return Term(text(value) if fits(value) else f"CAST(NULL AS {types[Kind.TEXT]})", Kind.TEXT)
        case datetime.datetime():
            return Term(_moment(value), Kind.TIMESTAMP)
        case datetime.date():
            return Term(f"DATE '{value.isoformat()}'", Kind.DATE)
    allowed = "a number, a text, a truth value, a date, a timestamp or null"
    raise InvalidParameter("constant", given=type(value).__name__, allowed=allowed)


def _moment(value: datetime.datetime) -> str:
    if value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return f"TIMESTAMP '{value.isoformat(sep=' ')}'"


def within_calendar(x: str, kind: Kind) -> str:
    """A date or timestamp, null outside the years 1 to 9999; infinite ones are outside."""
    first, last = _CALENDAR[kind]
    return f"CASE WHEN {x} BETWEEN {first} AND {last} THEN {x} END"
