"""A budget that is kept in a database, and its sign beside the data: a link of the ledger's name that leads there.

Who opens the data without saying where their budget is would begin a second one beside them; who says a database for
the first time, a second one there. The sign, or the file, is found by either.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from tacit.errors import LedgerError
from tacit.ledger.postgres.address import PostgresAddress, is_postgres

__all__ = ["refuse_elsewhere", "refuse_second_budget", "refuse_without_links", "sign"]


def _kept_in(place: Path) -> str | None:
    """What the sign says; None if there is none."""
    try:
        said = os.readlink(place)
    except OSError:
        return None
    return said if is_postgres(said) else None


def sign(place: Path, address: PostgresAddress) -> None:
    """Say beside the data where their budget is kept; where nothing can be written, nothing is said."""
    with suppress(OSError):
        os.symlink(str(address), place)


def refuse_without_links(folder: Path) -> None:
    """Refuse to leave a folder where no sign can be made: the next payment beside the data would begin anew."""
    tried = folder / f".tacit-{os.getpid()}-link"
    try:
        os.symlink("nowhere", tried)
        os.unlink(tried)
    except OSError:
        raise LedgerError(
            f"In {folder} no link can be made, which has to say that the budget is kept in a database. Make the folder "
            "writable, or move data and ledger to a file system that has links. Nothing was changed."
        ) from None


def refuse_elsewhere(place: Path) -> None:
    """Refuse to begin a budget beside data whose budget is in a database."""
    said = _kept_in(place)
    if said is not None:
        raise LedgerError(
            f"The budget of these data is kept in {said}, and no second one is begun. Pay into it: ledger={said!r} "
            f"(--ledger {said}). Nothing was spent."
        )


def refuse_second_budget(place: Path, address: PostgresAddress, begun: bool = False) -> None:
    """Refuse a budget in a database for data that have another one: in a file beside them, or in a database.

    One that has ``begun`` there goes on where the sign names it, or nothing lies beside the data.
    """
    said = _kept_in(place)
    if begun and said == str(address):
        return
    if said is not None:
        gone = "there is none any more: put its newest backup back" if said == str(address) else "pay into that one"
        raise LedgerError(
            f"{place.name} says that the budget of these data is kept in {said}: {gone}. If another budget is to "
            f"begin, remove {place}; what the two promise adds up. Nothing was spent."
        )
    if place.is_file():
        raise LedgerError(
            f"These data have a budget already, in {place}, and no second one is begun in {address}. Let the database "
            f"go on with it: tacit.PostgresLedger({str(address)!r}).take_over({str(place)!r}). If another budget is to "
            f"begin, move {place.name} away; what the two promise adds up. Nothing was spent."
        )
