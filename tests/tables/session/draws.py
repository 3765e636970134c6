"""Draws that go wrong, which another process can import."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

__all__ = ["crashing", "failing", "hoarding", "instead", "interrupted", "sleeping"]


def failing(engine: Any, receipt: Any) -> bytes:
    raise MemoryError("row 17 is secret")


def crashing(engine: Any, receipt: Any) -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    return b""


def sleeping(engine: Any, receipt: Any) -> bytes:
    time.sleep(3600)
    return b""


def interrupted(engine: Any, receipt: Any) -> bytes:
    """Somebody types an interrupt while it draws, when it has seen a private number."""
    secret = 123_456_789
    os.kill(os.getppid(), signal.SIGINT)
    time.sleep(3600)
    return str(secret).encode()


def hoarding(engine: Any, receipt: Any) -> bytes:
    return bytes(sum(len(bytearray(b"x" * 10**8)) for _ in [bytearray(b"y" * 10**8) for _ in range(100)]))


def instead(engine: Any, receipt: Any) -> bytes:
    """Something that is no answer of anybody."""
    return b"{}"
