"""A private folder for what an engine spills and a source rewrites: gone with its owner, however that ends.

It is removed by `close`, by the garbage collector, at the end of the process; and what a killed process left behind, by
the next folder of the same user: a lock that the system lets go of says whether its owner still lives.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
import time
import weakref
from functools import cache
from pathlib import Path

try:
    import fcntl
except ImportError:  # no locks of this kind, as on Windows: nothing is swept there
    fcntl = None  # type: ignore[assignment]

__all__ = ["Scratch"]

_PREFIX = "tacit-"
_LOCK = ".tacit-lock"
_YOUNG = 60.0
"""Seconds in which a folder is left alone: its owner may not have locked it yet."""


class Scratch:
    """A folder that only its user can read.

    >>> scratch = Scratch()
    >>> scratch.path.is_dir()
    True
    >>> scratch.close()
    >>> scratch.path.exists()
    False
    """

    def __init__(self) -> None:
        base = Path(tempfile.gettempdir())
        _sweep(base)
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
        lock = os.open(self.path / _LOCK, os.O_CREAT | os.O_RDWR | getattr(os, "O_CLOEXEC", 0), 0o600)
        if not _held(lock):
            os.unlink(self.path / _LOCK)  # so that nobody sweeps it
        self._finish = weakref.finalize(self, _remove, self.path, lock, os.getpid())

    def close(self) -> None:
        """Remove the folder and all in it."""
        self._finish()


def _held(lock: int) -> bool:
    """Whether it could be locked; always so where there are no locks, and nothing is swept."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError:  # a file system without locks
        return False
    return True


def _remove(path: Path, lock: int, owner: int) -> None:
    if os.getpid() != owner:  # a fork of it, whose end is not the owner's
        return
    shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):
        os.close(lock)


@cache
def _sweep(base: Path) -> None:
    """Remove folders whose owners were killed; once in a process."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError), os.scandir(base) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX):
                with contextlib.suppress(OSError):
                    _sweep_one(Path(entry.path))


def _sweep_one(folder: Path) -> None:
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        return
    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if time.time() - os.fstat(lock).st_mtime > _YOUNG:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # an error while its owner lives
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)
