"""One plan for whatever is asked: parts with shares that add up to the price, one text, one way to the engine."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

import tacit
from tacit.privacy import ApproxDP
from tacit.tables.discovery.histogram import Histogram
from tacit.tables.plan.plan import Plan
from tacit.tables.session.table import Table
from tests.tables.plan.test_sets import BOTH, opened, people

COUNT = "SELECT COUNT(*) AS n FROM shop"
STREETS = "SELECT street, COUNT(*) AS n, AVG(pay) AS m, MEDIAN(pay) AS q FROM shop GROUP BY street"
PRICE = {"epsilon": 1, "delta": "1e-8"}


def discovery(table: Table) -> Plan:
    """The plan of a histogram, caught before it is paid for."""
    found: list[Histogram] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Histogram, "ask", lambda self, *_given, **_named: found.append(self) or _stop())
        with pytest.raises(LookupError):
            table.discover.rows_per_unit(epsilon=1)
    return found[0].plan(table.policy, ApproxDP(1, 0))


def _stop() -> None:
    raise LookupError


PLANS: dict[str, Callable[[Table], Plan]] = {
    "a question": lambda table: table.query(STREETS).plan(**PRICE),  # type: ignore[arg-type]
    "several sets of keys": lambda table: table.query(BOTH).plan(**PRICE),  # type: ignore[arg-type]
    "a batch": lambda table: table.batch([COUNT, BOTH, STREETS]).plan(**PRICE),  # type: ignore[arg-type]
    "margins": lambda table: table.margins([], ["town"], ["plan", "town"]).plan(**PRICE),  # type: ignore[arg-type]
    "ranges": lambda table: table.ranges("b", b=tacit.col("pay").width_bucket(0, 100, 9)).plan(**PRICE),  # type: ignore[arg-type]
    "a discovery": discovery,
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Table:
    return opened(tmp_path_factory.mktemp("plans") / "shop", people(20))


@pytest.mark.parametrize("name", PLANS)
def test_every_plan_says_the_same_things(name: str, shop: Table) -> None:
    plan = PLANS[name](shop)
    assert plan.price == plan.cost
    assert sum(plan.shares) == 1
    for one in plan.plans:
        spent = [line.share for part in one.parts for line in part.lines]
        assert sum(spent, start=one.key_share) == Fraction(1)
        assert one.question in plan.question
        assert {line.name for line in one.lines} == {line.name for part in one.parts for line in part.lines}
        assert str(one.tree()).startswith("price: ")
    assert len(plan.passes.places) == len(plan.parts)
    assert plan.bounded in [part.demand.asked for part in plan.parts]
    assert all(line.name in str(plan) for line in plan.lines)


@pytest.mark.parametrize("name", PLANS)
def test_every_plan_can_be_sent_to_another_process(name: str, shop: Table) -> None:
    plan = PLANS[name](shop)
    again = pickle.loads(pickle.dumps(plan))
    assert str(again) == str(plan)
    assert again.question == plan.question
    assert again.cost == plan.cost


def test_a_batch_of_one_is_a_batch(shop: Table) -> None:
    plan = shop.batch([COUNT]).plan(epsilon=1)
    assert plan.question.startswith("-- batch")
    assert str(plan).startswith("1 statements as one plan")
    assert plan.plans[0].question == shop.query(COUNT).plan(epsilon=1).question


def test_errors_that_add_up_are_smaller(shop: Table) -> None:
    for name in ("margins", "several sets of keys", "ranges"):
        pairs = PLANS[name](shop).errors()
        assert pairs
        assert sum(fits for _, fits in pairs) < sum(measured for measured, _ in pairs)  # type: ignore[misc]
    assert PLANS["a question"](shop).errors() == ()


def test_a_key_with_one_value_is_as_fine_as_without_it(tmp_path: Path) -> None:
    """Blocks of one finest group each move like those: in Gaussian noise that is less."""
    from tests.tables.plan.test_sets import POLICY

    policy = POLICY.replace('keys = ["free", "pro"]', 'keys = ["free"]').replace("groups = 2", "groups = 3")
    table = opened(tmp_path / "one", people(5), policy)
    plan = table.query("SELECT town, plan, COUNT(*) AS n FROM shop GROUP BY CUBE (town, plan)").plan(
        epsilon="0.2", delta="1e-3"
    )
    reach = {part.demand.title: (part.demand.need.groups, part.bounded.measures[0].reach) for part in plan.parts}
    assert reach["by town, plan"] == reach["by town"] == (3, 3)
    assert reach["by plan"] == reach["in all"] == (1, 9)
