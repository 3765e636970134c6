"""Whether data that have no ledger under their own name have one under another: no budget begins anew by accident."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from tacit.errors import LedgerError
from tacit.ledger.marks import marks_of
from tacit.ledger.sqlite_file import address
from tacit.ledger.sqlite_store import SqliteStore

__all__ = ["refuse_known"]

_MOST = 10_000
"""Ledgers that are looked at in one folder."""


def refuse_known(data: Path, own: Path, paid: Path | None = None) -> None:
    """Refuse data that another ledger in their folder knows; ``own`` is where theirs would begin, or ``paid``."""
    for place in _ledgers(data.parent, own if paid is None else paid):
        if _knows(place, data):
            raise LedgerError(
                f"{data.name} is data that a ledger knows already: {place}. What has been asked of them is written "
                f"there, and no second budget is begun. If the file was renamed, let the ledger follow it: mv "
                f"{place.name} {own.name}. If it is a copy or a link, pay into the same ledger: "
                f"ledger={str(place)!r} (--ledger {place.name}). If they are other data that begin alike, name a "
                f"ledger for them: ledger={str(own)!r} (--ledger {own.name}). Nothing was spent."
            )


def _ledgers(folder: Path, own: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            found = [Path(one.path) for one in entries if one.name.endswith(".ledger") and one.is_file()]
    except OSError:
        return []
    real = os.path.realpath(own)
    return sorted(one for one in found if os.path.realpath(one) != real)[:_MOST]


def _knows(place: Path, data: Path) -> bool:
    """Looks only: makes no log, brings nothing up to date. What cannot be read knows nothing."""
    real = os.path.realpath(place)
    mode = "ro" if os.path.exists(f"{real}-wal") else "ro&immutable=1"  # nobody uses it: nothing is made beside it
    try:
        connection = sqlite3.connect(address(Path(real), mode), uri=True, timeout=1)
    except sqlite3.Error:
        return False
    try:
        store = SqliteStore(connection, f"The ledger {place}")
        known = store.marks()
        return bool(known) and any(one.same(mark) for one in marks_of([data], store.secret(), "") for mark in known)
    except (LedgerError, ValueError, TypeError):
        return False
    finally:
        connection.close()
