"""The sentences that go with an answer wherever it is shown."""

from __future__ import annotations

from tacit.report.disclosure import PICKED, UNPAID, Amount, Disclosure
from tacit.report.numbers import delta, price

__all__ = ["amount", "footnote", "limits", "meaning", "spent"]


def amount(symbol: str, given: Amount) -> str:
    """A price in words, δ always shown.

    >>> amount("ε", Amount("0.5", "1e-09"))
    'ε 0.50, δ 1e-9'
    """
    return f"{symbol} {price(given.main)}, δ {delta(given.delta)}"


def meaning(given: Amount) -> str:
    """The (ε, δ) that an amount of another flavour comes to, or nothing."""
    return "" if given.means is None else f"ε {price(repr(given.means[0]))} at δ {delta(given.means[1])}"


def footnote(disclosure: Disclosure) -> str:
    """What the intervals mean, and which groups are missing."""
    notes = []
    if any(column.is_noisy for column in disclosure.columns):
        notes.append(f"{100 * disclosure.confidence:.4g}% intervals for the noise")
    if disclosure.group_rule.kind == "private":
        notes.append("groups too small to show are left out")
    if PICKED in disclosure.remarks:
        notes.append("picked by noisy numbers: intervals of what came out on top miss more often")
    notes += [one[:1].lower() + one[1:].rstrip(".") for one in disclosure.remarks if one.startswith(UNPAID)]
    return "; ".join(notes)


def limits(disclosure: Disclosure) -> str:
    """How much of one unit counts."""
    groups, rows = disclosure.groups_per_unit, disclosure.rows_per_group
    parts = [] if groups is None else [f"at most {groups} {'group' if groups == 1 else 'groups'}"]
    if rows is not None:
        most = "" if parts else "at most "
        parts.append(f"{most}{rows} {'row' if rows == 1 else 'rows'}{' each' if parts and groups != 1 else ''}")
    return ", ".join(parts)


def spent(disclosure: Disclosure, *, again: bool = False) -> list[str]:
    """The parts of the line under an answer: the price, who is protected, where it is on record."""
    symbol, cap = disclosure.symbol, disclosure.cap
    so_far = f"so far {symbol} {price(disclosure.charged.main)} of {price(cap.main)}"
    paid = amount(symbol, disclosure.price)
    first = f"spent nothing: asked before, for {paid} ({so_far})" if again else f"spent {paid} ({so_far})"
    bounded = limits(disclosure)
    return [
        first,
        f"unit: {disclosure.unit.partition(':')[0]}" + (f", {bounded}" if bounded else ""),
        f"{disclosure.ledger} #{disclosure.entry}",
    ]
