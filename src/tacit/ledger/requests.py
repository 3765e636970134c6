"""A request (what is asked for, by whom, under which key) and the claim to its one answer.

Nothing in a request may be computed from the data.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Protocol, Self

from tacit.errors import LedgerError, NotPrivate
from tacit.ledger.amounts import Amount
from tacit.ledger.chain import canonical
from tacit.ledger.drawers import Drawer
from tacit.ledger.names import analyst_name, plain_text, some_text
from tacit.ledger.receipts import Receipt
from tacit.noise.entropy import BitSource, system_entropy

__all__ = ["Claim", "Request", "secret_hex"]


@dataclass(frozen=True, slots=True)
class Request:
    """One question of one analyst under one version of the policy; the ledger treats all three as opaque text.

    Without a ``key``, equal requests at the same price are one request: asking again is free. A ``key`` names one
    request of one analyst for good: the same key with another question, policy or price is refused.

    >>> Request("ada", "SELECT COUNT(*) FROM people").fresh().key is None
    False
    """

    analyst: str
    question: str
    policy: str = ""
    key: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "analyst", analyst_name(self.analyst))
        plain_text(self.question, "question")
        plain_text(self.policy, "policy version", 1000)
        if self.key is not None:
            some_text(self.key, "request key", 1000)

    def fresh(self, entropy: BitSource | None = None) -> Self:
        """The same question under a key nobody has used: it is paid for and drawn anew."""
        return replace(self, key=f"fresh-{secret_hex(entropy)}")

    def digest(self, source: str, price: Amount) -> str:
        """The name under which the answer is stored: (data set, policy version, question, price, analyst, key)."""
        parts = ["tacit request 1", source, self.policy, self.question, price.texts(), self.analyst, self.key]
        return hashlib.sha256(canonical(parts)).hexdigest()


def secret_hex(entropy: BitSource | None = None) -> str:
    """128 secret random bits; a source that can be replayed is refused."""
    bits = system_entropy() if entropy is None else entropy
    if not bits.secret:
        raise NotPrivate(f"{bits!r} can be replayed; a ledger takes its random keys from the operating system only.")
    return f"{bits.bits(128):032x}"


class _Keeper(Protocol):
    def release(self, entry: int, answer: bytes) -> Receipt: ...

    def abandon(self, entry: int) -> None: ...


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
        self.receipt = self._keeper.release(self.receipt.entry, answer)
        self.answer = bytes(answer)
        self._leave()
        return self.receipt

    def abandon(self) -> None:
        """Give up drawing; who asks again is told `AnswerLost` at once."""
        if self._drawer is not None:
            self._leave()
            self._keeper.abandon(self.receipt.entry)

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
