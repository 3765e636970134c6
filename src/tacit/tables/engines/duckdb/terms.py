"""The smallest pieces of SQL for DuckDB: names, types, constants, and the values that a kind allows.

A *term* is SQL with its kind, and what it promises: `chain.terms`.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable
from itertools import chain

from tacit.errors import InvalidParameter
from tacit.tables.engines.chain.terms import Term
from tacit.tables.engines.duckdb.text_casts import TYPES
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.texts import LONGEST_TEXT, fits
from tacit.tables.expressions.tree import Value

__all__ = [
    "TYPES",
    "as_kind",
    "finite",
    "in_64_bits",
    "in_calendar",
    "literal",
    "once",
    "short",
    "text_literal",
]

_UNPRINTED = re.compile(r"[\0\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""NUL, and whatever `str.splitlines` takes for the end of a line."""

_SHORT = 120
"""SQL up to this length may be written more than once; above it, repeating could grow exponentially with depth."""

_IT = "_it_"
"""What a long argument is called; it hides a column of that name, and columns are always written ``rows."name"``."""

_CALENDAR = {
    Kind.DATE: ("DATE '0001-01-01'", "DATE '9999-12-31'"),
    Kind.TIMESTAMP: ("TIMESTAMP '0001-01-01 00:00:00'", "TIMESTAMP '9999-12-31 23:59:59.999999'"),
}


def once(body: Callable[..., str], *arguments: str) -> str:
    """The SQL that ``body`` makes of its arguments, each of which is evaluated, and written, once if it is long."""
    if sum(map(len, arguments)) <= _SHORT:
        return body(*arguments)
    if len(arguments) == 1:
        return f"list_transform([{arguments[0]}], lambda {_IT}: {body(_IT)})[1]"
    packed = ", ".join(f"a{i} := {argument}" for i, argument in enumerate(arguments))
    names = (f"struct_extract({_IT}, 'a{i}')" for i in range(len(arguments)))
    return f"list_transform([struct_pack({packed})], lambda {_IT}: {body(*names)})[1]"


def finite(sql: str) -> str:
    """A double, null if it is not a number or infinite; adding 0 makes the negative zero positive."""
    return once(lambda x: f"CASE WHEN isfinite({x}) THEN {x} + CAST(0 AS DOUBLE) END", sql)


def in_64_bits(sql: str) -> str:
    """A whole number of 128 bits as one of 64, null where it does not fit; without an error inside, which is slow."""
    ends = f"CAST({-(2**63)} AS HUGEINT) AND CAST({2**63 - 1} AS HUGEINT)"
    return once(lambda x: f"CASE WHEN {x} BETWEEN {ends} THEN CAST({x} AS BIGINT) END", sql)


def in_calendar(sql: str, kind: Kind) -> str:
    """A date or timestamp, null outside the years 1 to 9999."""
    first, last = _CALENDAR[kind]
    return once(lambda x: f"CASE WHEN {x} BETWEEN {first} AND {last} THEN {x} END", sql)


def short(sql: str) -> str:
    """A text, null if it is longer than one may be."""
    return once(lambda x: f"CASE WHEN strlen({x}) <= {LONGEST_TEXT} THEN {x} END", sql)


def text_literal(text: str) -> str:
    """A text in quotes, on one line: statements are indented. What is not Unicode is null: nothing equals it.

    NUL, which SQL cannot hold, and all that ends a line are written as chr(…).

    >>> print(text_literal("it's"), text_literal("two\\nlines"))
    'it''s' ('two' || chr(10) || 'lines')
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return "CAST(NULL AS VARCHAR)"
    if _UNPRINTED.search(text) is None:
        return "'" + text.replace("'", "''") + "'"
    pieces = ["'" + piece.replace("'", "''") + "'" for piece in _UNPRINTED.split(text)]
    between = [f"chr({ord(char)})" for char in _UNPRINTED.findall(text)]
    return "(" + " || ".join([pieces[0], *chain(*zip(between, pieces[1:], strict=True))]) + ")"


def _moment(value: datetime.datetime) -> str:
    if value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return f"TIMESTAMP '{value.isoformat(sep=' ')}'"


def literal(value: Value) -> Term:
    """A constant. An integer beyond 64 bits, an infinity, NaN and a text too long are null, as if computed."""
    match value:
        case None:
            return Term("NULL", None)
        case bool():
            return Term("TRUE" if value else "FALSE", Kind.BOOLEAN)
        case int():
            inside = -(2**63) <= value < 2**63
            return Term(f"CAST({value} AS BIGINT)" if inside else "CAST(NULL AS BIGINT)", Kind.INTEGER)
        case float():
            known = math.isfinite(value)
            return Term(f"CAST('{value + 0.0!r}' AS DOUBLE)" if known else "CAST(NULL AS DOUBLE)", Kind.REAL)
        case str():
            return Term(text_literal(value) if fits(value) else "CAST(NULL AS VARCHAR)", Kind.TEXT)
        case datetime.datetime():
            return Term(_moment(value), Kind.TIMESTAMP)
        case datetime.date():
            return Term(f"DATE '{value.isoformat()}'", Kind.DATE)
    allowed = "a number, a text, a truth value, a date, a timestamp or null"
    raise InvalidParameter("constant", given=type(value).__name__, allowed=allowed)


def as_kind(term: Term, kind: Kind) -> str:
    """The term widened to a kind: an integer to a real, a date to a timestamp, an untyped NULL to anything."""
    if term.kind is kind:
        return term.sql
    return f"CAST({term.sql} AS {TYPES[kind]})"
