"""Every row-wise operator on DuckDB: total, and equal to a plain Python evaluation."""

from __future__ import annotations

import datetime
import math
import random
from typing import Any

import pytest

from tacit.errors import InvalidParameter
from tacit.tables.engines.duckdb.expressions import render
from tacit.tables.engines.duckdb.operators import FORMS
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.operators import OPERATORS
from tacit.tables.expressions.tree import Call, Column, Expression, Key, Literal
from tests.tables.engines.random_rows import SCHEMA, Expressions, Rows, cell
from tests.tables.engines.row_oracle import value


def table(rng: random.Random, count: int) -> list[dict[str, Any]]:
    return [{name: cell(rng, kind) for name, kind in SCHEMA.items()} for _ in range(count)]


def agree(found: Any, expected: Any) -> bool:
    if isinstance(expected, float) and isinstance(found, float):
        return math.isfinite(found) and (found == expected or math.isclose(found, expected, rel_tol=1e-13))
    return found == expected and type(found) is type(expected)


def compare(rows: Rows, held: list[dict[str, Any]], expressions: list[Expression]) -> list[str]:
    """Where the engine and the oracle differ."""
    columns = ", ".join(f"{render(one, SCHEMA).sql} AS e{i}" for i, one in enumerate(expressions))
    answers = rows.database.execute(f"SELECT {columns} FROM rows").fetchall()
    return [
        f"{one} on {row}: found {found!r}, expected {value(one, row)!r}"
        for row, answer in zip(held, answers, strict=True)
        for one, found in zip(expressions, answer, strict=True)
        if not agree(found, value(one, row))
    ]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.thorough
def test_random_expressions_on_dirty_rows_agree_with_python(seed: int) -> None:
    rng = random.Random(seed)
    make, rows = Expressions(rng), Rows()
    for _ in range(5):
        held = table(rng, 25)
        rows.fill(held, beyond=rng)
        expressions = [make.make(rng.choice(list(Kind)), rng.randint(1, 4)) for _ in range(25)]
        assert not (wrong := compare(rows, held, expressions)), wrong[0]


def test_the_random_expressions_use_every_operator() -> None:
    make = Expressions(random.Random(1))
    used = {
        node.operator
        for _ in range(3000)
        for node in make.make(make.rng.choice(list(Kind)), 3).walk()
        if isinstance(node, Call)
    }
    assert used == set(OPERATORS)


def test_the_comparison_notices_a_wrong_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, rows = random.Random(3), Rows()
    held = table(rng, 60)
    rows.fill(held)
    for name, wrong in (
        ("least", lambda given: f"least({', '.join(t.sql for t in given.terms)})"),
        ("%", lambda given: "TRY(({0} % {1} + {1}) % {1})".format(*(t.sql for t in given.terms))),
        ("weekday", lambda given: f"CAST(dayofweek({given.terms[0].sql}) AS BIGINT)"),
    ):
        with monkeypatch.context() as patch:
            patch.setitem(FORMS, name, wrong)
            arguments = {"least": ("i", "who"), "%": ("i", "who"), "weekday": ("d",)}[name]
            assert compare(rows, held, [Call(name, tuple(map(Column, arguments)))]), name


CONSTANTS = [
    Call("/", (Literal(1), Literal(0))),
    Call("//", (Literal(-(2**63)), Literal(-1))),
    Call("%", (Literal(-(2**63)), Literal(-1))),
    Call("*", (Literal(2**62), Literal(4))),
    Call("+", (Literal(10**30), Literal(1))),
    Call("to_date", (Literal("x"),)),
    Call("to_integer", (Literal("1" * 29),)),
    Call("ln", (Literal(-1),)),
    Call("sqrt", (Literal(-1.0),)),
    Call("exp", (Literal(1e308),)),
    Call("power", (Literal(0), Literal(-1))),
    Call("negative", (Literal(-(2**63)),)),
    Call("abs", (Literal(-(2**63)),)),
    Call("date_add", (Literal("year"), Literal(9000), Literal(datetime.date(2020, 1, 1)))),
    Call("=", (Literal("\ud800"), Literal("a"))),
    Call("=", (Literal(math.inf), Literal(1.0))),
]


@pytest.mark.parametrize("expression", CONSTANTS, ids=lambda one: one.operator)
def test_constants_that_cannot_be_computed_are_null_and_not_an_error(expression: Expression) -> None:
    rows = Rows()
    rows.fill(table(random.Random(0), 3))
    sql = render(expression, SCHEMA).sql
    expected = 0 if expression.operator == "%" else None  # type: ignore[attr-defined]
    assert rows.database.execute(f"SELECT {sql} FROM rows").fetchall() == [(expected,)] * 3
    assert rows.database.execute(f"SELECT count(*) FROM rows WHERE {sql} IS NULL").fetchall() == [
        (3 * (expected is None),)
    ]


def test_a_deep_expression_does_not_grow_exponentially() -> None:
    expression: Expression = Column("x")
    for _ in range(60):
        expression = Call("+", (expression, Call("least", (Column("x"), Literal(1.5)))))
    sql = render(expression, SCHEMA).sql
    assert len(sql) < 30_000
    rows = Rows()
    rows.fill([dict.fromkeys(SCHEMA) | {"x": 1.0}])
    assert rows.database.execute(f"SELECT {sql} FROM rows").fetchall() == [(61.0,)]


@pytest.mark.parametrize(
    "expression",
    [
        Call("system", (Literal("ls"),)),
        Call("+", (Column("s"), Literal(1))),
        Call("like", (Column("s"), Column("s"))),
        Call("date_trunc", (Literal("day'); DROP TABLE held; --"), Column("d"))),
        Column("nowhere"),
        Key(0),
    ],
)
def test_what_is_not_well_typed_is_refused(expression: Expression) -> None:
    with pytest.raises(InvalidParameter):
        render(expression, SCHEMA)


def test_an_odd_column_name_is_only_a_name() -> None:
    rows = Rows()
    rows.fill([dict.fromkeys(SCHEMA) | {'Na"me': "it's"}])
    assert rows.database.execute(
        f"SELECT {render(Column('Na' + chr(34) + 'me'), SCHEMA).sql} FROM rows"
    ).fetchone() == ("it's",)


@pytest.mark.parametrize("operator", ["+", "-", "*", "//", "%", "negative", "abs"])
def test_whole_numbers_overflow_without_an_error_inside(operator: str) -> None:
    """TRY raises and catches for each row that overflows, which takes a thousand times as long as one that does not."""
    kinds = {"a": Kind.INTEGER, "b": Kind.INTEGER}
    arguments = (Column("a"), Column("b"))[: 1 if operator in ("negative", "abs") else 2]
    assert "TRY" not in render(Call(operator, arguments), kinds).sql
