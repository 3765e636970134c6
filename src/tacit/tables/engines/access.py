"""The way to the data of an open table: only what was paid for passes, and only here is an engine connected."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from tacit.errors import LedgerError
from tacit.ledger.lazy_ledger import LazyLedger
from tacit.ledger.payments import Payments
from tacit.ledger.protocol import Ledger
from tacit.ledger.receipts import Receipt
from tacit.ledger.requests import Claim
from tacit.privacy.composition import Guarantee
from tacit.tables.engines.contract import BoundedQuery, Engine
from tacit.tables.policy.policy import Policy
from tacit.work.apart import Apart, is_possible
from tacit.work.here import Here
from tacit.work.worker import CannotSend, Worker

__all__ = ["Access", "Draw", "Engines", "Opening"]

Draw = Callable[[Engine, Receipt], bytes]
"""From an engine to a finished answer, after the payment. A value that can be sent to the process that draws."""


class Engines(Protocol):
    """Where a table's engine comes from."""

    def open(self, key: str) -> Engine:
        """Connect to the data; called once, after the first payment. Rows are chosen by the ledger's ``key``."""

    def check(self) -> None:
        """Refuse if a public table is not what it was when it was opened; blind to what is private."""

    @property
    def is_near(self) -> bool:
        """Whether that looks at files alone."""

    def refuse(self, draw: object) -> None:
        """Refuse a draw that asks for what this engine has no form for."""

    def explain(self, query: BoundedQuery) -> str:
        """The statement an engine would run; touches no data."""


@dataclass(frozen=True, slots=True)
class Opening:
    """Opens the engine, in the process that draws."""

    engines: Engines

    def __call__(self, key: str) -> Engine:
        return self.engines.open(key)


class Access:
    """A policy, an analyst's payments under it, and the worker that draws what they pay for."""

    def __init__(
        self,
        policy: Policy,
        ledger: LazyLedger,
        analyst: str,
        engines: Engines,
        worker: Worker | None = None,
        fingerprint: str | None = None,
    ) -> None:
        self.policy = policy
        self.payments = Payments(ledger, analyst, fingerprint or policy.fingerprint(), policy.work.until_step)
        self.engines = engines
        self._engine: Engine | None = None
        self._worker = worker
        self._is_closed = False

    @property
    def ledger(self) -> Ledger:
        """The ledger, begun if need be."""
        return self.payments.ledger.opened()

    def engine(self) -> Engine:
        """An engine in this process, connected when it is first needed: for where no other process can be made."""
        if self._engine is None:
            self._engine = self.engines.open(self.ledger.secret())
        return self._engine

    def paid(self, question: str, cost: Guarantee, draw: Draw, *, fresh: bool = False, key: str | None = None) -> Claim:
        """Debit, then draw, then store; or the stored answer, free. ``draw`` is called after the debit only."""
        self._refuse_if_closed()
        self.engines.check()
        stored = None if fresh and key is None else self.payments.stored(question, cost, key)
        if stored is not None:
            return stored
        self.engines.refuse(draw)
        worker, ready = self._ready(draw)
        return self.payments.paid(
            question, cost, lambda receipt: worker.run(ready, self.ledger.secret(), receipt), fresh=fresh, key=key
        )

    def stored(self, question: str, cost: Guarantee, key: str | None = None) -> Claim | None:
        """The answer that is on record, free; None if there is none."""
        self._refuse_if_closed()
        self.engines.check()
        return self.payments.stored(question, cost, key)

    def of(self, analyst: str, worker: Worker | None) -> Access:
        """The same table for another analyst, drawn by another worker; data and ledger are shared."""
        paid = self.payments
        return Access(self.policy, paid.ledger, analyst, self.engines, worker, paid.fingerprint)

    def _refuse_if_closed(self) -> None:
        if self._is_closed:
            raise LedgerError("This table is closed: open it again, tacit.open(…). Nothing was spent.")

    def _ready(self, draw: Draw) -> tuple[Worker, object]:
        """A worker that waits for the draw: another process, unless none can be made or sent what it needs."""
        if self._worker is None and APART and is_possible():
            self._worker = Apart(Opening(self.engines), self.policy.work)
        if self._worker is not None:
            try:
                return self._worker, self._worker.ready(draw)
            except CannotSend:
                pass
        self._worker = Here(lambda key: self.engine(), self.policy.work, self._interrupt)
        return self._worker, self._worker.ready(draw)

    def _interrupt(self, engine: Engine) -> None:
        """Stop an engine here; it may still be busy: nobody waits for its end, or uses it again."""
        engine.interrupt()
        threading.Thread(target=engine.close, daemon=True).start()
        self._engine = None

    def close(self) -> None:
        """Let go of the data and the ledger."""
        self._is_closed = True
        if self._worker is not None:
            self._worker.close()
            self._worker = None
        if self._engine is not None:
            self._engine.close()
            self._engine = None
        self.payments.close()


APART = True
"""Whether answers are drawn in another process; tests that look into an engine draw here."""
