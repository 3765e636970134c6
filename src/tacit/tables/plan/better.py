"""Better shares of a price for sets of keys that add up, of one statement or of several.

No set is told worse than at even shares; and of statements that are asked together no interval is longer than if they
were asked one by one, each at its share of the price. Proof: docs/proofs/grouping_sets.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tacit.errors import TacitError
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.tables.plan.joint import Joint, share
from tacit.tables.plan.parts import Part
from tacit.tables.plan.plan import Plan, make_plan
from tacit.tables.plan.sets import are_as_good, are_as_short, are_better, reshared

__all__ = ["with_better_shares"]

Rows = Sequence[int | None]
"""How many are expected, one per statement."""


def with_better_shares(even: Plan, rows: Rows) -> Plan:
    """The plan, or one of the same statements at the same price whose sets share it better."""
    made = _reshared(even, rows)
    if len(even.statements) == 1 or not isinstance(even.asked, ApproxDP) or not even.asked.dlt:
        return made  # sums of shares: together all is as by itself
    try:
        alone = [_alone(even, even.asked, at, rows) for at in range(len(even.statements))]
    except TacitError:  # a share that buys nothing
        return made
    pairs = zip(_of_statements(made), alone, strict=True)
    return made if all(are_as_short(own, one.parts) for own, one in pairs) else _one_by_one(even, alone, rows)


def _reshared(even: Plan, rows: Rows) -> Plan:
    """Priced together: with better shares for those statements of which no set is told worse by it."""
    first = _of_statements(even)
    tried = [reshared(one, parts) for one, parts in zip(even.statements, first, strict=True)]
    while any(one is not None for one in tried):
        statements = [one or own for one, own in zip(tried, even.statements, strict=True)]
        try:
            made = make_plan(statements, even.policy, even.asked, rows, share, even.shares, even.together)
        except TacitError:  # a share that buys nothing
            return even
        if made.cost != even.cost:
            return even
        pairs = list(zip(_of_statements(made), first, strict=True))
        better = [one is not None and are_better(*pair) for one, pair in zip(tried, pairs, strict=True)]
        same = [one is None and are_as_good(*pair) for one, pair in zip(tried, pairs, strict=True)]
        if all(good or kept for good, kept in zip(better, same, strict=True)):
            return made
        if all(good or one is None for good, one in zip(better, tried, strict=True)):
            return even  # what others gain would be at the cost of one that has no shares to better
        tried = [one if good else None for good, one in zip(better, tried, strict=True)]
    return even


def _alone(even: Plan, price: ApproxDP, at: int, rows: Rows) -> Plan:
    """One of the statements by itself, at its share of the price."""
    part = even.shares[at]
    own = price.scaled(part).with_leak(price.dlt * part)
    return _reshared(make_plan([even.statements[at]], even.policy, own, [rows[at]], share), [rows[at]])


def _one_by_one(even: Plan, alone: Sequence[Plan], rows: Rows) -> Plan:
    """Each of them as by itself; ε and δ are summed."""
    statements = [one.statements[0] for one in alone]
    joints = [
        share(one.asked, [own.need for own in each.demands], [own.weight for own in each.demands])
        for one, each in zip(alone, statements, strict=True)
    ]
    leak = sum((one.cost.leak for one in joints), start=Fraction(0))
    splits = tuple(split for one in joints for split in one.splits)
    joint = Joint(even.asked.with_leak(leak), splits, "sums of ε and δ")
    return make_plan(statements, even.policy, even.asked, rows, lambda *_: joint, even.shares, even.together)


def _of_statements(plan: Plan) -> list[list[Part]]:
    """The parts of each statement."""
    return [[part for part in plan.parts if part.statement == at] for at in range(len(plan.statements))]
