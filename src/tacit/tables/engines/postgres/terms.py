"""The smallest pieces of SQL for PostgreSQL: types, texts, numbers, and the values that a kind allows.

A *term* is SQL with its kind, and what it promises: `chain.terms`. PostgreSQL raises where others give an infinity or
null, and has no TRY: whatever could raise stands in a CASE that looks at the same operands first. Where operands are
constants the condition is folded before the branch, so a branch that is never taken is never evaluated either.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import chain

from tacit.tables.engines.chain.constants import within_calendar
from tacit.tables.engines.chain.terms import REPEATED
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.texts import LONGEST_TEXT

__all__ = ["TYPES", "in_64_bits", "in_calendar", "once", "real", "short", "text_literal", "whole"]

TYPES = {
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE PRECISION",
    Kind.TEXT: "TEXT",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
}
"""The PostgreSQL type of each kind."""

_UNPRINTED = re.compile(r"[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""Whatever `str.splitlines` takes for the end of a line; NUL cannot be in a text here at all."""

_IT = "_it_"


def once(body: Callable[..., str], *arguments: str) -> str:
    """The SQL that ``body`` makes of its arguments, each of which is evaluated, and written, once if it is long.

    OFFSET 0 keeps the planner from copying the argument to every place that names it.
    """
    if sum(map(len, arguments)) <= REPEATED:
        return body(*arguments)
    named = ", ".join(f"{argument} AS a{i}" for i, argument in enumerate(arguments))
    names = (f"{_IT}.a{i}" for i in range(len(arguments)))
    return f"(SELECT {body(*names)} FROM (SELECT {named} OFFSET 0) AS {_IT})"


def real(value: float) -> str:
    """A double, exactly.

    >>> real(0.1)
    "'0.1'::float8"
    """
    return f"'{value + 0.0!r}'::float8"


def whole(sql: str) -> str:
    """A double made whole, to the nearest even where it is half; null where 64 bits do not hold it."""
    return once(lambda x: f"CASE WHEN {x} >= {real(-(2.0**63))} AND {x} < {real(2.0**63)} THEN {x}::bigint END", sql)


def in_64_bits(sql: str) -> str:
    """A numeric as a whole number of 64 bits, half away from zero; null where it does not fit, or is no number."""
    ends = f"{-(2**63)} AND {2**63 - 1}"
    return once(lambda x: f"CASE WHEN round({x}) BETWEEN {ends} THEN {x}::bigint END", sql)


def in_calendar(sql: str, kind: Kind) -> str:
    """A date or timestamp, null outside the years 1 to 9999; infinite ones are outside."""
    return once(lambda x: within_calendar(x, kind), sql)


def short(sql: str) -> str:
    """A text, null if it is longer than one may be."""
    return once(lambda x: f"CASE WHEN octet_length({x}) <= {LONGEST_TEXT} THEN {x} END", sql)


def text_literal(text: str) -> str:
    r"""A text in quotes, on one line, compared by its bytes. What PostgreSQL cannot hold is null: nothing equals it.

    >>> print(text_literal("it's"), text_literal("a\0b"))
    ('it''s' COLLATE "C") CAST(NULL AS TEXT)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return "CAST(NULL AS TEXT)"
    if "\0" in text:
        return "CAST(NULL AS TEXT)"
    pieces = ["'" + piece.replace("'", "''") + "'" for piece in _UNPRINTED.split(text)]
    between = [f"chr({ord(char)})" for char in _UNPRINTED.findall(text)]
    joined = " || ".join([pieces[0], *chain(*zip(between, pieces[1:], strict=True))])
    return f'({joined} COLLATE "C")' if not between else f'(({joined}) COLLATE "C")'
