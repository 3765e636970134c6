"""Who is drawing an answer, and whether they are still there.

A reservation without an answer is either being drawn at this moment or lost. The ledger notes the process and the
claim that drew the lot; a dead process, or a claim that no longer exists, draws nothing any more.
"""

from __future__ import annotations

import itertools
import os
from functools import cache, lru_cache
from pathlib import Path
from weakref import WeakValueDictionary

__all__ = ["Drawer", "is_drawing", "is_here"]

_here: WeakValueDictionary[str, Drawer] = WeakValueDictionary()
_count = itertools.count()


class Drawer:
    """The right to draw one answer; it lasts as long as the object. ``process`` says whose it is."""

    __slots__ = ("__weakref__", "token")

    def __init__(self, process: str | None = None) -> None:
        self.token = f"{_this_process(os.getpid()) if process is None else process} {next(_count)}"
        _here[self.token] = self

    def leave(self) -> None:
        """Give the right up."""
        _here.pop(self.token, None)


def is_here(token: str) -> bool:
    """Whether this process holds that right."""
    return token in _here


def is_drawing(token: str) -> bool:
    """Whether the claim behind the token can still store its answer; True where that cannot be told.

    >>> drawer = Drawer()
    >>> is_drawing(drawer.token), drawer.leave(), is_drawing(drawer.token), is_drawing("")
    (True, None, False, False)
    """
    if not token:
        return False
    process = token.rpartition(" ")[0]
    if process == _this_process(os.getpid()):
        return is_here(token)
    boot, room, pid, *_ = [*process.split(" "), "", "", ""]
    if boot != _boot() or not pid.isdecimal():
        return False
    if room != _room():
        return True  # another container: its processes cannot be seen from here
    return _process(int(pid)) == process


def _process(pid: int) -> str:
    """A process for good: the start time tells a later process of the same number apart."""
    return f"{_boot()} {_room()} {pid} {_started(pid)}"


@lru_cache(maxsize=1)
def _this_process(pid: int) -> str:
    """The own process; looked up anew after a fork."""
    return _process(pid)


def _started(pid: int) -> str:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return _started_without_proc(pid)
    return "gone" if fields[0] in "ZX" else fields[19]  # a zombie has ended


def _started_without_proc(pid: int) -> str:
    if Path("/proc/self/stat").exists():
        return "gone"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return "gone"
    except PermissionError:
        pass
    return "running"


@cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    except OSError:
        return "unknown"


@cache
def _room() -> str:
    """The process namespace."""
    try:
        return os.readlink("/proc/self/ns/pid").replace(" ", "")
    except OSError:
        return "unknown"
