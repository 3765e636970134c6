"""Strikes: answers that were paid for and lost, stopped or interrupted. After a few, an account is locked.

What makes a draw fail may be in the data, so that failures can tell something: how often they may, the owner says.
"""

from __future__ import annotations

from collections.abc import Iterable

from tacit.errors import AccountLocked
from tacit.ledger.drawers import is_drawing
from tacit.ledger.store import Head, Store, Unanswered

__all__ = ["lost", "may_draw"]


def lost(found: Iterable[Unanswered]) -> list[int]:
    """Which of the answers that are missing nobody draws any more, a killed process's among them."""
    return [one.number for one in found if not is_drawing(one.drawer)]


def may_draw(store: Store, head: Head, analyst: str) -> bool:
    """Whether one more answer may be drawn now; an analyst who has lost too many since the last unlock is refused.

    Answers that are being drawn may all be lost: with those lost already they are never more than lock the account, so
    that nobody has a hundred failures by asking a hundred questions at once.
    """
    missing = store.unanswered(analyst)
    gone = lost(missing)
    if len(gone) >= head.terms.strikes:
        listed = ", ".join(f"#{number}" for number in gone[:5]) + (", …" if len(gone) > 5 else "")
        many = f"{len(gone)} answers were" if len(gone) > 1 else "an answer was"
        raise AccountLocked(
            f"The account of {analyst} is locked: {many} paid for and lost, stopped or interrupted ({listed}), and "
            f"{head.terms.strikes} lock it. Nothing was spent; answers that are on record stay free. "
            f'The owner unlocks it: tacit unlock {head.source} {analyst} --reason "…"'
        )
    return len(missing) < head.terms.strikes
