"""Texts and bytes: the numbers in them, and what is left without the numbers."""

from __future__ import annotations

import json
import re
import struct
from typing import Any

__all__ = ["numbers_in", "read_bytes", "read_json"]

_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}){8,}")
_LONGEST = 100_000
_DIGITS = 4000  # more than Python turns into a whole number
_PLAUSIBLE = (1e-30, 1e30)
_FEW_BYTES = 256


def numbers_in(text: str) -> tuple[str, list[int | float]]:
    """A text with # for each number in it, and the numbers.

    >>> numbers_in("3 rows, total 41.5")
    ('# rows, total #', [3, 41.5])
    """
    if len(text) > _LONGEST:
        return f"text of {len(text)} characters", []
    found = [_number(one) for one in _NUMBER.findall(text)]
    return (_NUMBER.sub("#", text), found) if found else (text, found)


def _number(written: str) -> int | float:
    digits = written.lstrip("+-")
    if digits.isdigit() and len(digits) < _DIGITS:
        return int(written)
    return float(written)


def read_json(text: str) -> Any:
    """What a text says in JSON, if it is an object or an array; None if it is not."""
    if text[:1] not in "[{" or not text or len(text) > _LONGEST:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def read_bytes(data: bytes) -> tuple[str, str | list[int | float], bool]:
    """How bytes were read: a word for it, a text or numbers, and whether they may well mean something else.

    >>> read_bytes(b"yes"), read_bytes(struct.pack("<d", 41.5))
    (('text', 'yes', False), ('floats', [41.5], False))
    """
    try:
        text = data.decode("utf-8")
        if text.isprintable():
            return "text", text, False
    except UnicodeDecodeError:
        pass
    if len(data) % 8 == 0 and data:
        for order in "<>":
            floats = struct.unpack(f"{order}{len(data) // 8}d", data)
            if all(one == 0 or _PLAUSIBLE[0] < abs(one) < _PLAUSIBLE[1] for one in floats):
                return "floats", list(floats), False
        wholes = struct.unpack(f"<{len(data) // 8}q", data)
        if all(abs(one) < 1 << 48 for one in wholes):
            return "whole numbers", list(wholes), False
    return "bytes", list(data[:_FEW_BYTES]), True


def hidden_bytes(text: str) -> bytes | None:
    """The bytes that a long text of hexadecimal digits stands for."""
    return bytes.fromhex(text) if len(text) <= _LONGEST and _HEX.fullmatch(text) else None
