"""LIKE as SQL for DuckDB, in time that grows with the length of the text alone.

DuckDB's own LIKE tries every way to fill %: with _ beside it that is exponential, and a condition could arm it for one
row. The simplest patterns are a comparison; all others go to RE2, whose automaton reads a text once and never goes back
(docs/proofs/work.md).
"""

from __future__ import annotations

import re

from tacit.errors import InvalidParameter
from tacit.tables.engines.duckdb.terms import text_literal
from tacit.tables.expressions.texts import LONGEST_PATTERN

__all__ = ["like"]

_EVERY = "(?s)"  # a line end is a character like any other


def like(text: str, pattern: str) -> str:
    """The condition that a text is like a constant pattern.

    >>> like("name", "Lu%"), like("name", "L_nd")
    ("starts_with(name, 'Lu')", "regexp_full_match(name, '(?s)L.nd')")
    """
    if len(pattern) > LONGEST_PATTERN:
        raise InvalidParameter("pattern", given=f"{len(pattern)} characters", allowed=f"at most {LONGEST_PATTERN}")
    inner = pattern.strip("%")
    if "_" in inner or "%" in inner or not inner:
        return f"regexp_full_match({text}, {text_literal(_EVERY + _expression(pattern))})"
    begins, ends = not pattern.startswith("%"), not pattern.endswith("%")
    if begins and ends:
        return f"({text} = {text_literal(inner)})"
    test = "starts_with" if begins else "ends_with" if ends else "contains"
    return f"{test}({text}, {text_literal(inner)})"


def _expression(pattern: str) -> str:
    return "".join({"%": ".*", "_": "."}.get(sign) or _itself(sign) for sign in re.sub("%+", "%", pattern))


def _itself(sign: str) -> str:
    """A character that RE2 takes for itself."""
    return sign if sign.isalnum() or not sign.isascii() else f"\\x{{{ord(sign):x}}}"
