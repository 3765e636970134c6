"""Questions in Python about several tables, from the policy to the answer: the same as in SQL, and refused alike."""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tacit
from tacit import ROW, PureDP, col, count, mean, rollup
from tacit.errors import TacitError
from tacit.tables.session.table import Question, Table
from tests.tables.several import write_several

Ask = Callable[[Table], Question]


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    policy = write_several(tmp_path_factory.mktemp("several"))
    text = policy.read_text(encoding="utf-8").replace("epsilon = 3\n", "epsilon = 1e6\n")
    policy.write_text(text, encoding="utf-8")
    with tacit.open(policy, analyst="ada", ledger=tacit.InMemory()) as found:
        yield found


ASKED: list[tuple[Ask, str]] = [
    (lambda t: t.join("regions", on="city").group_by("region").agg(n=count()),
     "SELECT region, COUNT(*) AS n FROM visits JOIN regions USING (city) GROUP BY region"),
    (lambda t: t.join("purchases", left_on="user_id", right_on="customer", how="left").group_by("paid").agg(n=count(), s=tacit.sum("amount")),
     "SELECT paid, COUNT(*) AS n, SUM(amount) AS s FROM visits LEFT JOIN purchases ON user_id = customer GROUP BY paid"),
    (lambda t: t.select(who="user_id").union(t.table("purchases").select(who="customer")).agg(k=tacit.count_distinct("who")),
     "SELECT COUNT(DISTINCT who) AS k FROM (SELECT user_id AS who FROM visits UNION ALL SELECT customer FROM purchases)"),
    (lambda t: t.per("user_id").agg(n=count()).agg(m=mean("n", bounds=(0, 9))),
     "SELECT AVG(n, contribution_bounds_per_row => (0, 9)) AS m FROM (SELECT user_id, COUNT(*) AS n FROM visits GROUP BY 1)"),
    (lambda t: t.join({"city": ["Porto", "Rome"], "south": [True, True]}, on="city").group_by("south").agg(n=count()),
     "SELECT south, COUNT(*) AS n FROM visits JOIN (VALUES ('Porto', TRUE), ('Rome', TRUE)) AS c(city, south) USING (city) GROUP BY south"),
    (lambda t: t.with_columns(old=col("age") > 60).group_by(rollup("old", "city")).agg(n=count()),
     "SELECT age > 60 AS old, city, COUNT(*) AS n FROM visits GROUP BY ROLLUP (old, city)"),
    (lambda t: t.agg(q=tacit.quantiles("age", 2)), "SELECT APPROX_QUANTILES(age, 2) AS q FROM visits"),
    (lambda t: t.group_by("city").public_groups(city=["Porto", "Rome"]).options(max_groups_contributed=2).agg(n=count()),
     "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed = 2) city, COUNT(*) AS n FROM visits RIGHT OUTER JOIN UNNEST(['Porto', 'Rome']) AS city USING (city) GROUP BY city"),
]  # fmt: skip


@pytest.mark.parametrize(("build", "sql"), ASKED, ids=[sql[:50] for _, sql in ASKED])
def test_an_answer_paid_for_in_sql_is_free_in_python(visits: Table, build: Ask, sql: str) -> None:
    built, written = build(visits), visits.query(sql)
    assert built.to_sql() == written.to_sql()
    assert built.tree == written.tree
    answer, left = written.ask(epsilon=1), visits.remaining
    assert built.ask(epsilon=1).to_json() == answer.to_json()
    assert visits.remaining == left


REFUSED: list[tuple[Callable[[Table], Any], str]] = [
    (lambda t: t.join("purchases", on="city").agg(n=count()), "SELECT COUNT(*) AS n FROM visits JOIN purchases USING (city)"),
    (lambda t: t.table("regions").agg(n=count()), "SELECT COUNT(*) AS n FROM regions"),
    (lambda t: t.table("regions").join("visits", on="city", how="left").agg(n=count()),
     "SELECT COUNT(*) AS n FROM regions LEFT JOIN visits USING (city)"),
    (lambda t: t.join("purchases", left_on="user_id", right_on="customer").where("card = '4'").agg(n=count()),
     "SELECT COUNT(*) AS n FROM visits JOIN purchases ON user_id = customer WHERE card = '4'"),
    (lambda t: t.where(col("user_id") == "u1").join("regions", on="city").agg(n=count()),
     "SELECT COUNT(*) AS n FROM visits JOIN regions USING (city) WHERE user_id = 'u1'"),
    (lambda t: t.per("city").agg(n=count()).agg(m=mean("n", bounds=(0, 9))),
     "SELECT AVG(n, contribution_bounds_per_row => (0, 9)) AS m FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city)"),
    (lambda t: t.per("user_id").agg(n=count()).agg(m=mean("n")),
     "SELECT AVG(n) AS m FROM (SELECT user_id, COUNT(*) AS n FROM visits GROUP BY user_id)"),
    (lambda t: t.select("city").union(t.table("regions").select("city")).agg(n=count()),
     "SELECT COUNT(*) AS n FROM (SELECT city FROM visits UNION ALL SELECT city FROM regions)"),
    (lambda t: t.group_by("city").options(max_groups_contributed=10**6).agg(n=count()),
     "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed = 1000000) city, COUNT(*) AS n FROM visits GROUP BY city"),
    (lambda t: t.where("age > 1").options(privacy_unit_column="city").agg(n=count()),
     "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(privacy_unit_column = city) COUNT(*) AS n FROM visits WHERE age > 1"),
    (lambda t: t.join("regions", on="city").group_by("user_id").agg(n=count()),
     "SELECT user_id, COUNT(*) AS n FROM visits JOIN regions USING (city) GROUP BY user_id"),
]  # fmt: skip


@pytest.mark.parametrize(("use", "sql"), REFUSED, ids=[sql[:50] for _, sql in REFUSED])
def test_the_policy_refuses_in_python_as_in_sql_and_nothing_is_spent(
    visits: Table, use: Callable[[Table], Any], sql: str
) -> None:
    left, entries = visits.remaining, visits.entries
    with pytest.raises(TacitError) as of_sql:
        visits.query(sql)
    with pytest.raises(TacitError) as of_python:
        use(visits)
    assert type(of_python.value) is type(of_sql.value)
    assert str(of_python.value) == str(of_sql.value)
    assert (visits.remaining, visits.entries) == (left, entries)


def test_where_each_row_is_protected_joins_are_refused_as_in_sql() -> None:
    import pandas

    frame = pandas.DataFrame({"city": ["a", "b"]})
    named = {"regions": pandas.DataFrame({"city": ["a", "a"]})}
    with tacit.open(frame, name="t", unit=ROW, budget=PureDP(1), ledger=tacit.InMemory(), public=named) as table:
        with pytest.raises(TacitError) as of_sql:
            table.query("SELECT COUNT(*) AS n FROM t JOIN regions USING (city)")
        with pytest.raises(TacitError) as of_python:
            table.join("regions", on="city").agg(n=count())
        assert str(of_python.value) == str(of_sql.value)
        once = table.join({"city": ["a"], "k": [1]}, on="city").group_by("k").agg(n=count())
        assert once.ask(epsilon=1)["k"].values == (1,)
