"""What a request gives: which payment it is, and the answer as the bytes that are sent."""

from __future__ import annotations

import json
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
        """What a payment has stored, and its number, which was not known yet when it was drawn."""
        assert claim.answer is not None
        paid = claim.receipt
        body = claim.answer if claim.answer.startswith(_PACKED) else _numbered(claim.answer, paid.number)
        return cls(paid.number, paid.entry, body)

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


def _numbered(stored: bytes, number: int) -> bytes:
    told = json.loads(stored)
    for one in told.get("answers", [told]):
        one["number"] = number
    return json.dumps(told, ensure_ascii=False).encode()
