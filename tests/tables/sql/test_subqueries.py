"""Subqueries and WITH that stay row-wise are dissolved: the flat question is what is asked, and means the same."""

# ruff: noqa: E501

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from tacit.errors import InvalidParameter, NotPrivate, TacitError
from tacit.tables.expressions.tree import Call
from tacit.tables.query.to_sql import to_sql
from tacit.tables.sql.parse import parse
from tacit.tables.sql.read import source as read_source
from tests.steps import at_most


@pytest.mark.parametrize(
    ("nested", "flat"),
    [
        ("WITH adults AS (SELECT * FROM visits WHERE age >= 18) SELECT city, COUNT(*) AS n FROM adults GROUP BY city",
         "SELECT city, COUNT(*) AS n FROM visits WHERE age >= 18 GROUP BY city"),
        ("WITH adults AS (SELECT * FROM visits WHERE age >= 18) SELECT COUNT(*) FROM adults a WHERE a.age < 65 AND a.x",
         "SELECT COUNT(*) FROM visits WHERE age >= 18 AND age < 65 AND x"),
        ("SELECT SUM(b) FROM (SELECT a + 1 AS b FROM (SELECT x * 2 AS a FROM visits))", "SELECT SUM((x * 2) + 1) FROM visits"),
        ("SELECT d, COUNT(*) FROM (SELECT age // 10 AS d FROM visits) AS v GROUP BY d ORDER BY d",
         "SELECT age // 10 AS d, COUNT(*) FROM visits GROUP BY 1 ORDER BY 1"),
        ("SELECT COUNT(DISTINCT u) FROM (SELECT user_id AS u FROM visits)", "SELECT COUNT(DISTINCT user_id) FROM visits"),
        ("SELECT COUNT(one) FROM (SELECT 1 AS one FROM visits)", "SELECT COUNT(*) FROM visits"),
        ("SELECT COUNT(*) FROM (SELECT * FROM visits WHERE a OR b) WHERE c OR d", "SELECT COUNT(*) FROM visits WHERE (a OR b) AND (c OR d)"),
        ("SELECT AVG(z) FILTER (WHERE y) FROM (SELECT *, x / 2 AS z FROM visits)", "SELECT AVG(x / 2) FILTER (WHERE y) AS avg FROM visits"),
        ("WITH visits AS (SELECT * FROM visits WHERE a), v AS (SELECT * FROM visits WHERE b) SELECT COUNT(*) FROM v",
         "SELECT COUNT(*) FROM visits WHERE a AND b"),
        ("SELECT COUNT(*) FROM (WITH z AS (SELECT x AS y FROM visits) SELECT y AS w FROM z) WHERE w > 1", "SELECT COUNT(*) FROM visits WHERE x > 1"),
        ("SELECT city, COUNT(*) AS n FROM (SELECT UPPER(city) AS city FROM visits) GROUP BY city HAVING n > 3",
         "SELECT UPPER(city) AS city, COUNT(*) AS n FROM visits GROUP BY 1 HAVING COUNT(*) > 3"),
        ("SELECT COUNT(*) FROM ((SELECT * FROM visits)) AS t", "SELECT COUNT(*) FROM visits"),
    ],
)  # fmt: skip
def test_a_nested_question_is_the_flat_one(nested: str, flat: str) -> None:
    assert to_sql(parse(nested, "visits")).replace('"', "") == to_sql(parse(flat, "visits")).replace('"', "")


REFUSED = [
    ("SELECT COUNT(*) FROM (SELECT DISTINCT city FROM visits)", "DISTINCT in a subquery"),
    ("SELECT COUNT(*) FROM (SELECT * FROM visits LIMIT 10)", "LIMIT in a subquery"),
    ("SELECT COUNT(*) FROM (SELECT * FROM visits ORDER BY age)", "ORDER BY in a subquery"),
    ("SELECT COUNT(*) FROM (SELECT * FROM visits OFFSET 1)", "OFFSET in a subquery"),
    ("SELECT SUM(r) FROM (SELECT ROW_NUMBER() OVER () AS r FROM visits)", "single rows"),
    ("SELECT SUM(s) FROM (SELECT SUM(x) OVER (PARTITION BY city) AS s FROM visits)", "single rows"),
    ("SELECT COUNT(*) FROM visits WHERE x > (SELECT AVG(x) FROM visits)", "outside of FROM"),
    ("SELECT COUNT(*) FROM visits WHERE x IN (SELECT y FROM visits)", "A join needs a table that the policy names"),
    ("SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1 FROM visits)", "Compare the unit by itself"),
    ("SELECT (SELECT COUNT(*) FROM visits) FROM visits", "outside of FROM"),
    ("WITH RECURSIVE a AS (SELECT * FROM visits) SELECT COUNT(*) FROM a", "RECURSIVE"),
    ("WITH a AS (SELECT x FROM visits), a AS (SELECT y FROM visits) SELECT COUNT(*) FROM a", "each name once"),
    ("WITH a(b) AS (SELECT x FROM visits) SELECT SUM(b) FROM a", "column names"),
    ("SELECT SUM(b) FROM (SELECT a FROM visits)", "is no column of the subquery"),
    ("SELECT SUM(a) FROM (SELECT x AS a, y AS A FROM visits)", "two columns"),
    ("SELECT SUM(age) FROM (SELECT *, age + 1 AS age FROM visits)", "column of * too"),
    ("SELECT SUM(b) FROM (SELECT *, c AS b FROM (SELECT *, x AS b, y AS c FROM visits))", "column of * too"),
    ("SELECT SUM(x) FROM (SELECT x + 1 FROM visits)", "without a name"),
    ("SELECT COUNT(*) FROM visits, (SELECT * FROM visits) AS v", "JOIN"),
    ("SELECT COUNT(*) FROM (SELECT v.* FROM visits AS v JOIN visits AS w ON v.x = w.x)", "JOIN"),
    ("SELECT COUNT(*) FROM (SELECT x FROM visits UNION ALL SELECT y FROM visits)", "UNION"),
    ("SELECT COUNT(*) FROM (VALUES (1), (2))", "VALUES"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "says"), REFUSED)
def test_what_is_not_row_wise_is_refused_with_the_reason(text: str, says: str) -> None:
    with pytest.raises((InvalidParameter, NotPrivate)) as error:
        parse(text, "visits")
    assert says.lower() in str(error.value).lower()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM (SELECT * FROM people)",
        "WITH a AS (SELECT * FROM people) SELECT COUNT(*) FROM visits",
        "SELECT COUNT(*) FROM (SELECT * FROM read_csv('/etc/passwd'))",
        "SELECT COUNT(*) FROM (SELECT * FROM main.visits)",
        "SELECT x FROM (SELECT x FROM visits)",
        "SELECT * FROM (SELECT * FROM visits)",
        "SELECT b, COUNT(*) FROM (SELECT NOW() AS b FROM visits) GROUP BY b",
        "WITH a AS (SELECT * FROM b), b AS (SELECT * FROM visits) SELECT COUNT(*) FROM a",
    ],
)
def test_a_subquery_opens_no_door(text: str) -> None:
    with pytest.raises(NotPrivate):
        parse(text, "visits")


def test_a_tree_that_would_double_at_each_level_is_refused_at_once() -> None:
    chain = "".join(f", a{i} AS (SELECT y + y AS y FROM a{i - 1})" for i in range(1, 200))
    with at_most(10**7), pytest.raises(TacitError, match="at most 50000"):
        parse(f"WITH a0 AS (SELECT x AS y FROM visits){chain} SELECT SUM(y) FROM a199", "visits")
    deep = "(SELECT * FROM " * 11 + "visits" + ")" * 11
    with pytest.raises(TacitError, match="more than 10 deep"):
        parse(f"SELECT COUNT(*) FROM {deep}", "visits")


# nested and flat statements, both run by DuckDB itself, which is our witness


class Statements:
    """Random nested statements over integer columns."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def value(self, names: list[str]) -> str:
        a, b = self.rng.choice(names), self.rng.choice(names)
        forms = [
            a,
            f"{a} + {b}",
            f"{a} - {b}",
            f"COALESCE({a}, {b})",
            f"CASE WHEN {a} > {b} THEN {a} END",
            f"-{a}",
            "3",
        ]
        return self.rng.choice(forms)

    def condition(self, names: list[str]) -> str:
        a, b = self.rng.choice(names), self.rng.choice(names)
        forms = [
            f"{a} > {b}",
            f"{a} IS NULL",
            f"{a} < 3 OR {b} = 1",
            f"NOT ({a} = {b})",
            f"{a} IN (1, 2, 5)",
            f"{a} BETWEEN 1 AND 4 AND {b} > 0",
        ]
        return self.rng.choice(forms)

    def level(self, source: str, names: list[str]) -> tuple[str, list[str]]:
        star = self.rng.random() < 0.4
        pick = [f"n{self.rng.randint(0, 99)}", "a", "b", "c"]  # a name of the table may come to mean something else
        made = [self.rng.choice(pick if not star else pick[:1]) for _ in range(self.rng.randint(1, 3))]
        made = list(dict.fromkeys(name for name in made if not star or name not in names))
        shown = [*(["*"] if star else []), *(f"{self.value(names)} AS {name}" for name in made)]
        where = f" WHERE {self.condition(names)}" if self.rng.random() < 0.6 else ""
        return f"SELECT {', '.join(shown)} FROM {source}{where}", [*(names if star else []), *made]

    def statement(self) -> str:
        source, names, parts = "t", ["a", "b", "c"], []
        for i in range(self.rng.randint(1, 4)):
            text, names = self.level(source, names)
            if self.rng.random() < 0.5:
                parts.append(f"w{i} AS ({text})")
                source = f"w{i}"
            else:
                source = f"({text}) AS s{i}"
        key, counted = self.rng.choice(names), self.rng.choice(names)
        where = f" WHERE {self.condition(names)}" if self.rng.random() < 0.5 else ""
        start = f"WITH {', '.join(parts)} " if parts else ""
        return f"{start}SELECT {key} AS k, COUNT(*) AS n, COUNT({counted}) AS m, SUM({counted}) AS s FROM {source}{where} GROUP BY 1"


@pytest.fixture(scope="module")
def witness() -> Iterator[duckdb.DuckDBPyConnection]:
    held = duckdb.connect()
    rng = random.Random(5)
    cells = [tuple(rng.choice([None, 0, 1, 2, 3, 4, 5, 9]) for _ in range(3)) for _ in range(300)]
    held.execute("CREATE TABLE t (a BIGINT, b BIGINT, c BIGINT)")
    held.executemany("INSERT INTO t VALUES (?, ?, ?)", cells)
    yield held
    held.close()


def differing(witness: duckdb.DuckDBPyConnection, seed: int, count: int) -> int:
    """How many statements mean something else when they are flat."""
    statements, different = Statements(seed), 0
    for _ in range(count):
        text = statements.statement()
        try:
            flat = to_sql(parse(text, "t"))
        except TacitError:
            assert " 3 AS " in text, text  # a constant as a key is refused
            continue
        assert flat.count("SELECT") == 1
        answers = [sorted(witness.sql(one).fetchall(), key=repr) for one in (text, flat)]
        different += answers[0] != answers[1]
    return different


@pytest.mark.thorough
def test_nested_and_flat_mean_the_same(witness: duckdb.DuckDBPyConnection) -> None:
    assert differing(witness, 1, 300) == 0


@pytest.mark.parametrize("fault", ["inner where lost", "either where", "names not replaced", "the table's name wins"])
@pytest.mark.thorough
def test_a_planted_fault_is_noticed(
    fault: str, witness: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fault == "inner where lost":
        monkeypatch.setattr(read_source, "conjoined", lambda conditions: conditions[-1])
    elif fault == "either where":
        both = read_source.conjoined

        def either(conditions: Any) -> Any:
            found = both(conditions)
            return Call("or", found.arguments) if isinstance(found, Call) and found.operator == "and" else found

        monkeypatch.setattr(read_source, "conjoined", either)
    elif fault == "the table's name wins":
        known = read_source.Rows._column
        monkeypatch.setattr(
            read_source.Rows, "_column", lambda rows, column: column if column.name in "abc" else known(rows, column)
        )
    else:
        right = read_source.Rows._column
        monkeypatch.setattr(
            read_source.Rows,
            "_column",
            lambda rows, column: next(iter(rows.columns.values())) if rows.columns else right(rows, column),
        )
    assert differing(witness, 1, 100) > 10
