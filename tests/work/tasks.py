"""Things to open and things to do with them, which another process can import."""

from __future__ import annotations

import ctypes
import os
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

__all__ = [
    "Unsendable",
    "busy",
    "crash",
    "fill",
    "hoard",
    "inside",
    "interrupting",
    "opened",
    "say",
    "sleep",
    "tell",
]

LONG = 3600.0


def opened(secret: object) -> list[object]:
    """What was opened, and how often it was used."""
    return [secret]


def say(state: list[object], given: object) -> bytes:
    state.append(given)
    return repr(state).encode()


def tell(state: object, given: object) -> bytes:
    raise ValueError("row 17 is secret")


def sleep(state: object, given: object) -> bytes:
    time.sleep(LONG)
    return b"late"


def busy(state: object, given: object) -> bytes:
    """Holds the interpreter's lock, as one long call of a library would."""
    ctypes.PyDLL(None).sleep(int(LONG))
    return b"late"


def interrupting(state: object, given: object) -> bytes:
    """Somebody types an interrupt while it works."""
    os.kill(os.getppid(), signal.SIGINT)
    return busy(state, given)


def crash(state: object, given: object) -> bytes:
    os.kill(os.getpid(), signal.SIGSEGV)
    return b"alive"


def hoard(state: object, given: int) -> bytes:
    """Takes so much memory, and writes into it."""
    kept = [bytearray(os.urandom(1) * 10**7) for _ in range(given // 10**7)]
    return b"%d" % len(kept)


def fill(state: object, given: int) -> bytes:
    """Fills its folder with files of a megabyte, until it is stopped."""
    folder = Path(tempfile.mkdtemp())
    for at in range(given):
        (folder / str(at)).write_bytes(bytes(10**6))
        time.sleep(0.01)
    return b"full"


def inside(state: object, given: object) -> bytes:
    import resource

    limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE)]
    return repr((os.getpid(), os.getppid(), os.getpgid(0), tempfile.gettempdir(), *limits)).encode()


class Unsendable:
    """A thing of this process alone."""

    def __call__(self, secret: object) -> Any:
        return self

    def __reduce__(self) -> str:
        raise TypeError("not to be sent")
