"""LIKE as SQL for Spark, in time of at most length × pattern.

Java's regular expressions, and so Spark's own LIKE, try every way to fill %. Here each piece between two % is looked
for once, from left to right, in a group that is never entered again; the last one is looked for from the end. There is
no escape: a backslash is itself.
"""

from __future__ import annotations

from tacit.errors import InvalidParameter
from tacit.tables.engines.spark.terms import text_literal
from tacit.tables.expressions.texts import LONGEST_PATTERN

__all__ = ["like"]


def like(text: str, pattern: str) -> str:
    r"""The condition that a text is like a constant pattern.

    >>> print(like("name", "Lu%"), like("name", "%l_n%d"))
    startswith(name, 'Lu') (name RLIKE '(?s)\u005cA(?>.*?\u005cx{6c}.\u005cx{6e}).*\u005cx{64}\u005cz')
    """
    if len(pattern) > LONGEST_PATTERN:
        raise InvalidParameter("pattern", given=f"{len(pattern)} characters", allowed=f"at most {LONGEST_PATTERN}")
    inner = pattern.strip("%")
    if inner and "_" not in inner and "%" not in inner:
        begins, ends = not pattern.startswith("%"), not pattern.endswith("%")
        if begins and ends:
            return f"({text} = {text_literal(inner)})"
        test = "startswith" if begins else "endswith" if ends else "contains"
        return f"{test}({text}, {text_literal(inner)})"
    return f"({text} RLIKE {text_literal(_expression(pattern))})"


def _expression(pattern: str) -> str:
    r"""What is found at the begin of a text: $ would also stand before a last line end, \z does not."""
    first, *rest = pattern.split("%")
    if not rest:
        return f"(?s)\\A{_signs(first)}\\z"
    *middle, last = rest
    looked_for = "".join(f"(?>.*?{_signs(piece)})" for piece in middle if piece)
    return f"(?s)\\A{_signs(first)}{looked_for}.*{_signs(last)}\\z"


def _signs(piece: str) -> str:
    return "".join("." if sign == "_" else f"\\x{{{ord(sign):x}}}" for sign in piece)
