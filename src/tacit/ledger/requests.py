"""A request: what is asked for, by whom, under which key. Nothing in it may be computed from the data."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Self

from tacit.errors import NotPrivate
from tacit.ledger.amounts import Amount
from tacit.ledger.chain import canonical
from tacit.ledger.names import analyst_name, plain_text, some_text
from tacit.noise.entropy import BitSource, system_entropy

__all__ = ["Request", "secret_hex"]


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
