"""What SQLite's failures mean to someone who keeps a ledger."""

from __future__ import annotations

import sqlite3

from tacit.errors import LedgerError

__all__ = ["FAILURES", "is_busy", "translated"]

FAILURES = (sqlite3.Error, UnicodeDecodeError)
"""What SQLite raises; the second when a damaged file makes it quote bytes that are no text."""

_KEPT = "Nothing was given out, and what was recorded before stays recorded."

_DAMAGED = "its file is damaged. `tacit verify` tells how far it can be read; restore the newest backup."
_MEANINGS = {
    sqlite3.SQLITE_BUSY: "others kept it busy for too long. Ask again.",
    sqlite3.SQLITE_LOCKED: "others kept it busy for too long. Ask again.",
    sqlite3.SQLITE_FULL: "the disk is full. Make room and ask again.",
    sqlite3.SQLITE_READONLY: "it is read-only here. Check the permissions of the file and of its folder.",
    sqlite3.SQLITE_PERM: "access was denied. Check the permissions of the file and of its folder.",
    sqlite3.SQLITE_AUTH: "access was denied. Check the permissions of the file and of its folder.",
    sqlite3.SQLITE_CANTOPEN: (
        "it, or the -wal and -shm files beside it, cannot be opened. Check that it exists, and the permissions of the "
        "file and of its folder."
    ),
    sqlite3.SQLITE_IOERR: "the disk failed to read or write (full, over quota, or faulty). Check it and ask again.",
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_CONSTRAINT: "a rule of its tables refused the write.",
    sqlite3.SQLITE_TOOBIG: "the answer is too big to be stored.",
}


def translated(error: Exception, where: str) -> LedgerError:
    """The error as people can act on it."""
    code = getattr(error, "sqlite_errorcode", None)
    if code == sqlite3.SQLITE_NOTADB:
        return LedgerError(f"{where}: this is not a ledger of Tacit, or it is damaged from its first byte on.")
    meaning = _MEANINGS.get(code & 0xFF, _DAMAGED) if code is not None else _DAMAGED
    name = getattr(error, "sqlite_errorname", "unreadable text")
    return LedgerError(f"{where}: {meaning} {_KEPT} ({name})")


def is_busy(error: sqlite3.Error) -> bool:
    """Whether waiting may help."""
    code = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
