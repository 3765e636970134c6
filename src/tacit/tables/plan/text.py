"""A plan for people: a tree of where each bit of the price goes, drawn in text; and the hints that hang in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tacit.ledger.amounts import readable
from tacit.ledger.terms import Terms
from tacit.privacy.composition import Guarantee
from tacit.tables.engines.contract import BoundedQuery
from tacit.tables.plan.parts import Line, Part

if TYPE_CHECKING:
    from tacit.tables.plan.plan import Plan

__all__ = ["Branch", "Hint", "plan_text", "plan_tree", "price_words", "remarks"]


@dataclass(frozen=True, slots=True)
class Hint:
    """A change that would lower the error of one aggregate, and the error it would have then; computed, not guessed."""

    aggregate: str
    change: str
    error: float
    halves: bool
    """Whether the error would be at most half of what it is."""

    def __str__(self) -> str:
        return f"{self.change}: ± {self.error:.4g}"


@dataclass(frozen=True, slots=True)
class Branch:
    """A line, and what belongs under it."""

    text: str
    below: tuple[Branch, ...] = ()

    def __str__(self) -> str:
        """The tree.

        >>> print(Branch("price", (Branch("keys", (Branch("rule"),)), Branch("count"))))
        price
        ├─ keys
        │  └─ rule
        └─ count
        """
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield self.text
        for at, one in enumerate(self.below):
            last = at == len(self.below) - 1
            first, rest = ("└─ ", "   ") if last else ("├─ ", "│  ")
            for number, line in enumerate(one._lines()):
                yield (rest if number else first) + line


def plan_text(plan: Plan) -> str:
    """A plan: of one question its tree, of several the plan of each."""
    lines = list(_batch_lines(plan)) if plan.together else [plan.question, str(plan.tree())]
    if plan.engine_sql:
        lines += ["engine:", *(f"    {row}" for row in plan.engine_sql.splitlines())]
    return "\n".join(lines)


def _batch_lines(plan: Plan) -> Iterator[str]:
    many = len(plan.passes.bounded)
    yield f"{len(plan.statements)} statements as one plan, {many} pass{'es' if many > 1 else ''} over the rows"
    yield f"price of all together: {plan.cost!r}, by {plan.how}"
    for number, one in enumerate(plan.plans):
        yield f"[{number}] {float(one.shares[0]):.1%} of the price, which is shared as below"
        yield from (f"    {row}" for row in str(one).splitlines())


def plan_tree(plan: Plan) -> Branch:
    """Where each bit of the price goes, and what would halve an error."""
    price = f"price: {price_words(plan.cost, plan.policy.terms)}"
    aside = tuple(Branch(one) for one in plan.aside)
    if aside:
        aside = (Branch(f"the answer itself: {_percent(plan.shares[0])} of the price, shared as above"), *aside)
    if plan.parts[0].demand.title:
        return Branch(f"{price}, priced by {plan.how}", (*_sets(plan), *aside))
    (only,) = plan.parts
    return Branch(price, (_unit(plan.bounded), *_part(only, plan.hints), *aside))


def _sets(plan: Plan) -> Iterator[Branch]:
    """What each set of keys gets, and what is to be known about all of them."""
    yield _unit_of_sets(plan.bounded)
    for at, title in dict.fromkeys((part.demand.at, part.demand.title) for part in plan.parts):
        own = [part for part in plan.parts if part.demand.at == at]
        share = float(sum(part.demand.weight for part in own))
        inside = tuple(dict.fromkeys(branch for part in own for branch in _part(part)))
        yield Branch(f"{title}: {share:.0%} of the price", inside)
    yield from (Branch(text) for text in remarks(plan))
    for hint in plan.hints:
        words = "would halve the largest error of" if hint.halves else "would lower the largest error of"
        yield Branch(f"{words} {hint.aggregate}: {hint}")


def remarks(plan: Plan) -> tuple[str, ...]:
    """What a reader must know about several sets of keys."""
    if any(part.demand.level is not None for part in plan.parts):
        return (
            "Counts and sums of all sets fit each other by weighted least squares, so that they add up; they are "
            "not rounded, for rounding would break the sums. Limits apply to the groups by all keys together, and "
            "coarser counts and sums are those of the groups that they contain.",
        )
    reason = plan.statements[0].reason
    return (f"Counts and sums of different sets are not made to add up: {reason}.",) if reason else ()


def _unit(limits: BoundedQuery) -> Branch:
    if limits.unit is None:
        return Branch("unit: each row")
    groups, rows = f"group{'s' if limits.groups != 1 else ''}", "row" if limits.rows == 1 else "rows"
    counted = f"unit: one {limits.unit}, at most {limits.groups} {groups}, {limits.rows} {rows} each"
    return Branch(counted, (Branch("what is over a limit is left out by a keyed hash"),))


def _unit_of_sets(limits: BoundedQuery) -> Branch:
    if limits.unit is None:
        return Branch("unit: each row")
    return Branch(
        f"unit: one {limits.unit}, in each set at most {limits.groups} groups, {limits.rows} rows each; "
        "what is over a limit is left out by a keyed hash"
    )


def _part(part: Part, hints: tuple[Hint, ...] = ()) -> Iterator[Branch]:
    """What the price of a part is for: the groups, and each aggregate."""
    if part.keys is not None:
        paid = "no share of the price is taken for it" if part.decides else f"{_percent(part.key_share)} of the price"
        yield Branch(f"groups: {part.keys.explain()} ({paid})")
    elif part.bounded.public_keys is not None and part.bounded.keys:
        yield Branch(f"groups: {len(part.bounded.public_keys)} public keys, shown even when empty")
    yield from (_line(part, line, [hint for hint in hints if hint.aggregate == line.name]) for line in part.lines)


def _line(part: Part, line: Line, hints: list[Hint]) -> Branch:
    kind = "" if part.noise is None else part.noise.name
    below = [
        Branch(
            f"{own.measure.words}: {_percent(line.share * own.weight)} of the price, {kind} noise, "
            f"scale {mechanism.scale:.4g}, ± {float(mechanism.accuracy('0.05')):.4g} steps"
        )
        for own, mechanism in zip(line.parts, line.mechanisms, strict=True)
    ]
    for title, chosen in (
        ("what would halve the error", [hint for hint in hints if hint.halves]),
        ("what would lower it", [hint for hint in hints if not hint.halves]),
    ):
        below += [Branch(title, tuple(Branch(str(hint)) for hint in chosen))] if chosen else []
    shared = "" if line.setting.reading is None else ", with the column's other statistics"
    return Branch(f"{line.name}: {_percent(line.share)} of the price{shared}; {_error(line)}", tuple(below))


def _error(line: Line) -> str:
    if line.pick is not None:
        return line.pick[1].explain()
    if line.error is None:
        return "error depends on the number of rows: pass expected_rows"
    return f"± {line.error:.4g} nineteen times of twenty"


def price_words(cost: Guarantee, terms: Terms) -> str:
    """A price for people, with what is wrong if it cannot be paid because it is too little."""
    told = f"{cost.symbol} {readable(cost.main)}, δ {readable(cost.leak)}"
    least = f" (too little: a payment is at least {cost.symbol} {readable(terms.smallest)})"
    return told + (least if cost.main < terms.smallest else "")


def _percent(share: Fraction) -> str:
    return f"{float(share):.0%}"
