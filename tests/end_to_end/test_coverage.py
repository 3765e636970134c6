"""Whole statements over a dirty file: 95% intervals cover the bounded statistic, which plain Python computes here."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Sequence

import pytest

import tacit
from tacit.tables.session.table import Table
from tests.end_to_end.covering import hits, least_hits

Row = tuple[str, str, str, str]
_TRIES = 400
_POLICY = """\
version = 1
source = "people.csv"
unit = "person"

[limits]
groups = 2
rows = 3

[budget]
epsilon = 1000000
least = { epsilon = 1e-300 }
delta = 0.01
question_delta = 1e-8

[columns]
person = { type = "text", role = "identifier" }
plan = { type = "text", role = "public", keys = ["free", "pro", "gone"] }
spend = { type = "real", role = "private", bounds = [0, 200] }
age = { type = "integer", role = "private", bounds = [0, 120] }
"""


def people(seed: int = 3) -> list[Row]:
    """Everybody within the limits: at most three rows in each of two plans."""
    chance, rows = random.Random(seed), list[Row]()
    for person in range(400):
        for plan in chance.sample(["free", "pro"], chance.randint(1, 2)):
            for _ in range(chance.randint(1, 3)):
                spend = chance.choice([f"{chance.gauss(70, 30):.2f}"] * 18 + ["", "abc", "1e9", "NaN", "-inf", "-5"])
                age = chance.choice([str(chance.randint(18, 90))] * 18 + ["", "200", "4.5.6", "-3"])
                rows.append((f"p{person}", plan, spend, age))
    rows += [("", "pro", "50", "50")] * 3  # of nobody
    rows += [(f"q{i}", "other", "50", "50") for i in range(5)]  # a plan that is not listed
    chance.shuffle(rows)
    return rows


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    folder = tmp_path_factory.mktemp("coverage")
    lines = ["person,plan,spend,age", *(",".join(row) for row in people())]
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "people.toml").write_text(_POLICY, encoding="utf-8")
    return tacit.open(folder / "people.toml", ledger=tacit.InMemory(), analyst="ada")


# the oracle


def number(cell: str, low: float, high: float) -> float | None:
    """A cell as the policy reads it, clamped; None if it is no number."""
    try:
        value = float(cell)
    except ValueError:
        return None
    return min(max(value, low), high) if math.isfinite(value) else None  # infinities are unknown, as NaN is


def spends(rows: Sequence[Row]) -> list[float]:
    return [value for row in rows if (value := number(row[2], 0, 200)) is not None]


def ages(rows: Sequence[Row]) -> list[float]:
    return [value for row in rows if (value := number(row[3], 0, 120)) is not None]


def pairs(rows: Sequence[Row]) -> list[tuple[float, float]]:
    read = [(number(row[3], 0, 120), number(row[2], 0, 200)) for row in rows]
    return [(age, spend) for age, spend in read if age is not None and spend is not None]


def covariance(rows: Sequence[Row]) -> float:
    n = len(pairs(rows))
    return statistics.covariance(*zip(*pairs(rows), strict=True)) * (n - 1) / n


Oracle = Callable[[Sequence[Row]], float]
STATISTICS: dict[str, Oracle] = {
    "COUNT(*)": len,
    "COUNT(spend)": lambda rows: len(spends(rows)),
    "COUNT(DISTINCT person)": lambda rows: len({row[0] for row in rows}),
    "SUM(spend)": lambda rows: math.fsum(spends(rows)),
    "AVG(spend)": lambda rows: statistics.fmean(spends(rows)),
    "AVG(age)": lambda rows: statistics.fmean(ages(rows)),
    "VAR_SAMP(age)": lambda rows: statistics.variance(ages(rows)),
    "STDDEV_POP(spend)": lambda rows: statistics.pstdev(spends(rows)),
    "COUNT(DISTINCT age)": lambda rows: len({row[3] for row in rows if row[3] not in ("", "4.5.6")}),
    "MEDIAN(age)": lambda rows: statistics.median(ages(rows)),
    "QUANTILE(age, 0.9)": lambda rows: sorted(ages(rows))[math.ceil(0.9 * len(ages(rows))) - 1],
    "MAX(age)": lambda rows: max(ages(rows)),
    "MIN(age)": lambda rows: min(ages(rows)),
    "COVAR_POP(age, spend)": covariance,
    "CORR(age, spend)": lambda rows: statistics.correlation(*zip(*pairs(rows), strict=True)),
    "MEDIAN(age) - AVG(age)": lambda rows: statistics.median(ages(rows)) - statistics.fmean(ages(rows)),
    "SUM(spend) / COUNT(*)": lambda rows: math.fsum(spends(rows)) / len(rows),
    "SUM(spend) / SUM(age)": lambda rows: math.fsum(spends(rows)) / math.fsum(ages(rows)),
    "100 * AVG(age) - SUM(age)": lambda rows: 100 * statistics.fmean(ages(rows)) - math.fsum(ages(rows)),
}


def of_plan(plan: str) -> list[Row]:
    return [row for row in people() if row[0] and row[1] == plan]


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("epsilon", [0.2, 3.0])
@pytest.mark.thorough
def test_intervals_of_a_whole_table_cover(table: Table, statistic: str, epsilon: float) -> None:
    sql, truth = f"SELECT {statistic} AS x FROM people WHERE plan = 'free'", STATISTICS[statistic](of_plan("free"))
    assert hits(table, sql, {(): truth}, epsilon=epsilon, tries=_TRIES)[()] >= least_hits(_TRIES, 0.95)


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.thorough
def test_intervals_of_groups_cover(table: Table, statistic: str) -> None:
    truths = {(plan,): STATISTICS[statistic](of_plan(plan)) for plan in ("free", "pro")}
    sql = f"SELECT plan, {statistic} AS x FROM people GROUP BY plan HAVING plan <> 'gone'"
    assert min(hits(table, sql, truths, epsilon=1, tries=_TRIES).values()) >= least_hits(_TRIES, 0.95)


def test_intervals_of_half_the_width_do_not(table: Table) -> None:
    """The suite can fail: an interval that is too short is seen."""
    for statistic in ("COUNT(*)", "SUM(spend)", "COUNT(DISTINCT person)"):
        sql, truth = f"SELECT {statistic} AS x FROM people WHERE plan = 'free'", STATISTICS[statistic](of_plan("free"))
        covered = hits(table, sql, {(): truth}, epsilon=1, tries=_TRIES, shrink=0.5)
        assert covered[()] < least_hits(_TRIES, 0.95)


def test_through_the_front_door(table: Table) -> None:
    """The same, paying each time."""
    rows = of_plan("pro")
    question = table.query("SELECT AVG(spend) AS m FROM people WHERE plan = 'pro'")
    truth, covered = statistics.fmean(spends(rows)), 0
    for _ in range(60):
        answer = question.ask(epsilon=0.5, fresh=True)
        covered += answer["m"].low <= truth <= answer["m"].high
    assert covered >= least_hits(60, 0.95)
