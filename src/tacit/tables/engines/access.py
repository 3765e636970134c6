"""The way to the data of an open table: only what was paid for passes, and only here is an engine connected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from tacit.ledger import Ledger, Receipt
from tacit.ledger.claims import Claim
from tacit.ledger.lazy_ledger import LazyLedger
from tacit.ledger.payments import Payments
from tacit.privacy import Guarantee
from tacit.tables.engines.contract import BoundedQuery, Engine
from tacit.tables.policy.policy import Policy

__all__ = ["Access", "Engines"]


class Engines(Protocol):
    """Where a table's engine comes from."""

    def open(self, key: str) -> Engine:
        """Connect to the data; called once, after the first payment. Rows are chosen by the ledger's ``key``."""

    def check(self) -> None:
        """Refuse if a public table is not what it was when it was opened; blind to what is private."""

    def explain(self, query: BoundedQuery) -> str:
        """The statement an engine would run; touches no data."""


class Access:
    """A policy, an analyst's payments under it, and the engine that they open."""

    def __init__(self, policy: Policy, ledger: LazyLedger, analyst: str, engines: Engines) -> None:
        self.policy = policy
        self.payments = Payments(ledger, analyst, policy.fingerprint())
        self.engines = engines
        self._engine: Engine | None = None

    @property
    def ledger(self) -> Ledger:
        """The ledger, begun if need be."""
        return self.payments.ledger.opened()

    def engine(self) -> Engine:
        """The engine, connected when it is first needed: after the first payment, so that there is a ledger."""
        if self._engine is None:
            self._engine = self.engines.open(self.ledger.secret())
        return self._engine

    def paid(self, question: str, cost: Guarantee, draw: Callable[[Receipt], bytes], *, fresh: bool = False) -> Claim:
        """Debit, then draw, then store; or the stored answer, free. ``draw`` is called after the debit only."""
        self.engines.check()
        return self.payments.paid(question, cost, draw, fresh=fresh)

    def close(self) -> None:
        """Let go of the data and the ledger."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None
        self.payments.close()
