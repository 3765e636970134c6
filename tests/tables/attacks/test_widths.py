"""Sums that statements drive across the widths of integers, through the engine: nobody's presence shows in the output.

The attack that once worked: bounds of the analyst's own make each person count for so much that the sum leaves int64
with the third person. What was released was then cut at ±2⁶³ or not, whatever the noise: one bit for next to nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.tables.engines.sums import Sums
from tacit.tables.release import draw as drawing
from tacit.tables.session.table import Table
from tests.tables.attacks.coupling import coupled, differ, outcome
from tests.tables.attacks.test_one_function import ALIKE, SUMS, in_margins, in_the_engine

POLICY = """\
version = 1
source = "pay.csv"
unit = "who"
[limits]
groups = 1
rows = 1
[budget]
{flavour} = 1
[columns]
who = {{ type = "text", role = "identifier" }}
plan = {{ type = "text", role = "public", keys = ["free", "pro"] }}
x = {{ type = "real", role = "private", bounds = [0, 100], granule = 0.01 }}
"""
_WIDE = "(3.1e16, 3.2e16)"
_CASE = "CASE WHEN x > 50 THEN 2147483000 ELSE -2147483000 END"
STATEMENTS = {
    "a sum": f"SELECT SUM(x, contribution_bounds_per_group => {_WIDE}) AS s FROM pay",
    "a sum of rows": f"SELECT SUM(x, contribution_bounds_per_row => {_WIDE}) AS s FROM pay",
    "a sum by plan": f"SELECT plan, SUM(x, contribution_bounds_per_group => {_WIDE}) AS s FROM pay GROUP BY plan",
    "a sum with totals": f"SELECT plan, SUM(x, contribution_bounds_per_group => {_WIDE}) AS s FROM pay "
    "GROUP BY ROLLUP (plan)",
    "a sum of rows with totals": f"SELECT plan, SUM(x, contribution_bounds_per_row => {_WIDE}) AS s FROM pay "
    "GROUP BY ROLLUP (plan)",
    "a covariance": f"SELECT COVAR_POP({_CASE}, {_CASE}) AS c FROM pay",
    "a correlation": f"SELECT CORR({_CASE}, {_CASE}) AS c, COUNT(*) AS n FROM pay",
    "a variance": f"SELECT VAR_POP({_CASE}) AS v, AVG({_CASE}) AS a FROM pay",
}
SMALL = {"epsilon": "0.001", "rho": "0.000001"}


def people(folder: Path, count: int, flavour: str) -> Table:
    place = folder / f"{count} {flavour}"
    place.mkdir(parents=True)
    rows = [f"p{i},{'free' if i else 'pro'},{60 + i}" for i in range(count)]
    (place / "pay.csv").write_text("\n".join(["who,plan,x", *rows]) + "\n", encoding="utf-8")
    (place / "pay.toml").write_text(POLICY.format(flavour=flavour), encoding="utf-8")
    return tacit.open(place / "pay.toml", ledger=tacit.InMemory(), analyst="eve")


@pytest.fixture(scope="module", params=["epsilon", "rho"])
def tables(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Table]:
    folder = tmp_path_factory.mktemp("widths")
    return {count: people(folder, count, request.param) for count in (2, 3, 5)}


def plan_of(table: Table, sql: str) -> Any:
    flavour = table.policy.terms.flavour.name
    return table.query(sql).plan(**{flavour: SMALL[flavour]})


def drawn(table: Table, plan: Any) -> Any:
    engine = table._engine_now()
    return drawing.draw(plan, plan.integers([engine.run(one) for one in plan.passes.bounded]))


def shown(table: Table, plan: Any, sums: list[int]) -> object:
    with coupled(sums):
        return outcome(lambda: [[one.name, one.values, one.low, one.high] for one in drawn(table, plan)])


def tells(tables: dict[int, Table], statement: str) -> bool:
    """Whether the third person, or the fifth, shows in what is released although the sums with noise are the same."""
    made = {count: plan_of(table, STATEMENTS[statement]) for count, table in tables.items()}
    return any(
        differ([shown(table, made[count], sums) for count, table in tables.items()]) for sums in (SUMS, ALIKE, [2**63])
    )


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.thorough
def test_the_third_person_does_not_show(statement: str, tables: dict[int, Table]) -> None:
    assert not tells(tables, statement)


def test_the_sums_do_cross(tables: dict[int, Table]) -> None:
    """2⁶³ lies between the sums of two and of three, in granules: the attack is a real one."""
    for statement in ("a sum", "a covariance"):
        sums = []
        for count in (2, 3):
            plan = plan_of(tables[count], STATEMENTS[statement])
            measured = tables[count]._engine_now().run(plan.bounded).measures
            sums.append(max(max(one) for one in measured if isinstance(one, Sums)))
        assert sums[0] < 2**63 < sums[1]


@pytest.mark.parametrize("statement", ["a sum", "a sum of rows"])
@pytest.mark.thorough
def test_nor_does_it_with_real_noise(statement: str, tables: dict[int, Table]) -> None:
    """Noise of scale 10²⁰ and more leaves int64 all but once in hundreds, with two people as with three."""
    for table in (tables[2], tables[3]):
        plan = plan_of(table, STATEMENTS[statement])
        steps = [drawn(table, plan)["s"].values[0] / 0.01 for _ in range(40)]
        assert np.sum(np.abs(steps) > 2.0**63 + 2.0**20) >= 15


@pytest.mark.parametrize(
    ("plant", "statement"),
    [
        (in_the_engine, "a sum"),
        (in_the_engine, "a sum of rows"),
        (in_the_engine, "a sum by plan"),
        (in_the_engine, "a covariance"),
        (in_the_engine, "a correlation"),
        (in_the_engine, "a sum with totals"),
        (in_margins, "a sum of rows with totals"),
    ],
)
def test_planted_fault_the_attack_works(
    plant: Any, statement: str, tables: dict[int, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    assert tells(tables, statement)
