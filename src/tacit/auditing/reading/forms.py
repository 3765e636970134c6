"""Codes for structures, and the words for them: few are kept, and short."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["Raised", "form_code", "form_words", "list_words"]

_WORDS: dict[int, str] = {}
_MOST = 4096
_LONGEST = 80


class Raised:
    """An exception as an outcome: its type and its text, both of which an onlooker sees."""

    __slots__ = ("kind", "text")

    def __init__(self, kind: str, text: str = "") -> None:
        self.kind = kind
        self.text = text


def form_code(words: str) -> int:
    """The code of a structure; the last few thousand keep their words, cut to 80 characters."""
    code = hash(words)
    if code not in _WORDS:
        if len(_WORDS) >= _MOST:
            del _WORDS[next(iter(_WORDS))]
        _WORDS[code] = words if len(words) <= _LONGEST else f"{words[: _LONGEST - 10]}…"
    return code


def form_words(code: int) -> str:
    """The words for the code of a form that was seen in this process."""
    return _WORDS.get(code, "another form")


def list_words(parts: Sequence[str]) -> str:
    """A list by the forms of its items."""
    if len(parts) > 3 and len(set(parts)) == 1:
        return f"[{parts[0]} × {len(parts)}]"
    return f"[{', '.join(parts)}]"
