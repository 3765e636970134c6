"""Whether data that have no ledger under their own name have one under another: no budget begins anew by accident."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from glob import escape
from itertools import islice
from pathlib import Path

from tacit.errors import InvalidParameter, LedgerError
from tacit.ledger.marks import marks_of
from tacit.ledger.names import source_name
from tacit.ledger.sqlite.file import address
from tacit.ledger.sqlite.store import SqliteStore

__all__ = ["refuse_known"]

_MOST = 10_000
"""Ledgers that are looked at in one folder."""


def refuse_known(data: Path, own: Path, paid: Path | None = None, files: Sequence[Path] = ()) -> None:
    """Refuse data that another ledger in their folder knows; ``own`` is where theirs would begin, or ``paid``.

    Of a folder that is one table, ``files`` are in it: none of them may have a ledger already. Nor may a file begin one
    that lies in a folder which has.
    """
    if files:
        _refuse_parts(data, own)
    _refuse_within(data, own)
    for place in _ledgers(data.parent, own if paid is None else paid):
        if any(_knows(place, one) for one in (data, *files)):
            raise LedgerError(
                f"{data.name} is data that a ledger knows already: {place}. What has been asked of them is written "
                f"there, and no second budget is begun. If the file was renamed, let the ledger follow it: mv "
                f"{place.name} {own.name}. If it is a copy or a link, pay into the same ledger: "
                f"ledger={str(place)!r} (--ledger {place.name}). If they are other data that begin alike, name a "
                f"ledger for them: ledger={str(own)!r} (--ledger {own.name}). Nothing was spent."
            )


def _refuse_parts(data: Path, own: Path) -> None:
    """Of a folder, whether a file or a folder in it has a ledger."""
    for place in islice(data.rglob("*.ledger"), _MOST):
        parts = [one for one in place.parent.glob(f"{escape(place.stem)}*") if one.suffix != ".ledger"]
        if place != own and any(one.with_suffix(".ledger") == place for one in parts):
            raise LedgerError(
                f"A part of {data.name} has a ledger of its own, {place}: what was asked of that part is written "
                "there, and no second budget is begun by accident. If its answers are to count apart, say which "
                f"ledger the whole has: ledger={str(own)!r} (--ledger {own.name}); what the two promise adds up. "
                "Nothing was spent."
            )


def _refuse_within(data: Path, own: Path) -> None:
    for folder in data.parents:
        place = folder.with_suffix(".ledger") if folder.name else own
        if place != own and place.is_file() and _knows(place, folder, folder.name):
            raise LedgerError(
                f"{data.name} lies in {folder}, which is one table with a ledger: {place}. What has been asked of it "
                f"is written there, and no second budget is begun. Pay into the same: ledger={str(place)!r} (--ledger "
                f"{place}). Nothing was spent."
            )


def _ledgers(folder: Path, own: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            found = [Path(one.path) for one in entries if one.name.endswith(".ledger") and one.is_file()]
    except OSError:
        return []
    real = os.path.realpath(own)
    return sorted(one for one in found if os.path.realpath(one) != real)[:_MOST]


def _knows(place: Path, data: Path, name: str | None = None) -> bool:
    """Looks only: makes no log, brings nothing up to date. What cannot be read knows nothing.

    With a name, that of its source counts too: a folder that was written anew is another to the system.
    """
    real = os.path.realpath(place)
    mode = "ro" if os.path.exists(f"{real}-wal") else "ro&immutable=1"  # nobody uses it: nothing is made beside it
    try:
        connection = sqlite3.connect(address(Path(real), mode), uri=True, timeout=1)
    except sqlite3.Error:
        return False
    try:
        store = SqliteStore(connection, f"The ledger {place}")
        known, head = store.marks(), store.head()
        if name is not None and head is not None and head.source == source_name(name):
            return True
        return bool(known) and any(one.same(mark) for one in marks_of([data], store.secret(), "") for mark in known)
    except (LedgerError, InvalidParameter, ValueError, TypeError):
        return False
    finally:
        connection.close()
