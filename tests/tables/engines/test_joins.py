"""Questions over joins and unions: no unit moves the integers further than claimed; faults are seen."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tacit.tables.engines.chain import relations as chain_relations
from tacit.tables.engines.chain.per_unit import Source
from tacit.tables.engines.contract import BoundedQuery, Engine
from tacit.tables.engines.duckdb.engine import DuckDBEngine
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Call, Column, Expression, Literal
from tacit.tables.query.relations import Base, Join, Joined, Listed, Member, Relation, Selected, Stacked, Taken
from tests.tables.engines.join_oracle import KNOWN, PRIVATE, TABLES, SeveralTables, a_join, a_union, joined_query
from tests.tables.engines.random_rows import ODD, SCHEMA, Rows
from tests.tables.engines.sensitivity import SECRET, Moved, Tally, bounded_query, examine

Ask = Callable[[random.Random], BoundedQuery]


def sound(rows: Rows) -> Engine:
    return DuckDBEngine(rows, SECRET, TABLES)


def of_units(rng: random.Random) -> tuple[BoundedQuery, str]:
    """A query in which a column names the unit: where each row is one, there are no joins."""
    while True:
        plain = bounded_query(rng)
        if plain.unit is not None:
            return plain, plain.unit


def several(rng: random.Random) -> BoundedQuery:
    plain, unit = of_units(rng)
    return joined_query(rng, plain, unit)


def joins(rng: random.Random) -> BoundedQuery:
    plain, unit = of_units(rng)
    return replace(plain, relation=a_join(rng, unit))


def unions(rng: random.Random) -> BoundedQuery:
    plain, unit = of_units(rng)
    return replace(plain, relation=a_union(rng, unit))


def tried(seed: int, count: int, oracle: bool = True, ask: Ask = several) -> Tally:
    return examine(sound, seed, count, oracle, ask, SeveralTables)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.thorough
def test_no_unit_moves_the_integers_of_several_tables_further_than_claimed(seed: int) -> None:
    tally = tried(seed, 20)
    print(f"seed {seed}: {tally}")
    assert tally.queries == 20
    assert tally.neighbours > 30
    assert tally.moved > 8


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(300, 330))
def test_no_unit_moves_the_integers_of_several_tables_in_thousands_of_queries(seed: int) -> None:
    assert tried(seed, 150).queries == 150


def list_matched_once(rng: random.Random, times: int = 1) -> BoundedQuery:
    """Each row is a unit, joined to a list in which every key stands once (or more often, which is the fault)."""
    plain = bounded_query(rng)
    while plain.unit is not None:
        plain = bounded_query(rng)
    key = rng.choice([name for name, kind in SCHEMA.items() if kind in (Kind.TEXT, Kind.INTEGER, Kind.DATE)])
    values = rng.sample(ODD[SCHEMA[key]], 5)
    lines = [KNOWN | {key: one} for one in values for _ in range(times)]
    listed = Listed(tuple(SCHEMA), tuple(tuple(Literal(line[name]) for name in SCHEMA) for line in lines))
    columns = [Taken(name, rng.randrange(2), name) for name in SCHEMA]
    columns += [Taken(f"{place}:{key}", place, key) for place in (0, 1)]
    on = Call("=", (Column(f"0:{key}"), Column(f"1:{key}")))
    joined = Joined((Member(None), Member(listed, rng.choice(list(Join)), on)), tuple(columns))
    return replace(plain, relation=joined)


def test_a_row_that_is_a_unit_stays_one_row_where_a_list_matches_once() -> None:
    tally = tried(0, 20, True, list_matched_once)
    assert tally.moved > 4
    with pytest.raises(Moved, match=NEAR):
        tried(0, 400, False, lambda rng: list_matched_once(rng, times=2))


# faults


class BoundedBefore:
    """Rows are limited where they come from, and not again after the join: what a row is joined to comes on top."""

    def __init__(self, rows: Rows) -> None:
        self.engine = DuckDBEngine(rows, SECRET, TABLES)

    def run(self, query: BoundedQuery) -> Any:
        free = replace(query, rows=10**6, groups=10**6)
        found = query.relation
        assert isinstance(found, Joined)
        members = tuple(
            replace(one, relation=_First(one.relation, query.unit or "", query.rows))
            if is_private(one.relation)
            else one
            for one in found.members
        )
        return self.engine.run(replace(free, relation=replace(found, members=members)))

    def explain(self, query: BoundedQuery) -> str:
        return self.engine.explain(query)

    def close(self) -> None:
        self.engine.close()


class _First(Relation):
    """The first rows of each unit; only the fault knows it."""

    def __init__(self, relation: Relation | None, unit: str, rows: int) -> None:
        self.relation, self.unit, self.rows = relation, unit, rows


def is_private(relation: Relation | None) -> bool:
    return relation is None or relation == Base(PRIVATE)


def bounded_before_the_join(patch: pytest.MonkeyPatch) -> None:
    right = chain_relations.source

    def source(relation: Relation | None, schema: Any) -> Source:
        if not isinstance(relation, _First):
            return right(relation, schema)
        below = right(relation.relation, schema)
        unit = '"' + relation.unit.replace('"', '""') + '"'
        order = ", ".join("rows." + '"' + name.replace('"', '""') + '"' for name in below.kinds)
        first = f"row_number() OVER (PARTITION BY rows.{unit} ORDER BY {order}) <= {relation.rows}"
        return Source(f"(SELECT * FROM {below.sql} QUALIFY {first}) AS rows", below.kinds)

    patch.setattr(chain_relations, "source", source)


def joined_by(change: Callable[[Joined], Joined]) -> Callable[[pytest.MonkeyPatch], None]:
    """A fault in what is joined."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        right = chain_relations._joined
        patch.setattr(chain_relations, "_joined", lambda relation, schema: right(change(relation), schema))

    return plant


def units_of_the_other_side(relation: Joined) -> Joined:
    """The unit is taken from the last member: of a public table, or null."""
    units = {one.arguments[0].name.partition(":")[2] for one in equal_columns(relation)}
    last = len(relation.members) - 1
    columns = (replace(one, member=last) if one.name in units or one.name == "who" else one for one in relation.columns)
    return replace(relation, columns=tuple(columns))


def equal_columns(relation: Joined) -> list[Any]:
    return [part for on in relation.conditions() for part in parts(on) if isinstance(part, Call) and is_equal(part)]


def is_equal(part: Call) -> bool:
    names = [one.name.partition(":")[2] for one in part.arguments if isinstance(one, Column)]
    return part.operator == "=" and len(names) == 2 and names[0] == names[1]


def parts(on: Expression) -> tuple[Expression, ...]:
    return on.arguments if isinstance(on, Call) and on.operator == "and" else (on,)


def not_on_the_unit(relation: Joined) -> Joined:
    """Private tables are joined on whatever else there is; on nothing, if there is nothing else."""

    def without(member: Member) -> Member:
        if member.on is None or not is_private(member.relation):
            return member
        rest = [one for one in parts(member.on) if not (isinstance(one, Call) and is_equal(one))]
        other = Call("is_null", (Call("is_null", (Column("0:b"),)),))
        return replace(member, on=Call("and", (*rest, Call("not", (other,)), Call("not", (other,)))))

    return replace(relation, members=tuple(without(one) for one in relation.members))


def unmatched_rows_lost(relation: Joined) -> Joined:
    return replace(relation, members=tuple(replace(one, join=Join.INNER) for one in relation.members))


def null_matches_null(patch: pytest.MonkeyPatch) -> None:
    right = chain_relations._condition

    def equal(condition: Expression, kinds: Any, dialect: Any, tables: Any) -> str:
        return right(condition, kinds, dialect, tables).replace(" = ", " IS NOT DISTINCT FROM ") if tables else "TRUE"

    patch.setattr(chain_relations, "_condition", equal)


def public_that_is_private(patch: pytest.MonkeyPatch) -> None:
    """A table is declared public, and is the private one."""
    right = chain_relations._base
    patch.setattr(chain_relations, "_base", lambda table, schema: Source("rows", right(table, schema).kinds))


def stacked_by(change: Callable[[tuple[Selected, ...]], tuple[Selected, ...]]) -> Callable[[pytest.MonkeyPatch], None]:
    """A fault in what is put one under the other."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        right = chain_relations._stacked
        patch.setattr(chain_relations, "_stacked", lambda found, schema: right(change(found), schema))

    return plant


def rotated_units(found: tuple[Selected, ...]) -> tuple[Selected, ...]:
    """The second part says another column where the first says the unit."""
    if len(found) == 1:
        return found
    swap = {"who": "i", "i": "who", 'Na"me': "s", "s": 'Na"me'}
    changed = tuple(replace(one, expression=Column(swap.get(one.name, one.name))) for one in found[1].columns)
    return (found[0], replace(found[1], columns=changed), *found[2:])


def conditions_lost(found: tuple[Selected, ...]) -> tuple[Selected, ...]:
    return tuple(replace(one, where=None) for one in found)


def equal_rows_once(patch: pytest.MonkeyPatch) -> None:
    """UNION where UNION ALL is meant."""
    right = chain_relations._stacked

    def distinct(found: tuple[Selected, ...], schema: Any) -> Source:
        made = right(found, schema)
        return replace(made, sql=made.sql.replace("\n  UNION ALL\n", "\n  UNION\n"))

    patch.setattr(chain_relations, "_stacked", distinct)


Fault = Callable[[pytest.MonkeyPatch], None]
NEAR = "claimed|groups were touched|of other units changed"
FAULTS: dict[str, tuple[Fault, bool, Ask, str]] = {
    "the unit of the other side": (joined_by(units_of_the_other_side), False, joins, NEAR),
    "joined on something else than the unit": (joined_by(not_on_the_unit), False, joins, NEAR),
    "a public table that is private": (public_that_is_private, False, joins, NEAR),
    "rows without a match are lost": (joined_by(unmatched_rows_lost), True, joins, "the words"),
    "null matches null": (null_matches_null, True, joins, "the words"),
    "another column for the unit": (stacked_by(rotated_units), False, unions, NEAR),
    "conditions of parts are lost": (stacked_by(conditions_lost), True, unions, "the words"),
    "equal rows count once": (equal_rows_once, True, unions, "the words"),
}
"""Each fault, whether only the oracle can see it, what is asked, and what is said."""
SEEDS = {"the unit of the other side": 1}
"""Every fault is seen from any seed; from these sooner than from 0."""


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.thorough
def test_a_planted_fault_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault, needs_oracle, ask, says = FAULTS[name]
    fault(monkeypatch)
    with pytest.raises(Moved, match=says):
        tried(SEEDS.get(name, 0), 400, needs_oracle, ask)


def test_bounding_before_the_join_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    bounded_before_the_join(monkeypatch)

    def plain(rng: random.Random) -> BoundedQuery:
        while True:
            query = joins(rng)
            assert isinstance(query.relation, Joined)
            if not any(isinstance(one.relation, Selected | Stacked) for one in query.relation.members):
                return query

    with pytest.raises(Moved, match=NEAR):
        examine(BoundedBefore, 1, 400, False, plain, SeveralTables)
