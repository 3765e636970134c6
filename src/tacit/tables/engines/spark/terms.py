"""The smallest pieces of SQL for Spark: types, texts, numbers, and the values that a kind allows.

A *term* is SQL with its kind, and what it promises: `chain.terms`. Under ANSI rules Spark raises where others give
null: whatever could raise stands in a CASE that looks at the same operands first, or is one of its ``try_`` functions.
A condition after AND may be evaluated before the one in front of it, so every part of one is total by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tacit.tables.engines.chain.constants import within_calendar
from tacit.tables.engines.chain.terms import REPEATED
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.texts import LONGEST_TEXT

__all__ = [
    "TYPES",
    "down",
    "finite",
    "in_64_bits",
    "in_calendar",
    "once",
    "real",
    "short",
    "text_literal",
    "whole",
]

TYPES = {
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "STRING",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
}
"""The Spark type of each kind; a timestamp is a moment of UTC, the zone of the session."""

_ESCAPED = re.compile(r"[^ -~\u00a1-\uffff]|['\\$\u2028\u2029]")
"""What a literal does not hold as it is: quotes, backslashes, what could be a variable, what ends a line, the rest."""

_IT = "_it_"
_FIRST, _END = "CAST('-9.223372036854775808E18' AS DOUBLE)", "CAST('9.223372036854775808E18' AS DOUBLE)"


def once(body: Callable[..., str], *arguments: str) -> str:
    """The SQL that ``body`` makes of its arguments, each of which is evaluated, and written, once if it is long."""
    if sum(map(len, arguments)) <= REPEATED:
        return body(*arguments)
    if len(arguments) == 1:
        return f"transform(array({arguments[0]}), {_IT} -> {body(_IT)})[0]"
    packed = ", ".join(f"'a{i}', {argument}" for i, argument in enumerate(arguments))
    names = (f"{_IT}.a{i}" for i in range(len(arguments)))
    return f"transform(array(named_struct({packed})), {_IT} -> {body(*names)})[0]"


def real(value: float) -> str:
    """A double, exactly.

    >>> real(0.1)
    "CAST('0.1' AS DOUBLE)"
    """
    return f"CAST('{value + 0.0!r}' AS DOUBLE)"


def finite(sql: str) -> str:
    """A double, null if it is not a number (which is above every other here) or infinite; never the negative zero."""
    inside = f"abs({{0}}) < CAST('Infinity' AS DOUBLE) THEN {{0}} + {real(0.0)}"
    return once(lambda x: f"CASE WHEN {inside.format(x)} END", sql)


def whole(sql: str) -> str:
    """A double made whole, to the nearest even where it is half; null where 64 bits do not hold it. CAST truncates."""
    return once(lambda x: f"CASE WHEN {x} >= {_FIRST} AND {x} < {_END} THEN CAST(rint({x}) AS BIGINT) END", sql)


def down(sql: str) -> str:
    """floor of a double, of 64 bits, or null: Spark's own raises."""
    return once(lambda x: f"CASE WHEN {x} >= {_FIRST} AND {x} < {_END} THEN floor({x}) END", sql)


def in_64_bits(sql: str) -> str:
    """A decimal as a whole number of 64 bits, null where it does not fit."""
    return once(lambda x: f"CASE WHEN {x} BETWEEN {-(2**63)} AND {2**63 - 1} THEN CAST({x} AS BIGINT) END", sql)


def in_calendar(sql: str, kind: Kind) -> str:
    """A date or timestamp, null outside the years 1 to 9999."""
    return once(lambda x: within_calendar(x, kind), sql)


def short(sql: str) -> str:
    """A text, null if it is longer than one may be."""
    return once(lambda x: f"CASE WHEN octet_length({x}) <= {LONGEST_TEXT} THEN {x} END", sql)


def text_literal(text: str) -> str:
    r"""A text in quotes, on one line; what is not Unicode is null: nothing equals it.

    >>> print(text_literal("it's ${x}"), text_literal("two\nlines"))
    'it\u0027s \u0024{x}' 'two\u000alines'
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return "CAST(NULL AS STRING)"
    return "'" + _ESCAPED.sub(lambda found: _code(ord(found[0])), text) + "'"


def _code(sign: int) -> str:
    return f"\\u{sign:04x}" if sign < 0x10000 else f"\\U{sign:08x}"
