"""A sign of life on a terminal while something takes longer than two seconds; elsewhere, silence."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle

__all__ = ["waiting"]

_PATIENCE = 2.0
_STEP = 0.12
_SIGNS = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


@contextmanager
def waiting(what: str, patience: float = _PATIENCE) -> Iterator[None]:
    """Turn a wheel on standard error, if that is a terminal, until the block is left."""
    if not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    wheel = threading.Thread(target=_turn, args=(what, patience, done), daemon=True)
    wheel.start()
    try:
        yield
    finally:
        done.set()
        wheel.join()


def _turn(what: str, patience: float, done: threading.Event) -> None:
    if done.wait(patience):
        return
    for sign in cycle(_SIGNS):
        sys.stderr.write(f"\r{sign} {what} …")
        sys.stderr.flush()
        if done.wait(_STEP):
            break
    sys.stderr.write("\r" + " " * (len(what) + 5) + "\r")
    sys.stderr.flush()
