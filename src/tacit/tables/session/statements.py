"""Statements of one grouping and of several, by one way in: how they are planned, explained and answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tacit.ledger import Receipt
from tacit.report.disclosure import Disclosure
from tacit.tables.check.check import Checked
from tacit.tables.engines.access import Engines
from tacit.tables.engines.contract import BoundedQuery, Engine, Integers
from tacit.tables.plan.hints import hints_for
from tacit.tables.plan.joint import Joint
from tacit.tables.plan.passes import Passes
from tacit.tables.plan.plan import Given, Plan, make_plan, needed
from tacit.tables.plan.price import Need, Price
from tacit.tables.plan.sets import divided
from tacit.tables.plan.sets_plan import SetsPlan, make_sets_plan
from tacit.tables.policy.policy import Policy
from tacit.tables.release.disclose import disclose, disclose_sets
from tacit.tables.release.draw import draw
from tacit.tables.release.draw_sets import draw_sets

__all__ = [
    "Answering",
    "AnyPlan",
    "Demand",
    "answered",
    "demanded",
    "disclosed",
    "explained",
    "planned",
    "planned_with",
]

AnyPlan = Plan | SetsPlan


@dataclass(frozen=True, slots=True)
class Demand:
    """What a statement takes whatever its price: one grouped question, or one or two for each of its sets of keys."""

    needs: tuple[Need, ...]
    weights: tuple[Fraction, ...]
    """The questions' shares of the statement's share of a price; they add up to 1."""
    bounded: tuple[BoundedQuery, ...]
    size: Fraction
    """The share at which noise is as large as elsewhere, in multiples of what one unit moves: groups times parts."""


def demanded(checked: Checked, policy: Policy) -> Demand:
    """What a statement takes."""
    if not checked.query.sets:
        shares, groups, bounded = needed(checked, policy)
        return Demand((Need(shares, groups),), (Fraction(1),), (bounded,), _size(checked, shares.keys, groups))
    parts = divided(checked, policy).parts
    size = sum((_size(one.checked, one.need.shares.keys, one.bounded.groups) for one in parts), start=Fraction(0))
    return Demand(
        tuple(one.need for one in parts), tuple(one.weight for one in parts), tuple(one.bounded for one in parts), size
    )


def _size(checked: Checked, keys: Fraction, groups: int) -> Fraction:
    return Fraction(groups * (len(checked.query.aggregates()) + (1 if keys else 0)))


def planned(checked: Checked, policy: Policy, price: Price, expected_rows: int | None = None) -> AnyPlan:
    """The plan at a price."""
    if checked.query.sets:
        return make_sets_plan(checked, policy, price, expected_rows)
    return make_plan(checked, policy, price, expected_rows)


def planned_with(
    checked: Checked, policy: Policy, price: Price, expected_rows: int | None, joint: Joint, passes: Passes
) -> AnyPlan:
    """The plan of one of several statements: ``joint`` has its questions' mechanisms, as priced with all others."""
    if checked.query.sets:
        made = make_sets_plan(checked, policy, price, expected_rows, lambda price, needs, weights: joint)
        return replace(made, passes=passes)
    (own,) = joint.splits
    return make_plan(checked, policy, price, expected_rows, Given(replace(own, cost=joint.cost)))


def explained(plan: AnyPlan, engines: Engines, expected_rows: int | None) -> AnyPlan:
    """The plan with the statements that an engine would run, and what would lower the errors."""
    hints = hints_for(plan, expected_rows)
    if isinstance(plan, SetsPlan):
        written = [engines.explain(one) for one in plan.passes.bounded]
        return replace(plan, engine_sql="\n\n".join(written), hints=hints)
    return replace(plan, engine_sql=engines.explain(plan.bounded), hints=hints)


def answered(plan: AnyPlan, engine: Engine, receipt: Receipt) -> Disclosure:
    """The answer that was paid for."""
    if isinstance(plan, SetsPlan):
        return disclosed(plan, plan.passes, [engine.run(one) for one in plan.passes.bounded], receipt)
    return disclose(plan, draw(plan, engine.run(plan.bounded)), receipt)


@dataclass(frozen=True, slots=True)
class Answering:
    """The draw of one statement, as a value that another process can be given."""

    plan: AnyPlan

    def __call__(self, engine: Engine, receipt: Receipt) -> bytes:
        return answered(self.plan, engine, receipt).to_json(indent=None).encode()


def disclosed(plan: AnyPlan, passes: Passes, found: Sequence[Integers], receipt: Receipt) -> Disclosure:
    """The answer made of what the passes found; ``passes`` are told from the statement's own point of view."""
    if isinstance(plan, SetsPlan):
        return disclose_sets(plan, draw_sets(plan, found), receipt)
    return disclose(plan, draw(plan, passes.integers(0, found)), receipt)
