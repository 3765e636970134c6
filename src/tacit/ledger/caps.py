"""Whether every cap allows a price, and which one does not."""

from __future__ import annotations

from tacit.errors import BudgetExceeded, InvalidParameter
from tacit.ledger.amounts import Amount, readable
from tacit.ledger.store import Head
from tacit.ledger.terms import Terms

__all__ = ["exceeded", "fits", "refuse_too_little"]


def fits(terms: Terms, analyst: str, price: Amount, charged: Amount, own: Amount) -> bool:
    """Whether every cap allows the price, which would bring the sums to ``charged`` and ``own``."""
    if terms.largest is not None and not price.within(terms.largest):
        return False
    cap = terms.cap_of(analyst)
    return charged.within(terms.cap) and (cap is None or own.within(cap))


def exceeded(head: Head, analyst: str, before: Amount, price: Amount) -> BudgetExceeded:
    """The refusal: says which cap, and what would fit."""
    terms, own = head.terms, head.terms.cap_of(analyst)
    left = {"the whole ledger": head.charged.up_to(terms.cap)}
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
