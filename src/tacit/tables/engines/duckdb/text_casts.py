"""Total casts to the six kinds, as DuckDB SQL: what cannot be read as its kind is null, for that row alone.

Days and moments outside the years 1 to 9999, NaN, and texts of more than `LONGEST_TEXT` bytes are null. Moments are
UTC: a text or a value with a zone is converted, one without is taken as it is. The connection's time zone must be UTC,
as `LockedDuckDB` sets it.
"""

from __future__ import annotations

from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.texts import LONGEST_TEXT

__all__ = ["TYPES", "can_cast", "decoded", "from_text", "from_type"]

TYPES = {
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
}
"""The DuckDB type of each kind."""

_INTEGERS = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "HUGEINT",
    "UHUGEINT",
)
_FLOATS = ("FLOAT", "DOUBLE")
_NUMBERS = (*_INTEGERS, *_FLOATS, "DECIMAL")
_ZONED = ("TIMESTAMP WITH TIME ZONE",)
_MOMENTS = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", *_ZONED)
_HOURS = ("TIME", "TIME_NS")
_TEXTS = ("VARCHAR", "ENUM", "UUID", "JSON")
_SHORT = (*_INTEGERS, "DECIMAL", "BOOLEAN")


def from_type(expression: str, type_name: str, kind: Kind) -> str:
    """The cast of a value of a DuckDB type; of one that `can_cast` does not accept, null."""
    base = type_name.partition("(")[0].upper()
    if not can_cast(type_name, kind):
        return f"CAST(NULL AS {TYPES[kind]})"
    if base in _TEXTS:
        plain = expression if base == "VARCHAR" else f"CAST({expression} AS VARCHAR)"
        return from_text(plain, kind)
    if base == "DATE" or base in (*_MOMENTS, *_HOURS):
        return _from_time(expression, base, kind)
    if kind is Kind.TEXT:
        return _as_text(expression, base)
    if kind is Kind.BOOLEAN and base in _NUMBERS:
        return f"CASE WHEN {expression} = 1 THEN true WHEN {expression} = 0 THEN false END"
    if base in _FLOATS:
        real = f"CAST({expression} AS DOUBLE)"
        return _known(real) if kind is Kind.REAL else f"TRY_CAST(round({real}) AS BIGINT)"
    return expression if base == TYPES[kind] else _tried(expression, kind)


def _as_text(expression: str, base: str) -> str:
    """A number as text: 22001.0 is '22001', so that a column of whole numbers reads alike in whatever type it came."""
    if base not in _FLOATS:
        made = f"TRY_CAST({expression} AS VARCHAR)"
        return made if base in _SHORT else _short(made)
    whole = f"{expression} = trunc({expression}) AND abs({expression}) < 9.2e18"
    return (
        f"CASE WHEN isnan({expression}) THEN NULL WHEN {whole} THEN CAST(CAST({expression} AS BIGINT) AS VARCHAR) "
        f"ELSE CAST({expression} AS VARCHAR) END"
    )


def _from_time(expression: str, base: str, kind: Kind) -> str:
    """Looked at before it is cast: beyond the calendar, and the day, some of the engine's own casts raise, or worse."""
    if base in _HOURS:
        first, last = f"CAST('00:00:00' AS {base})", f"CAST('24:00:00' AS {base})"
    else:
        first = f"CAST('0001-01-01' AS {base})"
        last = f"CAST('9999-12-31{'' if base == 'DATE' else ' 23:59:59.999999'}' AS {base})"
    if base == "TIMESTAMP_NS":  # all of it is in the calendar, which is more than it can say
        inside = f"isfinite({expression})"
    else:
        inside = f"{expression} BETWEEN {first} AND {last}"
    return f"CASE WHEN {inside} THEN CAST({expression} AS {TYPES[kind]}) END"


def can_cast(type_name: str, kind: Kind) -> bool:
    """Whether values of a DuckDB type can be read as a kind: a matter of schema."""
    base = type_name.partition("(")[0].upper()
    if kind is Kind.TEXT or base in _TEXTS or base == '"NULL"':
        return not type_name.endswith("]") or kind is Kind.TEXT
    if type_name.endswith("]"):
        return False
    if kind.is_number:
        return base in _NUMBERS or base == "BOOLEAN"
    if kind is Kind.BOOLEAN:
        return base in _NUMBERS or base == "BOOLEAN"
    return base == "DATE" or base in _MOMENTS


def from_text(expression: str, kind: Kind) -> str:
    """The cast of a text."""
    if kind is Kind.TEXT:
        return _short(expression)
    if kind is Kind.REAL:
        return _known(_tried(expression, kind))
    if kind is Kind.BOOLEAN:
        return _tried(f"trim({expression})", kind)
    if kind is Kind.DATE:
        return _in_calendar(_tried(expression, kind), kind)
    if kind is Kind.TIMESTAMP:
        return _in_calendar(_moment(expression), kind)
    return _tried(expression, kind)


def decoded(text: str) -> str:
    """A text in which nothing stands for what could not be decoded; any other is null: two could look alike."""
    return f"CASE WHEN NOT contains({text}, chr(65533)) THEN {text} END"


def _moment(text: str) -> str:
    """A text as UTC. The first branch is for speed; the third for ISO 8601 with a zone and no seconds.

    TRY_CAST to and from TIMESTAMPTZ raises for moments at the ends of DuckDB's time, which TRY catches, slowly; a year
    of other than four digits never gets there.
    """
    zoned = "TRY(CAST(TRY_CAST({} AS TIMESTAMPTZ) AS TIMESTAMP))"
    filled = f"{text}[1:16] || ':00' || {text}[17:]"
    return (
        f"CASE WHEN strlen({text}) = 19 AND {text}[17] = ':' THEN TRY_CAST({text} AS TIMESTAMP) "
        f"WHEN ltrim({text})[5] <> '-' THEN NULL "
        f"WHEN {text}[17] IN ('Z', '+', '-') THEN {zoned.format(filled)} "
        f"ELSE {zoned.format(text)} END"
    )


def _tried(expression: str, kind: Kind) -> str:
    return f"TRY_CAST({expression} AS {TYPES[kind]})"


def _short(text: str) -> str:
    return f"CASE WHEN strlen({text}) <= {LONGEST_TEXT} THEN {text} END"


def _known(real: str) -> str:
    """A real that is not NaN."""
    return f"nullif({real}, 'nan'::DOUBLE)"


def _in_calendar(time: str, kind: Kind) -> str:
    """A day or moment that Python's calendar has; infinite ones are not in it."""
    first, last = f"{TYPES[kind]} '0001-01-01'", f"{TYPES[kind]} '9999-12-31'"
    if kind is Kind.TIMESTAMP:
        last = "TIMESTAMP '9999-12-31 23:59:59.999999'"
    return f"CASE WHEN {time} BETWEEN {first} AND {last} THEN {time} END"
