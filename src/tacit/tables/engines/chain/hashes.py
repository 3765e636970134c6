"""Which groups and which rows of a unit count: those that come first in a keyed order, the same on every engine.

Groups: each group has three numbers, MD5 of the secret and the group; each unit has one, x (an integer is its own, any
other value MD5 of the secret and itself). The group's place for the unit is a polynomial of x with the group's numbers
as coefficients, modulo the prime 2³¹ - 1: a few machine instructions instead of an MD5 for every unit and group.
Rows: MD5 of the secret, unit, group, content and ordinal. Values: MD5 of the secret, unit, group and value.

What goes into MD5 is text that can be read back in one way only: each value is a letter for its kind, its text (of a
real, its 64 bits), and an end; text has its length before it; null is "-". Nothing rests on MD5 or the polynomial being
strong: what is equal in them is put in order by group, or by content and ordinal, so the order is strict and a limit is
never exceeded.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.tables.engines.chain.dialect import Dialect
from tacit.tables.engines.chain.terms import Term
from tacit.tables.expressions.kinds import Kind

__all__ = [
    "COEFFICIENTS",
    "encoded",
    "group_place",
    "group_polynomial",
    "group_rank",
    "row_hash",
    "unit_number",
    "value_hash",
]

_PRIME = 2**31 - 1
_TAGS = {
    Kind.INTEGER: "i",
    Kind.REAL: "r",
    Kind.TEXT: "t",
    Kind.BOOLEAN: "b",
    Kind.DATE: "d",
    Kind.TIMESTAMP: "s",
}

COEFFICIENTS = ("a", "b", "c")
"""The columns with a group's numbers."""


def encoded(dialect: Dialect, term: Term) -> str:
    """A value as text that no other value of any kind has."""
    kind = term.kind or Kind.TEXT
    if kind is Kind.TEXT:
        return dialect.once(lambda x: f"coalesce('t' || {_length(dialect, x)} || ':' || {x}, '-')", term.sql)
    return f"coalesce('{_TAGS[kind]}' || {dialect.written(term.sql, kind)} || ';', '-')"


def _length(dialect: Dialect, text: str) -> str:
    return dialect.written(f"length({text})", Kind.INTEGER)


def group_place(dialect: Dialect, key: str, group: Sequence[Term]) -> list[str]:
    """The numbers of a group, as columns."""
    parts = [encoded(dialect, term) for term in group]
    return [f"{_number(dialect, key, f'group;{name};', parts)} AS {name}" for name in COEFFICIENTS]


def unit_number(dialect: Dialect, key: str, unit: Term) -> str:
    """The number of a unit, below the prime."""
    if unit.kind is Kind.INTEGER:
        return f"(({unit.sql} % {_PRIME} + {_PRIME}) % {_PRIME})"
    return _number(dialect, key, "unit;", [encoded(dialect, unit)])


def group_rank(table: str) -> str:
    """The place of the group among those of the unit: never the same for two groups (there are fewer than 2³²)."""
    return f"({group_polynomial(table)} * {2**32} + {table}.g)"


def group_polynomial(table: str) -> str:
    """The polynomial alone: two groups may have the same, and are then in the order of their keys."""
    a, b, c = (f"{table}.{name}" for name in COEFFICIENTS)
    y = f"(({a} * x + {b}) % {_PRIME})"
    return f"{y} * (({y} + {c}) % {_PRIME}) % {_PRIME}"


def row_hash(dialect: Dialect, key: str, unit: Term, group: Sequence[Term], content: Sequence[Term]) -> str:
    """The hash of a row of a unit in a group."""
    return dialect.order_of(_text(dialect, key, "row;", [encoded(dialect, term) for term in (unit, *group, *content)]))


def value_hash(dialect: Dialect, key: str, unit: Term, group: Sequence[Term], value: Term) -> str:
    """The hash of a value that a unit holds in a group."""
    return dialect.order_of(_text(dialect, key, "value;", [encoded(dialect, term) for term in (unit, *group, value)]))


def _number(dialect: Dialect, key: str, rest: str, parts: Sequence[str]) -> str:
    """The first 31 bits of the hash (its bytes read from the last to the first), modulo the prime."""
    return f"({dialect.number_of(_text(dialect, key, rest, parts))} % {_PRIME})"


def _text(dialect: Dialect, key: str, rest: str, parts: Sequence[str]) -> str:
    return " || ".join([dialect.secret(key, rest), *parts])
