"""Total casts: null where a value cannot be read as the kind."""

from __future__ import annotations

from collections.abc import Callable

from tacit.tables.engines.chain.form import Form
from tacit.tables.engines.chain.operators.casts import DECIMAL, FALSE, MOMENT, TRUE, WHOLE, Readings, converted
from tacit.tables.engines.chain.terms import Term
from tacit.tables.engines.duckdb.terms import TYPES, finite, in_calendar, once
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.operators import CASTS

__all__ = ["CONVERTING", "cast"]


def cast(term: Term, kind: Kind) -> str:
    """The value as that kind, or null."""
    return converted(term, kind, TYPES, _READINGS)


def _plainly(kind: Kind) -> Callable[[str], str]:
    return lambda x: f"TRY_CAST({x} AS {TYPES[kind]})"


def _text_as(kind: Kind, pattern: str) -> Callable[[str], str]:
    """Text that matches, without the spaces around it, read as that kind."""

    def reading(x: str) -> str:
        return once(
            lambda t: f"CASE WHEN regexp_full_match({t}, '{pattern}') THEN TRY_CAST({t} AS {TYPES[kind]}) END",
            f"trim({x}, ' ')",
        )

    return reading


def _whole_text(x: str) -> str:
    return _text_as(Kind.INTEGER, WHOLE)(x)


def _text_as_real(x: str) -> str:
    return finite(_text_as(Kind.REAL, DECIMAL)(x))


def _text_as_moment(x: str) -> str:
    return in_calendar(_text_as(Kind.TIMESTAMP, MOMENT)(x), Kind.TIMESTAMP)


def _text_as_day(x: str) -> str:
    return f"CAST({_text_as_moment(x)} AS DATE)"


def _text_as_truth(x: str) -> str:
    return once(
        lambda t: f"CASE WHEN {t} IN {TRUE} THEN TRUE WHEN {t} IN {FALSE} THEN FALSE END", f"lower(trim({x}, ' '))"
    )


def _nonzero(x: str) -> str:
    return f"({x} <> 0)"


_READINGS: Readings = {
    (Kind.REAL, Kind.INTEGER): _plainly(Kind.INTEGER),
    (Kind.TEXT, Kind.INTEGER): _whole_text,
    (Kind.BOOLEAN, Kind.INTEGER): _plainly(Kind.INTEGER),
    (Kind.INTEGER, Kind.REAL): _plainly(Kind.REAL),
    (Kind.TEXT, Kind.REAL): _text_as_real,
    (Kind.BOOLEAN, Kind.REAL): _plainly(Kind.REAL),
    (Kind.INTEGER, Kind.TEXT): _plainly(Kind.TEXT),
    (Kind.REAL, Kind.TEXT): _plainly(Kind.TEXT),
    (Kind.BOOLEAN, Kind.TEXT): _plainly(Kind.TEXT),
    (Kind.DATE, Kind.TEXT): _plainly(Kind.TEXT),
    (Kind.TIMESTAMP, Kind.TEXT): _plainly(Kind.TEXT),
    (Kind.INTEGER, Kind.BOOLEAN): _nonzero,
    (Kind.REAL, Kind.BOOLEAN): _nonzero,
    (Kind.TEXT, Kind.BOOLEAN): _text_as_truth,
    (Kind.TEXT, Kind.DATE): _text_as_day,
    (Kind.TIMESTAMP, Kind.DATE): _plainly(Kind.DATE),
    (Kind.TEXT, Kind.TIMESTAMP): _text_as_moment,
    (Kind.DATE, Kind.TIMESTAMP): _plainly(Kind.TIMESTAMP),
}
"""Every pair of kinds that can be read at all; the others give null."""

CONVERTING: dict[str, Form] = dict.fromkeys(CASTS, lambda given: cast(given.terms[0], given.kind))
