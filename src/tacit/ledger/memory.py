"""A ledger in memory, for tests and play: it is forgotten when the process ends, and says so."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from tacit.errors import LedgerError
from tacit.ledger.amounts import NOTHING, Amount
from tacit.ledger.chain import now
from tacit.ledger.copying import copied_to_file
from tacit.ledger.drawers import is_drawing
from tacit.ledger.keeper import Keeper
from tacit.ledger.marks import INODE, Mark
from tacit.ledger.store import Head, Line, Reservation, Unanswered
from tacit.noise.entropy import BitSource

__all__ = ["InMemory"]

_K = TypeVar("_K")
_V = TypeVar("_V")


class _MemoryStore:
    """Plain dictionaries; one thread at a time is let in, and what it writes can be undone."""

    def __init__(self) -> None:
        self._heads: dict[None, Head] = {}
        self._entries: dict[int, tuple[bytes, str]] = {}
        self._accounts: dict[str, Amount] = {}
        self._digests: dict[str, int] = {}
        self._keys: dict[tuple[str, str], str] = {}
        self._requests: dict[int, tuple[str, str, str | None]] = {}
        self._drawers: dict[int, str] = {}
        self._released: dict[int, int] = {}
        self._answers: dict[int, tuple[int, bytes]] = {}
        self._unanswered: dict[int, str | None] = {}
        self._secrets: dict[None, str] = {}
        self._marks: dict[None, frozenset[Mark]] = {}
        self._written: list[tuple[dict[Any, Any], object, object]] = []

    def _write(self, table: dict[_K, _V], key: _K, value: _V) -> None:
        self._written.append((table, key, table.get(key)))  # noted first: an interrupt may come at any point
        table[key] = value

    def keep(self) -> None:
        """What was written stays."""
        self._written.clear()

    def undo(self) -> None:
        """As if nothing had been written since `keep`."""
        while self._written:
            table, key, before = self._written[-1]
            if before is None:
                table.pop(key, None)
            else:
                table[key] = before
            self._written.pop()

    def head(self) -> Head | None:
        return self._heads.get(None)

    def set_head(self, head: Head) -> None:
        self._write(self._heads, None, head)

    def set_terms(self, head: Head) -> None:
        pass  # the head carries them

    def append(self, number: int, body: bytes, link: str) -> None:
        self._write(self._entries, number, (body, link))

    def bodies(self, after: int, limit: int) -> list[tuple[int, bytes, str]]:
        return [(number, *self._entries[number]) for number in self._numbers(after + 1, after + 1 + limit)]

    def _numbers(self, first: int, end: int) -> range:
        return range(first, min(end, len(self._entries)))

    def lines(self) -> Iterator[Line]:
        for number in self._numbers(0, len(self._entries)):
            body, link = self._entries[number]
            digest, analyst, key = self._requests.get(number, (None, None, None))
            reserved, answer = self._answers.get(number, (None, None))
            yield number, body, link, digest, analyst, key, reserved, answer

    def counts(self) -> tuple[int, int]:
        return len(self._requests), len(self._answers)

    def flaws(self) -> Iterator[str]:
        return iter(())

    def account(self, analyst: str) -> Amount:
        return self._accounts.get(analyst, NOTHING)

    def accounts(self) -> Iterator[tuple[str, Amount]]:
        return iter(sorted(self._accounts.items()))

    def set_account(self, analyst: str, charged: Amount) -> None:
        self._write(self._accounts, analyst, charged)

    def request(self, digest: str) -> Reservation | None:
        return self.reservation(self._digests.get(digest, -1))

    def keyed(self, analyst: str, key: str) -> str | None:
        return self._keys.get((analyst, key))

    def reserve(self, number: int, digest: str, analyst: str, key: str | None, drawer: str) -> bool:
        if digest in self._digests or (key is not None and (analyst, key) in self._keys):
            return False
        self._write(self._digests, digest, number)
        if key is not None:
            self._write(self._keys, (analyst, key), digest)
        self._write(self._requests, number, (digest, analyst, key))
        self._write(self._drawers, number, drawer)
        self._write(self._unanswered, number, analyst)
        return True

    def reservation(self, number: int) -> Reservation | None:
        drawer = self._drawers.get(number)
        return None if drawer is None else Reservation(number, drawer, self._released.get(number))

    def payments(self, after: int, until: int) -> int:
        return sum(after < number <= until for number in self._requests)

    def payment(self, after: int, count: int) -> int | None:
        later = (number for number in self._requests if number > after)
        return next(islice(later, count - 1, None), None)

    def forget_drawer(self, number: int) -> None:
        if number in self._drawers:
            self._write(self._drawers, number, "")

    def is_drawing(self, token: str) -> bool:
        return is_drawing(token)

    def unanswered(self, analyst: str | None = None) -> list[Unanswered]:
        found = [(number, who) for number, who in sorted(self._unanswered.items()) if who is not None]
        return [
            Unanswered(number, who, self._drawers[number]) for number, who in found if analyst is None or who == analyst
        ]

    def forgive(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self._write(self._unanswered, number, None)

    def secret(self) -> str:
        return self._secrets[None]

    def set_secret(self, secret: str) -> None:
        self._write(self._secrets, None, secret)

    def marks(self) -> frozenset[Mark]:
        return self._marks.get(None, frozenset())

    def set_marks(self, marks: Iterable[Mark]) -> None:
        new = frozenset(marks)
        moved = {one.source for one in new if one.kind == INODE}
        kept = {one for one in self.marks() if one.kind != INODE or one.source not in moved}
        self._write(self._marks, None, new | kept)

    def answer(self, released: int) -> bytes:
        return self._answers[released][1]

    def store_answer(self, released: int, number: int, answer: bytes) -> None:
        self._write(self._answers, released, (number, answer))
        self._write(self._released, number, released)
        self.forgive([number])


class InMemory(Keeper):
    """A ledger that nothing outlives: the same rules, no file. Not shared with other processes, not copyable.

    >>> from tacit.ledger import Request, Terms
    >>> from tacit.privacy import PureDP
    >>> ledger = InMemory().open("people", Terms(PureDP(1)))
    >>> ledger.spend(Request("ada", "how many?"), PureDP(0.1)).receipt.charged
    ApproxDP(0.1, 0)
    >>> ledger
    InMemory('people', ε 0.1, δ 0 of ε 1, δ 0; forgotten when the process ends)
    """

    def __init__(
        self, *, patience: float = 10.0, entropy: BitSource | None = None, clock: Callable[[], datetime] = now
    ) -> None:
        super().__init__(patience=patience, entropy=entropy, clock=clock)
        self._store = _MemoryStore()
        self._lock = threading.RLock()
        self._pid = os.getpid()

    @contextmanager
    def _reading(self) -> Iterator[_MemoryStore]:
        if self._pid != os.getpid():
            raise LedgerError("A ledger in memory does not cross a fork: its copy would spend the same budget twice.")
        if not self._lock.acquire(timeout=self._patience):
            raise LedgerError(f"The ledger was busy for {self._patience:g} s. Nothing was spent; ask again.")
        try:
            yield self._store
        finally:
            self._lock.release()

    @contextmanager
    def _writing(self) -> Iterator[_MemoryStore]:
        with self._reading() as store:
            try:
                yield store
            except BaseException:
                store.undo()
                raise
            store.keep()

    def _called(self) -> str:
        return "a ledger in memory"

    def exists(self) -> bool:
        """Always: a ledger in memory is made when it is named."""
        return True

    def backup(self, path: str | os.PathLike[str]) -> str:
        """Copy the ledger into a new file (SQLite); returns the head of the copy."""
        with self._reading() as store:
            head = self._head(store)
            copied_to_file(store, Path(path))
        return head.hash

    def close(self) -> None:
        """Nothing to let go of."""

    def __copy__(self) -> NoReturn:
        raise LedgerError("A ledger in memory cannot be copied: its copy would spend the same budget twice.")

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__copy__()

    def __reduce__(self) -> NoReturn:
        self.__copy__()

    def __repr__(self) -> str:
        head = self._store.head()
        if head is None:
            return "InMemory()"
        words = head.terms.flavour.words
        total = words(head.terms.cap)
        return f"InMemory({head.source!r}, {words(head.charged)} of {total}; forgotten when the process ends)"
