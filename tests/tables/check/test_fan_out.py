"""What one row can become in a join: never fewer rows than there are, and never too many."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

import tacit
from tacit.errors import InvalidParameter
from tacit.tables.check.fan_out import (
    MOST_LINES,
    MOST_MATCHED,
    MOST_MATCHES,
    Side,
    joined_size,
    rows_of_one,
    rows_per_unit,
)
from tacit.tables.expressions.tree import Call, Column, Expression, Literal
from tacit.tables.query.relations import Few, Join, Joined
from tacit.tables.session.table import Table
from tests.tables.several import write_several


def brute(sides: list[tuple[list[tuple[int | None, ...]], Join, list[tuple[str, str | int]]]]) -> int:
    """The rows of the join, of one private row; columns are called m0c0, m0c1, …"""
    made: list[dict[str, int | None]] = [{}]
    for place, (lines, join, conditions) in enumerate(sides):
        longer = []
        for left in made:
            found = []
            for line in lines:
                row = left | {f"m{place}c{i}": cell for i, cell in enumerate(line)}
                both = [(row[one], row[other] if isinstance(other, str) else other) for one, other in conditions]
                if all(x is not None and x == y for x, y in both):
                    found.append(row)
            width = len(lines[0])
            longer += found or ([left | {f"m{place}c{i}": None for i in range(width)}] if join is Join.LEFT else [])
        made = longer
    return len(made)


@pytest.mark.thorough
def test_the_bound_is_never_below_the_rows_that_there_are() -> None:
    rng, tight = random.Random(3), 0
    for _ in range(1200):
        members = rng.randint(2, 4)
        private = rng.randrange(members)
        tables, sides = [], []
        places = {f"m{place}c{i}": place for place in range(members) for i in range(2)}
        for place in range(members):
            count = 1 if place == private else rng.randint(1, 5)
            lines = [tuple(rng.choice([None, 0, 1, 1, 2]) for _ in range(2)) for _ in range(count)]
            known = [f"m{before}c{i}" for before in range(place) for i in range(2)]
            own = [f"m{place}c{i}" for i in range(2)]
            conditions: list[tuple[str, str | int]] = []
            for _ in range(rng.choice([0, 1, 1, 2]) if place else 0):
                pair: list[str | int] = [rng.choice(own), rng.choice([*known, *own, rng.randint(0, 2)])]
                conditions.append((str(pair[0]), pair[1]))
            join = Join.LEFT if place and place > private and rng.random() < 0.4 else Join.INNER
            tables.append((lines, join, conditions))
            repeats = {
                f"m{place}c{i}": max(
                    [[x[i] for x in lines].count(one[i]) for one in lines if one[i] is not None] or [1]
                )
                for i in range(2)
            }
            sides.append(Side(place == private, join, tuple(equal(*one) for one in conditions), count, repeats))
        most = rows_per_unit(sides, places)
        bound = 1 if most is None else MOST_MATCHED // most
        assert brute(tables) <= bound
        tight += most is None
    assert tight > 120


def equal(left: str, right: str | int) -> Expression:
    return Call("=", (Column(left), Column(right) if isinstance(right, str) else Literal(right)))


def side(size: int, *conditions: Expression, repeats: dict[str, int] | None = None, private: bool = False) -> Side:
    return Side(private, Join.INNER, conditions, size, repeats or {})


def test_how_many_rows_of_a_unit_are_joined() -> None:
    places = {"a": 0, "b": 1, "c": 2}
    me = side(1, private=True)
    assert rows_per_unit([me, side(9_000, equal("a", "b"), repeats={"b": 1})], places) is None
    assert rows_per_unit([me, side(9_000, equal("a", "b"), repeats={"b": 50})], places) == MOST_MATCHED // 50
    assert rows_per_unit([me, me], places) == 316
    assert rows_per_unit([me, me, me], places) == 46
    assert rows_per_unit([me] * 16, places) == 2
    once = replace(me, once=True)
    assert rows_per_unit([me, once], places) is rows_per_unit([once] * 9, places) is None
    assert rows_per_unit([me, once, me, once], places) == 316
    assert rows_per_unit([once, side(50), once], places) == MOST_MATCHED // 50
    assert rows_of_one([me, once, me], places, 316, 4) == 4 * 316
    assert rows_of_one([once, side(50)], places, 2_000, 1) == 50
    assert rows_per_unit([me, side(MOST_MATCHES)], places) == 10
    with pytest.raises(InvalidParameter, match="up to 10001 rows for one row"):
        rows_per_unit([me, side(MOST_MATCHES + 1)], places)
    free = side(200, equal("b", "c"), repeats={"b": 1})  # equal to each other, and to nobody's row
    with pytest.raises(InvalidParameter, match="up to 40000 rows"):
        rows_per_unit([me, side(200), side(200, equal("a", "a"))], places)
    assert rows_per_unit([me, free, side(200, repeats={"c": 1})], places) == MOST_MATCHED // 200
    with pytest.raises(InvalidParameter, match="up to 1000100 rows"):
        joined_size([side(10_001), side(100)], places)
    assert joined_size([side(10_000), side(100)], places) == MOST_LINES


@pytest.fixture
def table(tmp_path: Path) -> Table:
    policy = write_several(tmp_path)
    return tacit.open(policy, analyst="ada", ledger=tacit.InMemory())


def values(name: str, rows: int) -> str:
    return f"(VALUES {', '.join(f'({i})' for i in range(rows))}) AS {name}(n)"


BOMB = f"SELECT COUNT(*) AS n FROM visits JOIN {values('a', 300)} ON age > 0 JOIN {values('b', 300)} ON age > 0"


def test_lists_that_multiply_each_other_are_refused_and_cost_nothing(table: Table) -> None:
    before = table.remaining
    with pytest.raises(InvalidParameter, match="up to 90000 rows for one row of a private table"):
        table.sql(BOMB, epsilon=1)
    parts = f"{values('a', 3000)} JOIN {values('b', 3000)} ON a.n >= b.n"
    public = f"SELECT COUNT(*) AS n FROM visits JOIN (SELECT a.n AS n FROM {parts}) AS c ON age = c.n"
    with pytest.raises(InvalidParameter, match="joined with each other"):
        table.sql(public, epsilon=1)
    assert table.remaining == before


def test_a_row_for_each_key_of_a_list_multiplies_nothing(table: Table) -> None:
    plan = table.query(f"SELECT COUNT(*) AS n FROM visits JOIN {values('a', 3_000)} ON age = a.n").plan(epsilon=1)
    assert plan.price is not None


def few_of(table: Table, sql: str) -> list[int | None]:
    view = table.query(sql)._checked.view
    assert view is not None
    relation = view.relation
    assert isinstance(relation, Joined)
    return [None if one.few is None else one.few.most for one in relation.members]


def test_units_have_few_rows_where_private_tables_are_joined(table: Table) -> None:
    on = "v.user_id = p.customer"
    assert few_of(table, f"SELECT COUNT(*) AS n FROM visits v JOIN purchases p ON {on}") == [316, 316]
    assert few_of(table, "SELECT COUNT(*) AS n FROM visits v JOIN regions r ON v.city = r.city") == [50_000, None]
    assert few_of(table, "SELECT COUNT(*) AS n FROM visits v JOIN regions r ON v.age > r.people") == [16_666, None]


ONCE = "(SELECT customer AS c, COUNT(*) AS k FROM purchases GROUP BY customer)"
TWICE = "(SELECT customer AS c, COUNT(*) AS k FROM purchases GROUP BY customer, paid)"


@pytest.mark.parametrize(
    ("side", "few"),
    [
        (ONCE, [None, None]),
        (f"(SELECT c, k + 1 AS m FROM {ONCE} WHERE k > 2)", [None, None]),  # a choice of rows keeps at most one
        (f"(SELECT c FROM (SELECT c, k FROM {ONCE} WHERE k > 2) WHERE k < 9)", [None, None]),
        (TWICE, [316, 316]),
        (f"(SELECT c, k FROM {TWICE})", [316, 316]),
        (f"(SELECT c, k FROM {ONCE} UNION ALL SELECT c, k FROM {ONCE})", [316, 316]),  # two rows per unit
        (f"(SELECT p.customer AS c FROM purchases p JOIN {ONCE} o ON p.customer = o.c)", [316, 316]),
        (f"(SELECT o.c AS c FROM {ONCE} o JOIN purchases p ON o.c = p.customer)", [316, 316]),
    ],
)
@pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN"])
def test_a_side_with_one_row_per_unit_multiplies_nothing(
    table: Table, join: str, side: str, few: list[int | None]
) -> None:
    assert few_of(table, f"SELECT COUNT(*) AS n FROM visits v {join} {side} AS s ON v.user_id = s.c") == few


def test_what_is_multiplied_beside_one_row_per_unit(table: Table) -> None:
    rest = f"JOIN {ONCE} AS s ON v.user_id = s.c"
    both = f"SELECT COUNT(*) AS n FROM visits v JOIN purchases p ON v.user_id = p.customer {rest}"
    assert few_of(table, both) == [316, 316, 316]
    listed = f"SELECT COUNT(*) AS n FROM visits v JOIN regions r ON v.city = r.city {rest}"
    assert few_of(table, listed) == [50_000, None, 50_000]
    alone = f"SELECT COUNT(*) AS n FROM {ONCE} AS a JOIN {values('b', 4)} ON a.k > b.n JOIN {ONCE} AS s ON a.c = s.c"
    assert few_of(table, alone) == [25_000, None, 25_000]


def test_the_rows_of_one_person_stay_within_the_limit(tmp_path: Path) -> None:
    """A thousand visits of one person, joined with themselves twice: a billion rows, were they all joined."""
    lines = ["who,x", *(f"1,{i}" for i in range(1000)), *(f"2,{i}" for i in range(5))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    budget, ledger = tacit.PureDP(10**12), tacit.InMemory()
    table = tacit.open(tmp_path / "t.csv", unit="who", budget=budget, ledger=ledger, rows=10**6)
    sql = "SELECT COUNT(*) AS n FROM t a JOIN t b ON a.who = b.who JOIN t c ON a.who = c.who"
    assert round(table.sql(sql, epsilon=10**10)["n"].value) == 46**3 + 5**3


def test_limits_on_members_do_not_show_in_the_question(table: Table) -> None:
    sql = "SELECT COUNT(*) AS n FROM visits v JOIN purchases p ON v.user_id = p.customer"
    question = table.query(sql)
    assert "316" not in str(question)
    assert Few("who", 3) == Few("who", 3)
