"""A ledger's whole content from one place into another: how one in a database is backed up to a file."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from tacit.errors import LedgerError
from tacit.ledger.sqlite.file import SqliteFile
from tacit.ledger.sqlite.store import SqliteStore
from tacit.ledger.store import Store

__all__ = ["copied", "copied_to_file"]


def copied_to_file(store: Store, target: Path) -> None:
    """Copy what a transaction sees into a new ledger file, for its owner only; all of it, durably, or nothing."""
    if os.path.lexists(target):
        raise LedgerError(f"{target} exists already; a backup does not overwrite anything.")
    file = SqliteFile(target, patience=10.0)
    try:
        file.create()
        with file.writing() as connection:
            copied(store, SqliteStore(connection, file.where))
        file.close()  # folds the log into the file
    except BaseException:
        file.close()
        for ending in ("", "-wal", "-shm"):
            with suppress(OSError):
                os.unlink(f"{target}{ending}")
        raise


def copied(store: Store, into: Store) -> None:
    """Copy everything but who is drawing: what is being drawn elsewhere is lost in the copy."""
    head = store.head()
    if head is None:
        raise LedgerError("There is nothing to copy: the ledger has not been opened yet.")
    into.set_terms(head)
    into.set_secret(store.secret())
    into.set_marks(store.marks())
    for number, body, link, digest, analyst, key, reserved, answer in store.lines():
        into.append(number, body, link)
        if digest is not None and analyst is not None:
            into.reserve(number, digest, analyst, key, "")
        if reserved is not None and answer is not None:
            into.store_answer(number, reserved, bytes(answer))
    missing = {one.number for one in store.unanswered()}
    into.forgive([one.number for one in into.unanswered() if one.number not in missing])
    for analyst, charged in store.accounts():
        into.set_account(analyst, charged)
    into.set_head(head)
