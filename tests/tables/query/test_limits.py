"""Every question that is too much says so before anything is paid, however it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.errors import InvalidParameter
from tacit.tables.expressions.tree import Call, Column, Literal
from tacit.tables.query.per_unit import Fact, PerUnit, UnitKey
from tacit.tables.query.relations import Relation
from tacit.tables.query.tree import Aggregate, Output, Query
from tacit.tables.session.table import Table
from tests.tables.several import write_several


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    policy: Path = write_several(tmp_path_factory.mktemp("limits"), 20)
    with tacit.open(policy, analyst="ada", ledger=tacit.InMemory()) as found:
        yield found


COUNT = "SELECT COUNT(*) AS n FROM visits WHERE "
GROUPED = "SELECT user_id, MAX(age) AS age FROM {} GROUP BY user_id"
CHAIN = ", ".join(f"a{i} AS ({GROUPED.format(f'a{i - 1}' if i else 'visits')})" for i in range(400))
TOO_MUCH = {
    "parts of a union": f"SELECT COUNT(*) FROM ({' UNION ALL '.join(['SELECT user_id FROM visits'] * 2000)})",
    "one part too many": f"SELECT COUNT(*) FROM ({' UNION ALL '.join(['SELECT user_id FROM visits'] * 17)})",
    "sums": f"SELECT SUM({'+'.join(['age'] * 5000)}) FROM visits",
    "casts": COUNT + "age" + "::INT" * 5000 + " > 1",
    "tests": COUNT + "age" + " IS NULL" * 5000,
    "not": COUNT + "NOT " * 5000 + "age > 1",
    "brackets": COUNT + "(" * 5000 + "age > 1" + ")" * 5000,
    "conditions": COUNT + " AND ".join(["age > 1"] * 2001),
    "alternatives": COUNT + " OR ".join(["age > 1"] * 2001),
    "a list": COUNT + f"age IN ({','.join(map(str, range(10_001)))})",
    "outputs": f"SELECT {', '.join(f'COUNT(*) AS c{i}' for i in range(1001))} FROM visits",
    "keys": f"SELECT COUNT(*) FROM visits GROUP BY {', '.join(f'age + {i}' for i in range(33))}",
    "subqueries in a chain": f"WITH {CHAIN} SELECT COUNT(*) FROM a399",
    "joins": "SELECT COUNT(*) FROM visits a" + "".join(f" JOIN visits b{i} USING (user_id)" for i in range(400)),
    "a constant": COUNT + f"city = '{'x' * 4097}'",
    "a constant in bytes": COUNT + f"city = '{'é' * 2049}'",
    "a pattern": COUNT + f"city LIKE '{'_' * 201}'",
    "patterns": COUNT + " OR ".join([f"city LIKE '%{'_' * 190}'"] * 51),
    "texts put together": COUNT + " OR ".join(["city || city = 'a'"] * 51),
    "letters": COUNT + " OR ".join(["lower(city) = 'a'"] * 501),
    "zones": COUNT + "day" + " AT TIME ZONE 'UTC'" * 3000 + " IS NULL",
    "a statement": COUNT + "age > 1 " + " " * 100_000,
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_a_statement_that_is_too_much_is_refused(table: Table, name: str) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        table.sql(TOO_MUCH[name], epsilon=1)
    assert len(str(refusal.value)) < 600


def test_as_much_as_is_allowed_is_planned(table: Table) -> None:
    for sql in (
        f"SELECT COUNT(*) FROM ({' UNION ALL '.join(['SELECT user_id FROM visits'] * 16)})",
        COUNT + f"city = '{'x' * 4096}' OR city LIKE '{'_' * 200}'",
        COUNT + " OR ".join(["city || plan = 'a'"] * 49),
        COUNT + f"age IN ({','.join(map(str, range(5_000)))})",
        f"SELECT COUNT(*) FROM visits GROUP BY {', '.join(f'age + {i}' for i in range(32))}",
    ):
        assert table.query(sql).plan(epsilon=1).price is not None


def deep() -> Any:
    term = tacit.col("age")
    for _ in range(5000):
        term = term + 1
    return term


BUILT: dict[str, Callable[[Table], Any]] = {
    "where": lambda table: table.where(deep() > 1).agg(n=tacit.count()),
    "sum": lambda table: table.agg(n=tacit.sum(deep())),
    "sum of sums": lambda table: table.agg(n=tacit.sum("age") + tacit.sum(deep())),
    "group_by": lambda table: table.group_by(k=deep()).agg(n=tacit.count()),
    "per": lambda table: table.per("user_id").agg(k=tacit.max(deep())).agg(n=tacit.count()),
    "select": lambda table: table.select("user_id", k=deep()).agg(n=tacit.count()),
    "join": lambda table: table.join({"a": [1, 2]}, on=deep() == 1).agg(n=tacit.count()),
    "isin": lambda table: table.where(tacit.col("age").isin(range(10_001))).agg(n=tacit.count()),
    "text": lambda table: table.where(tacit.col("city") == "x" * 5000).agg(n=tacit.count()),
}


@pytest.mark.parametrize("name", BUILT)
def test_python_refuses_it_too(table: Table, name: str) -> None:
    with pytest.raises(InvalidParameter):
        BUILT[name](table).plan(epsilon=1)


def test_trees_built_by_hand_are_refused_before_anything_walks_into_them(table: Table) -> None:
    relation: Relation | None = None
    for _ in range(5000):
        relation = PerUnit((UnitKey("user_id", Column("user_id")),), (Fact("n", "count_rows"),), None, relation)
    count = (Output("n", Aggregate("count_rows")),)
    with pytest.raises(InvalidParameter, match="more than 10 deep"):
        table.query(Query("visits", count, source=relation))
    condition: Any = Column("city")
    for _ in range(5000):
        condition = Call("concat", (condition, Literal("x")))
    with pytest.raises(InvalidParameter):
        table.query(Query("visits", count, where=Call("=", (condition, Literal("x")))))
