"""What every ledger does, wherever it is kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from tacit.ledger.budget import Budget
from tacit.ledger.chain import Entry
from tacit.ledger.receipts import Receipt
from tacit.ledger.requests import Claim, Request
from tacit.ledger.terms import Terms
from tacit.ledger.verification import Verification
from tacit.privacy.promise import Promise

__all__ = ["Ledger"]


class Ledger(Protocol):
    """A budget and the book that holds it true: pay first (`spend`), then draw, then store (`Claim.release`)."""

    @property
    def name(self) -> str:
        """What the ledger is called: of a file, its name."""

    @property
    def file(self) -> Path | None:
        """The file that it is kept in; None where it is kept in none."""

    def exists(self) -> bool:
        """Whether it has been begun, as far as its place tells."""

    def open(self, source: str | None = None, terms: Terms | None = None, files: Sequence[Path] = ()) -> Self:
        """Begin the ledger of a data source, or continue it; another source, budget or flavour is `PolicyError`."""

    def spend(self, request: Request, cost: Promise) -> Claim:
        """Debit and reserve in one durable step, or return the answer stored for the same request, free of charge."""

    def answered(self, request: Request, cost: Promise, draw: Callable[[Receipt], bytes]) -> Claim:
        """Pay, draw, store, in this order; or the stored answer. ``draw`` is not called before there is a receipt."""

    def lookup(self, request: Request, cost: Promise) -> Claim | None:
        """The stored answer to a request, if there is one; never charges, never waits."""

    def beside(self) -> Ledger | None:
        """The same ledger for one thread that looks up answers and may wait for nobody; None where all have to wait."""

    def refuse_unpayable(self, analyst: str, cost: Promise) -> None:
        """Raise what a payment would be refused with now; charges nothing."""

    def release(self, entry: int, answer: bytes) -> Receipt:
        """Store the answer to a reservation, durably, before anybody sees it."""

    def abandon(self, entry: int) -> None:
        """Give up drawing: the payment stands, and who asks again is told `AnswerLost` at once."""

    def recall(self, number: int) -> Claim:
        """The answer stored for payment 1, 2, 3, …, free of charge; `AnswerLost` if none was."""

    def amend(self, terms: Terms, *, owner: str, reason: str) -> Receipt:
        """Change the caps; an owner's act, recorded in the chain."""

    def new_data(self, *, owner: str, reason: str, files: Sequence[Path] = ()) -> Receipt:
        """Raise the version of the data by one; an owner's act, recorded in the chain."""

    def has(self, number: int, link: str) -> bool:
        """Whether entry ``number`` is there and has this hash."""

    def restored(self, *, missing: int, head: str, owner: str, reason: str) -> Receipt:
        """Go on with an older copy that lacks entries; an owner's act, recorded in the chain."""

    def has_changed(self, files: Sequence[Path]) -> bool:
        """Whether the files are others than when the version of the data began; for the owner's eyes."""

    def unlock(self, analyst: str, *, owner: str, reason: str) -> Receipt:
        """Forgive what an analyst has lost so far; an owner's act, recorded in the chain."""

    def secret(self) -> str:
        """The key by which an engine chooses rows: of the ledger alone, on no receipt and in no log."""

    def note(self, files: Sequence[Path]) -> None:
        """Know the data by what these files are now."""

    def budget(self) -> Budget:
        """Where every account stands, in one consistent view."""

    def newest(self) -> tuple[int, str]:
        """The number of the last entry and its hash."""

    def remaining(self, analyst: str | None = None) -> Promise:
        """What can still be spent, altogether or by one analyst."""

    def history(self) -> Iterator[Entry]:
        """Every entry, oldest first."""

    def verify(self, head: str | None = None) -> Verification:
        """Recompute the chain and every total; with a receipt's head, the tail as well."""

    def backup(self, path: str | os.PathLike[str]) -> str:
        """Copy the ledger, while it is in use, to a file that does not exist yet; returns the head of the copy."""

    def __enter__(self) -> Self:
        """The ledger, to be closed."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""

    def close(self) -> None:
        """Let go of files; the ledger can be opened again."""
