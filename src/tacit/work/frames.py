"""Messages through a pipe: a length, then bytes."""

from __future__ import annotations

import os
import struct

__all__ = ["receive", "send"]

_LENGTH = struct.Struct("<Q")
_PART = 1 << 20


def send(pipe: int, message: bytes) -> None:
    """Write a message; `OSError` if nobody reads any more."""
    view = memoryview(_LENGTH.pack(len(message)) + message)
    while view:
        view = view[os.write(pipe, view[:_PART]) :]


def receive(pipe: int) -> bytes | None:
    """The next message; None at the end."""
    head = _exactly(pipe, _LENGTH.size)
    return None if head is None else _exactly(pipe, *_LENGTH.unpack(head))


def _exactly(pipe: int, size: int) -> bytes | None:
    found = bytearray()
    while len(found) < size:
        part = os.read(pipe, min(size - len(found), _PART))
        if not part:
            return None
        found += part
    return bytes(found)
