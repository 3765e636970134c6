"""The sentences that go with an answer wherever it is shown."""

from __future__ import annotations

from tacit.report.disclosure import DECIDED, JOINED, PICKED, UNCOMPUTED, UNKNOWN, UNPAID, Amount, Cut, Disclosure
from tacit.report.numbers import delta, percent, price

__all__ = ["amount", "cut_words", "footnote", "limits", "meaning", "moment", "notes", "spent"]

_DISCOVERED = "DISCOVER "


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
    if DECIDED in disclosure.remarks:
        notes.append("intervals hold for the groups that are shown, by the noise that decided on them")
    if PICKED in disclosure.remarks:
        notes.append("picked by noisy numbers: intervals of what came out on top miss more often")
    notes += [one[:1].lower() + one[1:].rstrip(".") for one in disclosure.remarks if one.startswith((UNPAID, UNKNOWN))]
    return "; ".join(notes)


def notes(disclosure: Disclosure, current: int | None = None) -> list[str]:
    """What a reader would get wrong without a word: what was not computed, rows that do not count, of when
    the numbers are.

    ``current`` is the version that the data are of now.
    """
    version = disclosure.data_version
    drawn = f"drawn {moment(disclosure.time)} on version {version} of the data"
    if current is not None and current > version:
        drawn += f"; now they are of version {current}: --fresh (fresh=True) asks anew, and pays"
    inside = [one[:1].lower() + one[1:].rstrip(".") for one in disclosure.remarks if one.startswith(UNCOMPUTED)]
    return [*inside, *_cut(disclosure), drawn]


def _cut(disclosure: Disclosure) -> list[str]:
    """Of an answer that limits can change: not of single rows, nor of a count of units without groups."""
    counts_units = all(one.measure == "units" for one in disclosure.noise) and disclosure.group_rule.kind == "none"
    asked = disclosure.question.startswith(_DISCOVERED)
    if disclosure.groups_per_unit is None or counts_units or asked:
        return []
    joined = [one[:1].lower() + one[1:].rstrip(".") for one in disclosure.remarks if one.startswith(JOINED)]
    if disclosure.cut:
        beside = [f"{one.partition(';')[0]}: more are not in that share" for one in joined]
        return [*(cut_words(one) for one in disclosure.cut), *beside]
    return [*joined, "rows over the limits are not counted, and not in ±: tacit discover limits helps"]


def cut_words(cut: Cut) -> str:
    """What the limits left out, with its error.

    >>> cut_words(Cut("", 39400, 38500, 40300, 0.46, 0.45, 0.47, 400, "0.1"))
    '46% of the rows (45% to 47%) are over the limits: not counted, and not in ±'
    """
    of = f" {cut.what}" if cut.what else ""
    shares = f"{percent(cut.part_low)} to {percent(cut.part_high)}"
    return f"{percent(cut.part)} of the rows{of} ({shares}) are over the limits: not counted, and not in ±"


def moment(time: str) -> str:
    """A moment of the ledger, to the minute.

    >>> moment("2026-11-17T23:08:11.123456Z")
    '2026-11-17 23:08 UTC'
    """
    return f"{time[:10]} {time[11:16]} UTC" if len(time) >= 16 and time[10] == "T" else time


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
    charged = disclosure.charged
    so_far = f"so far {symbol} {price(charged.main)} of {price(cap.main)}"
    if disclosure.flavour == "epsilon" and charged.means is not None and charged.means[0] < float(charged.main):
        so_far = f"so far {symbol} {charged.means[0]:.4g} of {price(cap.main)}, by squares"
    paid = amount(symbol, disclosure.price)
    first = f"spent nothing: asked before, for {paid} ({so_far})" if again else f"spent {paid} ({so_far})"
    bounded = limits(disclosure)
    return [
        first,
        f"unit: {disclosure.unit.partition(':')[0]}" + (f", {bounded}" if bounded else ""),
        f"{disclosure.ledger} #{disclosure.number}",
    ]
