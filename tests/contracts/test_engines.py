"""Every registered engine gives the integers of the row oracle: operator by operator, bounded, related, joined.

The oracles in tests/tables/engines are the law: plain Python, written from the words of `engines.contract` and of
`expressions.operators`, not from any engine's SQL.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from tacit.tables.engines.contract import BoundedQuery, Measure, One, Quantised
from tacit.tables.engines.duckdb.operators import FORMS
from tacit.tables.engines.duckdb.terms import TYPES
from tacit.tables.engines.registry import ENGINES
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.operators import OPERATORS
from tacit.tables.expressions.tree import Call, Column, Expression
from tests.contracts.engines import RUNS, Given, Kept, given
from tests.postgres import Servers
from tests.tables.engines.bounding_oracle import expected
from tests.tables.engines.chosen_rows import examine_rows
from tests.tables.engines.random_rows import SCHEMA, Expressions, cell
from tests.tables.engines.row_oracle import kind_of
from tests.tables.engines.sensitivity import SECRET, Moved, answered, bounded_query, examine, must_equal
from tests.tables.engines.test_joins import several
from tests.tables.engines.test_per_unit import over_units

_ROWS = 25
_EACH = 4
_REALS = Fraction(1, 2**20), Fraction(2**30)
"""How finely reals are compared, and up to which size."""


@pytest.fixture(scope="module")
def kept(postgres_servers: Servers) -> Iterator[Kept]:
    held = Kept(postgres_servers)
    yield held
    held.end()


@pytest.fixture(params=[pytest.param(one, marks=[pytest.mark.engines] if one == "spark" else []) for one in RUNS])
def run(request: pytest.FixtureRequest) -> Iterator[Given]:
    """Every registered engine with its tables."""
    with given(
        request.param, lambda: request.getfixturevalue("kept"), lambda: request.getfixturevalue("spark")
    ) as tables:
        yield tables


def test_every_engine_is_given_rows() -> None:
    assert {one.split()[0] for one in RUNS} == set(ENGINES)
    assert all(backend.name == name for name, backend in ENGINES.items())


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_has_a_form_for_every_operator(engine: str) -> None:
    assert set(ENGINES[engine].operators()) == set(OPERATORS)


def test_an_engine_without_a_form_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(FORMS, "weekday")
    assert set(OPERATORS) - set(ENGINES["duckdb"].operators()) == {"weekday"}


def sample(run: Given, count: int) -> int:
    """How many questions: of Spark, which plans each for a second or so, a fourth; `make parity` asks many."""
    return count // 4 if run.backend.name == "spark" else count


def with_operator(make: Expressions, name: str) -> Call:
    """A random expression with this operator at its top."""
    while True:
        made = make.make(make.rng.choice(list(Kind)), 2)
        if isinstance(made, Call) and made.operator == name:
            return made


def of_each_row(*expressions: Expression) -> BoundedQuery:
    """A question that shows the values of expressions for each row, by the row's number."""
    granule, most = _REALS
    keys, measures = [one for one in expressions if kind_of(one, {}) is not Kind.REAL], []
    for expression in expressions:
        if expression not in keys:
            value = Quantised(expression, -most, most, Fraction(0), granule)
            measures.append(Measure(value, value.lowest, value.highest, False))
    counted = tuple(measures) or (Measure(One(), 0, 1, False),)
    return BoundedQuery(None, (Column("who"), *keys), None, None, 1, 1, counted)


def numbered(rng: random.Random) -> list[dict[str, Any]]:
    rows = [{name: cell(rng, kind) for name, kind in SCHEMA.items()} for _ in range(_ROWS)]
    return [row | {"who": number} for number, row in enumerate(rows)]


_TOGETHER = 8
"""Operators of one question on Spark, where it is planning that takes the time; and of one test."""
_BATCHES = [list(OPERATORS)[at : at + _TOGETHER] for at in range(0, len(OPERATORS), _TOGETHER)]


@pytest.mark.parametrize("operators", _BATCHES, ids=lambda batch: f"{batch[0]} to {batch[-1]}")
def test_operators_give_what_the_oracle_gives(run: Given, operators: list[str]) -> None:
    refused = run.backend.refused()
    assert all(refused[one] for one in operators if one in refused)
    asked = [one for one in operators if one not in refused]
    rng = random.Random(f"operators {operators}")
    make, table = Expressions(rng), run.one()
    for together in _EACH * [[one] for one in asked] if run.backend.name != "spark" else [asked]:
        rows, query = numbered(rng), of_each_row(*(with_operator(make, one) for one in together))
        table.fill(rows)
        must_equal(answered(run.engine(table), query), expected(query, rows, SECRET), query, "the words")
    table.close()


@pytest.mark.parametrize("operator", ["upper", "date_diff", "//"])
def test_a_planted_operator_is_noticed_among_others(operator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing hides behind the others of its batch."""
    monkeypatch.setitem(FORMS, operator, lambda given: f"CAST(NULL AS {TYPES[given.kind]})")
    batch = next(one for one in _BATCHES if operator in one)
    with pytest.raises(Moved), given("duckdb", _nothing, _nothing) as tables:
        test_operators_give_what_the_oracle_gives(tables, batch)


def _nothing() -> Any:
    raise AssertionError("no server is needed")


@pytest.mark.parametrize("ask", [bounded_query, over_units], ids=["the table", "a row per unit"])
def test_bounded_integers_are_the_oracles_and_no_unit_moves_them_further_than_claimed(run: Given, ask: Any) -> None:
    count = sample(run, 12)
    tally = examine(run.engine, 7, count, ask=ask, tables=run.one)  # type: ignore[arg-type]
    assert tally.queries == count
    assert tally.moved > count // 3


def test_joins_and_unions_are_the_oracles(run: Given) -> None:
    tally = examine(run.engine, 7, sample(run, 8), ask=several, tables=run.several)  # type: ignore[arg-type]
    assert tally.queries == sample(run, 8)


def test_chosen_rows_are_the_oracles_and_one_unit_changes_no_other(run: Given) -> None:
    count = sample(run, 12)
    tally = examine_rows(run.engine, 7, count, run.one)
    assert tally.queries == count
    assert tally.moved > count // 2


def test_the_comparison_notices_another_operator(run: Given) -> None:
    rng, table = random.Random(3), run.one()
    rows = numbered(rng)
    table.fill(rows)
    asked, told = (of_each_row(Call(name, (Column("d"),))) for name in ("week", "weekday"))
    with pytest.raises(Moved):
        must_equal(answered(run.engine(table), asked), expected(told, rows, SECRET), asked, "the words")
    table.close()
