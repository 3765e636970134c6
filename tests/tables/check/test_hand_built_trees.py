"""Trees that neither SQL nor the Python API makes: a column that could be taken for another is refused, for nothing.

Engines find columns by name. Before such trees were refused, some reached answers in which another column was taken for
the unit, or private tables were joined on something else; three were measured, at 3, 3.75 and 5 times what was charged.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import tacit
from tacit.errors import TacitError
from tacit.tables.expressions.tree import Call, Column, Expression, Key, Literal
from tacit.tables.query.per_unit import Fact, PerUnit, UnitKey
from tacit.tables.query.relations import Base, Joined, Listed, Member, Relation, Selected, Shown, Stacked, Taken
from tacit.tables.query.tree import Aggregate, Output, Query
from tacit.tables.session.table import Table
from tests.tables.several import write_several

USER, CITY = Column("user_id"), Column("city")
EQUAL = Call("=", (Column("u"), Column("b")))
PURCHASES = Base("purchases")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    policy: Path = write_several(tmp_path_factory.mktemp("trees"), users=20)
    with tacit.open(policy, ledger=tacit.InMemory()) as found:
        yield found


def selected(*columns: tuple[str, Expression]) -> Selected:
    return Selected(tuple(Shown(name, one) for name, one in columns))


def joined(
    columns: Sequence[tuple[str, int, str]], on: Expression = EQUAL, other: Relation | None = PURCHASES
) -> Joined:
    return Joined((Member(None), Member(other, on=on)), tuple(Taken(*one) for one in columns))


def per_unit(*keys: tuple[str, Expression], facts: tuple[Fact, ...] = ()) -> PerUnit:
    return PerUnit(tuple(UnitKey(name, one) for name, one in keys), facts)


def about(source: Relation | None, keys: tuple[Expression, ...] = ()) -> Query:
    outputs = (Output("n", Aggregate("count_rows")), Output("u", Aggregate("count", Column("u"))))
    return Query("visits", outputs if source is not None else outputs[:1], keys=keys, source=source)


ODD = {
    "a unit of another's name": about(selected(("u", CITY), ("U", USER))),
    "the same in a union": about(Stacked((selected(("u", CITY), ("U", USER)),) * 2)),
    "a key of the unit's name": about(per_unit(("u", USER), ("u", CITY))),
    "a key of the unit's name in capitals": about(per_unit(("u", CITY), ("U", USER))),
    "a value of the unit's name": about(per_unit(("u", USER), facts=(Fact("U", "max", CITY),))),
    "a column joined as the unit": about(joined([("u", 0, "user_id"), ("u", 0, "city"), ("b", 1, "customer")])),
    "a column joined as the other's unit": about(joined([("u", 0, "user_id"), ("b", 1, "customer"), ("b", 1, "city")])),
    "in capitals": about(joined([("u", 0, "city"), ("U", 0, "user_id"), ("b", 1, "customer")])),
    "the other's in capitals": about(joined([("u", 0, "user_id"), ("B", 1, "city"), ("b", 1, "customer")])),
    "a unit that equals itself": about(
        joined([("u", 0, "user_id"), ("u", 1, "customer")], Call("=", (Column("u"), Column("u"))))
    ),
    "a unit that equals itself in capitals": about(
        joined([("u", 0, "user_id"), ("U", 1, "customer")], Call("=", (Column("u"), Column("U"))))
    ),
    "inside of another": about(Selected((Shown("u", CITY),), None, selected(("city", CITY), ("City", USER)))),
    "a list with one name twice": about(
        joined([("u", 0, "city"), ("b", 1, "a")], other=Listed(("a", "A"), ((Literal("x"), Literal("y")),)))
    ),
    "a list that is ragged": about(
        joined([("u", 0, "city"), ("b", 1, "a")], other=Listed(("a", "c"), ((Literal("x"),),)))
    ),
    "a moment that engines read as another": about(
        joined(
            [("u", 0, "day"), ("b", 1, "a")],
            other=Listed(("a",), ((Literal(datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)),),)),
        )
    ),
    "a member that is not there": about(joined([("u", 0, "user_id"), ("b", 5, "customer")])),
    "a member from behind": about(joined([("u", 0, "user_id"), ("b", -1, "customer")])),
    "a join without columns": about(joined([], Literal(True))),
    "a join of nothing": about(Joined((), ())),
    "a union of nothing": about(Stacked(())),
    "units that equal three": about(
        joined([("u", 0, "user_id"), ("b", 1, "customer")], Call("=", (Column("u"), Column("b"), Column("u"))))
    ),
    "a set of keys that is not there": replace(about(None, (Column("plan"),)), sets=((0,), (5,))),
    "a set of keys from behind": replace(about(None, (Column("plan"),)), sets=((0,), (-1,))),
    "a key that is not there": replace(
        about(None), outputs=(Output("k", Key(3)), Output("n", Aggregate("count_rows")))
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_a_tree_of_no_form_is_refused_and_costs_nothing(table: Table, name: str) -> None:
    before = table.entries
    with pytest.raises(TacitError):
        table.query(ODD[name])
    assert table.entries == before


def test_trees_of_good_form_are_understood(table: Table) -> None:
    assert "COUNT(u)" in table.query(about(selected(("u", CITY), ("v", USER)))).to_sql()
    assert table.query(about(joined([("u", 0, "user_id"), ("b", 1, "customer")]))).to_sql()
    assert table.query(about(per_unit(("u", USER), ("v", CITY)))).to_sql()
