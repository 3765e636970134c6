"""Total casts to the six kinds, as DuckDB SQL: what cannot be read as its kind is null, for that row alone.

Days and moments outside the years 1 to 9999, NaN, and texts of more than `LONGEST_TEXT` bytes are null. Moments are
UTC: a text or a value with a zone is converted, one without is taken as it is. The connection's time zone must be UTC,
as `LockedDuckDB` sets it.
"""

from __future__ import annotations

from dataclasses import dataclass

from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.texts import LONGEST_TEXT

__all__ = ["BLANKS", "PLAIN", "TYPES", "Forms", "by_format", "can_cast", "decoded", "from_text", "from_type"]


@dataclass(frozen=True, slots=True)
class Forms:
    """How numbers and days are written in texts, where not as in a program.

    With a comma as ``decimal``, a point may only stand between thousands: 1.234,5. Of ``dates`` (%d/%m/%Y) the first
    that fits counts, and after them what is always read; a year of four digits is one from 1000 on.
    """

    decimal: str = "."
    dates: tuple[str, ...] = ()


PLAIN = Forms()
BLANKS = "chr(32) || chr(9) || chr(160)"
"""Characters that trimming leaves out: space, tab, and the space that does not break."""

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
_COMMA_NUMBER = r"\s*[+-]?(\d{1,3}(\.\d{3})+|\d*)(,\d*)?([eE][+-]?\d+)?\s*"
_SHORT = (*_INTEGERS, "DECIMAL", "BOOLEAN")


def from_type(expression: str, type_name: str, kind: Kind, forms: Forms = PLAIN) -> str:
    """The cast of a value of a DuckDB type; of one that `can_cast` does not accept, null."""
    base = type_name.partition("(")[0].upper()
    if not can_cast(type_name, kind):
        return f"CAST(NULL AS {TYPES[kind]})"
    if base in _TEXTS:
        plain = expression if base == "VARCHAR" else f"CAST({expression} AS VARCHAR)"
        return from_text(plain, kind, forms)
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


def from_text(expression: str, kind: Kind, forms: Forms = PLAIN) -> str:
    """The cast of a text."""
    if kind is Kind.TEXT:
        return _short(expression)
    if kind.is_number and forms.decimal == ",":
        expression = _with_point(expression)
    if kind is Kind.REAL:
        return _known(_tried(expression, kind))
    if kind is Kind.BOOLEAN:
        return _tried(f"trim({expression})", kind)
    if kind is Kind.DATE:
        return _in_calendar(_first([*_written(expression, forms, kind), _tried(expression, kind)]), kind)
    if kind is Kind.TIMESTAMP:
        return _in_calendar(_first([*_written(expression, forms, kind), _moment(expression)]), kind)
    return _tried(expression, kind)


def by_format(text: str, form: str) -> str:
    """A text as a moment, by one format; null if it is not written so."""
    time = f"try_strptime({text}, '{form.replace(chr(39), chr(39) * 2)}')"
    return f"CASE WHEN year({time}) >= 1000 THEN {time} END" if "%Y" in form else time


def _with_point(text: str) -> str:
    """1.234,5 as 1234.5; null if it is no number written so."""
    plain = f"replace(replace({text}, '.', ''), ',', '.')"
    return f"CASE WHEN regexp_full_match({text}, '{_COMMA_NUMBER}') THEN {plain} END"


def _written(text: str, forms: Forms, kind: Kind) -> list[str]:
    """What each of the formats reads; two digits are no year of four."""
    return [f"CAST({by_format(text, one)} AS {TYPES[kind]})" for one in forms.dates]


def _first(read: list[str]) -> str:
    return read[0] if len(read) == 1 else f"coalesce({', '.join(read)})"


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
