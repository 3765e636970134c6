"""Statements of one grouping and of several, by one way in: how they are planned, explained and answered."""

from __future__ import annotations

from dataclasses import replace

from tacit.ledger import Receipt
from tacit.report.disclosure import Disclosure
from tacit.tables.bounded import Engine
from tacit.tables.checks import Checked
from tacit.tables.desk import Engines
from tacit.tables.disclosing import disclose, disclose_sets
from tacit.tables.drawing import draw
from tacit.tables.explaining import hints_for
from tacit.tables.grouping_sets_drawing import draw_sets
from tacit.tables.grouping_sets_plan import SetsPlan, make_sets_plan
from tacit.tables.plan import Plan, make_plan
from tacit.tables.policy import Policy
from tacit.tables.pricing import Price

__all__ = ["AnyPlan", "answered", "explained", "planned"]

AnyPlan = Plan | SetsPlan


def planned(checked: Checked, policy: Policy, price: Price, expected_rows: int | None = None) -> AnyPlan:
    """The plan at a price."""
    if checked.query.sets:
        return make_sets_plan(checked, policy, price, expected_rows)
    return make_plan(checked, policy, price, expected_rows)


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
        return disclose_sets(plan, draw_sets(plan, [engine.run(one) for one in plan.passes.bounded]), receipt)
    return disclose(plan, draw(plan, engine.run(plan.bounded)), receipt)
