"""Total casts of a table's own types to the six kinds: what cannot be read as its kind is null, for that row alone.

NaN and infinities, days and moments that are infinite or outside the years 1 to 9999, and texts of more than
`LONGEST_TEXT` bytes are null. Moments are UTC. Texts are compared by their bytes, whatever the column's collation.
"""

from __future__ import annotations

from tacit.tables.engines.chain.terms import Term
from tacit.tables.engines.postgres.operators.casts import cast, from_numeric, real_as_text
from tacit.tables.engines.postgres.terms import TYPES, in_64_bits, in_calendar, real, short
from tacit.tables.expressions.kinds import Kind

__all__ = ["can_cast", "from_type", "own_kind", "refused"]

_INTEGERS = ("int2", "int4", "int8")
_FLOATS = ("float4", "float8")
_TEXTS = ("text", "varchar", "bpchar", "citext", "name", "uuid", "enum", "char")
_KINDS = {
    **dict.fromkeys(_INTEGERS, Kind.INTEGER),
    **dict.fromkeys((*_FLOATS, "numeric"), Kind.REAL),
    **dict.fromkeys(_TEXTS, Kind.TEXT),
    "bool": Kind.BOOLEAN,
    "date": Kind.DATE,
    "timestamp": Kind.TIMESTAMP,
    "timestamptz": Kind.TIMESTAMP,
}


def own_kind(type_name: str) -> Kind | None:
    """The kind of a type; None of one that is not read: arrays, json, bytea and the like."""
    return _KINDS.get(type_name)


def refused(type_name: str) -> bool:
    """Whether columns of the type cannot be asked about."""
    return type_name not in _KINDS


def can_cast(type_name: str, kind: Kind) -> bool:
    """Whether values of a type can be read as a kind: a matter of schema."""
    own = own_kind(type_name)
    if own is None:
        return False
    if own is kind or kind is Kind.TEXT or own is Kind.TEXT:
        return True
    if own.is_time or kind.is_time:
        return own.is_time and kind.is_time
    return True


def from_type(sql: str, type_name: str, kind: Kind) -> str:
    """The value of a column of the type as a kind; of one that `can_cast` does not accept, null."""
    if not can_cast(type_name, kind):
        return f"CAST(NULL AS {TYPES[kind]})"
    own = own_kind(type_name)
    if type_name == "numeric" and kind in (Kind.INTEGER, Kind.TEXT):
        return in_64_bits(sql) if kind is Kind.INTEGER else short(_text(_finite_numeric(sql)))
    if kind is Kind.BOOLEAN and own in (Kind.INTEGER, Kind.REAL):
        return f"CASE WHEN {sql} = 1 THEN TRUE WHEN {sql} = 0 THEN FALSE END"
    if kind is Kind.TEXT and own is Kind.REAL:
        return _real_as_text(_known(sql, type_name))
    return cast(Term(_known(sql, type_name), own), kind)


def _known(sql: str, type_name: str) -> str:
    """A value of its own kind, which keeps the promises of terms."""
    if type_name in _INTEGERS:
        return sql if type_name == "int8" else f"{sql}::bigint"
    if type_name in _FLOATS:
        x = sql if type_name == "float8" else f"{sql}::float8"
        return f"CASE WHEN {x} > '-Infinity'::float8 AND {x} < 'Infinity'::float8 THEN {x} + {real(0.0)} END"
    if type_name == "numeric":
        return from_numeric(sql)
    if type_name in _TEXTS:
        return short(_text(sql))
    if type_name == "timestamptz":
        inside = f"{sql} BETWEEN '0001-01-01 00:00:00+00' AND '9999-12-31 23:59:59.999999+00'"
        return f"CASE WHEN {inside} THEN {sql} AT TIME ZONE 'UTC' END"
    if type_name in ("date", "timestamp"):
        return in_calendar(sql, _KINDS[type_name])
    return sql


def _text(sql: str) -> str:
    return f'({sql}::text COLLATE "C")'


def _finite_numeric(sql: str) -> str:
    return f"CASE WHEN {sql} > '-Infinity'::numeric AND {sql} < 'Infinity'::numeric THEN {sql} END"


def _real_as_text(sql: str) -> str:
    """A whole number without its point: a column of whole numbers reads alike in whatever type it came."""
    whole = f"{sql} = trunc({sql}) AND abs({sql}) < {real(9.2e18)}"
    return f'CASE WHEN {whole} THEN ({sql}::bigint::text COLLATE "C") ELSE {real_as_text(sql)} END'
