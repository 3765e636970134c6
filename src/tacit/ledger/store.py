"""What a ledger needs of the place where it is kept; every call happens inside one transaction of that place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, Protocol, TypeAlias

from tacit.ledger.amounts import Amount
from tacit.ledger.marks import Mark
from tacit.ledger.terms import Terms

__all__ = ["Head", "Line", "Reservation", "Store", "Unanswered"]


@dataclass(frozen=True, slots=True)
class Head:
    """The state after the last entry: running totals, so that a spend costs the same in a long book."""

    ledger: str
    source: str
    number: int
    hash: str
    time: str
    charged: Amount
    terms: Terms
    squares: Fraction = Fraction(0)
    """Σε²/2 of the prices, or a little more; 0 where no δ′ is set aside, and nobody needs it."""


class Reservation(NamedTuple):
    """A request that was paid for; ``released`` is the number of the entry that stored its answer, if any did."""

    number: int
    drawer: str
    released: int | None


class Unanswered(NamedTuple):
    """A reservation without an answer: being drawn, or lost."""

    number: int
    analyst: str
    drawer: str


Line: TypeAlias = tuple[int, bytes, str, str | None, str | None, str | None, int | None, bytes | None]
"""An entry as stored (number, body, hash), its row among the requests (digest, analyst, key), its row among the answers
(reservation, bytes); plain tuples, since verification reads a great many."""


class Store(Protocol):
    """Reads and writes of one transaction."""

    def head(self) -> Head | None:
        """The head, or None in a place where no ledger has been opened yet."""

    def set_head(self, head: Head) -> None:
        """Replace the head."""

    def set_terms(self, head: Head) -> None:
        """Replace the terms, the source and the name of the ledger."""

    def append(self, number: int, body: bytes, link: str) -> None:
        """Write the next entry."""

    def bodies(self, after: int, limit: int) -> list[tuple[int, bytes, str]]:
        """Up to ``limit`` entries that follow the given number: number, body and hash."""

    def lines(self) -> Iterator[Line]:
        """Every entry, in order, with everything that belongs to it."""

    def counts(self) -> tuple[int, int]:
        """How many reservations and how many answers there are."""

    def flaws(self) -> Iterable[str]:
        """What is wrong with the place itself, whatever is written in it."""

    def account(self, analyst: str) -> Amount:
        """What the analyst has been charged."""

    def accounts(self) -> Iterator[tuple[str, Amount]]:
        """Every analyst with what they have been charged, by name."""

    def set_account(self, analyst: str, charged: Amount) -> None:
        """Replace what the analyst has been charged."""

    def request(self, digest: str) -> Reservation | None:
        """The reservation of a request."""

    def keyed(self, analyst: str, key: str) -> str | None:
        """The digest of the request that the analyst has used this key for."""

    def reserve(self, number: int, digest: str, analyst: str, key: str | None, drawer: str) -> bool:
        """Write a reservation; False, and nothing written, if there is one of the same request or the same key."""

    def reservation(self, number: int) -> Reservation | None:
        """The reservation with this number."""

    def payments(self, after: int, until: int) -> int:
        """How many reservations are among the entries after one and up to another."""

    def payment(self, after: int, count: int) -> int | None:
        """The entry of the ``count``-th reservation after an entry, if there are so many."""

    def forget_drawer(self, number: int) -> None:
        """Nobody draws this answer any more."""

    def is_drawing(self, token: str) -> bool:
        """Whether who took this right to draw can still store an answer."""

    def unanswered(self, analyst: str | None = None) -> list[Unanswered]:
        """Reservations without an answer that no unlock has forgiven, of one analyst or of all, in order."""

    def forgive(self, numbers: Iterable[int]) -> None:
        """Take these off the list of reservations without an answer."""

    def secret(self) -> str:
        """The key by which rows are chosen and contents are told apart; never shown."""

    def set_secret(self, secret: str) -> None:
        """Keep the secret; once."""

    def marks(self) -> frozenset[Mark]:
        """What the ledger's data are known by."""

    def set_marks(self, marks: Iterable[Mark]) -> None:
        """Know the data by these too. Of a source's inodes, the newest alone: the system gives old ones away again."""

    def answer(self, released: int) -> bytes:
        """The answer stored by this entry."""

    def store_answer(self, released: int, number: int, answer: bytes) -> None:
        """Keep the answer to a reservation."""
