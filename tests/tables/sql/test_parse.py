"""What is understood, what is refused and why, and how much can be written."""

# ruff: noqa: E501

from __future__ import annotations

import subprocess
import sys

import pytest

from tacit.errors import InvalidParameter, NotPrivate, TacitError
from tacit.tables.expressions.tree import Call, Column, Key, Literal
from tacit.tables.query.to_sql import to_sql
from tacit.tables.query.tree import Aggregate
from tacit.tables.sql.parse import parse
from tests.steps import at_most


def read(text: str) -> str:
    return to_sql(parse(text, "visits"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT COUNT(1) FROM visits", "SELECT COUNT(*) FROM visits"),
        ("select count(*) from VISITS v where v.age > 3;", "SELECT COUNT(*) FROM visits WHERE age > 3"),
        ("SELECT /* a */ COUNT(*) -- b\nFROM visits", "SELECT COUNT(*) FROM visits"),
        ("SELECT city AS c, COUNT(*) FROM visits GROUP BY c", "SELECT city AS c, COUNT(*) FROM visits GROUP BY city"),
        ("SELECT city, COUNT(*) FROM visits GROUP BY 1", "SELECT city, COUNT(*) FROM visits GROUP BY ALL"),
        ("SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY 2", "SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY n"),
        ("SELECT city, COUNT(*) FROM visits GROUP BY city, City", "SELECT city, COUNT(*) FROM visits GROUP BY city"),
        ("SELECT SUM(x) FILTER (WHERE y) FROM visits", "SELECT SUM(CASE WHEN y THEN x END) AS sum FROM visits"),
        ("SELECT COUNT(*) FROM visits WHERE x IS TRUE", "SELECT COUNT(*) FROM visits WHERE COALESCE(x, FALSE)"),
        ("SELECT COUNT(*) FROM visits WHERE x IS NOT TRUE", "SELECT COUNT(*) FROM visits WHERE NOT COALESCE(x, FALSE)"),
        ("SELECT COUNT(*) FROM visits WHERE IF(a, b, c)", "SELECT COUNT(*) FROM visits WHERE CASE WHEN a THEN b ELSE c END"),
        ("SELECT COUNT(*) FROM visits WHERE CASE a WHEN 1 THEN b END", "SELECT COUNT(*) FROM visits WHERE CASE WHEN a = 1 THEN b END"),
        ("SELECT COUNT(*) FROM visits WHERE EXTRACT(year FROM d) = 1", "SELECT COUNT(*) FROM visits WHERE YEAR(d) = 1"),
        ("SELECT COUNT(*) FROM visits WHERE DATE_PART('year', d) = 1", "SELECT COUNT(*) FROM visits WHERE YEAR(d) = 1"),
        ("SELECT COUNT(*) FROM visits WHERE d - INTERVAL '3 days' > e", "SELECT COUNT(*) FROM visits WHERE DATE_SUB(d, INTERVAL 3 DAY) > e"),
        ("SELECT COUNT(*) FROM visits WHERE LEFT(a, 2) = 'x'", "SELECT COUNT(*) FROM visits WHERE SUBSTR(a, 1, 2) = 'x'"),
        ("SELECT COUNT(*) FROM visits WHERE a == 1 AND b != 2", "SELECT COUNT(*) FROM visits WHERE a = 1 AND b <> 2"),
        ("SELECT COUNT(*) FROM visits WHERE `a b` = 1", 'SELECT COUNT(*) FROM visits WHERE "a b" = 1'),
        ("SELECT VAR(x), STDDEV(y) FROM visits", "SELECT VAR_SAMP(x), STDDEV_SAMP(y) FROM visits"),
    ],
)  # fmt: skip
def test_two_ways_of_writing_one_question(one: str, other: str) -> None:
    assert parse(one, "visits") == parse(other, "visits")


def test_a_whole_statement() -> None:
    query = parse(
        "SELECT age // 10 AS d, AVG(x) AS a FROM visits WHERE y = 'z' GROUP BY d HAVING a > 1 LIMIT 3", "visits"
    )
    assert query.keys == (Call("//", (Column("age"), Literal(10))),)
    assert query.outputs[0].expression == Key(0)
    assert query.having == Call(">", (Aggregate("mean", Column("x")), Literal(1)))
    assert query.limit == 3


VOID = [
    ("SELECT * FROM visits", "rows are never shown"),
    ("SELECT visits.* FROM visits", "rows are never shown"),
    ("SELECT city FROM visits", "GROUP BY"),
    ("SELECT city, COUNT(*) FROM visits", "GROUP BY"),
    ("SELECT 1 FROM visits", "Nothing is computed"),
    ("SELECT COUNT(*) FROM visits ORDER BY age", "GROUP BY"),
    ("SELECT COUNT(*) FROM visits HAVING age > 3", "GROUP BY"),
    ("SELECT COUNT(*) FROM main.visits", "no schemas"),
    ("SELECT COUNT(*) FROM people", "is visits"),
    ("SELECT COUNT(*) FROM 'visits.csv'", "is visits"),
    ("SELECT COUNT(*) FROM read_csv('/etc/passwd')", "no file"),
    ("SELECT SUM(x) OVER () FROM visits", "single rows"),
    ("SELECT string_agg(x, ',') FROM visits", "single rows"),
    ("SELECT COUNT(*) FROM visits WHERE x < random()", "question and the data alone"),
    ("SELECT COUNT(*) FROM visits WHERE x < current_date", "question and the data alone"),
    ("SELECT COUNT(*) FROM visits WHERE x < now()", "question and the data alone"),
    ("SELECT COUNT(*) FROM visits WHERE x = getenv('HOME')", "no file"),
    ("SELECT COUNT(*) FROM visits; SELECT COUNT(*) FROM visits", "one statement"),
    *((f"{word} x", "only questions") for word in ("COPY", "ATTACH", "PRAGMA", "SET", "CALL", "INSERT", "DROP", "LOAD", "CREATE")),
]  # fmt: skip

UNREAD = [
    ("SELECT DISTINCT city FROM visits", "GROUP BY"),
    ("SELECT COUNT(*) FROM visits JOIN visits v ON TRUE", "one table"),
    ("SELECT COUNT(*) FROM visits, visits v", "one table"),
    ("WITH a AS (SELECT 1) SELECT COUNT(*) FROM a", "without FROM"),
    ("SELECT COUNT(*) FROM visits UNION SELECT 1", "two questions"),
    ("SELECT COUNT(*) FROM visits QUALIFY TRUE", "HAVING"),
    ("SELECT COUNT(*) FROM visits WHERE x IN (SELECT 1)", "JOIN"),
    ("SELECT SKEWNESS(x) FROM visits", "not offered"),
    ("SELECT APPROX_COUNT_DISTINCT(x, y) FROM visits", "takes one value|not understood"),
    ("SELECT QUANTILE(x) FROM visits", "a value and a share"),
    ("SELECT QUANTILE(x, 1.5) FROM visits", "share of the rows"),
    ("SELECT QUANTILE(x, y) FROM visits", "not a number"),
    ("SELECT MEDIAN(x, interval_share => 0, interval_share => 0.1) FROM visits", "the same named argument twice"),
    ("SELECT MEDIAN(x, interval_share => (0, 1)) FROM visits", "not a number"),
    ("SELECT GEOMEAN(x, interval_share => 0.1) FROM visits", "leave the share out"),
    ("SELECT CORR(x) FROM visits", "two values"),
    ("SELECT APPROX_QUANTILES(x, 4) + 1 FROM visits", "OFFSET"),
    ("SELECT APPROX_QUANTILES(x, 4)[OFFSET(5)] FROM visits", "a place up to it"),
    ("SELECT x[OFFSET(1)] FROM visits", "Lists are not values"),
    ("SELECT [1, 2] FROM visits", "Lists are not values"),
    ("SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x, y) FROM visits", "one value to order by"),
    ("SELECT SUM(0.5) WITHIN GROUP (ORDER BY x) FROM visits", "PERCENTILE_CONT"),
    ("SELECT GEOMEAN(x, contribution_bounds_per_row => (0, 1)) FROM visits", "above 0"),
    ("SELECT COUNT(*) FROM visits WHERE MEDIAN(x) > 1", "HAVING"),
    ("SELECT COUNT(*) FROM visits WHERE DATE(x, 100) IS NULL", "takes one value"),
    ("SELECT COUNT(*) FROM visits WHERE x ~ 'a+'", "REGEXP_MATCHES"),
    ("SELECT COUNT(*) FROM visits WHERE LOG(x) > 1", "LOG10"),
    ("SELECT COUNT(*) FROM visits WHERE foo(x) > 1", "sql.md"),
    ("SELECT COUNT(*) FROM visits WHERE COUNT(*) > 1", "HAVING"),
    ("SELECT COUNT(*) FROM visits GROUP BY city WITH ROLLUP", "GROUP BY ROLLUP"),
    ("SELECT COUNT(*) FROM visits GROUP BY GROUPING SETS ((city), (CITY))", "twice"),
    ("SELECT COUNT(*) FROM visits GROUP BY CUBE (a, b, c, d, e, f, g)", "64 sets"),
    ("SELECT COUNT(*) FROM visits GROUP BY ROLLUP(age > 40)", r"a condition in brackets of its own: ROLLUP \(\(age"),
    ("SELECT COUNT(*) FROM visits GROUP BY plan, CUBE (city, age IS NULL)", "in brackets of its own"),
    ("SELECT COUNT(*) FROM visits GROUP BY GROUPING SETS (age = 4, ())", "in brackets of its own"),
    ("SELECT COUNT(*) FROM visits GROUP BY CUBE (a, b, c, d), CUBE (e, f, g)", "64 sets"),
    ("SELECT COUNT(*) FROM visits WHERE GROUPING(city) = 1 GROUP BY ROLLUP (city)", "rows of the answer"),
    ("SELECT GROUPING() FROM visits GROUP BY ROLLUP (city)", "takes 1 to"),
    ("SELECT GROUPING(1) FROM visits GROUP BY ROLLUP (city)", "stands in GROUP BY"),
    ("SELECT age // 10 AS age, COUNT(*) FROM visits GROUP BY age", "could mean"),
    ("SELECT COUNT(*) FROM visits GROUP BY 5", "places are 1 to 1"),
    ("SELECT COUNT(*) FROM visits LIMIT x", "whole number"),
    ("SELECT COUNT(*) FROM visits LIMIT 1.5", "whole number"),
    ("SELECT SUM(x * 1_000) FROM visits", "is not a number"),
    ("SELECT SUM(DISTINCT x) FROM visits", "of every row"),
    ("SELECT SUM(SUM(x)) FROM visits", "SUM"),
    ("SELECT COUNT(*) FROM visits WHERE x = ?", "value itself"),
    ("SELECT COUNT(*) FROM visits WHERE d = DATE '2024-99-01'", "is not a date"),
    ("SELECT COUNT(*) FROM visits WHERE CAST(x AS JSON) = 1", "The types are"),
    ("SELECT COUNT(*) FROM visits WHERE CAST(x AS DECIMAL(10,2)) = 1", "ROUND"),
    ("SELECT COUNT(*) AS n, SUM(x) AS N FROM visits", "each name once"),
    ("SELECT COUNT(*)", "FROM visits"),
    ("", "SELECT"),
    (";", "SELECT"),
    ("hello", "starts with SELECT"),
    ("EXPLAIN SELECT COUNT(*) FROM visits", "plan"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "says"), VOID)
def test_what_would_void_the_promise(text: str, says: str) -> None:
    with pytest.raises(NotPrivate, match=says):
        parse(text, "visits")


@pytest.mark.parametrize(("text", "says"), UNREAD)
def test_what_is_not_understood(text: str, says: str) -> None:
    with pytest.raises(InvalidParameter, match=says):
        parse(text, "visits")


@pytest.mark.parametrize(
    ("text", "line", "caret"),
    [
        ("SELECT COUNT(* FROM visits", "  SELECT COUNT(* FROM visits", 17),
        ("SELECT COUNT(*)\nFROM visits\nWHERE city = 'Os", "  WHERE city = 'Os", 15),
        ("SELECT COUNT(*) FROM visits WHERE x >", "  SELECT COUNT(*) FROM visits WHERE x >", 38),
    ],
)
def test_a_syntax_error_shows_the_place(text: str, line: str, caret: int) -> None:
    with pytest.raises(InvalidParameter) as caught:
        parse(text, "visits")
    shown = str(caught.value).split("\n")
    assert shown[-2] == line
    assert shown[-1] == " " * caret + "^"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM visits WHERE " + "(" * 5_000 + "x" + ")" * 5_000,
        "SELECT COUNT(*) FROM visits WHERE " + "NOT " * 20_000 + "x",
        "SELECT COUNT(*) FROM visits WHERE x = " + "-" * 3 + " - " * 9_000 + "1",
        "SELECT COUNT(*) FROM visits WHERE x = " + "1 + " * 20_000 + "1",
        "SELECT COUNT(*) FROM visits WHERE " + "CASE WHEN x THEN " * 5_000 + "y" + " END" * 5_000,
        "SELECT COUNT(*) FROM visits WHERE " + "(" * 40 + "x" + " BETWEEN 1 AND 2)" * 40,
        "SELECT COUNT(*) FROM visits WHERE " + "CASE (" * 24 + "x" + ") WHEN 1 THEN 2 WHEN 3 THEN 4 END" * 24,
        "SELECT " + "1+" * 2_000 + "COUNT(*) AS n FROM visits HAVING " + "n = 1 OR " * 9_000 + "n = 1",
        "SELECT COUNT(*) FROM visits WHERE x = '" + "a" * 200_000 + "'",
        "SELECT COUNT(*) FROM visits WHERE x = " + "9" * 50_000,
        "SELECT COUNT(*) FROM visits WHERE x = 1e" + "9" * 50_000,
        "SELECT COUNT(*) FROM visits WHERE x" + "::INT" * 15_000 + " = 1",
        "SELECT COUNT(*) FROM visits WHERE x" + ".y" * 20_000 + " = 1",
        "SELECT COUNT(*) FROM visits " + "/* " * 20_000,
        "SELECT " + "f(" * 49 + "x" + ")" * 49 + " FROM visits",
        "SELECT " + "interval " * 5_000 + " FROM visits",
        "SELECT " + "date " * 5_000 + "'2024-01-01' FROM visits",
    ],
)
def test_what_is_too_large_is_refused_in_no_time(text: str) -> None:
    with at_most(10**7), pytest.raises(TacitError) as caught:
        parse(text, "visits")
    assert len(str(caught.value)) < 1_000


def test_long_lists_are_fine() -> None:
    listed = ", ".join(str(number) for number in range(10_000))
    many = " OR ".join(f"x = {number}" for number in range(2_000))
    assert len(read(f"SELECT COUNT(*) FROM visits WHERE x IN ({listed})")) > 40_000
    assert len(read(f"SELECT COUNT(*) FROM visits WHERE {many}")) > 10_000


def test_nothing_of_the_parser_is_loaded_until_sql_is_read() -> None:
    code = "import sys, tacit.tables.python.aggregates, tacit.tables.check.check; print('sqlglot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
