"""Questions over a row per unit: no unit moves the integers further than claimed; faults that would let it are seen."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from tacit.tables.engines.chain import per_unit as chain_per_unit
from tacit.tables.engines.chain import relations as chain_relations
from tacit.tables.engines.contract import BoundedQuery, Engine, Measure, Quantised
from tacit.tables.engines.duckdb.dialect import DuckDB
from tacit.tables.engines.duckdb.engine import DuckDBEngine
from tacit.tables.expressions.tree import Column
from tacit.tables.query.per_unit import Fact, PerUnit, UnitKey
from tests.tables.engines.random_rows import Rows
from tests.tables.engines.relation_oracle import related_query
from tests.tables.engines.sensitivity import SECRET, Moved, Tally, bounded_query, examine


def sound(rows: Rows) -> Engine:
    return DuckDBEngine(rows, SECRET)


def over_units(rng: random.Random) -> BoundedQuery:
    return related_query(rng, bounded_query(rng))


def sums_of_reals(rng: random.Random) -> BoundedQuery:
    """What depends on the last bits of sums, if anything does."""
    relation = PerUnit((UnitKey("who", Column("who")),), (Fact("x", "sum", Column("x")),))
    value = Quantised(Column("x"), Fraction(-100), Fraction(100), Fraction(0), Fraction(1, 10**12))
    return BoundedQuery(None, (), None, "who", 1, 1, (Measure(value, -(10**14), 10**14, False),), relation)


def tried(
    seed: int, count: int, oracle: bool = True, ask: Callable[[random.Random], BoundedQuery] = over_units
) -> Tally:
    return examine(sound, seed, count, oracle, ask)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.thorough
def test_no_unit_moves_the_integers_of_a_relation_further_than_claimed(seed: int) -> None:
    tally = tried(seed, 30)
    print(f"seed {seed}: {tally}")
    assert tally.queries == 30
    assert tally.neighbours > 45
    assert tally.moved > 15


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200, 230))
def test_no_unit_moves_the_integers_of_a_relation_further_than_claimed_in_thousands_of_queries(seed: int) -> None:
    assert tried(seed, 150).queries == 150


# faults


def sums_in_the_order_of_rows(patch: pytest.MonkeyPatch) -> None:
    """Doubles added as they come: another person's row first, and the last bit of everyone's sum changes."""
    patch.setattr(DuckDB, "sum_of_reals", lambda self, x: f"sum({x})")


def rows_of_several_units(patch: pytest.MonkeyPatch) -> None:
    """Grouped by the other keys alone: a row is of whoever has the smallest name."""
    right = chain_relations.per_unit

    def merged(dialect: Any, relation: PerUnit, below: chain_per_unit.Source) -> Any:
        unit = next(one for one in relation.keys if one.expression == Column(one.name) and one.name in UNITS)
        keys = tuple(one for one in relation.keys if one is not unit) or (UnitKey("all of them", Column("b")),)
        facts = (*relation.facts, Fact(unit.name, "min", unit.expression))
        return right(dialect, replace(relation, keys=keys, facts=facts), below)

    patch.setattr(chain_relations, "per_unit", merged)


UNITS = ("who", 'Na"me', "i", "x", "s", "b", "d", "t")


def counts_of_everyone(patch: pytest.MonkeyPatch) -> None:
    """A value that looks at all rows: the share of the table that is one's own, say."""
    right = chain_per_unit._computed

    def shares(dialect: Any, function: str, argument: Any) -> str:
        found = right(dialect, function, argument)
        return f"({found} + (SELECT count(*) FROM rows))" if function == "count" else found

    patch.setattr(chain_per_unit, "_computed", shares)


def condition_lost(patch: pytest.MonkeyPatch) -> None:
    right = chain_relations.per_unit

    def everything(dialect: Any, relation: PerUnit, below: chain_per_unit.Source) -> Any:
        return right(dialect, replace(relation, where=None), below)

    patch.setattr(chain_relations, "per_unit", everything)


Fault = Callable[[pytest.MonkeyPatch], None]
Ask = Callable[[random.Random], BoundedQuery]

FAULTS: list[tuple[Fault, bool, Ask, str]] = [
    (sums_in_the_order_of_rows, False, sums_of_reals, "another order of rows"),
    (rows_of_several_units, False, over_units, "claimed|groups were touched|rows of other units|votes moved"),
    (counts_of_everyone, False, over_units, "claimed|groups were touched|rows of other units|votes moved"),
    (condition_lost, True, over_units, "the words"),
]
"""Each fault, whether only the oracle can see it, what is asked, and what is said."""


@pytest.mark.parametrize(("fault", "needs_oracle", "ask", "says"), FAULTS, ids=[one[0].__name__ for one in FAULTS])
@pytest.mark.thorough
def test_a_planted_fault_is_noticed(
    fault: Fault, needs_oracle: bool, ask: Ask, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    with pytest.raises(Moved, match=says):
        tried(0, 400, needs_oracle, ask)


def test_sums_of_reals_are_exact_and_do_not_depend_on_the_order() -> None:
    rng, rows = random.Random(3), Rows()
    cells = [1e16, 1.0, -1e16, 1e-9, 0.1, 0.2, 0.3, 2.0**78, -(2.0**78), 1e300, float("nan"), 3e-25]
    relation = PerUnit((UnitKey("who", Column("who")),), (Fact("x", "sum", Column("x")),))
    held = [dict.fromkeys(UNITS) | {"who": 7, "x": cell} for cell in cells]
    value = Quantised(Column("x"), Fraction(0), Fraction(10), Fraction(0), Fraction(1, 10**12))
    query = BoundedQuery(None, (), None, "who", 1, 1, (Measure(value, 0, 10**14, False),), relation)
    found = set()
    for _ in range(20):
        rng.shuffle(held)
        rows.fill(held)
        found.add(int(sound(rows).run(query).measures[0][0]))
    rows.close()
    assert found == {round((1 + 1e-9 + 0.1 + 0.2 + 0.3) * 10**12)}
