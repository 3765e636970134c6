"""The write-ahead log of a ledger file must keep its name as long as anybody uses it.

Somebody who removes it from a ledger in use leaves the process with a log that no other process can see: each would
spend the same budget. SQLite does not look, so the ledger does, around every payment.
"""

from __future__ import annotations

import os
import sqlite3

from tacit.errors import LedgerError

__all__ = ["WatchedLog", "never_close"]

_lost: set[tuple[int, int]] = set()
"""Files whose log was taken away from this process: all its connections share an index of the log that is gone."""


class WatchedLog:
    """The log of the file with this name, while this process has a connection that writes."""

    def __init__(self, file: str) -> None:
        self.name = f"{file}-wal"
        self._file = file
        self._inode: tuple[int, int] | None = None
        self._file_inode = (0, 0)
        self._folded = 0

    def watch(self, file_inode: tuple[int, int]) -> None:
        """A connection that writes has just been made."""
        self._inode, self._file_inode = _inode(self.name), file_inode
        self.was_folded()

    def was_folded(self) -> None:
        """A checkpoint has just been made; nothing else writes to the file itself."""
        self._folded = _modified(self._file)

    def forget(self) -> None:
        """The connection is gone."""
        self._inode = None

    def is_lost(self) -> bool:
        """Whether somebody removed or replaced the log; SQLite itself never does while it is in use."""
        if self._inode is None or _inode(self.name) == self._inode:
            return False
        return _inode(self._file) == self._file_inode  # if the file went with it, SQLite notices by itself

    def may_be_folded(self) -> bool:
        """Whether closing, which folds the log into the file, overwrites nothing that others have paid."""
        if not self.is_lost():
            return True
        _lost.add(self._file_inode)
        return _inode(self.name) is None and _modified(self._file) == self._folded

    def refuse_lost(self, where: str, file_inode: tuple[int, int]) -> None:
        """From here on, this process does not use the ledger any more."""
        if file_inode in _lost:
            raise LedgerError(
                f"{where}: its log {self.name} was removed or replaced while it was in use, and payments may be "
                "missing from the file. Nothing was given out. Stop everything that uses the ledger, run `tacit "
                "verify` with the newest head, and keep the two files together."
            )


def never_close(connection: sqlite3.Connection) -> None:
    """Not even when the interpreter ends."""
    import ctypes  # rarely needed

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


def _inode(name: str) -> tuple[int, int] | None:
    try:
        found = os.stat(name)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _modified(name: str) -> int:
    try:
        return os.stat(name).st_mtime_ns
    except OSError:
        return -1
