"""A copy of a ledger that is in use."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

from tacit.errors import LedgerError
from tacit.ledger.sqlite.errors import FAILURES, translated
from tacit.ledger.sqlite.file import address, sync_folder

__all__ = ["back_up"]


def back_up(connection: sqlite3.Connection, target: Path) -> None:
    """Copy what the connection's transaction sees to a new file, for its owner only; all of it, durably, or nothing."""
    try:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        raise LedgerError(f"{target} exists already; a backup does not overwrite anything.") from None
    except OSError as error:
        raise LedgerError(f"The backup {target} cannot be made: {error.strerror}.") from error
    try:
        copy = sqlite3.connect(address(target, "rw"), uri=True, isolation_level=None)
        try:
            connection.backup(copy)
        finally:
            copy.close()
        sync_folder(target.parent)
    except BaseException as error:
        for ending in ("", "-journal"):
            with suppress(OSError):
                os.unlink(f"{target}{ending}")
        if isinstance(error, FAILURES):
            raise translated(error, f"The backup {target}") from error
        raise
