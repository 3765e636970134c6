"""What is computed of rows that were made of one: not much of many."""

from __future__ import annotations

from pathlib import Path

import pytest

import tacit
from tacit.errors import InvalidParameter
from tacit.tables.session.table import Table
from tests.tables.several import write_several

LISTED = ", ".join(f"({i})" for i in range(100))
STACKED = " UNION ALL ".join(["SELECT user_id, city, age FROM visits"] * 10)
LISTS = f"JOIN (VALUES {LISTED}) AS a(n) ON age > 40 JOIN (VALUES {LISTED}) AS b(n) ON a.n + b.n >= 0"
MANY = f"(SELECT u.user_id AS user_id, u.city AS city, 100 * a.n + b.n AS x FROM ({STACKED}) u {LISTS})"

PATTERNS = " OR ".join(f"city LIKE '%a{'_' * 180}{i}'" for i in range(5))
FEW = " OR ".join(f"city LIKE '%a_{i}%'" for i in range(5))
SECOND = PATTERNS.replace("city", "w.city")
OTHERS = " OR ".join(f"w.city LIKE '%a%{i}%'" for i in range(5))
POWERS = f"LEAST({', '.join(f'POWER(x, 0.{i})' for i in range(100, 900))})"
MEDIANS = ", ".join(f"MEDIAN(x, contribution_bounds_per_row => (0, {i})) AS m{i}" for i in range(1, 30))
TOTALS = ", ".join(f"SUM(x, contribution_bounds_per_row => (0, {i})) AS s{i}" for i in range(1, 60))

BOMBS = [
    f"SELECT COUNT(*) AS n FROM {MANY} WHERE {PATTERNS}",
    f"SELECT COUNT(*) AS n FROM (SELECT user_id, city || x AS city FROM {MANY}) WHERE {PATTERNS}",
    f"SELECT AVG({POWERS}, contribution_bounds_per_row => (0, 9)) AS n FROM {MANY}",
    f"SELECT COUNT(p) AS n FROM (SELECT user_id, MAX({POWERS}) AS p FROM {MANY} GROUP BY user_id)",
    f"SELECT {MEDIANS} FROM {MANY}",
    f"SELECT {TOTALS} FROM {MANY}",
    f"SELECT COUNT(*) AS n FROM {MANY} GROUP BY CUBE (x % 2, x % 3, x % 5, x % 7, x % 11)",
    f"SELECT COUNT(*) AS n FROM ({STACKED}) u {LISTS} AND ({PATTERNS})",
    f"SELECT COUNT(*) AS n FROM (SELECT user_id, x FROM {MANY} WHERE {PATTERNS})",
    f"SELECT COUNT(*) AS n FROM visits v JOIN visits w ON v.user_id = w.user_id WHERE {SECOND}",
    f"SELECT COUNT(*) AS n FROM ({STACKED}) WHERE {PATTERNS}",
    f"SELECT COUNT(*) AS n FROM {MANY} WHERE REGEXP_MATCHES(city, 'a[ab]{{20}}c')",
    f"SELECT COUNT(*) AS n FROM {MANY} WHERE REGEXP_EXTRACT(city, 'a.+b') = 'a'",
    f"SELECT COUNT(*) AS n FROM {MANY} WHERE REPLACE(city, 'a', 'b') = SPLIT_PART(city, 'x', 2)",
]
ALONE = " OR ".join(f"city LIKE '%a{'_' * 180}{i}'" for i in range(40))


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return tacit.open(write_several(tmp_path), analyst="ada", ledger=tacit.InMemory())


@pytest.mark.parametrize("sql", BOMBS)
def test_much_work_on_many_rows_made_of_one_is_refused_and_costs_nothing(table: Table, sql: str) -> None:
    before = table.remaining
    with pytest.raises(InvalidParameter, match="rows made of one"):
        table.sql(sql, epsilon=1, delta=1e-9)
    assert table.remaining == before


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT COUNT(*) AS n FROM visits WHERE {ALONE}",
        f"SELECT COUNT(*) AS n FROM (SELECT user_id FROM visits WHERE {ALONE})",
        f"SELECT SUM(CASE WHEN {ALONE} THEN age END) AS n FROM visits",
        "SELECT COUNT(*) AS n FROM visits WHERE "
        + " OR ".join(f"REGEXP_MATCHES(city, 'a[ab]{{200}}{i}')" for i in range(9)),
    ],
)
def test_patterns_that_take_long_on_a_single_row_are_refused(table: Table, sql: str) -> None:
    before = table.remaining
    with pytest.raises(InvalidParameter, match="for each row"):
        table.sql(sql, epsilon=1, delta=1e-9)
    assert table.remaining == before


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT COUNT(*) AS n FROM {MANY} WHERE city LIKE 'L%'",
        f"SELECT COUNT(*) AS n FROM visits WHERE {PATTERNS}",
        f"SELECT COUNT(*) AS n FROM visits JOIN (VALUES {LISTED}) AS a(n) ON age = a.n WHERE {PATTERNS}",
        f"SELECT COUNT(*) AS n FROM visits v JOIN visits w ON v.user_id = w.user_id WHERE {OTHERS}",
        f"SELECT COUNT(*) AS n FROM ({STACKED}) WHERE {FEW}",
    ],
)
def test_little_work_or_few_rows_are_allowed(table: Table, sql: str) -> None:
    assert table.query(sql).plan(epsilon=1).price is not None


@pytest.mark.parametrize(
    ("source", "rows"),
    [
        (f"({STACKED})", 10),
        (MANY, 100_000),
        (f"visits JOIN (VALUES {LISTED}) AS a(n) ON age = a.n", 1),
        (f"visits JOIN (VALUES {LISTED}) AS a(n) ON age > a.n", 100),
        ("visits v JOIN visits w ON v.user_id = w.user_id", 2 * 316),
        ("(SELECT user_id, MAX(age) AS a FROM visits GROUP BY user_id)", 1),
        (f"(SELECT user_id, COUNT(*) AS a FROM ({STACKED}) GROUP BY user_id)", 1),
        (f"(SELECT user_id, age, COUNT(*) AS a FROM ({STACKED}) GROUP BY user_id, age)", 10),
    ],
)
def test_rows_made_of_one(table: Table, source: str, rows: int) -> None:
    view = table.query(f"SELECT COUNT(*) AS n FROM {source}")._checked.view
    assert view is not None
    assert view.rows == rows
