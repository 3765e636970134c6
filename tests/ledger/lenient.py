"""Terms for tests that pay crumbs and draw nothing: no least price, and as many lost answers as there are."""

from __future__ import annotations

from typing import Any

from tacit.ledger import Terms
from tacit.ledger.amounts import NOTHING
from tacit.privacy import Promise

__all__ = ["lenient"]


def lenient(total: Promise, **more: Any) -> Terms:
    """The terms, without a least price and without strikes."""
    nothing = Terms(total).money(NOTHING)
    return Terms(total, least=nothing, strikes=10**9, **more)
