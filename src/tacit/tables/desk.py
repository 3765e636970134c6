"""The desk of a session: pay, then look. Everything that costs anything passes here, and only here is data read."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

from tacit.errors import AnswerLost
from tacit.ledger import Ledger, Receipt, Request
from tacit.ledger.claims import Claim
from tacit.privacy import Guarantee
from tacit.tables.book import Book
from tacit.tables.bounded import BoundedQuery, Engine
from tacit.tables.policy import Policy

__all__ = ["Desk", "Engines"]

_log = logging.getLogger("tacit.tables")

_LOST = (
    "The question was paid for, but no answer could be drawn: the engine failed, for lack of memory or disk perhaps. "
    "The payment stands and there is no refund, because a refund could tell something about the data. "
    "Asking again with fresh=True (--fresh) pays again."
)


class Engines(Protocol):
    """Where a table's engine comes from."""

    def open(self, key: str) -> Engine:
        """Connect to the data; called once, after the first payment. Rows are chosen by the ledger's ``key``."""

    def check(self) -> None:
        """Refuse if a public table is not what it was when it was opened; blind to what is private."""

    def explain(self, query: BoundedQuery) -> str:
        """The statement an engine would run; touches no data."""


class Desk:
    """A policy, a ledger, an analyst and the way to the data."""

    def __init__(self, policy: Policy, book: Book, analyst: str, engines: Engines) -> None:
        self.policy = policy
        self.book = book
        self.analyst = analyst
        self.engines = engines
        self._engine: Engine | None = None

    @property
    def ledger(self) -> Ledger:
        """The ledger, begun if need be."""
        return self.book.opened()

    def engine(self) -> Engine:
        """The engine, connected when it is first needed: after the first payment, so that there is a ledger."""
        if self._engine is None:
            self._engine = self.engines.open(self.ledger.budget().head.ledger)
        return self._engine

    def paid(self, question: str, cost: Guarantee, draw: Callable[[Receipt], bytes], *, fresh: bool = False) -> Claim:
        """Debit, then draw, then store; or the stored answer, free. ``draw`` is called after the debit only."""
        self.engines.check()
        request = Request(self.analyst, question, self.policy.fingerprint())
        if fresh:
            request = request.fresh()
        return self.book.for_spending(request, cost).answered(request, cost, lambda receipt: _drawn(draw, receipt))

    def close(self) -> None:
        """Let go of the data and the ledger."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None
        self.book.close()


def _drawn(draw: Callable[[Receipt], bytes], receipt: Receipt) -> bytes:
    """The answer as bytes, after the payment. What goes wrong here may depend on the data: nobody is told what."""
    _log.info("entry %d is paid; drawing", receipt.number)
    try:
        return draw(receipt)
    except Exception:
        _log.warning("entry %d: no answer could be drawn", receipt.number)
    raise AnswerLost(_LOST)  # outside of the handler, so that it carries no other error with it
