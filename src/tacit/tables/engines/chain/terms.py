"""What SQL is put together from, whichever engine reads it: terms, names, lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tacit.tables.expressions.kinds import Kind

__all__ = ["REPEATED", "VIEW", "Term", "identifier", "indented", "lines", "other_view"]


VIEW = "rows"
"""The name of the rows of the table itself."""

REPEATED = 120
"""SQL up to this length may be written more than once; above it, repeating could grow exponentially with depth."""


@dataclass(frozen=True, slots=True)
class Term:
    """SQL of a row-wise value, and its kind; None is the kind of an untyped NULL.

    Four promises hold for every term: it never raises, whatever the row; a real is finite and not the negative zero; a
    date or timestamp lies in the years 1 to 9999; a text has at most `LONGEST_TEXT` bytes. What breaks one of them is
    null.
    """

    sql: str
    kind: Kind | None


def identifier(name: str) -> str:
    """A name as SQL writes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def other_view(table: str) -> str:
    """The name of the rows of another table: of none that a source could have."""
    return f"{VIEW} of {table.lower()}"


def lines(items: Sequence[str]) -> str:
    """One below the other."""
    return ",\n       ".join(items)


def indented(body: str) -> str:
    """By two spaces."""
    return "\n".join("  " + line for line in body.splitlines())
