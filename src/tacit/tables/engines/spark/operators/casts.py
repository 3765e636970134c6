"""Total casts: null where a value cannot be read as the kind.

A real as text is refused: before Java 19 Spark does not write the shortest digits, and which Java executors have is not
known beforehand.
"""

from __future__ import annotations

from collections.abc import Callable

from tacit.errors import InvalidParameter
from tacit.tables.engines.chain.form import Form
from tacit.tables.engines.chain.operators.casts import DECIMAL, FALSE, MOMENT, TRUE, WHOLE, Readings, converted
from tacit.tables.engines.chain.terms import Term
from tacit.tables.engines.spark.terms import TYPES, finite, in_calendar, once, text_literal, whole
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.operators import CASTS

__all__ = ["CONVERTING", "cast", "refuse_real_as_text"]


def cast(term: Term, kind: Kind) -> str:
    """The value as that kind, or null."""
    return converted(term, kind, TYPES, _READINGS)


def _as(type_name: str) -> Callable[[str], str]:
    return lambda x: f"CAST({x} AS {type_name})"


def _text_as(type_name: str, pattern: str) -> Callable[[str], str]:
    r"""Text that matches as a whole, without the spaces around it, read as that type; $ is not the end here, \z is."""
    wanted = text_literal(f"\\A(?:{pattern})\\z")

    def reading(x: str) -> str:
        return once(
            lambda t: f"CASE WHEN {t} RLIKE {wanted} THEN try_cast({t} AS {type_name}) END", f"trim(BOTH ' ' FROM {x})"
        )

    return reading


def _text_as_real(x: str) -> str:
    return finite(_text_as("DOUBLE", DECIMAL)(x))


def _text_as_moment(x: str) -> str:
    return in_calendar(_text_as("TIMESTAMP", MOMENT)(x), Kind.TIMESTAMP)


def _text_as_truth(x: str) -> str:
    """Words of ASCII: other letters are in none of them, whatever their small form."""
    return once(
        lambda t: f"CASE WHEN {t} IN {TRUE} THEN TRUE WHEN {t} IN {FALSE} THEN FALSE END",
        f"lower(trim(BOTH ' ' FROM {x}))",
    )


def refuse_real_as_text(x: str) -> str:
    """Raises, while a statement is written: before anything is paid."""
    raise InvalidParameter(
        "expression",
        given="a real as text",
        allowed="a whole number as text, such as CAST(FLOOR(x) AS TEXT): Spark writes reals with other digits",
        hint="Nothing was spent.",
    )


def _nonzero(x: str) -> str:
    return f"({x} <> 0)"


_READINGS: Readings = {
    (Kind.REAL, Kind.INTEGER): whole,
    (Kind.TEXT, Kind.INTEGER): _text_as("BIGINT", WHOLE),
    (Kind.BOOLEAN, Kind.INTEGER): _as("BIGINT"),
    (Kind.INTEGER, Kind.REAL): _as("DOUBLE"),
    (Kind.TEXT, Kind.REAL): _text_as_real,
    (Kind.BOOLEAN, Kind.REAL): _as("DOUBLE"),
    (Kind.INTEGER, Kind.TEXT): _as("STRING"),
    (Kind.REAL, Kind.TEXT): refuse_real_as_text,
    (Kind.BOOLEAN, Kind.TEXT): _as("STRING"),
    (Kind.DATE, Kind.TEXT): _as("STRING"),
    (Kind.TIMESTAMP, Kind.TEXT): _as("STRING"),
    (Kind.INTEGER, Kind.BOOLEAN): _nonzero,
    (Kind.REAL, Kind.BOOLEAN): _nonzero,
    (Kind.TEXT, Kind.BOOLEAN): _text_as_truth,
    (Kind.TEXT, Kind.DATE): lambda x: f"CAST({_text_as_moment(x)} AS DATE)",
    (Kind.TIMESTAMP, Kind.DATE): _as("DATE"),
    (Kind.TEXT, Kind.TIMESTAMP): _text_as_moment,
    (Kind.DATE, Kind.TIMESTAMP): _as("TIMESTAMP"),
}
"""Every pair of kinds that can be read at all; the others give null."""

CONVERTING: dict[str, Form] = dict.fromkeys(CASTS, lambda given: cast(given.terms[0], given.kind))
