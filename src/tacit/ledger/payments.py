"""Pay, then look: everything that costs anything is debited here before it is drawn, and stored before it is told."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from tacit.errors import AnswerLost
from tacit.ledger.lazy_ledger import LazyLedger
from tacit.ledger.receipts import Receipt
from tacit.ledger.requests import Claim, Request
from tacit.privacy.composition import Guarantee

__all__ = ["Payments"]

_log = logging.getLogger("tacit.tables")

_LOST = (
    "The question was paid for, but no answer could be drawn: the draw failed or was stopped, for lack of memory, disk "
    "or time perhaps, or by an interrupt. "
    "The payment stands and there is no refund, because a refund could tell something about the data. "
    "Asking again with fresh=True (--fresh) pays again. A few lost answers lock an account."
)


class Payments:
    """What one analyst pays into one ledger for answers under one fingerprint.

    The fingerprint says what an answer depends on besides its question: of a table, its policy. The same question
    under another fingerprint is another question. ``held`` says for how many seconds more a reply is held that is ready
    after so many, so that times tell little: answers and failures alike, before either is on record.
    """

    def __init__(
        self, ledger: LazyLedger, analyst: str, fingerprint: str, held: Callable[[float], float] = lambda passed: 0.0
    ) -> None:
        self.ledger = ledger
        self._held = held
        self.analyst = analyst
        self.fingerprint = fingerprint

    def paid(
        self,
        question: str,
        cost: Guarantee,
        draw: Callable[[Receipt], bytes],
        *,
        fresh: bool = False,
        key: str | None = None,
    ) -> Claim:
        """Debit, then draw, then store; or the stored answer, free. ``draw`` is called after the debit only.

        A ``key`` names this request for good: who sends it twice pays once, and no other question can have it.
        """
        request = Request(self.analyst, question, self.fingerprint, key)
        if fresh and key is None:
            request = request.fresh()
        ledger = self.ledger.for_spending(request, cost)
        return ledger.answered(request, cost, lambda receipt: self._drawn(draw, receipt))

    def stored(self, question: str, cost: Guarantee, key: str | None = None) -> Claim | None:
        """The answer that is on record, free; None if there is none."""
        return self.ledger.lookup(Request(self.analyst, question, self.fingerprint, key), cost)

    def _drawn(self, draw: Callable[[Receipt], bytes], receipt: Receipt) -> bytes:
        """The answer as bytes, after the payment. What goes wrong here may depend on the data: nobody is told what."""
        _log.info("entry %d is paid; drawing", receipt.entry)
        began, drawn = time.monotonic(), None
        try:
            drawn = draw(receipt)
        except (Exception, KeyboardInterrupt):
            _log.warning("entry %d: no answer could be drawn", receipt.entry)
        try:
            time.sleep(self._held(time.monotonic() - began))
        except KeyboardInterrupt:
            drawn = None
        if drawn is None:
            raise AnswerLost(_LOST)  # outside of the handlers, so that it carries no other error with it
        return drawn

    def close(self) -> None:
        """Let go of the ledger."""
        self.ledger.close()
