"""Texts: how long one may be, its capitals, and patterns; what every engine and every evaluation agrees on.

The lengths are public and the same for every row, so that no row can make another's answer slow, large or lost
(docs/proofs/work.md).

>>> fits("Lund"), fits("x" * 5000), upper("straße"), like("100_%")("100 euros")
(True, False, 'STRAẞE', True)
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

__all__ = ["LONGEST_PATTERN", "LONGEST_TEXT", "fits", "like", "lower", "upper"]

LONGEST_TEXT = 4096
"""How many bytes of UTF-8 a text may have. A longer one is null: in a source, and where an operator would make it."""

LONGEST_PATTERN = 200
"""How many characters a pattern of LIKE may have."""


def fits(text: str) -> bool:
    """Whether a text is short enough to be one; half a character is no text."""
    try:
        return len(text.encode()) <= LONGEST_TEXT
    except UnicodeEncodeError:
        return False


def lower(text: str) -> str:
    """Small letters, character by character: as many as before.

    >>> lower("İΑΣ")
    'iασ'
    """
    return "".join(sign.lower()[0] for sign in text)


def upper(text: str) -> str:
    """Capitals, character by character: a letter whose capital would be two stays, but for ß."""
    return "".join(map(_capital, text))


def _capital(sign: str) -> str:
    found = next((one for one in (sign.upper(), sign.title()) if len(one) == 1), sign)
    return "ẞ" if sign == "ß" else found


@functools.lru_cache(maxsize=64)
def like(pattern: str) -> Callable[[str], bool]:
    """Whether a text is like the pattern: % is any text, _ any character, all else itself; there is no escape.

    What stands between two % is looked for once, from left to right: at most length of text times length of pattern
    comparisons, where trying all ways to fill % would take exponentially many.
    """
    first, *rest = (_piece(one) for one in pattern.split("%"))
    if not rest:
        return lambda text: first.fullmatch(text) is not None
    *middle, last = rest
    tail = len(pattern) - pattern.rfind("%") - 1

    def test(text: str) -> bool:
        found = first.match(text)
        for piece in middle:
            found = found and piece.search(text, found.end())
        return found is not None and len(text) - tail >= found.end() and bool(last.fullmatch(text, len(text) - tail))

    return test


def _piece(signs: str) -> re.Pattern[str]:
    """A part of a pattern without %: of a fixed length, so that nothing is tried twice."""
    return re.compile("".join("." if sign == "_" else re.escape(sign) for sign in signs), re.DOTALL)
