"""One outcome, read at once: a function may use its buffer, its list or its object again for the next call."""

from __future__ import annotations

import enum
import numbers
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacit.auditing.reading.forms import Raised, list_words
from tacit.auditing.reading.inside import Label, inside
from tacit.auditing.reading.texts import hidden_bytes, numbers_in, read_bytes, read_json

__all__ = ["ATOMS", "PLAIN", "SCALARS", "Read", "frozen", "read_item"]

PLAIN = frozenset({bool, int, float})
ATOMS = frozenset({str, bytes, type(None)})
SCALARS = frozenset(kind for kind in np.sctypeDict.values() if issubclass(kind, np.bool_ | np.integer | np.floating))
SCALARS -= {np.longdouble}
"""Numbers of numpy that 64 bits hold."""
_KEPT = PLAIN | ATOMS
_MOST_KEYS = 256
_DEEPEST = 12
_MOST = 1 << 16  # numbers of one outcome


@dataclass(slots=True)
class Read:
    """What one outcome holds: its structure in words, its numbers, and the order of its keys."""

    words: str = ""
    leaves: list[Any] = field(default_factory=list)
    opaque: bool = False
    """Whether something in it could not be read."""
    keys: tuple[Any, ...] | None = None
    further: tuple[Any, ...] = ()
    """The keys of all mappings but the first."""


def frozen(item: Any) -> Any:
    """The outcome as a value that later calls cannot change: plain ones as they are, others read."""
    kind = type(item)
    if kind in _KEPT:
        return item
    if kind is list or kind is tuple:
        inner = set(map(type, item))
        if len(inner) == 1 and next(iter(inner)) in PLAIN:
            return item.copy() if kind is list else item
    elif kind is np.ndarray:
        if item.dtype.kind in "biuf" and item.dtype.itemsize <= 8 and item.ndim:
            return item.copy()
    elif kind in SCALARS:
        return item
    return read_item(item)


def read_item(item: Any) -> Read:
    """Everything of an outcome, by walking through it."""
    if isinstance(item, Read):
        return item
    found = Read()
    found.words = _walk(item, found, 0)
    return found


def _walk(item: Any, found: Read, depth: int) -> str:
    """The words for an item, its numbers appended on the way."""
    if isinstance(item, Raised):
        text = f"raises {item.kind}: {_text(item.text, found)}" if item.text else f"raises {item.kind}"
        return text if item.more is None else f"{text} with {_walk(item.more, found, depth + 1)}"
    words = _single_words(item, found, depth)
    if words is None:
        return _inner_words(item, found, depth)
    kind = type(item)
    held = getattr(item, "__dict__", None) if kind not in _KEPT and not isinstance(item, enum.Enum | type) else None
    return f"{words} with {_walk(dict(held), found, depth + 1)}" if held else words


def _single_words(item: Any, found: Read, depth: int) -> str | None:
    """The words for what is one number, text or label; None for what has parts."""
    if isinstance(item, Label):
        return repr(str(item))
    if item is None or isinstance(item, enum.Enum | type):
        return repr(item)
    if isinstance(item, bool | np.bool_):
        return _leaf(_kind(item, "bool"), bool(item), found)
    if isinstance(item, numbers.Integral):
        return _leaf(_kind(item, "int"), int(item), found)
    if isinstance(item, float | np.floating) and not isinstance(item, np.longdouble):
        return _leaf(_kind(item, "NaN" if item != item else "float"), float(item), found)
    if isinstance(item, str):
        return _text_words(item, found, depth)
    return _byte_words(item, found) if isinstance(item, bytes) else None


def _kind(item: Any, word: str) -> str:
    """The word for a plain number; the type beside it if it is another one, which an onlooker sees too."""
    return word if type(item) in PLAIN else f"{type(item).__name__} {word}"


def _leaf(words: str, value: bool | int | float, found: Read) -> str:
    if len(found.leaves) < _MOST:
        found.leaves.append(value)
    return words


def _inner_words(item: Any, found: Read, depth: int) -> str:
    parts = inside(item) if depth < _DEEPEST else None
    if parts is None:
        found.opaque = True
        shown = repr(item)
        return type(item).__name__ if " at 0x" in shown else f"{type(item).__name__} {shown}"
    if parts.keys is not None and found.keys is None:
        found.keys = parts.keys
    elif parts.keys is not None and len(found.further) < _MOST_KEYS:
        found.further += parts.keys[:_MOST_KEYS]
    return parts.kind + list_words([_walk(part, found, depth + 1) for part in parts.parts])


def _text_words(text: str, found: Read, depth: int) -> str:
    said = read_json(text)
    if said is not None and depth < _DEEPEST:
        return f"JSON {_walk(said, found, depth + 1)}"
    hidden = hidden_bytes(text)
    if hidden is not None:
        return f"hex {_byte_words(hidden, found)}"
    return repr(_text(text, found))


def _text(text: str, found: Read) -> str:
    words, values = numbers_in(text)
    found.leaves += values[: _MOST - len(found.leaves)]
    return words


def _byte_words(data: bytes, found: Read) -> str:
    kind, held, guessed = read_bytes(data)
    if isinstance(held, str):
        return f"b{_text_words(held, found, _DEEPEST - 1)}"
    found.leaves += held[: _MOST - len(found.leaves)]
    found.opaque = found.opaque or guessed
    return f"{len(data)} bytes as {kind}"
