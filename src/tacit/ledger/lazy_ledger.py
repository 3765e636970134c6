"""The ledger of an open table, which begins with the first payment: a refused question leaves no file behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from tacit.ledger.marks import size_and_time
from tacit.ledger.memory import InMemory
from tacit.ledger.protocol import Ledger
from tacit.ledger.receipts import Receipt
from tacit.ledger.requests import Claim, Request
from tacit.ledger.terms import Terms
from tacit.privacy.composition import Guarantee
from tacit.privacy.promise import Promise

__all__ = ["LazyLedger"]


class LazyLedger:
    """A ledger with what it is opened for; one that is there already is opened, and must agree, at once.

    Until the file is made, a ledger in memory of the same terms says what it would say. ``begun`` is called once it is
    open, before anything is paid; ``files`` are where the data are, which the ledger knows again under other names.
    """

    def __init__(
        self,
        ledger: Ledger,
        source: str,
        terms: Terms,
        begun: Callable[[], None] = lambda: None,
        files: Sequence[Path] = (),
    ) -> None:
        self._ledger = ledger
        self._files = files
        self._is_noted = False
        self._source = source
        self._terms = terms
        self._begun = begun
        self._is_open = False
        if self._is_there():
            self.opened()

    def _is_there(self) -> bool:
        return self._is_open or self._ledger.exists()

    def opened(self) -> Ledger:
        """The ledger itself; begins it if need be, once: one that vanishes afterwards is missed, not begun anew."""
        if not self._is_open:
            self._ledger.open(self._source, self._terms, self._files)
            self._begun()
            self._is_open = True
        return self._ledger

    def _seen(self) -> Ledger:
        """The ledger for reading; before the first payment, one like it in memory."""
        return self.opened() if self._is_there() else self._like_new()

    def _like_new(self) -> Ledger:
        return InMemory().open(self._source, self._terms)

    def for_spending(self, request: Request, cost: Guarantee) -> Ledger:
        """The ledger itself. It is not begun for a request that a new ledger refuses: that raises here."""
        if not self._is_there():
            self._like_new().spend(request, cost).abandon()  # never in the ledger itself, if it has just been begun
        ledger = self.opened()
        if not self._is_noted:
            ledger.note(self._files)
            self._is_noted = True
        return ledger

    def lookup(self, request: Request, cost: Guarantee) -> Claim | None:
        """The stored answer, if there is a ledger and an answer in it."""
        return self.opened().lookup(request, cost) if self._is_there() else None

    def remaining(self, analyst: str) -> Promise:
        """What the analyst can still spend."""
        return self._seen().remaining(analyst)

    def refuse_unpayable(self, analyst: str, cost: Guarantee) -> None:
        """Raise what a payment would be refused with now; charges nothing."""
        self._seen().refuse_unpayable(analyst, cost)

    def entries(self) -> int:
        """How many there are; none before the first payment."""
        return self.opened().newest()[0] + 1 if self._is_there() else 0

    def data_version(self) -> int:
        """Which version of the data it is, as the owner says."""
        return self._seen().budget().terms.data

    def new_data(self, *, owner: str, reason: str) -> Receipt:
        """Raise the version of the data."""
        return self.opened().new_data(owner=owner, reason=reason, files=self._files)

    def has_changed(self) -> bool:
        """Whether the files are others than when the version began; depends on rows, for the owner's eyes."""
        return self._is_there() and self.opened().has_changed(self._files)

    def size_and_time(self) -> tuple[int, int]:
        """The bytes of the files, and when they were last written; depends on rows, for the owner's eyes."""
        return size_and_time(self._files)

    def close(self) -> None:
        """Let go of the file."""
        self._ledger.close()

    def __repr__(self) -> str:
        return repr(self._ledger)
