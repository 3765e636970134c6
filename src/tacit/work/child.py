"""The process that draws: it opens the data once, does one task after another, and says nothing but the result.

It ignores interrupts (its parent hears them, and kills it), cannot take more memory or disk than it was given, leaves
no core behind, and ends with its parent.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
from typing import Any, NoReturn

from tacit.work.frames import receive, send
from tacit.work.limits import Work

try:
    import resource
except ImportError:  # as on Windows, where no process is made
    resource = None  # type: ignore[assignment]

__all__ = ["FAILED", "READY", "serve"]

READY = b"+"
FAILED = b"-"

_SPARE = 384 << 20
"""Address space for libraries that are loaded yet, and stacks, besides what a draw may take."""
_PER_CORE = 24 << 20
_LOOK = 0.5


def serve(incoming: int, outgoing: int, parent: int) -> NoReturn:
    """Be the process: never returns, and never raises into what was forked."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _silence()
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()
        _work(incoming, outgoing)
    finally:
        os._exit(1)


def _work(incoming: int, outgoing: int) -> None:
    hello = receive(incoming)
    if hello is None:
        return
    paths, folder, work, make = pickle.loads(hello)
    sys.path[:] = paths
    tempfile.tempdir = folder
    opens = pickle.loads(make)
    _limit(work)
    send(outgoing, READY)
    opened: list[Any] = []
    while (message := receive(incoming)) is not None:
        send(outgoing, _done(message, opens, opened))


def _done(message: bytes, opens: Any, opened: list[Any]) -> bytes:
    """The result, or that there is none; what went wrong stays here."""
    try:
        task, secret, given = pickle.loads(message)
        if not opened:
            opened.append(opens(secret))
        return READY + bytes(pickle.loads(task)(opened[0], given))
    except BaseException:
        return FAILED


def _silence() -> None:
    """What libraries print might quote a row."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def _watch(parent: int) -> None:
    """End with the parent, also in the middle of a task."""
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)


def _limit(work: Work) -> None:
    """What the system itself holds the process to; the parent watches time and the folder."""
    if resource is None:
        return
    most = _mapped() + work.memory + _SPARE + _PER_CORE * (os.cpu_count() or 1)
    limits = {"RLIMIT_AS": most, "RLIMIT_FSIZE": work.disk, "RLIMIT_CORE": 0}
    for name, limit in limits.items():
        with contextlib.suppress(AttributeError, ValueError, OSError):
            kind = getattr(resource, name)
            hard = resource.getrlimit(kind)[1]
            least = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
            resource.setrlimit(kind, (least, least))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
        score.write("800")  # if the machine runs out of memory, this goes first


def _mapped() -> int:
    """The address space in use; nothing where that cannot be told."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return 0
