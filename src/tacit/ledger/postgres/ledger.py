"""The ledger in PostgreSQL: one budget for several processes and machines."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Self

from tacit.errors import LedgerError
from tacit.ledger.amounts import Amount
from tacit.ledger.chain import now
from tacit.ledger.copying import copied, copied_to_file
from tacit.ledger.drawers import Drawer
from tacit.ledger.elsewhere import refuse_without_links, sign
from tacit.ledger.keeper import Keeper
from tacit.ledger.postgres.address import PostgresAddress
from tacit.ledger.postgres.database import PostgresDatabase
from tacit.ledger.postgres.errors import Unreachable
from tacit.ledger.postgres.presence import Presence
from tacit.ledger.postgres.standing import Moved, Remembered, Standing
from tacit.ledger.postgres.store import Look, PostgresStore, to_release, to_reserve
from tacit.ledger.receipts import Receipt
from tacit.ledger.requests import Claim, Request
from tacit.ledger.sqlite.file import SqliteFile
from tacit.ledger.sqlite.store import SqliteStore
from tacit.ledger.terms import Terms
from tacit.ledger.verification import Verification
from tacit.noise.entropy import BitSource

__all__ = ["PostgresLedger"]


class PostgresLedger(Keeper):
    """A ledger in a database, ``postgresql://user@host/database#name``; a database holds any number of them.

    Check and debit are one transaction behind the lock of the head's row, whoever else pays at the same time, from
    whichever machine. ``patience`` bounds every wait, in seconds.
    """

    def __init__(
        self,
        address: str | PostgresAddress,
        *,
        patience: float = 10.0,
        entropy: BitSource | None = None,
        clock: Callable[[], datetime] = now,
    ) -> None:
        super().__init__(patience=patience, entropy=entropy, clock=clock)
        place = PostgresAddress.of(address) if isinstance(address, str) else address
        self._presence = Presence(place, f"The ledger {place}", self._patience)
        self._standing = Standing()
        self._database = PostgresDatabase(place, self._patience, self._presence.is_drawing)

    @property
    def address(self) -> PostgresAddress:
        """Where it is."""
        return self._database.address

    def exists(self) -> bool:
        """Whether its tables are there."""
        return self._database.is_ready()

    def open(self, source: str | None = None, terms: Terms | None = None, files: Sequence[Path] = ()) -> Self:
        """Begin the ledger of a data source, or continue it; another source, budget or flavour is `PolicyError`."""
        if not self.exists():
            if source is None or terms is None:
                raise self._missing()
            self._database.create()
        return super().open(source, terms, files)

    @contextmanager
    def _reading(self) -> Iterator[PostgresStore]:
        with self._database.reading() as store:
            yield store

    @contextmanager
    def _glancing(self) -> Iterator[PostgresStore]:
        with self._database.glancing() as store:
            yield store

    @contextmanager
    def _writing(self, looks: Iterable[Look] = ()) -> Iterator[PostgresStore]:
        with self._database.turn():
            with self._database.writing(looks) as store:
                yield store
            self._standing.keep(store.seen)  # it is on record

    def _reserving(self, request: Request, digest: str) -> AbstractContextManager[PostgresStore]:
        return self._writing(to_reserve(digest, request.analyst, request.key))

    def _releasing(self, number: int) -> AbstractContextManager[PostgresStore]:
        return self._writing(to_release(number))

    def _at_once(self, request: Request, price: Amount, digest: str) -> Claim | None:
        """One statement, by what this process remembers of the head; None if there is more to see than that."""
        try:
            return self._reserve(request, price, digest, self._remembering)
        except Moved:
            return None

    @contextmanager
    def _remembering(self, request: Request, digest: str) -> Iterator[PostgresStore]:
        with self._database.turn():
            store = Remembered(self._standing, self._where())
            try:
                yield store
                sql, values = store.statement()
            except Exception:  # memory never refuses: whoever looks does
                raise Moved from None
            if not self._database.at_once(sql, values):
                self._standing.forget()
                raise Moved
            self._standing.keep(store.seen)

    def _drawer(self) -> Drawer:
        return self._presence.drawer()

    def release(self, entry: int, answer: bytes) -> Receipt:
        """Store the answer to a reservation, durably; a server that is lost meanwhile is waited for, with a bound."""
        deadline = time.monotonic() + self._patience
        while True:
            try:
                return super().release(entry, answer)
            except Unreachable:
                if time.monotonic() > deadline:
                    raise
            if self._is_released(entry):  # it had done what it was asked, and its word was lost
                with self._reading() as store:
                    number = self._number(store, entry)
                return self.recall(number).receipt

    def _is_released(self, entry: int) -> bool:
        with self._glancing() as store:
            found = store.reservation(entry)
        return found is not None and found.released is not None

    def verify(self, head: str | None = None) -> Verification:
        """Recompute the chain and every total; with a receipt's head, the tail as well."""
        if not self.exists():
            raise self._missing()
        return super().verify(head)

    def _missing(self) -> LedgerError:
        return LedgerError(f"There is no ledger at {self.address}. It is made when the first question is paid for.")

    def backup(self, path: str | os.PathLike[str]) -> str:
        """Copy the ledger, while it is in use, into a new file (SQLite); returns the head of the copy."""
        with self._reading() as store:
            head = self._head(store)
            copied_to_file(store, Path(path))
        return head.hash

    def take_over(self, path: str | os.PathLike[str]) -> str:
        """Go on with the ledger of a file, all of it, where there is none yet; returns its head.

        The file is moved aside, to its name and .moved, and a link in its place says where the budget is kept.
        """
        if self.exists():
            raise LedgerError(f"There is a ledger at {self.address} already: a file is taken over where there is none.")
        place = Path(path)
        file = SqliteFile(place, self._patience)
        if not file.is_ready():
            raise LedgerError(f"{place} is no ledger. Nothing was changed.")
        refuse_without_links(place.parent)
        moved = place.with_name(f"{place.name}.moved")
        with file.writing() as connection:
            if os.path.lexists(moved):
                raise LedgerError(f"{moved} exists already. Nothing was changed.")
            held = SqliteStore(connection, file.where)
            if any(held.is_drawing(one.drawer) for one in held.unanswered()):
                raise LedgerError(
                    f"Answers are being drawn that {place} has to store. Wait for them; nothing was changed."
                )
            self._database.create()
            with self._database.writing() as store:
                copied(held, store)
                head = self._head(store)
            file.move(moved)  # before anybody else can write
            sign(place, self.address)
        file.close()
        return head.hash

    def close(self) -> None:
        """Let go of the connections; the ledger can be used again, and connects anew."""
        self._presence.close()
        self._database.close()

    def _called(self) -> str:
        return self.address.name

    def _where(self) -> str:
        return self._database.where

    def __repr__(self) -> str:
        return f"PostgresLedger({str(self.address)!r})"
