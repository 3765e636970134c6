"""LIKE as SQL for PostgreSQL, whose own matcher never tries a % anew that a later one has passed: length × pattern.

There is no escape, as everywhere here: a backslash is itself.
"""

from __future__ import annotations

from tacit.errors import InvalidParameter
from tacit.tables.engines.postgres.terms import text_literal
from tacit.tables.expressions.texts import LONGEST_PATTERN

__all__ = ["contains", "like", "place_in_bytes"]


def place_in_bytes(text: str, wanted: str) -> str:
    """The byte at which it begins, 0 if it does not occur: of whole characters, as UTF-8 has it.

    Texts are looked through by steps that a few hostile ones make as many as length × length; bytes are compared at
    once.
    """
    return f"position(convert_to({wanted}, 'UTF8') IN convert_to({text}, 'UTF8'))"


def contains(text: str, wanted: str) -> str:
    """The condition that it occurs in a text."""
    return f"({place_in_bytes(text, wanted)} > 0)"


def like(text: str, pattern: str) -> str:
    """The condition that a text is like a constant pattern; no text has NUL in it.

    >>> print(like("name", "Lu%"), like("name", "L_nd"))
    starts_with(name, ('Lu' COLLATE "C")) (name LIKE ('L_nd' COLLATE "C") ESCAPE '')
    """
    if len(pattern) > LONGEST_PATTERN:
        raise InvalidParameter("pattern", given=f"{len(pattern)} characters", allowed=f"at most {LONGEST_PATTERN}")
    if "\0" in pattern:
        return f"(CASE WHEN {text} IS NOT NULL THEN FALSE END)"
    inner = pattern.strip("%")
    if "_" not in inner and "%" not in inner and inner:
        begins, ends = not pattern.startswith("%"), not pattern.endswith("%")
        if begins and ends:
            return f"({text} = {text_literal(inner)})"
        if begins or not ends:
            wanted = text_literal(inner)
            return f"starts_with({text}, {wanted})" if begins else contains(text, wanted)
    return f"({text} LIKE {text_literal(pattern)} ESCAPE '')"
