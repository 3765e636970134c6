"""Questions over a row per unit, against the policy: what passes, with which bounds and limits, and what is refused."""

# ruff: noqa: E501

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import tacit
from tacit.errors import InvalidParameter, MissingBounds, NotPrivate, TacitError
from tacit.tables.check.check import Checked, check
from tacit.tables.engines.contract import BoundedQuery
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.policy import Limits, Role
from tacit.tables.query.to_sql import to_sql
from tacit.tables.sql.parse import parse
from tests.tables.trees import policy
from tests.tables.visits import write_visits

POLICY = replace(policy(), limits=Limits(groups=4, rows=3))


def checked(text: str) -> Checked:
    return check(parse(text, "visits"), POLICY)


PER_USER = "(SELECT user_id, COUNT(*) AS n, SUM(spend) AS s, SUM(age) AS a, MAX(age) AS oldest, AVG(spend) AS m FROM visits GROUP BY user_id)"


@pytest.mark.parametrize(
    ("aggregate", "bounds"),
    [
        ("AVG(oldest)", (0, 120)),
        ("SUM(m)", (0, 200)),
        ("SUM(s)", (0, 500)),  # the policy's bounds of what one unit adds to a group
        ("AVG(oldest + 1)", (1, 121)),
        ("AVG(n, contribution_bounds_per_row => (0, 9))", (0, 9)),
    ],
)
def test_bounds_come_from_what_the_value_is_computed_of(aggregate: str, bounds: tuple[int, int]) -> None:
    (found,) = checked(f"SELECT {aggregate} FROM {PER_USER}").query.aggregates()
    assert found.bounds == tuple(map(Fraction, bounds))


@pytest.mark.parametrize("aggregate", ["AVG(n)", "SUM(a)", "AVG(n * 2)", "SUM(s / n)"])
def test_a_value_without_ends_says_where_to_write_them(aggregate: str) -> None:
    with pytest.raises(MissingBounds, match="contribution_bounds_per_row"):
        checked(f"SELECT {aggregate} FROM {PER_USER}")


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("SELECT AVG(n) FROM (SELECT region, COUNT(*) AS n FROM visits GROUP BY region)", NotPrivate, "must group by user_id"),
        ("SELECT AVG(n) FROM (SELECT UPPER(user_id) AS u, COUNT(*) AS n FROM visits GROUP BY u)", NotPrivate, "names the people"),
        ("SELECT COUNT(*) FROM (SELECT user_id, secret FROM visits GROUP BY user_id, secret)", NotPrivate, "forbids"),
        ("SELECT AVG(n) FROM (SELECT user_id, MAX(secret) AS n FROM visits GROUP BY user_id)", NotPrivate, "forbids"),
        ("SELECT AVG(n) FROM (SELECT user_id, MAX(user_id) AS n FROM visits GROUP BY user_id)", NotPrivate, "names the people"),
        ("SELECT COUNT(*) FROM (SELECT user_id AS u FROM visits GROUP BY user_id) WHERE u = 'x'", NotPrivate, "names the people"),
        ("SELECT u, COUNT(*) FROM (SELECT user_id AS u FROM visits GROUP BY user_id) GROUP BY u", NotPrivate, "names the people"),
        ("SELECT MAX(n, contribution_bounds_per_row => (0, 9)) AS n, u FROM (SELECT user_id AS u, COUNT(*) AS n FROM visits GROUP BY user_id)", TacitError, "GROUP BY"),
        ("SELECT COUNT(DISTINCT u) FROM (SELECT LOWER(user_id) AS u FROM visits)", NotPrivate, "names the people"),
        ("SELECT AVG(n) FROM (SELECT user_id, SUM(region) AS n FROM visits GROUP BY user_id)", InvalidParameter, "a number"),
        ("SELECT AVG(n) FROM (SELECT user_id, SUM(NULL) AS n FROM visits GROUP BY user_id)", InvalidParameter, "a number"),
        ("SELECT AVG(b) FROM (SELECT user_id, n AS b FROM (SELECT region, COUNT(*) AS n, MAX(age) AS user_id FROM visits GROUP BY region) GROUP BY user_id, n)", NotPrivate, "must group by user_id"),
        ("SELECT COUNT(*) FROM (SELECT user_id, MAX(n) AS m FROM (SELECT user_id AS u, MAX(age) AS user_id, COUNT(*) AS n FROM visits GROUP BY visits.user_id) GROUP BY user_id)", NotPrivate, "must group by u"),
    ],
)  # fmt: skip
def test_a_subquery_must_group_by_the_unit(text: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        checked(text)


def test_where_each_row_is_a_unit_nothing_can_be_grouped_inside() -> None:
    with pytest.raises(NotPrivate, match="protected by itself"):
        check(parse("SELECT AVG(n) FROM (SELECT age, COUNT(*) AS n FROM visits GROUP BY age)", "visits"), policy(None))


def test_keys_keep_their_public_values_and_kinds() -> None:
    text = "SELECT c, b, AVG(o) FROM (SELECT user_id, City AS c, day, MAX(age) AS o, MIN(active) AS b FROM visits GROUP BY user_id, City, day) GROUP BY c, b"
    found = checked(text)
    assert found.key_domains == (("Oslo", "Bergen", "Lund"), (False, True, None))
    assert found.view is not None
    kinds = {one.name: (one.kind, one.role) for one in found.view.columns.values()}
    assert kinds["user_id"] == (Kind.TEXT, Role.IDENTIFIER)
    assert kinds["day"] == (Kind.DATE, Role.PRIVATE)
    assert kinds["o"] == (Kind.INTEGER, Role.PRIVATE)


@pytest.mark.parametrize(
    ("keys", "by", "limits"),
    [
        ("user_id", "", (1, 1)),
        ("user_id", "GROUP BY n > 3", (1, 1)),
        ("user_id, City", "GROUP BY City", (3, 1)),
        ("user_id, City, level", "GROUP BY City", (3, 3)),
        ("user_id, City", "GROUP BY n > 3", (3, 3)),
        ("user_id, City", "", (1, 3)),
        ("user_id, City", "GROUP BY UPPER(City)", (3, 3)),
    ],
)
def test_the_limits_are_those_that_lose_nothing(keys: str, by: str, limits: tuple[int, int]) -> None:
    found = _bounded(f"SELECT COUNT(*) AS c FROM (SELECT {keys}, COUNT(*) AS n FROM visits GROUP BY {keys}) {by}")
    assert (found.groups, found.rows) == limits


def _bounded(text: str) -> BoundedQuery:
    from tacit.tables.plan.demands import demanded

    return demanded(checked(text), POLICY).asked


def test_values_that_nobody_reads_are_not_computed() -> None:
    found = checked(f"SELECT AVG(oldest) FROM {PER_USER} WHERE n > 1").query
    assert found.source is not None
    assert [fact.name for fact in found.source.facts] == ["n", "oldest"]


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT AVG(oldest) FROM {PER_USER}",
        "WITH p AS (SELECT user_id AS u, LOWER(region) AS r, COUNT(*) AS n, MAX(age) - MIN(age) AS w FROM visits GROUP BY 1, 2 HAVING n > 3 AND SUM(age) > 1), q AS (SELECT *, w / n AS x FROM p WHERE n > 1) SELECT r, COUNT(DISTINCT u) FROM q WHERE x > 1 GROUP BY r",
        "SELECT COUNT(*) FROM (SELECT age AS level, level AS age, user_id FROM visits GROUP BY visits.age, visits.level, user_id) WHERE age > level",
        "SELECT COUNT(*) FROM (SELECT user_id, MAX(n) AS w FROM (SELECT user_id, day, COUNT(*) AS n FROM visits WHERE active GROUP BY user_id, day) WHERE n > 2 GROUP BY user_id) WHERE w > 3",
        "SELECT n AS region, COUNT(*) FROM (SELECT user_id, region, COUNT(*) AS n FROM visits GROUP BY ALL) GROUP BY n",
        "SELECT COUNT(*) FROM (SELECT a AS x, a AS y, user_id, COUNT(a) AS n, COUNT(A) AS m FROM (SELECT user_id, age AS a FROM visits) GROUP BY x, y, user_id) WHERE n = m AND x = y",
    ],
)  # fmt: skip
def test_the_canonical_text_reads_back_to_the_same_tree(text: str) -> None:
    query = parse(text, "visits")
    assert parse(to_sql(query), "visits") == query
    again = check(query, POLICY).query
    assert check(parse(to_sql(again), "visits"), POLICY).query == again


def test_an_answer_is_near_what_a_plain_computation_gives(tmp_path: Path) -> None:
    import duckdb

    with tacit.open(write_visits(tmp_path), analyst="ada", ledger=tacit.InMemory()) as table:
        answer = table.sql(
            "SELECT n >= 3 AS many, COUNT(*) AS c, AVG(oldest) AS o, AVG(s, contribution_bounds_per_row => (0, 400)) AS s "
            "FROM (SELECT user_id, COUNT(*) AS n, MAX(age) AS oldest, SUM(spend) AS s FROM visits GROUP BY user_id) "
            "GROUP BY n >= 3",
            epsilon=2,
        )
    spend = "CASE WHEN isfinite(TRY_CAST(spend AS DOUBLE)) THEN TRY_CAST(spend AS DOUBLE) END"
    exact = duckdb.sql(
        f"SELECT n >= 3 AS many, COUNT(*), AVG(oldest), AVG(LEAST(GREATEST(s, 0), 400)) FROM (SELECT user_id, COUNT(*) AS n, "
        f"MAX(age::INT) AS oldest, SUM({spend}) AS s FROM read_csv('{tmp_path}/visits.csv', all_varchar = true) "
        f"GROUP BY user_id) GROUP BY 1 ORDER BY 1"
    ).fetchall()
    for place, (_, count, oldest, total) in enumerate(exact):
        for name, wanted in (("c", count), ("o", oldest), ("s", total)):
            column = answer[name]
            width = column.high[place] - column.low[place]
            assert column.low[place] - width <= wanted <= column.high[place] + width, name
