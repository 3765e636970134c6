"""The smallest pieces of SQL for PostgreSQL: names, types, constants, and the values that a kind allows.

A *term* is SQL with its kind, and what it promises: `chain.terms`. PostgreSQL raises where others give an infinity or
null, and has no TRY: whatever could raise stands in a CASE that looks at the same operands first. Where operands are
constants the condition is folded before the branch, so a branch that is never taken is never evaluated either.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable
from itertools import chain

from tacit.errors import InvalidParameter
from tacit.tables.engines.chain.terms import Term
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.texts import LONGEST_TEXT, fits
from tacit.tables.expressions.tree import Value

__all__ = ["TYPES", "in_64_bits", "in_calendar", "literal", "once", "real", "short", "text_literal", "whole"]

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

_SHORT = 120
"""SQL up to this length may be written more than once; above it, repeating could grow exponentially with depth."""

_IT = "_it_"

_CALENDAR = {
    Kind.DATE: ("DATE '0001-01-01'", "DATE '9999-12-31'"),
    Kind.TIMESTAMP: ("TIMESTAMP '0001-01-01 00:00:00'", "TIMESTAMP '9999-12-31 23:59:59.999999'"),
}


def once(body: Callable[..., str], *arguments: str) -> str:
    """The SQL that ``body`` makes of its arguments, each of which is evaluated, and written, once if it is long.

    OFFSET 0 keeps the planner from copying the argument to every place that names it.
    """
    if sum(map(len, arguments)) <= _SHORT:
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
    first, last = _CALENDAR[kind]
    return once(lambda x: f"CASE WHEN {x} BETWEEN {first} AND {last} THEN {x} END", sql)


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
            return Term(real(value) if math.isfinite(value) else "CAST(NULL AS DOUBLE PRECISION)", Kind.REAL)
        case str():
            return Term(text_literal(value) if fits(value) else "CAST(NULL AS TEXT)", Kind.TEXT)
        case datetime.datetime():
            return Term(_moment(value), Kind.TIMESTAMP)
        case datetime.date():
            return Term(f"DATE '{value.isoformat()}'", Kind.DATE)
    allowed = "a number, a text, a truth value, a date, a timestamp or null"
    raise InvalidParameter("constant", given=type(value).__name__, allowed=allowed)
