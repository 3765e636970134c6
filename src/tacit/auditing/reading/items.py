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

__all__ = ["ATOMS", "PLAIN", "Read", "frozen", "read_item"]

PLAIN = frozenset({bool, int, float})
ATOMS = frozenset({str, bytes, type(None)})
_KEPT = PLAIN | ATOMS
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


def frozen(item: Any) -> Any:
    """The outcome as a value that later calls cannot change: plain ones as they are, others read."""
    kind = type(item)
    if kind in _KEPT:
        return item
    if kind is list or kind is tuple:
        inner = set(map(type, item))
        if len(inner) == 1 and next(iter(inner)) in PLAIN:
            return tuple(item)
    elif kind is np.ndarray:
        if item.dtype.kind in "biuf" and item.dtype.itemsize <= 8 and item.ndim:
            return item.copy()
    elif isinstance(item, np.bool_ | np.integer | np.floating) and not isinstance(item, np.longdouble):
        return item.item()
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
        return f"raises {item.kind}: {_text(item.text, found)}" if item.text else f"raises {item.kind}"
    if isinstance(item, bool | np.bool_):
        return _leaf("bool", bool(item), found)
    if isinstance(item, numbers.Integral):
        return _leaf("int", int(item), found)
    if isinstance(item, float | np.floating) and not isinstance(item, np.longdouble):
        return _leaf("NaN" if item != item else "float", float(item), found)
    if isinstance(item, Label):
        return repr(str(item))
    if item is None or isinstance(item, enum.Enum | type):
        return repr(item)
    if isinstance(item, str):
        return _text_words(item, found, depth)
    if isinstance(item, bytes):
        return _byte_words(item, found)
    return _inner_words(item, found, depth)


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
