"""EXPLAIN as a tree: every share is shown, every hint is true of the plan it proposes, nothing depends on the data."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.privacy import ApproxDP
from tacit.tables.plan import plan as plan_module
from tacit.tables.plan.hints import MOST_WORK
from tacit.tables.plan.plan import Plan
from tacit.tables.plan.text import Branch, Hint
from tacit.tables.session.table import Table
from tests.tables.visits import POLICY, write_visits

BY_CITY = "SELECT city, COUNT(*) AS visits, AVG(spend) AS spend FROM visits GROUP BY city"
BY_PLAN = "SELECT plan, SUM(spend) AS total FROM visits GROUP BY plan"
ALL = "SELECT COUNT(*) AS visits FROM visits"


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return tacit.open(write_visits(tmp_path, users=20), analyst="ada", ledger=tacit.InMemory())


def changed(table: Table, folder: Path, old: str, new: str) -> Table:
    """The table under another policy."""
    inner = folder / "changed"
    inner.mkdir(exist_ok=True)
    write_visits(inner, users=3)
    written = POLICY.replace(old, new)
    assert written != POLICY
    (inner / "visits.toml").write_text(written, encoding="utf-8")
    return tacit.open(inner / "visits.toml", analyst="ada", ledger=tacit.InMemory())


def hint(plan: Plan, aggregate: str, beginning: str) -> Hint:
    return next(one for one in plan.hints if one.aggregate.startswith(aggregate) and one.change.startswith(beginning))


def test_the_tree_shows_where_the_price_goes(table: Table) -> None:
    plan = table.query(BY_CITY).plan(epsilon="0.5", expected_rows=1000)
    text = str(plan)
    assert "price: ε 0.5, δ 1e-08" in text
    assert "├─ unit: one user_id, at most 5 groups, 3 rows each" in text
    assert "├─ groups: a group is named if" in text
    assert "what would halve the error" in text
    shares = [int(one) for one in re.findall(r": (\d+)% of the price[;,]", text)]
    assert shares == [33, 33, 33, 33]  # COUNT(*) and its measure, AVG and its sums; keys in brackets
    assert plan.key_share + sum((line.share for line in plan.lines), start=Fraction(0)) == 1


@pytest.mark.parametrize("question", [BY_CITY, BY_PLAN, ALL])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_the_price_that_halves_the_error_does_and_is_near_the_smallest(
    table: Table, question: str, epsilon: str
) -> None:
    plan = table.query(question).plan(epsilon=epsilon, expected_rows=100_000)
    for line, output in zip(
        plan.lines, [one.name for one in plan.checked.query.outputs][-len(plan.lines) :], strict=True
    ):
        told = hint(plan, line.name, "ε")
        price = re.match(r"ε (\S+) instead of", told.change)
        assert price is not None
        there = table.query(question).plan(epsilon=price[1], expected_rows=100_000)
        assert there.error(output) == told.error
        assert line.error is not None
        assert told.error <= 0.505 * line.error
        less = table.query(question).plan(epsilon=str(Fraction(price[1]) * Fraction(9, 10)), expected_rows=100_000)
        assert less.error(output) > 0.505 * line.error * 0.98  # type: ignore[operator]


def test_limits_bounds_and_public_keys_do_what_the_hints_say(table: Table, tmp_path: Path) -> None:
    plan = table.query(BY_CITY).plan(epsilon="0.5", expected_rows=100_000)
    told = hint(plan, "COUNT", "rows = 1 instead of 3")
    assert (
        changed(table, tmp_path, "rows = 3", "rows = 1").query(BY_CITY).plan(epsilon="0.5").error("visits")
        == told.error
    )
    told = hint(plan, "COUNT", "groups = ")
    fewer = told.change.split(" instead")[0]
    assert (
        changed(table, tmp_path, "groups = 5", fewer).query(BY_CITY).plan(epsilon="0.5").error("visits") == told.error
    )
    listed = 'city = { type = "text", role = "public", keys = ["a", "b", "c", "d", "e", "f"] }'
    public = changed(table, tmp_path, 'city = { type = "text", role = "private" }', listed)
    assert hint(plan, "COUNT", "keys listed").error == public.query(BY_CITY).plan(epsilon="0.5").error("visits")
    alone = table.query("SELECT city, COUNT(*) AS visits FROM visits GROUP BY city").plan(epsilon="0.5")
    assert hint(plan, "COUNT", "this aggregate asked alone").error == alone.error("visits")
    plan = table.query(BY_PLAN).plan(epsilon="0.5")
    narrow = changed(table, tmp_path, "bounds = [0, 200]", "bounds = [0, 100]")
    assert hint(plan, "SUM", "bounds half as wide").error == narrow.query(BY_PLAN).plan(epsilon="0.5").error("total")


def test_planted_fault_a_canned_hint_is_seen(table: Table) -> None:
    """Twice the ε does not halve a Gaussian error: a hint that always said so would fail the check above."""
    many = BY_CITY.replace("AVG(spend)", "SUM(spend) AS total, SUM(age) AS ages, COUNT(spend) AS paid, AVG(spend)")
    plan = table.query(many).plan(epsilon="0.5", expected_rows=100_000)
    assert "Gaussian" in str(plan)
    twice = table.query(many).plan(epsilon=1).error("visits")
    now = plan.error("visits")
    assert twice is not None
    assert now is not None
    assert twice > 0.505 * now


def test_hints_are_free_and_the_same_for_other_data(table: Table, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with tacit.open(write_visits(other, users=3, seed=9), analyst="ada", ledger=tacit.InMemory()) as another:
        assert table.query(BY_CITY).plan(epsilon=1).hints == another.query(BY_CITY).plan(epsilon=1).hints
    assert table.ledger.budget().charged == ApproxDP(0, 0)
    assert table._access._engine is None  # no row was read


def test_an_error_that_depends_on_rows_gets_no_hint_without_them(table: Table) -> None:
    plan = table.query("SELECT AVG(spend) AS spend FROM visits").plan(epsilon=1)
    assert plan.hints == ()
    assert "pass expected_rows" in str(plan)


def test_a_branch_draws_itself() -> None:
    drawn = str(Branch("a", (Branch("b", (Branch("c"),)), Branch("d"))))
    assert drawn == "a\n├─ b\n│  └─ c\n└─ d"


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lines of each plan that is made: planning is counted, not timed."""
    made: list[int] = []
    make = plan_module.make_plan

    def counted(*given: Any, **named: Any) -> Plan:
        plan = make(*given, **named)
        made.append(sum(len(part.lines) for part in plan.parts))
        return plan

    monkeypatch.setattr(plan_module, "make_plan", counted)
    return made


def test_alike_aggregates_share_the_plans_that_their_hints_compare(table: Table, computed: list[int]) -> None:
    counts = ", ".join(f"COUNT(*) FILTER (WHERE spend > {at}) AS c{at}" for at in range(100))
    plan = table.query(f"SELECT {counts} FROM visits").plan(epsilon=1)
    assert len({one.aggregate for one in plan.hints}) == 100
    assert sum(computed) <= 20 * 100


@pytest.mark.thorough
def test_planning_grows_no_faster_than_the_statement(table: Table, computed: list[int]) -> None:
    for count in (20, 300):
        computed.clear()
        bounds = "contribution_bounds_per_row"
        sums = ", ".join(f"SUM(spend, {bounds} => (0, {at + 1})) AS s{at}" for at in range(count))
        plan = table.query(f"SELECT {sums} FROM visits").plan(epsilon=1)
        assert plan.hints
        assert sum(computed) <= MOST_WORK + count
    told = {one.aggregate for one in plan.hints}
    assert told == {line.name for line in plan.lines[: len(told)]}  # the first of them, and each of those in full
    assert 0 < len(told) < 300


def test_hints_of_many_sets_are_left_out_by_the_size_of_the_statement(table: Table, computed: list[int]) -> None:
    keys = ", ".join(f"(spend > {at})" for at in range(6))
    plan = table.query(f"SELECT COUNT(*) AS n FROM visits GROUP BY CUBE ({keys})").plan(epsilon=1)
    assert len(plan.lines) == 1
    assert sum(computed) <= MOST_WORK + 64
    assert all(one.error < plan.lines[0].error for one in plan.hints)


def test_half_the_bounds_of_one_aggregate_may_be_those_of_another(table: Table) -> None:
    bounds = "contribution_bounds_per_row"
    sql = f"SELECT SUM(spend, {bounds} => (0, 2)) AS a, SUM(spend, {bounds} => (0, 1)) AS b FROM visits"
    assert table.query(sql).plan(epsilon=1).hints
