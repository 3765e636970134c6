"""The Python API builds the trees that SQL builds."""

from __future__ import annotations

import datetime

import pytest

from tacit.errors import InvalidParameter, NotPrivate
from tacit.tables.python import aggregates as tacit
from tacit.tables.python.columns import Term, col, when
from tacit.tables.python.selection import Selection
from tacit.tables.query.tree import Query
from tacit.tables.sql.parse import parse

VISITS: Selection[Query] = Selection("visits", lambda query: query)


def test_a_whole_question() -> None:
    built = (
        VISITS.where("age > 40")
        .where(col("city") == "Oslo")
        .group_by("city", decade=col("age") // 10)
        .having("n > 5")
        .order_by(col("n").desc(), "city")
        .limit(3, offset=1)
        .agg(n=tacit.count(), m=tacit.mean("spend", bounds=(0, 0.1)), old=tacit.count().filter(col("age") > 60))
    )
    text = """SELECT city, age // 10 AS decade, COUNT(*) AS n, AVG(spend, contribution_bounds_per_row => (0, 0.1)) AS m,
        COUNT(*) FILTER (WHERE age > 60) AS old FROM visits WHERE age > 40 AND city = 'Oslo'
        GROUP BY city, decade HAVING n > 5 ORDER BY n DESC, city LIMIT 3 OFFSET 1"""
    assert built == parse(text, "visits")


@pytest.mark.parametrize(
    ("term", "sql"),
    [
        ((col("a") >= 40) & (col("b") < 2.5) & ~col("c"), "a >= 40 AND b < 2.5 AND NOT c"),
        ((col("a") == 1) | (col("b") != "x"), "a = 1 OR b <> 'x'"),
        (1 - col("a") * 2 / 3 % 4 > 0, "1 - a * 2 / 3 % 4 > 0"),
        (2 ** col("a") == -col("b"), "power(2, a) = -(b)"),
        (col("a").isin([1, 2, None]), "a IN (1, 2, NULL)"),
        (~col("a").like("x%"), "a NOT LIKE 'x%'"),
        (col("a").is_null() | col("b").is_not_null(), "a IS NULL OR b IS NOT NULL"),
        (col("a").between(1, 2), "a BETWEEN 1 AND 2"),
        (col("d") >= datetime.date(2024, 1, 31), "d >= DATE '2024-01-31'"),
        (col("d").plus(3, "month") < datetime.datetime(2024, 1, 1, 5),
         "d + INTERVAL 3 MONTH < TIMESTAMP '2024-01-01 05:00'"),
        (col("d").date_trunc("month").year() == 2024, "YEAR(DATE_TRUNC('month', d)) = 2024"),
        (col("d").until(col("e"), "day") > 3, "DATE_DIFF('day', d, e) > 3"),
        (col("s").lower().substring(1, 2) == "ab", "SUBSTRING(LOWER(s), 1, 2) = 'ab'"),
        (col("x").cast("real").round(2).coalesce(0) > 1, "COALESCE(ROUND(x::DOUBLE, 2), 0) > 1"),
        (col("x").clip(0, 1) > 0.5, "LEAST(GREATEST(x, 0), 1) > 0.5"),
        (col("x").width_bucket(0, 10, 5) == 1, "WIDTH_BUCKET(x, 0, 10, 5) = 1"),
        (when(col("a") < 1, "x").when(col("a") < 2, "y").otherwise(None) == "x",
         "CASE WHEN a < 1 THEN 'x' WHEN a < 2 THEN 'y' END = 'x'"),
        (abs(col("a")).sqrt() > 1, "SQRT(ABS(a)) > 1"),
    ],
)  # fmt: skip
def test_conditions_are_the_same_as_in_sql(term: Term, sql: str) -> None:
    assert VISITS.where(term).agg(n=tacit.count()) == parse(f"SELECT COUNT(*) AS n FROM visits WHERE {sql}", "visits")
    assert VISITS.where(sql).agg(n=tacit.count()) == VISITS.where(term).agg(n=tacit.count())


@pytest.mark.parametrize(
    ("term", "sql"),
    [
        (tacit.count("x"), "COUNT(x)"),
        (tacit.count_units(), "COUNT_UNITS()"),
        (tacit.sum(col("x") * 2, bounds=(0, 200)), "SUM(x * 2, contribution_bounds_per_row => (0, 200))"),
        (tacit.sum("x", group_bounds=(-1, 1)), "SUM(x, contribution_bounds_per_group => (-1, 1))"),
        (tacit.variance("x"), "VARIANCE(x)"),
        (tacit.stddev("x"), "STDDEV(x)"),
        (tacit.sum("x") / tacit.count() * 100, "SUM(x) / COUNT(*) * 100"),
        (tacit.mean("x").filter(col("a") > 1), "AVG(x) FILTER (WHERE a > 1)"),
    ],
)
def test_aggregates_are_the_same_as_in_sql(term: Term, sql: str) -> None:
    assert VISITS.agg(n=term) == parse(f"SELECT {sql} AS n FROM visits", "visits")


@pytest.mark.parametrize("use", [lambda: bool(col("a") > 1), lambda: 0 < col("a") < 5, lambda: col("a") and col("b"),
                                 lambda: 3 in col("a"), lambda: list(col("a"))])  # fmt: skip
def test_a_column_has_no_truth_value(use: object) -> None:
    with pytest.raises(InvalidParameter) as caught:
        use()  # type: ignore[operator]
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (lambda: VISITS.agg(x=col("age")), "would show single rows"),
        (lambda: VISITS.group_by("city").order_by("age").agg(n=tacit.count()), "would show single rows"),
    ],
)
def test_rows_are_never_shown(use: object, says: str) -> None:
    with pytest.raises(NotPrivate, match=says):
        use()  # type: ignore[operator]


@pytest.mark.parametrize(
    "use",
    [
        lambda: tacit.sum("x", bounds=(2, 1)),
        lambda: tacit.sum("x", bounds=5),
        lambda: tacit.sum("x", bounds=("a", 1)),
        lambda: tacit.sum(tacit.count()),
        lambda: col(""),
        lambda: col("a") == float("nan"),
        lambda: col("a") == 10**30,
        lambda: col("a") == object(),
        lambda: col("a").isin("ab"),
        lambda: col("a").isin([]),
        lambda: col("a").cast("json"),
        lambda: col("a").date_trunc("fortnight"),
        lambda: col("a") + datetime.timedelta(days=1),
        lambda: col("a") == datetime.datetime.now(datetime.UTC),
        lambda: VISITS.limit(-1),
        lambda: VISITS.agg(),
        lambda: VISITS.where("age > 40 GROUP BY city"),
        lambda: VISITS.where("age > 40; DROP TABLE x"),
        lambda: VISITS.where(""),
        lambda: VISITS.having("n > 1 ORDER BY 1"),
        lambda: col("a") == when(col("b"), 1),
        lambda: VISITS.group_by("city", n="age").agg(n=tacit.count()),
    ],
)
def test_what_cannot_be_asked_is_refused(use: object) -> None:
    with pytest.raises((InvalidParameter, NotPrivate)):
        use()  # type: ignore[operator]


def test_a_tree_that_doubles_at_each_step_is_refused_at_once() -> None:
    term = col("a")
    for _ in range(60):
        term = term + term
    with pytest.raises(InvalidParameter, match="at most 50000"):
        VISITS.agg(x=tacit.sum("a"), y=tacit.count().filter(term > 1))


def test_a_tree_that_is_too_deep_is_refused() -> None:
    term = col("a")
    for _ in range(5_000):
        term = term + 1
    with pytest.raises(InvalidParameter, match="100 deep"):
        VISITS.where(term > 1).agg(n=tacit.count())
    assert repr(term)
