"""Which groups and which rows of a unit count: the smallest keyed hashes, computed the same on every engine.

The hash is MD5 of a text made of the secret and of the values in question. Each value is written so that the whole can
be read back in one way only: a letter for its kind, its text, and an end; text with its length before it; null as "-".
Nothing rests on MD5 being strong: equal hashes are put in order by the values themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.tables.engines.duckdb_terms import Term, once, text_literal
from tacit.tables.kinds import Kind

__all__ = ["encoded", "keyed_hash"]

_TAGS = {
    Kind.INTEGER: "i",
    Kind.REAL: "r",
    Kind.TEXT: "t",
    Kind.BOOLEAN: "b",
    Kind.DATE: "d",
    Kind.TIMESTAMP: "s",
}


def encoded(term: Term) -> str:
    """A value as text that no other value of any kind has."""
    kind = term.kind or Kind.TEXT
    if kind is Kind.TEXT:
        return once(lambda x: f"coalesce('t' || CAST(length({x}) AS VARCHAR) || ':' || {x}, '-')", term.sql)
    return f"coalesce('{_TAGS[kind]}' || CAST({term.sql} AS VARCHAR) || ';', '-')"


def keyed_hash(key: str, parts: Sequence[str]) -> str:
    """The hash of the secret and of encoded values."""
    return f"md5_number({' || '.join([text_literal(key + ';'), *parts])})"
