"""The rows of joins, unions and lists in plain Python, from the words of `query.relations`; and random ones.

There are two private tables, whose rows are told apart by their contents, and two public ones. All have the same
columns, and so has a random relation: whatever is asked of a table can be asked of it. Columns that only conditions
read are called ``place:name``.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tacit.tables.engines.chain.terms import other_view
from tacit.tables.engines.contract import BoundedQuery
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Call, Column, Expression, Literal
from tacit.tables.query.per_unit import PerUnit
from tacit.tables.query.relations import (
    Base,
    Few,
    Join,
    Joined,
    Listed,
    Member,
    Relation,
    Selected,
    Shown,
    Stacked,
    Taken,
)
from tests.tables.engines.hash_oracle import digest, written
from tests.tables.engines.random_rows import SCHEMA, TYPES, Expressions, Rows, cell, quoted
from tests.tables.engines.relation_oracle import related, relation
from tests.tables.engines.row_oracle import kind_of, value

Row = dict[str, Any]
PRIVATE = "orders"


def _public(seed: int) -> list[Row]:
    """Few distinct rows, several times each: a row can have many matches."""
    rng = random.Random(seed)
    some = [{name: cell(rng, kind) for name, kind in SCHEMA.items()} for _ in range(6)]
    return [row for row in some for _ in range(rng.choice([1, 1, 2, 3]))]


PUBLIC = {"places": _public(1), "codes": _public(2)}
TABLES = (PRIVATE, *PUBLIC)


def is_other(row: Row) -> bool:
    """Whether a row is one of the second private table."""
    return zlib.crc32(repr([row[name] for name in SCHEMA]).encode()) % 3 == 0


class SeveralTables(Rows):
    """The table and the other ones, as the engine finds them."""

    def __init__(self) -> None:
        super().__init__()
        columns = ", ".join(f"{quoted(name)} {TYPES[kind]}" for name, kind in SCHEMA.items())
        for table in TABLES:
            self.database.execute(f"CREATE TABLE {table} ({columns})")
            self.database.execute(f"CREATE VIEW {quoted(other_view(table))} AS SELECT * FROM {table}")
        for table, rows in PUBLIC.items():
            self._into(table, rows)

    def fill(self, rows: list[Row], beyond: random.Random | None = None) -> None:
        super().fill([row for row in rows if not is_other(row)], beyond)
        self.database.execute(f"DELETE FROM {PRIVATE}")
        self._into(PRIVATE, [row for row in rows if is_other(row)])

    def _into(self, table: str, rows: list[Row]) -> None:
        if rows:
            slots = ", ".join(f"unnest(CAST(? AS {TYPES[kind]}[]))" for kind in SCHEMA.values())
            self.database.execute(
                f"INSERT INTO {table} SELECT {slots}", [[row[name] for row in rows] for name in SCHEMA]
            )


def combined(found: Relation | None, rows: Sequence[Row], key: str) -> list[Row]:
    """The rows of a relation over the rows of both private tables."""
    match found:
        case None:
            return [row for row in rows if not is_other(row)]
        case Base(table):
            return PUBLIC[table] if table in PUBLIC else [row for row in rows if is_other(row)]
        case Listed(columns, lines):
            return [dict(zip(columns, (one.value for one in line), strict=True)) for line in lines]
        case PerUnit():
            return related(replace(found, source=None), combined(found.source, rows, key))
        case Selected():
            return [_shown(found, row) for row in combined(found.source, rows, key) if _holds(found.where, row)]
        case Stacked(parts):
            return [row for part in parts for row in combined(replace(part, columns=_named(parts[0], part)), rows, key)]
        case Joined(members, columns):
            return _matched(members, columns, rows, key)
    raise AssertionError(found)


def _named(first: Selected, part: Selected) -> tuple[Shown, ...]:
    return tuple(Shown(own.name, one.expression) for own, one in zip(first.columns, part.columns, strict=True))


def _shown(found: Selected, row: Row) -> Row:
    return {one.name: value(one.expression, row) for one in found.columns}


def _holds(condition: Expression | None, row: Row) -> bool:
    return condition is None or value(condition, row) is True


def _matched(members: tuple[Member, ...], columns: tuple[Taken, ...], rows: Sequence[Row], key: str) -> list[Row]:
    made: list[Row] = [{}]
    for place, member in enumerate(members):
        own = [one for one in columns if one.member == place]
        held = _few(combined(member.relation, rows, key), member.few, own, key)
        right = [{one.name: row[one.column] for one in own} for row in held]
        longer = []
        for left in made:
            matches = [left | row for row in right if _holds(member.on, left | row)]
            longer += matches or ([left | {one.name: None for one in own}] if member.join is Join.LEFT else [])
        made = longer
    return made


def _few(rows: list[Row], few: Few | None, own: list[Taken], key: str) -> list[Row]:
    """Of each unit so many rows, those first by their hash; rows of nobody are left out."""
    if few is None:
        return rows
    units: dict[Any, list[tuple[int, int]]] = {}
    for place, row in enumerate(rows):
        unit = value(Column(few.unit), row)
        if unit is not None:
            content = [(few.unit, unit), *((one.column, value(Column(one.column), row)) for one in own)]
            text = f"{key};row;" + "".join(written((SCHEMA[name], cell)) for name, cell in content)
            units.setdefault((type(unit), unit), []).append((digest(text), place))
    return [rows[place] for found in units.values() for _, place in sorted(found)[: few.most]]


def expected_rows(found: Relation | None, rows: Sequence[Row], key: str) -> list[Row]:
    """Of whatever a query is about: of one table, or of several."""
    below = found
    while isinstance(below, PerUnit):
        below = below.source
    return related(found, rows) if below is None else combined(found, rows, key)  # type: ignore[arg-type]


# random relations


def joined_query(rng: random.Random, plain: BoundedQuery, unit: str) -> BoundedQuery:
    """The query asked of a random relation of several tables."""
    make = rng.choice([a_join, a_join, a_join, a_union, a_part])
    found: Relation = make(rng, unit)
    if rng.random() < 0.15:
        found = replace(relation(rng, unit, deep=False), source=found)
    return replace(plain, relation=found)


def a_table(rng: random.Random) -> Relation | None:
    return rng.choice([None, None, Base(PRIVATE)])


def a_private(rng: random.Random, unit: str) -> Relation | None:
    pick = rng.random()
    if pick < 0.7:
        return a_table(rng)
    if pick < 0.85:
        return a_part(rng, unit)
    return replace(relation(rng, unit, deep=False), source=a_table(rng))


def a_public(rng: random.Random) -> Relation:
    if rng.random() < 0.7:
        return Base(rng.choice(list(PUBLIC)))
    lines = rng.sample(PUBLIC[rng.choice(list(PUBLIC))], 3)
    return Listed(tuple(SCHEMA), tuple(tuple(Literal(line[name]) for name in SCHEMA) for line in [*lines, KNOWN]))


KNOWN = next(row for row in PUBLIC["places"] + PUBLIC["codes"] if None not in row.values())


def a_part(rng: random.Random, unit: str, source: Relation | None = None) -> Selected:
    make = Expressions(rng)
    columns = tuple(Shown(name, Column(name) if name == unit else _of(make, SCHEMA[name])) for name in SCHEMA)
    where = make.make(Kind.BOOLEAN, 1) if rng.random() < 0.4 else None
    return Selected(columns, where, a_table(rng) if source is None else source)


def a_union(rng: random.Random, unit: str) -> Stacked:
    sources = [a_join(rng, unit) if rng.random() < 0.2 else None for _ in range(rng.choice([2, 2, 3]))]
    return Stacked(tuple(a_part(rng, unit, one) for one in sources))


def a_join(rng: random.Random, unit: str) -> Joined:
    """Private and public tables; units are equal wherever two private ones meet."""
    private = [True] + [rng.random() < 0.4 for _ in range(rng.choice([1, 1, 2]))]
    if rng.random() < 0.2:
        private[:2] = [False, True]
    first = private.index(True)
    owners = {name: rng.randrange(len(private)) for name in SCHEMA} | {unit: first}
    columns = [Taken(name, owners[name], name) for name in SCHEMA]
    columns += [Taken(f"{place}:{name}", place, name) for place in range(len(private)) for name in SCHEMA]
    members = []
    for place, is_private in enumerate(private):
        found = a_private(rng, unit) if is_private else a_public(rng)
        join = Join.LEFT if place > first and rng.random() < 0.4 else Join.INNER
        few = Few(unit, rng.choice([1, 2, 3, 100])) if is_private and rng.random() < 0.5 else None
        members.append(Member(found, join, a_condition(rng, place, unit, private) if place else None, few))
    return Joined(tuple(members), tuple(columns))


def a_condition(rng: random.Random, place: int, unit: str, private: list[bool]) -> Expression:
    conditions: list[Expression] = []
    before = [other for other in range(place) if private[other]]
    if private[place] and before:
        sides = [Column(f"{place}:{unit}"), Column(f"{rng.choice(before)}:{unit}")]
        rng.shuffle(sides)
        conditions.append(Call("=", tuple(sides)))
    if not conditions or rng.random() < 0.4:
        name = rng.choice([one for one in SCHEMA if SCHEMA[one] in (Kind.BOOLEAN, Kind.TEXT, Kind.DATE, Kind.INTEGER)])
        conditions.append(
            Call(rng.choice(["=", "=", "=", "<="]), (Column(f"{place}:{name}"), Column(f"{place - 1}:{name}")))
        )
    if rng.random() < 0.3:
        make = Expressions(rng)
        make.columns = {
            kind: [f"{one}:{name}" for one in range(place + 1) for name in SCHEMA if SCHEMA[name] is kind]
            for kind in Kind
        }
        conditions.append(make.make(Kind.BOOLEAN, 2))
    return conditions[0] if len(conditions) == 1 else Call("and", tuple(conditions))


def _of(make: Expressions, kind: Kind) -> Expression:
    columns = [Column(name) for name, one in SCHEMA.items() if one is kind]
    made = make.make(kind, 2) if make.rng.random() < 0.3 else make.rng.choice(columns)
    return made if kind_of(made, {}) is kind else make.rng.choice(columns)
