"""Holes of docs/known_issues.md that have no other place to be tested in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import tacit
from tacit.errors import InvalidParameter, TacitError
from tacit.tables.plan.demands import MOST_CHOSEN
from tacit.tables.query.per_unit import PerUnit
from tacit.tables.session.table import Table
from tests.tables.attacks.neighbours import open_pair


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return open_pair(tmp_path)[0]


@pytest.mark.parametrize("name", ["AVG", "VARIANCE", "STDDEV_POP"])
def test_a_range_without_a_step_in_it_is_refused(table: Table, name: str) -> None:
    """Whole numbers between 20.4 and 20.6: there are none, the reach was negative, and noise next to nothing."""
    with pytest.raises(InvalidParameter, match="granule"):
        table.query(f"SELECT {name}(age, contribution_bounds_per_row => (20.4, 20.6)) FROM visits").plan(epsilon=1)


def test_a_tree_with_two_columns_of_one_name_is_refused(table: Table) -> None:
    """Built by hand: in SQL no such thing can be written. One of the two could be taken for the unit."""
    question = table.query(
        "SELECT AVG(t, contribution_bounds_per_row => (0, 9)) FROM "
        "(SELECT user_id, plan, SUM(spend) AS t FROM visits GROUP BY user_id, plan)"
    )
    source = question.tree.source
    assert isinstance(source, PerUnit)
    assert table.query(question.tree).plan(epsilon=1)
    doubled = replace(source, facts=(*source.facts, replace(source.facts[-1], name="user_id")))
    with pytest.raises(TacitError):
        table.query(replace(question.tree, source=doubled)).plan(epsilon=1)


def test_a_plan_of_sums_with_fine_steps_is_made(tmp_path: Path) -> None:
    """ROLLUP at a small ε raised while it was planned: a scale so large that e^(-1/s) is 1 in doubles."""
    table, _ = open_pair(tmp_path)
    sql = "SELECT plan, SUM(points, contribution_bounds_per_row => (0, 1e18)) AS s FROM visits GROUP BY ROLLUP (plan)"
    assert table.query(sql).plan(epsilon=tacit.PureDP("1e-9").eps).hints is not None


@pytest.mark.parametrize(
    "one",
    [
        "MEDIAN(spend, contribution_bounds_per_row => (0, {}))",
        "COUNT(DISTINCT points % {})",
        "SUM(age + {0}, contribution_bounds_per_row => (0, {0}))",
        "CORR(age, spend + {0}, contribution_bounds_per_row => (0, 9), contribution_bounds_of_second => (0, {0}))",
    ],
)
def test_what_no_engine_can_take_at_once_is_refused_before_it_is_paid(table: Table, one: str) -> None:
    """Two hundred medians were paid for and lost: their steps were nested deeper than the engine reads."""
    count = 900 if one.startswith("SUM") else 200
    sql = "SELECT " + ", ".join(one.format(at) for at in range(1, count + 1)) + " FROM visits"
    with pytest.raises(InvalidParameter, match="at most"):
        table.query(sql).plan(epsilon=1)


def test_as_many_as_are_allowed_are_answered(table: Table) -> None:
    counts = ", ".join(f"COUNT(DISTINCT points % {at})" for at in range(1, MOST_CHOSEN + 1))
    assert len(table.sql(f"SELECT {counts} FROM visits", epsilon=1000).columns) == MOST_CHOSEN
