"""A sign of life on a terminal while something takes longer than two seconds; elsewhere, silence."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle
from types import FrameType

__all__ = ["bar", "waiting", "waiting_for_another"]

_PATIENCE = 2.0
_STEP = 0.12
_BAR = 30
_SIGNS = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


@contextmanager
def waiting(what: str, patience: float = _PATIENCE) -> Iterator[None]:
    """Turn a wheel on standard error, if that is a terminal, until the block is left; by a thread."""
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


@contextmanager
def waiting_for_another(what: str, patience: float = _PATIENCE) -> Iterator[None]:
    """The same while another process works, by a timer: a process with threads is not doubled safely."""
    own = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
    if not (sys.stderr.isatty() and own and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL):
        yield
        return
    signs, begun = cycle(_SIGNS), list[bool]()

    def step(number: int, frame: FrameType | None) -> None:
        begun.append(True)
        _show(f"{next(signs)} {what} …")

    before = signal.signal(signal.SIGALRM, step)
    signal.setitimer(signal.ITIMER_REAL, patience, _STEP)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if begun:
            _wipe(what)


@contextmanager
def bar() -> Iterator[Callable[[float, str], None]]:
    """A bar on standard error, if that is a terminal, of a share of the whole that is done: ``show(share, what)``."""
    is_shown, longest, begun = sys.stderr.isatty(), 0, time.monotonic()

    def show(share: float, what: str) -> None:
        nonlocal longest
        if not is_shown:
            return
        left = (time.monotonic() - begun) * (1 - share) / share if share > 0 else 0.0
        text = f"{what} {'━' * int(share * _BAR):<{_BAR}} {share:4.0%}" + (f" {left:.0f} s left" if left else "")
        longest = max(longest, len(text))
        _show(text.ljust(longest))

    try:
        yield show
    finally:
        if longest:
            _show(" " * longest + "\r")


def _turn(what: str, patience: float, done: threading.Event) -> None:
    if done.wait(patience):
        return
    for sign in cycle(_SIGNS):
        _show(f"{sign} {what} …")
        if done.wait(_STEP):
            break
    _wipe(what)


def _show(text: str) -> None:
    sys.stderr.write(f"\r{text}")
    sys.stderr.flush()


def _wipe(what: str) -> None:
    _show(" " * (len(what) + 5) + "\r")
