"""Joins and unions from SQL to the answer: what passes, what is refused with which reason, and what comes out."""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import tacit
from tacit.errors import NotPrivate, TacitError
from tacit.tables.session.table import Table
from tests.tables.several import write_several


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    folder = tmp_path_factory.mktemp("several")
    policy = write_several(folder)
    text = (
        policy.read_text(encoding="utf-8")
        .replace("epsilon = 3\n", "epsilon = 1e12\n")
        .replace("groups = 5\nrows = 3", "groups = 50\nrows = 5000")
    )
    policy.write_text(text, encoding="utf-8")
    with tacit.open(policy, analyst="ada", ledger=tacit.InMemory()) as found:
        yield found


@pytest.fixture(scope="module")
def exact(table: Table, tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    """The same files, read by another reader."""
    folder = next(tmp_path_factory.getbasetemp().glob("several*"))
    connection = duckdb.connect()
    for name in ("visits", "purchases", "regions"):
        types = {
            "visits": "age: 'BIGINT'",
            "purchases": "amount: 'DOUBLE', paid: 'BOOLEAN'",
            "regions": "people: 'BIGINT'",
        }[name]
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM read_csv('{folder}/{name}.csv', types = {{{types}}})")
    return connection


ANSWERED = [
    "SELECT region, COUNT(*) AS n FROM visits JOIN regions ON visits.city = regions.city GROUP BY region",
    "SELECT r.region, COUNT(*) AS n, SUM(v.age) AS a, SUM(r.people) AS p FROM visits v LEFT JOIN regions r USING (city) WHERE v.age > 20 GROUP BY r.region",
    "SELECT region, COUNT(DISTINCT user_id) AS n FROM regions JOIN visits ON visits.city = regions.city GROUP BY region",
    "SELECT c.country, COUNT(*) AS n FROM visits JOIN (VALUES ('Aarhus', 'Denmark'), ('Bergen', 'Norway'), ('Gent', 'Belgium')) AS c(city, country) ON visits.city = c.city GROUP BY c.country",
    "WITH c(city, k) AS (VALUES ('Aarhus', 1), ('Bergen', 2), ('Porto', 2.5)) SELECT k, COUNT(*) AS n FROM visits LEFT JOIN c USING (city) GROUP BY k",
    "SELECT kind, COUNT(*) AS n FROM (SELECT 'young' AS kind FROM visits WHERE age < 40 UNION ALL SELECT 'old' AS kind FROM visits WHERE age >= 40) GROUP BY kind",
    "SELECT COUNT(*) AS n, COUNT(DISTINCT v.user_id) AS k, SUM(p.amount) AS s FROM visits v JOIN purchases p ON v.user_id = p.customer AND v.city = p.city",
    "SELECT p.paid, COUNT(*) AS n FROM visits v LEFT JOIN purchases p ON p.customer = v.user_id AND p.amount > v.age GROUP BY p.paid",
    "SELECT COUNT(*) AS n FROM visits v JOIN visits w ON v.user_id = w.user_id AND v.age < w.age",
    "SELECT COUNT(*) AS n FROM purchases WHERE paid",
    "SELECT COUNT(*) AS n, SUM(amount) AS s FROM purchases p JOIN regions r ON p.city = r.city WHERE r.region <> 'north'",
    "WITH u AS (SELECT user_id, city, age AS x FROM visits UNION ALL SELECT customer, city, amount FROM purchases) SELECT COUNT(DISTINCT user_id) AS k, SUM(x) AS s FROM u WHERE city = 'Porto'",
    "SELECT SUM(t, contribution_bounds_per_row => (0, 9999)) AS s FROM (SELECT customer, SUM(amount) AS t FROM purchases GROUP BY customer)",
    "SELECT COUNT(*) AS n, SUM(t.total, contribution_bounds_per_row => (0, 9999)) AS s FROM visits LEFT JOIN (SELECT customer AS c, SUM(amount) AS total FROM purchases GROUP BY customer) t ON t.c = visits.user_id",
    "SELECT SUM(m, contribution_bounds_per_row => (0, 999)) AS s FROM (SELECT v.user_id, COUNT(*) AS m FROM visits v JOIN regions r ON v.city = r.city WHERE r.region = 'south' GROUP BY v.user_id)",
    "SELECT x.region, COUNT(*) AS n FROM (SELECT * FROM visits WHERE age > 30) v JOIN (SELECT city, UPPER(region) AS region FROM regions WHERE people > 10) x ON v.city = x.city GROUP BY x.region",
    "SELECT k, COUNT(*) AS n FROM visits v LEFT JOIN (SELECT city, COALESCE(people, 7) AS k FROM regions) x ON v.city = x.city GROUP BY k",
    "SELECT COUNT(*) AS n FROM visits JOIN regions ON LENGTH(visits.city) = LENGTH(regions.city) AND regions.people > visits.age",
    "SELECT COUNT(*) AS n FROM (SELECT v.city, r.region FROM visits v JOIN regions r ON v.city = r.city UNION ALL SELECT city, 'bought' FROM purchases) WHERE region <> 'north'",
    "WITH j AS (SELECT *, people * 2 AS twice FROM visits JOIN regions USING (city)) SELECT region, COUNT(*) AS n, SUM(twice) AS s FROM j WHERE city <> 'Rome' GROUP BY region",
    "SELECT a.region, COUNT(*) AS n FROM visits JOIN regions a ON a.city = visits.city JOIN regions b ON a.region = b.region AND b.people > 15 GROUP BY a.region",
]  # fmt: skip


@pytest.mark.parametrize("text", ANSWERED)
def test_answers_are_those_of_the_rows_of_plain_sql(text: str, table: Table, exact: duckdb.DuckDBPyConnection) -> None:
    """At a price so high that there is hardly any noise, and limits that nobody reaches."""
    question = table.query(text)
    answer = question.ask(epsilon=10**9)
    plain = text.replace(", contribution_bounds_per_row => (0, 9999)", "").replace(
        ", contribution_bounds_per_row => (0, 999)", ""
    )
    found = exact.execute(plain)
    names = [one[0] for one in found.description]
    wanted = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    keys = [name for name in names if name in ("region", "country", "k", "kind", "paid") and "DISTINCT" not in text]
    keys = [*keys, *(["region"] if "region, COUNT(DISTINCT" in text else [])]
    by_key = {tuple(row[key] for key in keys): row for row in answer.rows()}
    for row in wanted:
        near = by_key.pop(tuple(row[key] for key in keys))
        for name in set(names) - set(keys):
            assert near[name] == pytest.approx(row[name] or 0, rel=1e-3, abs=0.51), (name, row)
    for rest in by_key.values():  # public groups that no row has
        assert all(abs(rest[name]) < 1 for name in set(names) - set(keys)), rest


@pytest.mark.parametrize("text", ANSWERED)
def test_the_canonical_text_reads_back_to_the_same_question(text: str, table: Table) -> None:
    question = table.query(text)
    again = table.query(question.to_sql())
    assert again.tree == question.tree
    assert again.to_sql() == question.to_sql()


REFUSED = [
    ("SELECT COUNT(*) FROM regions", "nothing here is private"),
    ("SELECT COUNT(*) FROM (VALUES (1)) AS t(x)", "nothing here is private"),
    ("SELECT COUNT(*) FROM (SELECT region FROM regions UNION ALL SELECT region FROM regions)", "public rows"),
    ("SELECT COUNT(*) FROM visits v JOIN purchases p ON v.city = p.city", "joined on the unit"),
    ("SELECT COUNT(*) FROM visits v JOIN purchases p ON v.user_id = p.customer OR v.city = p.city", "joined on the unit"),
    ("SELECT COUNT(*) FROM visits v JOIN purchases p ON NOT (v.user_id <> p.customer)", "joined on the unit"),
    ("SELECT COUNT(*) FROM visits v JOIN purchases p ON v.user_id <> p.customer", "joined on the unit"),
    ("SELECT COUNT(*) FROM visits v JOIN purchases p ON UPPER(v.user_id) = UPPER(p.customer)", "joined on the unit"),
    ("SELECT COUNT(*) FROM visits v JOIN purchases p ON v.user_id = v.user_id", "joined on the unit"),
    ("SELECT COUNT(*) FROM visits v JOIN visits w ON w.user_id = w.user_id", "joined on the unit"),
    ("SELECT COUNT(*) FROM visits v JOIN purchases p USING (city)", "joined on the unit"),
    ("SELECT COUNT(*) FROM (SELECT city AS user_id FROM visits) a JOIN visits w ON a.user_id = w.user_id", "Let each subquery show"),
    ("SELECT COUNT(*) FROM visits v JOIN purchases p ON v.user_id = p.customer JOIN visits w ON w.city = p.city", "joined on the unit"),
    ("SELECT COUNT(*) FROM visits v JOIN purchases p ON v.user_id = p.customer AND p.customer > 'u3'", "names the people"),
    ("SELECT COUNT(*) FROM visits v JOIN purchases p ON v.user_id = p.customer WHERE p.customer = 'u3'", "names the people"),
    ("SELECT p.customer, COUNT(*) FROM visits v JOIN purchases p ON v.user_id = p.customer GROUP BY p.customer", "names the people"),
    ("SELECT COUNT(*) FROM visits v JOIN regions r ON v.user_id = r.city", "names the people"),
    ("SELECT COUNT(*) FROM visits v JOIN (VALUES ('u1')) AS t(x) ON v.user_id = t.x", "names the people"),
    ("SELECT COUNT(*) FROM (SELECT user_id AS u FROM visits UNION ALL SELECT customer FROM purchases) WHERE u = 'u1'", "names the people"),
    ("SELECT COUNT(*) FROM (SELECT user_id AS u FROM visits UNION ALL SELECT city FROM purchases) WHERE u = 'u1'", "names the people"),
    ("SELECT COUNT(*) FROM (SELECT UPPER(user_id) AS u FROM visits UNION ALL SELECT city FROM purchases) WHERE u = 'u1'", "names the people"),
    ("SELECT COUNT(*) FROM regions r LEFT JOIN visits v ON v.city = r.city", "belong to nobody"),
    ("SELECT COUNT(*) FROM regions r LEFT JOIN regions q ON q.city = r.city JOIN visits v ON v.city = r.city", "belong to nobody"),
    ("SELECT COUNT(*) FROM visits v RIGHT JOIN regions r ON v.city = r.city", "belong to nobody"),
    ("SELECT COUNT(*) FROM visits v FULL JOIN regions r ON v.city = r.city", "belong to nobody"),
    ("SELECT COUNT(*) FROM visits v RIGHT JOIN purchases r ON v.user_id = r.customer", "belong to nobody"),
    ("SELECT COUNT(*) FROM visits v, regions r", "without ON"),
    ("SELECT COUNT(*) FROM visits v JOIN regions r", "without ON"),
    ("SELECT COUNT(*) FROM visits v CROSS JOIN regions r", "CROSS JOIN"),
    ("SELECT COUNT(*) FROM visits v NATURAL JOIN regions r", "NATURAL JOIN"),
    ("SELECT COUNT(*) FROM visits v SEMI JOIN regions r ON v.city = r.city", "SEMI JOIN"),
    ("SELECT COUNT(*) FROM visits v ASOF JOIN regions r ON v.city = r.city", "ASOF JOIN"),
    ("SELECT COUNT(*) FROM visits v JOIN LATERAL (SELECT v.city) r ON TRUE", "not understood"),
    ("SELECT COUNT(*) FROM visits v JOIN read_csv('x.csv') r ON TRUE", "no file"),
    ("SELECT COUNT(*) FROM visits v JOIN other r ON TRUE", "there are visits and regions and purchases"),
    ("SELECT COUNT(*) FROM visits JOIN visits ON TRUE", "two tables of a join"),
    ("SELECT city, COUNT(*) FROM visits JOIN regions ON visits.city = regions.city GROUP BY city", "visits.city"),
    ("SELECT x.region, COUNT(*) FROM visits JOIN regions x ON x.city = visits.city AND x.nope = 3 GROUP BY x.region", "is no column of x"),
    ("SELECT regions.region, COUNT(*) FROM visits JOIN regions x ON x.city = visits.city GROUP BY x.region", "Columns are those of"),
    ("SELECT nope, COUNT(*) FROM visits JOIN regions USING (city) GROUP BY nope", "no column that may be asked"),
    ("SELECT COUNT(notes) FROM visits JOIN regions USING (city)", "no column that may be asked"),
    ("SELECT COUNT(p.card) FROM visits JOIN purchases p ON p.customer = visits.user_id", "is no column of p"),
    ("SELECT COUNT(*) FROM visits JOIN regions USING (people)", "both sides"),
    ("SELECT COUNT(*) FROM visits JOIN regions ON visits.age", "a condition"),
    ("SELECT COUNT(*) FROM visits JOIN regions ON visits.age = regions.city", "age"),
    ("SELECT COUNT(*) FROM visits JOIN regions ON COUNT(*) > 3", "not understood"),
    ("SELECT COUNT(*) FROM visits JOIN regions ON EXISTS (SELECT 1 FROM visits)", "subquery"),
    ("SELECT v.*, COUNT(*) FROM visits v JOIN regions r ON v.city = r.city", "rows are never shown"),
    ("SELECT COUNT(*) FROM (SELECT v.* FROM visits v JOIN regions r ON v.city = r.city)", "alone"),
    ("SELECT COUNT(*) FROM (SELECT *, age AS region FROM visits JOIN regions USING (city))", "column of \\* too"),
    ("SELECT COUNT(DISTINCT p.customer) FROM visits JOIN purchases p ON p.customer = user_id", r"COUNT\(DISTINCT user_id\)"),
    ("SELECT COUNT(*) FROM (SELECT city FROM visits UNION SELECT city FROM purchases)", "UNION ALL"),
    ("SELECT COUNT(*) FROM (SELECT city FROM visits UNION ALL SELECT city FROM regions)", "public rows"),
    ("SELECT COUNT(*) FROM (SELECT city FROM visits INTERSECT SELECT city FROM purchases)", "INTERSECT"),
    ("SELECT COUNT(*) FROM (SELECT city FROM visits EXCEPT ALL SELECT city FROM purchases)", "EXCEPT"),
    ("SELECT COUNT(*) FROM (SELECT city, age FROM visits UNION ALL SELECT city FROM purchases)", "equally many"),
    ("SELECT SUM(x) FROM (SELECT age AS x FROM visits UNION ALL SELECT city FROM purchases)", "one kind"),
    ("SELECT COUNT(*) FROM (SELECT city FROM visits UNION ALL BY NAME SELECT city FROM purchases)", "BY NAME"),
    ("SELECT COUNT(*) FROM (SELECT city FROM visits UNION ALL SELECT city FROM purchases ORDER BY city LIMIT 3)", "LIMIT|ORDER"),
    ("SELECT COUNT(*) FROM (SELECT city FROM visits UNION ALL SELECT DISTINCT city FROM purchases)", "DISTINCT"),
    ("SELECT COUNT(*) FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city UNION ALL SELECT city, 1 FROM purchases)", "must group by user_id"),
    ("SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*) FROM purchases", "two questions"),
    ("SELECT COUNT(*) FROM visits v JOIN (SELECT city, COUNT(*) AS n FROM purchases GROUP BY city) p ON v.city = p.city", "must group by customer"),
    ("SELECT COUNT(*) FROM visits v JOIN (SELECT region, COUNT(*) AS n FROM regions GROUP BY region) p ON v.city = p.region", "nothing here is private"),
    ("SELECT COUNT(*) FROM visits JOIN (VALUES ('a', 1), ('b')) AS c(city, k) ON TRUE", "one length"),
    ("SELECT COUNT(*) FROM visits JOIN (VALUES (city)) AS c(x) ON TRUE", "constants|not understood"),
    ("SELECT COUNT(*) FROM visits JOIN (VALUES (NULL)) AS c(x) ON TRUE", "one kind"),
    ("SELECT COUNT(*) FROM visits JOIN (VALUES (1), ('a')) AS c(x) ON TRUE", "one kind"),
    ("SELECT COUNT(*) FROM visits JOIN (VALUES ((SELECT COUNT(*) FROM visits))) AS c(x) ON TRUE", "subquery"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "says"), REFUSED)
def test_what_is_refused_says_why_and_costs_nothing(text: str, says: str, table: Table) -> None:
    before = table.remaining
    with pytest.raises(TacitError, match=says):
        table.sql(text, epsilon=1)
    assert table.remaining == before


def test_the_number_of_tables_is_limited_as_it_grows(table: Table) -> None:
    doubling = ", ".join(f"t{i + 1} AS (SELECT * FROM t{i} UNION ALL SELECT * FROM t{i})" for i in range(40))
    with pytest.raises(TacitError, match="16 tables"):
        table.query(f"WITH t0 AS (SELECT * FROM visits), {doubling} SELECT COUNT(*) FROM t40")
    many = " ".join(f"JOIN regions r{i} ON r{i}.city = visits.city" for i in range(16))
    with pytest.raises(TacitError, match="16 tables"):
        table.query(f"SELECT COUNT(*) FROM visits {many}")


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("SELECT region, COUNT(*) FROM visits JOIN regions USING (city) GROUP BY region", {"north", "south", "iberia", "nowhere"}),
        ("SELECT region, COUNT(*) FROM visits LEFT JOIN regions USING (city) GROUP BY region", {"north", "south", "iberia", "nowhere", None}),
        ("SELECT people, COUNT(*) FROM visits JOIN regions USING (city) GROUP BY people", {10, 20, 30, 99, None}),
        ("SELECT p.paid, COUNT(*) FROM visits JOIN purchases p ON p.customer = visits.user_id GROUP BY p.paid", {True, False}),
        ("SELECT k, COUNT(*) FROM visits LEFT JOIN (VALUES ('Rome', 'x')) AS c(city, k) USING (city) GROUP BY k", {"x", None}),
        ("SELECT k, COUNT(*) FROM (SELECT plan AS k FROM visits UNION ALL SELECT 'bought' FROM purchases) GROUP BY k", {"free", "pro", "bought"}),
    ],
)  # fmt: skip
def test_groups_by_what_is_public_are_public(text: str, keys: set[object], table: Table) -> None:
    (found,) = table.query(text)._checked.key_domains
    assert found is not None
    assert set(found) == keys
    assert table.query(text).plan(epsilon=1).keys is None


def test_groups_by_what_is_private_pass_a_selection(table: Table) -> None:
    text = "SELECT v.city, COUNT(*) FROM visits v JOIN regions r ON v.city = r.city GROUP BY v.city"
    assert table.query(text).plan(epsilon=1).keys is not None


def test_bounds_are_those_of_each_table(table: Table) -> None:
    text = "SELECT SUM(r.people), SUM(p.amount), SUM(v.age), SUM(r.people + v.age) FROM visits v JOIN regions r USING (city) JOIN purchases p ON p.customer = v.user_id"
    bounds = [one.bounds for one in table.query(text).tree.aggregates()]
    assert bounds == [(10, 99), (0, 100), (0, 120), (10, 219)]
    (united,) = table.query(
        "SELECT SUM(x) FROM (SELECT age AS x FROM visits UNION ALL SELECT amount - 50 FROM purchases)"
    ).tree.aggregates()
    assert united.bounds == (-50, 120)


def test_limits_are_kept_after_the_join(tmp_path: Path) -> None:
    """One person with one visit, and a public table in which the city stands 1000 times: limits count matches."""
    (tmp_path / "visits.csv").write_text("user_id,city\n" + "u1,A\n" + "".join(f"u{i},B\n" for i in range(2, 4)))
    (tmp_path / "many.csv").write_text("city,k\n" + "A,x\n" * 1000 + "A,y\n" * 1000 + "B,y\n")
    (tmp_path / "visits.toml").write_text(
        'version = 1\nsource = "visits.csv"\nunit = "user_id"\n[limits]\nrows = 3\ngroups = 1\n[budget]\nepsilon = 1e8\n'
        '[columns]\nuser_id = { type = "text", role = "identifier" }\ncity = { type = "text", role = "private" }\n'
        '[public.many]\nsource = "many.csv"\ncolumns = { city = { type = "text" }, k = { type = "text" } }\n'
    )
    with tacit.open(tmp_path / "visits.toml", ledger=tacit.InMemory()) as table:
        answer = table.sql("SELECT k, COUNT(*) AS n FROM visits JOIN many USING (city) GROUP BY k", epsilon=10**6)
        assert sorted(row["n"] for row in answer.rows()) in ([2, 3], [0, 5])
        assert table.sql("SELECT COUNT(*) AS n FROM visits JOIN many USING (city)", epsilon=10**6).rows()[0]["n"] == 5


def test_where_each_row_is_a_unit_there_are_no_joins(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("city\nA\n")
    (tmp_path / "p.csv").write_text("city\nA\nA\n")  # even if it had no key twice: it could, by the time it is read
    with tacit.open(
        tmp_path / "t.csv", unit=tacit.ROW, budget=tacit.PureDP(1), public={"p": tmp_path / "p.csv"}
    ) as table:
        for text in (
            "SELECT COUNT(*) FROM t JOIN p USING (city)",
            "SELECT COUNT(*) FROM (SELECT city FROM t UNION ALL SELECT city FROM t)",
        ):
            with pytest.raises(NotPrivate, match="each row is protected by itself"):
                table.query(text)


ONCE = [
    "JOIN (VALUES ('A', 1), ('B', 2)) AS c(city, k) USING (city)",
    "LEFT JOIN (VALUES ('A', 1), (NULL, 3), (NULL, 4)) AS c(city, k) ON c.city = t.city AND k > 0",
    "JOIN (VALUES ('A', 1)) AS c(city, k) ON c.city = t.city JOIN (VALUES (1, 'x')) AS d(n, z) ON d.n = t.n",
    "JOIN (VALUES (1, 'a'), (3, 'b')) AS c(n, k) ON t.x = c.n",
    "JOIN (VALUES (2.0, 'a'), (2.5, 'b'), (3, 'c')) AS c(n, k) ON t.n = c.n",
]
TWICE = [
    "JOIN (VALUES ('A', 1), ('A', 2)) AS c(city, k) USING (city)",
    "JOIN (VALUES ('A', 1), ('B', 2)) AS c(city, k) ON t.city <> c.city",
    "JOIN (VALUES ('A', 1), ('B', 2)) AS c(city, k) ON t.city = c.city OR TRUE",
    "JOIN (VALUES ('A', 1), ('B', 2)) AS c(city, k) ON UPPER(t.city) = c.city",
    "JOIN (VALUES ('A', 1), ('B', 2)) AS c(city, k) ON c.city = c.city",
    "JOIN (VALUES (9007199254740992, 1), (9007199254740993, 2)) AS c(n, k) ON t.x = c.n",
    "JOIN (VALUES (1, 1), (1.0, 2)) AS c(n, k) ON t.x = c.n",
    "JOIN (VALUES (1, 1), (1.0, 2)) AS c(n, k) ON t.n = c.n",
    "JOIN (VALUES (9007199254740993, 1), (9007199254740995, 2)) AS c(n, k) ON t.x = c.n",
    "JOIN (VALUES (TRUE, 1), (FALSE, 2)) AS c(n, k) ON t.n = c.n",
    "JOIN (VALUES ('A', 1)) AS c(city, k) ON c.city = t.city JOIN (VALUES (1, 'x'), (1, 'y')) AS d(k, z) ON d.k = c.k",
    "JOIN t AS u ON t.city = u.city",
    "JOIN (SELECT city, k FROM (VALUES ('A', 1), ('B', 2)) AS c(city, k) WHERE k > 0) AS d ON t.city = d.city",
]


def test_where_each_row_is_a_unit_a_list_may_be_joined_that_matches_once(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("city,n,x\n" + "A,1,1\n" * 30 + "B,2,2\n" * 20 + "C,1,1\n" * 10)
    types = {"n": "integer", "x": "real"}
    with tacit.open(
        tmp_path / "t.csv",
        unit=tacit.ROW,
        budget=tacit.PureDP(10**9),
        least=tacit.PureDP(0),
        types=types,
        ledger=tacit.InMemory(),
    ) as table:
        found = [table.sql(f"SELECT COUNT(*) AS n FROM t {join}", epsilon=10**6).rows()[0]["n"] for join in ONCE]
        assert found == [50, 60, 30, 40, 20]
        by_k = table.sql(f"SELECT k, COUNT(*) AS n FROM t {ONCE[1]} GROUP BY k", epsilon=10**6).rows()
        assert {row["k"]: row["n"] for row in by_k} == {1: 30, 3: 0, 4: 0, None: 30}
        for join in TWICE:
            with pytest.raises(TacitError, match=r"each row is protected by itself|two tables|kind"):
                table.query(f"SELECT COUNT(*) FROM t {join}")


def test_public_tables_can_be_given_in_python(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"city": ["Bergen", "Porto"], "warm": [False, True], "mean": [8.5, 15.0], "n": [1, 2]})
    policy = write_several(tmp_path)
    with tacit.open(
        policy, analyst="ada", ledger=tacit.InMemory(), public={"climate": frame, "more": tmp_path / "regions.csv"}
    ) as table:
        text = "SELECT warm, COUNT(*) AS c, AVG(mean) AS m FROM visits JOIN climate USING (city) JOIN more ON more.city = climate.city GROUP BY warm"
        answer = table.sql(text, epsilon="0.5")
        assert [row["warm"] for row in answer.rows()] == [False, True]
        assert table.query("SELECT SUM(n) FROM visits JOIN climate USING (city)").tree.aggregates()[0].bounds == (1, 2)
    with (
        pytest.raises(TacitError, match="no other table has"),
        tacit.open(policy, ledger=tacit.InMemory(), public={"Regions": frame}),
    ):
        pass


def test_another_content_of_a_public_table_is_another_question(tmp_path: Path) -> None:
    policy, text = (
        write_several(tmp_path),
        "SELECT COUNT(*) AS n FROM visits JOIN regions USING (city) WHERE region = 'north'",
    )
    answers = []
    for north in ("north", "north", "south"):
        regions = (tmp_path / "regions.csv").read_text(encoding="utf-8").replace("Aarhus,north", f"Aarhus,{north}")
        (tmp_path / "regions.csv").write_text(regions, encoding="utf-8")
        with tacit.open(policy, analyst="ada") as table:
            answers.append((table.sql(text, epsilon="0.1").rows(), table.remaining))
    assert answers[0] == answers[1]
    assert answers[2][1] != answers[1][1]


def test_a_batch_of_joins_is_read_and_priced_together(table: Table, exact: duckdb.DuckDBPyConnection) -> None:
    north = "FROM visits JOIN regions USING (city) WHERE region = 'north'"
    statements = [
        f"SELECT COUNT(*) AS n {north}",
        f"SELECT SUM(age) AS n {north}",
        "SELECT COUNT(*) AS n FROM visits",
        "SELECT COUNT(*) AS n FROM (SELECT age FROM visits UNION ALL SELECT amount FROM purchases)",
    ]
    answers = table.batch(statements).ask(epsilon=10**9)
    for statement, answer in zip(statements, answers, strict=True):
        row = exact.execute(statement).fetchone()
        assert row is not None
        assert answer.rows()[0]["n"] == pytest.approx(row[0], rel=1e-3), statement


@pytest.mark.parametrize(
    "built",
    [
        lambda table: table.select("city").union(table.where("age > 40").select("city")),
        lambda table: table.table("regions").join("visits", on="city").where(tacit.col("people") > 5),
        lambda table: table.with_columns(user_id=tacit.col("age")).union(table.with_columns(user_id=tacit.col("age"))),
    ],
)
def test_people_are_counted_in_text_that_reads_back_also_where_no_column_names_them(
    tmp_path: Path, built: Callable[[Table], Any]
) -> None:
    with tacit.open(write_several(tmp_path), ledger=tacit.InMemory()) as table:
        grown = tacit.count_units().filter(tacit.col("city") == "Porto")
        question = built(table).having("people > 3").agg(people=tacit.count_units(), grown=grown)
        again = table.query(question.to_sql())
        assert again.to_sql() == question.to_sql()
        assert again.tree == question.tree
        assert "COUNT_UNITS()" in question.to_sql()
