"""Total casts: null where a value cannot be read as the kind. Which text can be read is said here."""

from __future__ import annotations

from collections.abc import Callable

from tacit.tables.engines.chain.form import Form
from tacit.tables.engines.chain.terms import Term
from tacit.tables.engines.duckdb.terms import TYPES, finite, in_calendar, once
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.operators import CASTS

__all__ = ["CONVERTING", "cast"]

_WHOLE = "[+-]?[0-9]{1,30}"
_DECIMAL = "[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,4})?"
_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_MOMENT = _DAY + "([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?)?"
_TRUE = "('true', 't', 'yes', 'y', 'on', '1')"
_FALSE = "('false', 'f', 'no', 'n', 'off', '0')"


def cast(term: Term, kind: Kind) -> str:
    """The value as that kind, or null."""
    if term.kind is None:
        return f"CAST(NULL AS {TYPES[kind]})"
    if term.kind is kind:
        return term.sql
    reading = _READINGS.get((term.kind, kind))
    return f"CAST(NULL AS {TYPES[kind]})" if reading is None else reading(term.sql)


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
    return _text_as(Kind.INTEGER, _WHOLE)(x)


def _text_as_real(x: str) -> str:
    return finite(_text_as(Kind.REAL, _DECIMAL)(x))


def _text_as_moment(x: str) -> str:
    return in_calendar(_text_as(Kind.TIMESTAMP, _MOMENT)(x), Kind.TIMESTAMP)


def _text_as_day(x: str) -> str:
    return f"CAST({_text_as_moment(x)} AS DATE)"


def _text_as_truth(x: str) -> str:
    return once(
        lambda t: f"CASE WHEN {t} IN {_TRUE} THEN TRUE WHEN {t} IN {_FALSE} THEN FALSE END", f"lower(trim({x}, ' '))"
    )


def _nonzero(x: str) -> str:
    return f"({x} <> 0)"


_READINGS: dict[tuple[Kind, Kind], Callable[[str], str]] = {
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
