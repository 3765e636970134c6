"""Total casts of a table's own types to the six kinds: what cannot be read as its kind is null, for that row alone.

NaN and infinities, days and moments outside the years 1 to 9999, texts that are not UTF-8 or have more than
`LONGEST_TEXT` bytes are null. Moments are UTC. Texts are compared by their bytes, whatever the column's collation.
"""

from __future__ import annotations

from tacit.tables.engines.chain.terms import Term
from tacit.tables.engines.spark.operators.casts import cast
from tacit.tables.engines.spark.terms import TYPES, finite, in_64_bits, in_calendar, once, short
from tacit.tables.expressions.kinds import Kind

__all__ = ["can_cast", "from_type", "own_kind", "refused"]

_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_FLOATS = ("float", "double")
_TEXTS = ("string", "varchar", "char")
_KINDS = {
    **dict.fromkeys(_INTEGERS, Kind.INTEGER),
    **dict.fromkeys((*_FLOATS, "decimal"), Kind.REAL),
    **dict.fromkeys(_TEXTS, Kind.TEXT),
    "boolean": Kind.BOOLEAN,
    "date": Kind.DATE,
    "timestamp": Kind.TIMESTAMP,
    "timestamp_ntz": Kind.TIMESTAMP,
}


def _plain(type_name: str) -> str:
    return type_name.partition("(")[0].partition(" collate")[0].strip().lower()


def own_kind(type_name: str) -> Kind | None:
    """The kind of a type; None of one that is not read: arrays, structs, maps, binary and the like."""
    return _KINDS.get(_plain(type_name))


def refused(type_name: str) -> bool:
    """Whether columns of the type cannot be asked about."""
    return own_kind(type_name) is None


def can_cast(type_name: str, kind: Kind) -> bool:
    """Whether values of a type can be read as a kind: a matter of schema. A real is never a text: digits differ."""
    own = own_kind(type_name)
    if own is None:
        return False
    if own is kind or own is Kind.TEXT:
        return True
    if kind is Kind.TEXT:
        return own is not Kind.REAL
    if own.is_time or kind.is_time:
        return own.is_time and kind.is_time
    return True


def from_type(sql: str, type_name: str, kind: Kind) -> str:
    """The value of a column of the type as a kind; of one that `can_cast` does not accept, null."""
    if not can_cast(type_name, kind):
        return f"CAST(NULL AS {TYPES[kind]})"
    own, plain = own_kind(type_name), _plain(type_name)
    if plain == "decimal" and kind is Kind.INTEGER:
        return in_64_bits(f"round({sql}, 0)")
    if kind is Kind.BOOLEAN and own in (Kind.INTEGER, Kind.REAL):
        return f"CASE WHEN {sql} = 1 THEN TRUE WHEN {sql} = 0 THEN FALSE END"
    return cast(Term(_known(sql, plain), own), kind)


def _known(sql: str, plain: str) -> str:
    """A value of its own kind, which keeps the promises of terms."""
    if plain in _INTEGERS:
        return sql if plain == "bigint" else f"CAST({sql} AS BIGINT)"
    if plain in (*_FLOATS, "decimal"):
        return finite(sql if plain == "double" else f"CAST({sql} AS DOUBLE)")
    if plain in _TEXTS:
        return once(short, f"try_validate_utf8(collate({sql}, 'UTF8_BINARY'))")
    if plain == "timestamp_ntz":
        return in_calendar(f"CAST({sql} AS TIMESTAMP)", Kind.TIMESTAMP)
    if plain in ("date", "timestamp"):
        return in_calendar(sql, _KINDS[plain])
    return sql
