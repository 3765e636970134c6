"""Total casts: null where a value cannot be read as the kind."""

from __future__ import annotations

from collections.abc import Callable

from tacit.tables.engines.chain.form import Form
from tacit.tables.engines.chain.operators.casts import DECIMAL, FALSE, HOURS, TRUE, WHOLE, Readings, converted
from tacit.tables.engines.chain.terms import Term
from tacit.tables.engines.postgres.terms import TYPES, in_64_bits, once, real, whole
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.operators import CASTS

__all__ = ["CONVERTING", "cast", "from_numeric", "real_as_text"]

_STRICT_DAY = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
"""One beyond would raise."""
_LARGEST = "1.797693134862315807e308"
"""Between the largest double and what no longer rounds to it."""
_SMALLEST = "2.4703282292062328e-324"
"""Below, a number is nearer to 0 than to the smallest double."""


def cast(term: Term, kind: Kind) -> str:
    """The value as that kind, or null."""
    return converted(term, kind, TYPES, _READINGS)


def from_numeric(sql: str) -> str:
    """A numeric as the nearest double: null if it is none, or beyond the largest."""
    return once(
        lambda n: (
            f"CASE WHEN abs({n}) < {_SMALLEST} THEN {real(0.0)} "
            f"WHEN abs({n}) < {_LARGEST} THEN {n}::float8 + {real(0.0)} END"
        ),
        sql,
    )


def _as(type_name: str) -> Callable[[str], str]:
    return lambda x: f"CAST({x} AS {type_name})"


def _as_text(x: str) -> str:
    return f'(CAST({x} AS TEXT) COLLATE "C")'


def _trimmed(body: Callable[[str], str]) -> Callable[[str], str]:
    return lambda x: once(body, f"btrim({x}, ' ')")


def _whole_text(t: str) -> str:
    return f"CASE WHEN {t} ~ '^{WHOLE}$' THEN {in_64_bits(f'{t}::numeric')} END"


def _real_text(t: str) -> str:
    return f"CASE WHEN {t} ~ '^{DECIMAL}$' THEN {from_numeric(f'{t}::numeric')} END"


def _moment_text(t: str) -> str:
    """The day is looked up in the month before it is read: the engine would raise."""
    year, month, day = f"substr({t}, 1, 4)::int", f"substr({t}, 6, 2)", f"substr({t}, 9, 2)"
    leap = f"{year} % 4 = 0 AND ({year} % 100 <> 0 OR {year} % 400 = 0)"
    last = f"CASE WHEN {month} IN ('04', '06', '09', '11') THEN '30' WHEN {month} <> '02' THEN '31' WHEN {leap} "
    last += "THEN '29' ELSE '28' END"
    known = f"substr({t}, 1, 4) <> '0000' AND {day} <= ({last}) COLLATE \"C\""
    return f"CASE WHEN {t} ~ '^{_STRICT_DAY}{HOURS}$' THEN CASE WHEN {known} THEN CAST({t} AS TIMESTAMP) END END"


def _text_as_day(x: str) -> str:
    return f"CAST({_trimmed(_moment_text)(x)} AS DATE)"


def _truth_text(t: str) -> str:
    return f"CASE WHEN {t} IN {TRUE} THEN TRUE WHEN {t} IN {FALSE} THEN FALSE END"


def _text_as_truth(x: str) -> str:
    """Words of ASCII: other letters are in none of them, whatever their small form."""
    return once(_truth_text, f"lower(btrim({x}, ' '))")


def real_as_text(x: str) -> str:
    """The shortest text that is read as the same double, with a point or an exponent: 7.0, 1e+16, 0.0001, 1e-05.

    PostgreSQL finds the same digits, and writes an exponent from 1e+15 on, and no point in whole numbers.
    """

    def written(t: str) -> str:
        digits = f"rpad(replace(replace(split_part({t}, 'e', 1), '.', ''), '-', ''), 16, '0')"
        long = f"CASE WHEN {t} LIKE '-%' THEN '-' ELSE '' END || substr({digits}, 1, 16) || '.' || "
        long += f"CASE WHEN length({digits}) > 16 THEN substr({digits}, 17) ELSE '0' END"
        return f"(CASE WHEN {t} LIKE '%e+15' THEN {long} WHEN {t} ~ '[.e]' THEN {t} ELSE {t} || '.0' END) COLLATE \"C\""

    return once(written, f"CAST({x} AS TEXT)")


def _nonzero(x: str) -> str:
    return f"({x} <> 0)"


_READINGS: Readings = {
    (Kind.REAL, Kind.INTEGER): whole,
    (Kind.TEXT, Kind.INTEGER): _trimmed(_whole_text),
    (Kind.BOOLEAN, Kind.INTEGER): lambda x: f"{x}::int::bigint",
    (Kind.INTEGER, Kind.REAL): _as("DOUBLE PRECISION"),
    (Kind.TEXT, Kind.REAL): _trimmed(_real_text),
    (Kind.BOOLEAN, Kind.REAL): lambda x: f"{x}::int::float8",
    (Kind.INTEGER, Kind.TEXT): _as_text,
    (Kind.REAL, Kind.TEXT): real_as_text,
    (Kind.BOOLEAN, Kind.TEXT): _as_text,
    (Kind.DATE, Kind.TEXT): _as_text,
    (Kind.TIMESTAMP, Kind.TEXT): _as_text,
    (Kind.INTEGER, Kind.BOOLEAN): _nonzero,
    (Kind.REAL, Kind.BOOLEAN): _nonzero,
    (Kind.TEXT, Kind.BOOLEAN): _text_as_truth,
    (Kind.TEXT, Kind.DATE): _text_as_day,
    (Kind.TIMESTAMP, Kind.DATE): _as("DATE"),
    (Kind.TEXT, Kind.TIMESTAMP): _trimmed(_moment_text),
    (Kind.DATE, Kind.TIMESTAMP): _as("TIMESTAMP"),
}
"""Every pair of kinds that can be read at all; the others give null."""

CONVERTING: dict[str, Form] = dict.fromkeys(CASTS, lambda given: cast(given.terms[0], given.kind))
