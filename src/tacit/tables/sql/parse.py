"""A SELECT, read into the query tree; nothing that is not on the allow-list gets through.

>>> parse("select City, count(*) as n from visits group by city", "visits").outputs[0]
Output(name='City', expression=Key(index=0))
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tacit.tables.expressions.tree import Expression
from tacit.tables.query.later import Later
from tacit.tables.query.refusals import NotUnderstood
from tacit.tables.query.rows import Rows
from tacit.tables.query.to_sql import to_sql
from tacit.tables.query.tree import Query

if TYPE_CHECKING:
    from tacit.tables.sql.read.statement import Statements

__all__ = ["parse", "parse_around", "parse_condition", "parse_released", "statements", "states_price"]

Tables = Mapping[str, Sequence[str]]

_PIECE = re.compile(
    r"""'(?:[^']|'')*'?      # a text
      | "(?:[^"]|"")*"?      # a name
      | --[^\n]*             # a comment
      | /\*.*?(?:\*/|\Z)
      | ;
      | [^'";/-]+ | .""",
    re.VERBOSE | re.DOTALL,
)


def parse(text: str, table: str, tables: Tables | None = None) -> Query:
    """The query that a statement asks of the table; ``tables`` are the columns of all that it may join, by name."""
    with _reading(table, tables) as statements:
        query, is_plain = statements.query(text)
        return query if is_plain else statements.query(to_sql(query))[0]  # dissolved, as if it was written so


def parse_around(text: str, table: str, tables: Tables | None = None) -> tuple[Query, list[Later]] | None:
    """A statement around an answer: the query inside, and the steps that are taken with its answer; None if it is none.

    >>> text = "SELECT city, n / SUM(n) OVER () AS share FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city)"
    >>> inner, steps = parse_around(text, "visits")
    >>> to_sql(inner), len(steps)
    ('SELECT city, COUNT(*) AS n FROM visits GROUP BY city', 1)
    """
    with _reading(table, tables) as statements:
        return statements.around(text)


def states_price(text: str) -> bool:
    """Whether a statement says its price itself: OPTIONS(epsilon = …)."""
    with _reading("") as statements:
        return statements.price(text) is not None


def parse_condition(text: str, table: str, rows: Rows) -> Expression:
    """A condition on rows, as after WHERE, over what they are made of: what `.where("age > 40")` reads."""
    if not isinstance(text, str) or not text.strip():
        raise NotUnderstood("an empty condition", "write something like age > 40")
    with _reading(table) as statements:
        return statements.condition(text, rows)


def parse_released(text: str, table: str, rows: Rows) -> Expression:
    """A condition on released values, as after HAVING; in it names without a table are still as they are written."""
    with _reading(table) as statements:
        return statements.released(text, rows)


def statements(text: str) -> list[str]:
    """The statements of a text, without the semicolons between them; those in texts, names and comments stay.

    >>> statements("SELECT ';' AS a FROM t; -- a; b\\n SELECT 2 FROM t;\\n")
    ["SELECT ';' AS a FROM t", '-- a; b\\n SELECT 2 FROM t']
    >>> statements("SELECT 1 FROM t -- the end;")
    ['SELECT 1 FROM t -- the end;']
    """
    found, is_said = [""], [False]
    for piece in _PIECE.findall(text):
        if piece == ";":
            found.append("")
            is_said.append(False)
            continue
        found[-1] += piece
        is_said[-1] |= bool(piece.strip()) and not piece.startswith(("--", "/*"))
    said = [one.strip() for one, whole in zip(found, is_said, strict=True) if whole]
    return said or [text]


@contextmanager
def _reading(table: str, tables: Tables | None = None) -> Iterator[Statements]:
    """The parser, loaded here alone: only who writes SQL pays for it.

    Whatever is nested deeper than Python goes is refused like what is nested deeper than we allow.
    """
    from tacit.tables.sql.read.statement import Statements

    try:
        yield Statements(table, tables)
    except RecursionError:
        raise NotUnderstood("the statement", "is nested too deep", "Write it in fewer steps.") from None
