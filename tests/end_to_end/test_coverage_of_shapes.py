"""Joins, unions, subqueries, time zones and options: 95% intervals cover what plain Python computes from the rows."""

from __future__ import annotations

import datetime
import math
import statistics
import zoneinfo
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

from tacit.tables.session.table import Table
from tests.end_to_end.club import TAGS, Visit, buys, open_club, visits
from tests.end_to_end.covering import Key, cover, hits, hits_of, narrowed

_TRIES = 300
Truths = dict[Key, float]
Statistic = Callable[[Sequence[Any]], float]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    return open_club(tmp_path_factory.mktemp("club"))


# the oracle: rows as tuples (key, value), by comprehensions


def by_key(rows: Iterable[tuple[Any, Any]], statistic: Statistic, *keys: Any) -> Truths:
    """The statistic of each group; of the groups that nobody is in, of no rows."""
    listed = list(rows)
    return {(key,): float(statistic([value for own, value in listed if own == key])) for key in keys}


def whole(rows: Iterable[Any], statistic: Statistic) -> Truths:
    return {(): float(statistic(list(rows)))}


def tagged() -> list[tuple[str, Visit]]:
    return [(tag, one) for one in visits() for plan, tag in TAGS if plan == one.plan]


def bought() -> list[tuple[Visit, Any]]:
    return [(one, other) for one in visits() for other in buys() if one.who == other.buyer]


def per_person() -> dict[str, list[Visit]]:
    made: dict[str, list[Visit]] = {}
    for one in visits():
        made.setdefault(one.who, []).append(one)
    return made


def local(one: Visit, zone: str) -> datetime.datetime:
    return one.at.replace(tzinfo=datetime.UTC).astimezone(zoneinfo.ZoneInfo(zone))


def spends(rows: Sequence[Visit]) -> list[float]:
    return [one.spend for one in rows]


def quantile(values: Sequence[float], level: float) -> float:
    return sorted(values)[max(math.ceil(level * len(values)), 1) - 1]


def log_mean(values: Sequence[float]) -> float:
    return math.exp(statistics.fmean(math.log(one) for one in values))


def most(limit: float, amounts: Sequence[float]) -> float:
    return math.fsum(min(one, limit) for one in amounts)


SHAPES: dict[str, list[tuple[str, Callable[[], Truths]]]] = {
    "joined to a public table": [
        (
            "SELECT tag, COUNT(*) AS x FROM visits JOIN tags USING (plan) GROUP BY tag",
            lambda: by_key(tagged(), len, "a", "b", "c"),
        ),
        (
            "SELECT tag, SUM(spend) AS x FROM visits JOIN tags USING (plan) GROUP BY tag",
            lambda: by_key(((tag, one.spend) for tag, one in tagged()), math.fsum, "a", "b", "c"),
        ),
        (
            "SELECT tag, AVG(age) AS x FROM visits JOIN tags USING (plan) GROUP BY tag HAVING tag <> 'c'",
            lambda: by_key(((tag, one.age) for tag, one in tagged()), statistics.fmean, "a", "b"),
        ),
        (
            "SELECT tag, COUNT(DISTINCT who) AS x FROM visits JOIN tags USING (plan) GROUP BY tag",
            lambda: by_key(((tag, one.who) for tag, one in tagged()), lambda of: len(set(of)), "a", "b", "c"),
        ),
        (
            "SELECT COUNT(t.tag) AS x FROM visits v LEFT JOIN tags t ON v.plan = t.plan AND t.tag = 'a'",
            lambda: whole((one for one in visits() if one.plan == "free"), len),
        ),
        (
            "SELECT COUNT(*) AS x FROM visits v LEFT JOIN tags t ON v.plan = t.plan AND t.tag = 'a'",
            lambda: whole(visits(), len),
        ),
    ],
    "joined on the unit": [
        (
            "SELECT item, SUM(price) AS x FROM visits v JOIN buys b ON v.who = b.buyer GROUP BY item",
            lambda: by_key(((other.item, other.price) for _, other in bought()), math.fsum, "tea", "cake"),
        ),
        (
            "SELECT COUNT(*) AS x FROM visits v LEFT JOIN buys b ON v.who = b.buyer AND b.item = 'tea'",
            lambda: whole(visits(), lambda rows: sum(max(1, _teas(one.who)) for one in rows)),
        ),
        (
            "SELECT item, MEDIAN(age) AS x FROM visits v JOIN buys b ON v.who = b.buyer GROUP BY item",
            lambda: by_key(((other.item, one.age) for one, other in bought()), statistics.median, "tea", "cake"),
        ),
        (
            "SELECT v.plan, COUNT(*) AS x FROM visits v JOIN visits w ON v.who = w.who AND v.plan = w.plan "
            "AND v.spend < w.spend GROUP BY v.plan",
            lambda: by_key(
                ((one.plan, 1) for one in visits() for w in visits() if _is_below(one, w)), len, "free", "pro", "gone"
            ),
        ),
    ],
    "put one under the other": [
        (
            "SELECT kind, SUM(y) AS x FROM (SELECT 'visit' AS kind, spend AS y FROM visits UNION ALL "
            "SELECT 'buy', price FROM buys WHERE item = 'tea') GROUP BY kind",
            lambda: {
                ("visit",): math.fsum(spends(visits())),
                ("buy",): math.fsum(one.price for one in buys() if one.item == "tea"),
            },
        ),
        (
            "SELECT COUNT(DISTINCT u) AS x FROM (SELECT who AS u FROM visits UNION ALL SELECT buyer FROM buys)",
            lambda: whole([*(one.who for one in visits()), *(one.buyer for one in buys())], lambda of: len(set(of))),
        ),
    ],
    "subqueries": [
        (
            "WITH grown AS (SELECT plan, spend * 2 AS double, age FROM visits WHERE age >= 40), "
            "young AS (SELECT plan AS p, double FROM grown WHERE age < 60) "
            "SELECT p, SUM(double) AS x FROM young GROUP BY p",
            lambda: by_key(
                ((one.plan, 2 * one.spend) for one in visits() if 40 <= one.age < 60), math.fsum, "free", "pro", "gone"
            ),
        ),
        (
            "SELECT AVG(half) AS x FROM (SELECT LEAST(spend, 80) / 2 AS half FROM visits)",
            lambda: whole((min(one.spend, 80) / 2 for one in visits()), statistics.fmean),
        ),
    ],
    "a row per unit": [
        (
            "SELECT AVG(t, contribution_bounds_per_row => (0, 250)) AS x FROM "
            "(SELECT who, SUM(spend) AS t FROM visits GROUP BY who)",
            lambda: whole((min(math.fsum(spends(own)), 250) for own in per_person().values()), statistics.fmean),
        ),
        (
            "SELECT n > 2 AS many, COUNT(*) AS x FROM (SELECT who, COUNT(*) AS n FROM visits GROUP BY who) GROUP BY 1",
            lambda: by_key(((len(own) > 2, 1) for own in per_person().values()), len, False, True, None),
        ),
        (
            "SELECT MEDIAN(m) AS x FROM (SELECT who, MAX(spend) AS m FROM visits GROUP BY who)",
            lambda: whole((max(spends(own)) for own in per_person().values()), statistics.median),
        ),
    ],
    "in a time zone": [
        (
            "SELECT COUNT(*) AS x FROM visits WHERE HOUR(at AT TIME ZONE 'Asia/Kolkata') < 6",
            lambda: whole((one for one in visits() if local(one, "Asia/Kolkata").hour < 6), len),
        ),
        (
            "SELECT plan, SUM(age) AS x FROM visits WHERE "
            "DATE_TRUNC('month', at AT TIME ZONE 'America/New_York') = DATE '2026-03-01' GROUP BY plan",
            lambda: by_key(
                ((one.plan, one.age) for one in visits() if local(one, "America/New_York").month == 3),
                math.fsum,
                "free",
                "pro",
                "gone",
            ),
        ),
    ],
    "products, quotients and logarithms": [
        (
            "SELECT GEOMEAN(age, contribution_bounds_per_row => (10, 80)) AS x FROM visits",
            lambda: whole((min(one.age, 80) for one in visits()), log_mean),
        ),
        (
            "SELECT plan, SUM(spend) / SUM(age) AS x FROM visits GROUP BY plan HAVING plan <> 'gone'",
            lambda: by_key(
                ((one.plan, one) for one in visits()),
                lambda of: math.fsum(spends(of)) / sum(one.age for one in of),
                "free",
                "pro",
            ),
        ),
        (
            "SELECT SUM(b.price) / COUNT(*) AS x FROM visits v JOIN buys b ON v.who = b.buyer",
            lambda: whole((other.price for _, other in bought()), statistics.fmean),
        ),
    ],
    "options": [
        (
            "SELECT plan, SUM(spend, contribution_bounds_per_group => (0, 60)) AS x FROM visits GROUP BY plan",
            lambda: {
                (plan,): most(60, [math.fsum(spends([v for v in own if v.plan == plan])) for own in _people(plan)])
                for plan in ("free", "pro", "gone")
            },
        ),
        (
            "SELECT COUNT(*, contribution_bounds_per_group => (0, 1)) AS x FROM visits WHERE plan = 'pro'",
            lambda: whole({one.who for one in visits() if one.plan == "pro"}, len),
        ),
        (
            "SELECT AVG(spend, contribution_bounds_per_row => (40, 90)) AS x FROM visits",
            lambda: whole((min(max(one.spend, 40), 90) for one in visits()), statistics.fmean),
        ),
        (
            "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=2, min_privacy_units_per_group=5) "
            "town, COUNT(*) AS x FROM visits GROUP BY town",
            lambda: by_key(((one.town, 1) for one in visits()), len, "Lund", "Gent"),
        ),
        (
            "SELECT plan, COUNT(*) AS x FROM visits RIGHT JOIN UNNEST(['pro', 'none']) AS plan USING (plan) "
            "GROUP BY plan",
            lambda: by_key(((one.plan, 1) for one in visits()), len, "pro", "none"),
        ),
    ],
    "values that differ": [
        (
            "SELECT plan, COUNT(DISTINCT age) FILTER (WHERE spend > 60) AS x FROM visits GROUP BY plan",
            lambda: by_key(
                ((one.plan, one.age) for one in visits() if one.spend > 60),
                lambda of: len(set(of)),
                "free",
                "pro",
                "gone",
            ),
        ),
    ],
}
CASES = [(shape, number) for shape, cases in SHAPES.items() for number in range(len(cases))]


def _teas(who: str) -> int:
    return sum(one.buyer == who and one.item == "tea" for one in buys())


def _is_below(one: Visit, other: Visit) -> bool:
    return one.who == other.who and one.plan == other.plan and one.spend < other.spend


def _people(plan: str) -> list[list[Visit]]:
    return [own for own in per_person().values() if any(one.plan == plan for one in own)]


EPSILONS = [1, *(pytest.param(epsilon, marks=pytest.mark.slow) for epsilon in ("0.1", 8))]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("shape", "number"), CASES)
def test_intervals_cover(table: Table, shape: str, number: int, epsilon: object) -> None:
    sql, truths = SHAPES[shape][number]
    covered = hits(table, sql, truths(), epsilon=epsilon, tries=_TRIES)
    assert cover(covered, _TRIES), covered


LEVELS = {"q_0": 0.0, "q_1": 0.25, "q_2": 0.5, "q_3": 0.75, "q_4": 1.0}


@pytest.mark.parametrize("name", LEVELS)
def test_intervals_of_each_of_several_quantiles_cover(table: Table, name: str) -> None:
    """At the price of all five together."""
    plan = table.query("SELECT APPROX_QUANTILES(age, 4) AS q FROM visits").plan(epsilon=5)
    truth = quantile([one.age for one in visits()], LEVELS[name])
    covered = hits_of(plan, table._engine_now().run(plan.bounded), {(): truth}, 120, name=name)
    assert cover(covered, 120)


# the suite can fail


@pytest.mark.parametrize(("shape", "number"), CASES)
def test_intervals_that_are_too_narrow_are_seen(
    table: Table, shape: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    narrowed(monkeypatch)
    sql, truths = SHAPES[shape][number]
    covered = hits(table, sql, truths(), epsilon=1, tries=_TRIES)
    assert not cover(covered, _TRIES), covered
