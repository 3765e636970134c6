"""Codes for structures, and the words for them: few are kept, and short."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["Raised", "form_code", "form_words", "known", "list_words"]

_WORDS: dict[int, str] = {}
_MOST = 4096
_LONGEST = 80
_DEEPEST = 3  # of exceptions that came from others


class Raised:
    """An exception as an outcome: its type, its text, and what it carries along; an onlooker sees all of it."""

    __slots__ = ("kind", "more", "text")

    def __init__(self, kind: str, text: str = "", more: dict[str, Any] | None = None) -> None:
        self.kind = kind
        self.text = text
        self.more = more

    @classmethod
    def of(cls, error: BaseException, depth: int = 0) -> Raised:
        """With attributes, notes, the parts of a group, and the exceptions that it came from."""
        more = {**vars(error)}
        before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if depth < _DEEPEST:
            if before is not None:
                more["from"] = cls.of(before, depth + 1)
            if isinstance(error, BaseExceptionGroup):
                more["parts"] = [cls.of(one, depth + 1) for one in error.exceptions]
        return cls(type(error).__name__, _said(error), more or None)


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # a text that cannot be had is none
        return ""


def form_code(words: str) -> int:
    """The code of a structure; the last few thousand keep their words, cut to 80 characters."""
    code = hash(words)
    if code not in _WORDS:
        if len(_WORDS) >= _MOST:
            del _WORDS[next(iter(_WORDS))]
        _WORDS[code] = words if len(words) <= _LONGEST else f"{words[: _LONGEST - 10]}…"
    return code


def known(code: int) -> bool:
    """Whether the words for this form are still kept."""
    return code in _WORDS


def form_words(code: int) -> str:
    """The words for the code of a form that was seen in this process."""
    return _WORDS.get(code, "another form")


def list_words(parts: Sequence[str]) -> str:
    """A list by the forms of its items."""
    if len(parts) > 3 and len(set(parts)) == 1:
        return f"[{parts[0]} × {len(parts)}]"
    return f"[{', '.join(parts)}]"
