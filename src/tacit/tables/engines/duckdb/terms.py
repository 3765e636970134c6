"""The smallest pieces of SQL for DuckDB: types, texts, numbers, and the values that a kind allows.

A *term* is SQL with its kind, and what it promises: `chain.terms`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import chain

from tacit.tables.engines.chain.constants import within_calendar
from tacit.tables.engines.chain.terms import REPEATED, Term
from tacit.tables.engines.duckdb.text_casts import TYPES
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.texts import LONGEST_TEXT

__all__ = [
    "TYPES",
    "as_kind",
    "finite",
    "in_64_bits",
    "in_calendar",
    "once",
    "real",
    "short",
    "text_literal",
]

_UNPRINTED = re.compile(r"[\0\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""NUL, and whatever `str.splitlines` takes for the end of a line."""

_IT = "_it_"
"""What a long argument is called; it hides a column of that name, and columns are always written ``rows."name"``."""


def once(body: Callable[..., str], *arguments: str) -> str:
    """The SQL that ``body`` makes of its arguments, each of which is evaluated, and written, once if it is long."""
    if sum(map(len, arguments)) <= REPEATED:
        return body(*arguments)
    if len(arguments) == 1:
        return f"list_transform([{arguments[0]}], lambda {_IT}: {body(_IT)})[1]"
    packed = ", ".join(f"a{i} := {argument}" for i, argument in enumerate(arguments))
    names = (f"struct_extract({_IT}, 'a{i}')" for i in range(len(arguments)))
    return f"list_transform([struct_pack({packed})], lambda {_IT}: {body(*names)})[1]"


def real(value: float) -> str:
    """A double, exactly.

    >>> real(0.1)
    "CAST('0.1' AS DOUBLE)"
    """
    return f"CAST('{value + 0.0!r}' AS DOUBLE)"


def finite(sql: str) -> str:
    """A double, null if it is not a number or infinite; adding 0 makes the negative zero positive."""
    return once(lambda x: f"CASE WHEN isfinite({x}) THEN {x} + CAST(0 AS DOUBLE) END", sql)


def in_64_bits(sql: str) -> str:
    """A whole number of 128 bits as one of 64, null where it does not fit; without an error inside, which is slow."""
    ends = f"CAST({-(2**63)} AS HUGEINT) AND CAST({2**63 - 1} AS HUGEINT)"
    return once(lambda x: f"CASE WHEN {x} BETWEEN {ends} THEN CAST({x} AS BIGINT) END", sql)


def in_calendar(sql: str, kind: Kind) -> str:
    """A date or timestamp, null outside the years 1 to 9999."""
    return once(lambda x: within_calendar(x, kind), sql)


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


def as_kind(term: Term, kind: Kind) -> str:
    """The term widened to a kind: an integer to a real, a date to a timestamp, an untyped NULL to anything."""
    if term.kind is kind:
        return term.sql
    return f"CAST({term.sql} AS {TYPES[kind]})"
