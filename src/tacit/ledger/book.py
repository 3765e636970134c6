"""The book itself: how entries are read and appended, and what this process has seen of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import Any, Self

from tacit.errors import InvalidParameter, LedgerError
from tacit.ledger.amounts import SQUARES, Amount, Flavour
from tacit.ledger.chain import BEGINNING, Entry, canonical, linked, now, stamp
from tacit.ledger.drawers import Drawer
from tacit.ledger.requests import Request, secret_hex
from tacit.ledger.store import Head, Store
from tacit.noise.entropy import BitSource
from tacit.privacy.promise import Promise

__all__ = ["LARGEST_NUMBER", "Book", "append"]

LARGEST_NUMBER = 2**62
"""Beyond any payment's; databases count so far."""


class Book(ABC):
    """Entries without a place: subclasses say how a transaction is begun."""

    def __init__(
        self, *, patience: float = 10.0, entropy: BitSource | None = None, clock: Callable[[], datetime] = now
    ) -> None:
        self._patience = _seconds(patience)
        self._entropy = entropy
        self._clock = clock
        self._seen: tuple[int, str] | None = None
        self._fixed: tuple[str, Flavour, Promise] | None = None
        self._counted = (-1, 0)  # so many payments are on record up to this entry
        secret_hex(entropy)  # a source that can be replayed is refused before anything is written

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Store]:
        """A consistent view."""

    def _glancing(self) -> AbstractContextManager[Store]:
        """For a single look; a place where that is cheaper says so."""
        return self._reading()

    @abstractmethod
    def _writing(self) -> AbstractContextManager[Store]:
        """One atomic step: durable when the block has been left, undone when it raises."""

    def _reserving(self, request: Request, digest: str) -> AbstractContextManager[Store]:
        """A step that pays for a request; a place that is far away looks at all that it needs on one way."""
        return self._writing()

    def _releasing(self, number: int) -> AbstractContextManager[Store]:
        """A step that stores the answer to a payment."""
        return self._writing()

    def _drawer(self) -> Drawer:
        """The right to draw one answer, as this place tells others of it."""
        return Drawer()

    def _append(self, store: Store, head: Head, kind: str, charged: Amount | None = None, **values: Any) -> Head:
        return append(store, head, stamp(self._clock()), kind, charged or head.charged, **values)

    def _entry(self, number: int) -> Entry:
        with self._reading() as store:
            return self._read(store, number)

    def _read(self, store: Store, number: int) -> Entry:
        try:
            ((found, body, link),) = store.bodies(number - 1, 1)
            entry = Entry.read(body, link)
        except (ValueError, KeyError, TypeError):
            found = -1
        if found != number:
            raise LedgerError(f"{self._where()}: entry {number} cannot be read. Run `tacit verify` on it.")
        return entry

    def _number(self, store: Store, entry: int) -> int:
        """Which payment an entry is: 1, 2, 3 in the order of the chain, whatever else is written between them.

        To be asked of entries on record only: what it remembers must not be undone.
        """
        known, count = self._counted
        if entry < known:
            return count - store.payments(entry, known)
        if entry > known:
            count += store.payments(known, entry)
            self._counted = entry, count
        return count

    def _entry_of(self, store: Store, number: int) -> int | None:
        """The entry of payment 1, 2, 3, …"""
        known, count = self._counted if number > self._counted[1] else (-1, 0)
        return store.payment(known, number - count) if 0 < number <= LARGEST_NUMBER else None

    def _head(self, store: Store) -> Head:
        head = store.head()
        if head is None:
            raise LedgerError(f"{self._where()} has not been opened yet: call .open(source, terms) first.")
        self._check_seen(store, head)
        if head.terms.readings is not None:
            return replace(head, squares=store.account(SQUARES).main)
        return head

    def _check_seen(self, store: Store, head: Head) -> None:
        """What this process has seen on record must still be there: an older copy put back under it is noticed."""
        seen = self._seen
        if seen is not None and head.number != seen[0]:
            rows = store.bodies(seen[0] - 1, 1)
            link = rows[0][2] if rows and rows[0][0] == seen[0] else ""
        else:
            link = head.hash
        if seen is not None and link != seen[1]:
            raise LedgerError(
                f"{self._where()} no longer contains entry {seen[0]}, which this process has seen: an older copy or "
                "another ledger was put in its place. Nothing was spent. Put the newest one back; `tacit verify FILE "
                f"--head {seen[1]}` tells which."
            )
        self._remember(head)

    def _remember(self, head: Head) -> None:
        """To be called with what is on record only: never inside a transaction that may still be undone."""
        if self._seen is None or head.number > self._seen[0]:
            self._seen = (head.number, head.hash)

    def _check_end(self, store: Store, head: Head) -> None:
        """The head must be the last entry: a file put together from two states is not continued."""
        rows = store.bodies(max(head.number - 2, -1), 3)
        before = rows[-2][2] if len(rows) > 1 else BEGINNING
        try:
            number, body, link = rows[-1]
            whole = (number, link) == (head.number, head.hash) and linked(before, body) == link
        except (IndexError, ValueError, TypeError, AttributeError):
            whole = False
        if not whole:
            raise LedgerError(
                f"{self._where()}: its head is not its last entry, so that something was changed or mixed up. "
                "Nothing was spent. Run `tacit verify` on it, and restore the newest backup."
            )

    def beside(self) -> Self | None:
        """The same ledger for one thread that may wait for nobody; None: to look takes a way, or others' turns."""
        return None

    @property
    def name(self) -> str:
        """What the ledger is called."""
        return self._called()

    @abstractmethod
    def close(self) -> None:
        """Let go of the place; the ledger can be used again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _called(self) -> str:
        """What an answer calls the ledger; empty: by its data."""
        return ""

    def _where(self) -> str:
        """The place, for messages."""
        return repr(self)


def _seconds(patience: object) -> float:
    """How long to wait, with a bound."""
    if isinstance(patience, int | float) and math.isfinite(patience) and patience >= 0:
        return float(patience)
    raise InvalidParameter("patience", given=patience, allowed="seconds, 0 or more")


def append(store: Store, head: Head, moment: str, kind: str, charged: Amount, **values: Any) -> Head:
    """Write the entry that follows ``head``; time never runs backwards, and a clock that does is noted."""
    if moment < head.time:
        values["clock"] = moment
    latest = max(moment, head.time)
    body = canonical({"kind": kind, "number": head.number + 1, "time": latest, **values})
    link = linked(head.hash, body)
    after = replace(head, number=head.number + 1, hash=link, time=latest, charged=charged)
    store.append(after.number, body, after.hash)
    store.set_head(after)
    return after
