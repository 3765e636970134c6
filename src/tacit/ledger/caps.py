"""What a ledger refuses: a price that a cap does not allow, and who has lost too many answers.

Strikes are answers that were paid for and lost, stopped or interrupted. What makes a draw fail may be in the data, so
that failures can tell something: how often they may, before an account is locked, the owner says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

from tacit.errors import AccountLocked, BudgetExceeded, InvalidParameter
from tacit.ledger.amounts import Amount, readable
from tacit.ledger.store import Head, Store, Unanswered
from tacit.ledger.terms import Terms

__all__ = ["exceeded", "fits", "lost", "may_draw", "refuse_too_little"]


def fits(terms: Terms, analyst: str, price: Amount, charged: Amount, own: Amount, squares: Fraction) -> bool:
    """Whether every cap allows the price, which would bring the sums to ``charged``, ``own`` and ``squares``.

    Squares are a reading of the total alone: the caps of analysts add up.
    """
    if terms.largest is not None and not price.within(terms.largest):
        return False
    cap = terms.cap_of(analyst)
    return terms.allows(charged, squares) and (cap is None or own.within(cap))


def exceeded(head: Head, analyst: str, before: Amount, price: Amount) -> BudgetExceeded:
    """The refusal: says which cap, and what would fit."""
    terms, own = head.terms, head.terms.cap_of(analyst)
    left = {"the whole ledger": terms.left(head.charged, head.squares)}
    if own is not None:
        left[f"analyst {analyst}"] = before.up_to(own)
    if terms.largest is not None:
        left["one question"] = terms.largest
    whose, amount = next((whose, amount) for whose, amount in left.items() if not price.within(amount))
    says = terms.flavour.words
    fits = f"That is the cap of {whose}." + (" It is the δ that does not fit." if price.main <= amount.main else "")
    if amount.main < terms.smallest:
        fits += f" A payment is at least {terms.flavour.symbol} {readable(terms.smallest)}, so that nothing fits."
    words = (says(price), says(amount))
    return BudgetExceeded(asked=terms.money(price), left=terms.money(amount), fits=fits, words=words)


def refuse_too_little(terms: Terms, price: Amount) -> None:
    """Refuse a price below the least: nearly free questions could be asked until their failures tell something."""
    if price.main < terms.smallest:
        symbol, least = terms.flavour.symbol, readable(terms.smallest)
        allowed = f"{symbol} {least} or more, the least price of a payment: {terms.flavour.name} {least}"
        hint = "The owner sets it: [budget] least, or least= in Python. Nothing was spent."
        raise InvalidParameter("price", given=f"{symbol} {readable(price.main)}", allowed=allowed, hint=hint)


def lost(store: Store, found: Iterable[Unanswered]) -> list[int]:
    """Which of the answers that are missing nobody draws any more, a killed process's among them."""
    return [one.number for one in found if not store.is_drawing(one.drawer)]


def may_draw(store: Store, head: Head, analyst: str, number_of: Callable[[int], int]) -> bool:
    """Whether one more answer may be drawn now; an analyst who has lost too many since the last unlock is refused.

    Answers that are being drawn may all be lost: with those lost already they are never more than lock the account, so
    that nobody has a hundred failures by asking a hundred questions at once.
    """
    missing = store.unanswered(analyst)
    if len(missing) < head.terms.strikes:
        return True  # were they all lost, they would not lock it: who still draws them need not be asked
    gone = lost(store, missing)
    if len(gone) >= head.terms.strikes:
        listed = ", ".join(f"#{number_of(entry)}" for entry in gone[:5]) + (", …" if len(gone) > 5 else "")
        many = f"{len(gone)} answers were" if len(gone) > 1 else "an answer was"
        raise AccountLocked(
            f"The account of {analyst} is locked: {many} paid for and lost, stopped or interrupted ({listed}), and "
            f"{head.terms.strikes} lock it. Nothing was spent; answers that are on record stay free. "
            f'The owner unlocks it: tacit unlock {head.source} {analyst} --reason "…"'
        )
    return False
