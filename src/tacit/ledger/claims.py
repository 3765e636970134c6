"""A claim: the payment for one request, and either the right to draw its answer or the answer itself."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self

from tacit.errors import LedgerError
from tacit.ledger.drawers import Drawer
from tacit.ledger.receipts import Receipt

__all__ = ["Claim"]


class _Keeper(Protocol):
    def release(self, number: int, answer: bytes) -> Receipt: ...

    def abandon(self, number: int) -> None: ...


class Claim:
    """What `spend` returns. Where ``answer`` is None, it is yours to draw, and to `release` before showing it.

    >>> from tacit.ledger import InMemory, Request, Terms
    >>> from tacit.privacy import PureDP
    >>> ledger = InMemory().open("people", Terms(PureDP(1)))
    >>> with ledger.spend(Request("ada", "how many?"), PureDP(0.1)) as claim:
    ...     if claim.answer is None:
    ...         receipt = claim.release(b"42")
    >>> ledger.spend(Request("ada", "how many?"), PureDP(0.1)).answer
    b'42'

    Leaving the ``with`` block without a release gives the answer up for good; the payment stands.
    """

    __slots__ = ("_drawer", "_keeper", "answer", "receipt")

    def __init__(self, keeper: _Keeper, receipt: Receipt, answer: bytes | None, drawer: Drawer | None) -> None:
        self.receipt = receipt
        self.answer = answer
        self._keeper = keeper
        self._drawer = drawer

    def release(self, answer: bytes) -> Receipt:
        """Store the drawn answer durably; show it to nobody before this returns."""
        self.receipt = self._keeper.release(self.receipt.number, answer)
        self.answer = bytes(answer)
        self._leave()
        return self.receipt

    def abandon(self) -> None:
        """Give up drawing; who asks again is told `AnswerLost` at once."""
        if self._drawer is not None:
            self._leave()
            self._keeper.abandon(self.receipt.number)

    def _leave(self) -> None:
        if self._drawer is not None:
            self._drawer.leave()
            self._drawer = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.answer is None:
            try:
                self.abandon()
            except LedgerError:
                if error is None:
                    raise

    def __repr__(self) -> str:
        state = "to be drawn" if self.answer is None else f"{len(self.answer)} bytes stored"
        return f"<Claim #{self.receipt.number}, {state}>"
