"""What a request gives: which payment it is, and the answer as the bytes that are sent."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.ledger.requests import Claim
from tacit.tables.release.answer import Answer

__all__ = ["Given"]

_PACKED = b"PK"


@dataclass(frozen=True, slots=True)
class Given:
    """An answer that is on record: disclosures as JSON, or the file of a model."""

    number: int
    entry: int
    body: bytes
    charged: bool = False
    """Whether this request paid for it."""

    @classmethod
    def stored(cls, claim: Claim) -> Given:
        """What a payment has stored, as it is."""
        assert claim.answer is not None
        return cls(claim.receipt.number, claim.receipt.entry, claim.answer)

    @classmethod
    def told(cls, answer: Answer) -> Given:
        """An answer, perhaps with something computed of what is stored."""
        paid = answer.receipt
        return cls(paid.number, paid.entry, answer.disclosure().to_json(indent=None).encode())

    @property
    def is_model(self) -> bool:
        """Whether it is a file, and no disclosure."""
        return self.body.startswith(_PACKED)

    @property
    def media_type(self) -> str:
        """What kind of bytes they are."""
        return "application/zip" if self.is_model else "application/json"
