"""The engine on DuckDB: what it returns, refuses and hides; each rule of bounding on a table small enough to read."""

from __future__ import annotations

import datetime
import math
from fractions import Fraction
from typing import Any

import pytest

from tacit.errors import InvalidParameter, PolicyError
from tacit.tables.engines.contract import BoundedQuery, Measure, One, Present, Quantised, Square
from tacit.tables.engines.duckdb.engine import DuckDBEngine
from tacit.tables.engines.sums import Sums
from tacit.tables.expressions.tree import Call, Column, Literal
from tests.tables.engines.random_rows import SCHEMA, Rows

COUNT = Measure(One(), 0, 10**6, chosen=False)
X = Quantised(Column("x"), Fraction(0), Fraction(100), Fraction(0), Fraction(1))


def engine(*rows: dict[str, Any]) -> DuckDBEngine:
    held = Rows()
    held.fill([dict.fromkeys(SCHEMA) | row for row in rows])
    return DuckDBEngine(held, "secret")


def asked(
    *measures: Measure,
    keys: tuple[Any, ...] = (),
    public: Any = None,
    unit: str | None = "who",
    groups: int = 1,
    rows: int = 1,
    where: Any = None,
) -> BoundedQuery:
    return BoundedQuery(where, keys, public, unit, groups, rows, measures)


def test_without_rows_a_question_without_keys_still_has_its_group() -> None:
    found = engine().run(asked(COUNT))
    assert found.keys == ()
    assert found.units.tolist() == [0]
    assert found.measures[0].tolist() == [0]
    assert engine().run(asked(COUNT, keys=(Column("s"),))).keys == ([],)


def test_rows_of_no_unit_do_not_count() -> None:
    found = engine({"who": 1}, {"who": None}, {"who": 2}).run(asked(COUNT))
    assert (found.units.tolist(), found.measures[0].tolist()) == ([2], [2])


def test_a_unit_counts_in_so_many_groups_and_with_so_many_rows() -> None:
    rows = [{"who": 1, "s": name, "x": 1.0} for name in "abcdefg" for _ in range(4)]
    found = engine(*rows).run(
        asked(Measure(One(), 0, 9, True), Measure(X, 0, 9, True), COUNT, keys=(Column("s"),), groups=3, rows=2)
    )
    assert found.units.tolist() == [1, 1, 1]
    assert [list(one) for one in found.measures] == [[2] * 3, [2] * 3, [4] * 3]


def test_without_a_unit_every_row_is_one() -> None:
    rows = [{"s": "a", "x": 70.0}, {"s": "a", "x": math.nan}, {"s": None, "x": 500.0}]
    found = engine(*rows).run(asked(Measure(X, 0, 60, True), keys=(Column("s"),), unit=None))
    assert dict(zip(found.keys[0], zip(found.units, found.measures[0], strict=True), strict=True)) == {
        "a": (2, 60),
        None: (1, 60),
    }


def test_what_is_known_is_counted_and_what_is_squared_is_squared() -> None:
    rows = [{"who": 1, "x": 3.0}, {"who": 1, "x": None}, {"who": 1, "x": -math.inf}, {"who": 1, "x": 5.6}]
    measures = (Measure(Present(Column("x")), 0, 9, False), Measure(Square(X), 0, 99, False))
    found = engine(*rows).run(asked(*measures))
    assert [one.tolist() for one in found.measures] == [[2], [9 + 36]]


def test_listed_keys_come_back_as_they_were_listed_and_once() -> None:
    rows = [{"who": i, "x": x} for i, x in enumerate([1.0, 1.0, 2.0, 7.0, -0.0, None])]
    public = ((1,), (1.0,), (2,), (0,), (None,), ("7",))
    found = engine(*rows).run(asked(COUNT, keys=(Column("x"),), public=public, groups=9))
    assert dict(zip(found.keys[0], found.measures[0].tolist(), strict=True)) == {1: 2, 2: 1, 0: 1, None: 1}


def test_a_listed_value_of_another_kind_does_not_become_null() -> None:
    found = engine({"who": 1, "i": None}).run(asked(COUNT, keys=(Column("i"),), public=(("x",), (10**30,)), groups=9))
    assert found.units.tolist() == []


def test_an_empty_list_of_keys_has_no_groups() -> None:
    assert engine({"who": 1, "i": 3}).run(asked(COUNT, keys=(Column("i"),), public=())).keys == ([],)


def test_keys_of_every_kind_come_back_as_python_values() -> None:
    row = {
        "who": 1,
        "i": -(2**63),
        "x": 0.1,
        "s": "a\0'b",
        "b": True,
        "d": datetime.date(1, 1, 1),
        "t": datetime.datetime(9999, 12, 31, 23, 59, 59, 999999),
    }
    names = [name for name in row if name != "who"]
    found = engine(row).run(asked(COUNT, keys=tuple(map(Column, names))))
    assert [column[0] for column in found.keys] == [row[name] for name in names]
    missing = engine({"who": 1}).run(asked(COUNT, keys=tuple(map(Column, names))))
    assert [column[0] for column in missing.keys] == [None] * len(names)


def test_wide_sums_are_exact() -> None:
    wide = Quantised(Column("x"), Fraction(0), Fraction(2**52), Fraction(0), Fraction(1, 2**10))
    rows = [{"who": i, "x": float(2**52)} for i in range(5)]
    found = engine(*rows).run(asked(Measure(wide, 0, 2**62, False)))
    assert found.measures[0].tolist() == [5 * 2**62]  # type: ignore[union-attr]
    few = engine(*rows[:1]).run(asked(Measure(wide, 0, 2**62, False))).measures[0]
    assert type(few) is type(found.measures[0]) is Sums
    assert few.tolist() == [2**62]


@pytest.mark.parametrize(
    "measure",
    [
        Measure(Quantised(Column("x"), Fraction(0), Fraction(2**62 + 1), Fraction(0), Fraction(1)), 0, 1, False),
        Measure(Square(Quantised(Column("x"), Fraction(0), Fraction(2**32), Fraction(0), Fraction(1))), 0, 1, False),
        Measure(One(), 0, 2**62 + 1, False),
        Measure(One(), 2, 1, False),
    ],
)
def test_a_measure_too_wide_is_refused_before_it_runs(measure: Measure) -> None:
    held = Rows()
    with pytest.raises(InvalidParameter):
        DuckDBEngine(held, "secret").run(asked(measure))
    assert held.reached == 1  # the schema


def test_the_statement_is_shown_without_the_secret_and_needs_no_rows() -> None:
    held = Rows()
    tested = DuckDBEngine(held, "c0ffee")
    shown = tested.explain(
        asked(Measure(X, 0, 9, True), keys=(Column("s"),), where=Call("=", (Column("b"), Literal(True))))
    )
    assert "‹secret›" in shown
    assert "c0ffee" not in shown
    assert held.reached == 1
    assert "c0ffee" not in repr(tested) + repr(tested._schema)


def test_the_same_rows_are_chosen_each_time_and_others_with_another_secret() -> None:
    rows = [{"who": 1, "s": f"k{i}"} for i in range(50)]
    held = Rows()
    held.fill([dict.fromkeys(SCHEMA) | row for row in rows])
    query = asked(COUNT, keys=(Column("s"),), groups=5)

    def kept(secret: str) -> set[Any]:
        return set(DuckDBEngine(held, secret).run(query).keys[0])

    assert kept("a") == kept("a") != kept("b")


def test_a_view_with_an_undeclared_type_is_refused() -> None:
    held = Rows()
    held.database.execute("CREATE OR REPLACE VIEW rows AS SELECT CAST(1 AS DECIMAL(9, 2)) AS x")
    with pytest.raises(PolicyError):
        DuckDBEngine(held, "secret").run(asked(COUNT, unit=None))
