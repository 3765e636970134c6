"""The rows of a relation in plain Python, from the words of `tacit.tables.query.per_unit`; and random relations.

A random relation has the columns of the table, of the same kinds: whatever is asked of one can be asked of the other.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tacit.tables.engines.contract import BoundedQuery, Cells
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Column, Expression
from tacit.tables.query.per_unit import Fact, PerUnit, UnitKey
from tests.tables.engines.random_rows import SCHEMA, Expressions
from tests.tables.engines.row_oracle import kind_of, tidy, value

Row = dict[str, Any]


def related(relation: PerUnit | None, rows: Sequence[Row]) -> list[Row]:
    """One row per combination of keys."""
    if relation is None:
        return list(rows)
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in related(relation.source, rows):
        if relation.where is None or value(relation.where, row) is True:
            key = tuple(value(one.expression, row) for one in relation.keys)
            groups.setdefault(tuple((type(one), one) for one in key), []).append(row)
    made = []
    for key, members in groups.items():
        row = {one.name: cell for one, (_, cell) in zip(relation.keys, key, strict=True)}
        made.append(row | {fact.name: computed(fact, members) for fact in relation.facts})
    return made


def computed(fact: Fact, rows: list[Row]) -> Any:
    if fact.argument is None:
        return len(rows)
    cells = [cell for row in rows if (cell := value(fact.argument, row)) is not None]
    if fact.function == "count":
        return len(cells)
    if fact.function == "count_distinct":
        return len(set(cells))
    if fact.function in ("min", "max"):
        return ({"min": min, "max": max}[fact.function])(cells, key=ordered) if cells else None
    return total(cells, kind_of(fact.argument, {}), fact.function == "mean")


def ordered(cell: Any) -> Any:
    return cell.encode() if isinstance(cell, str) else cell


def total(cells: list[Any], kind: Kind | None, mean: bool) -> Any:
    if kind is Kind.REAL:
        cells = [cell for cell in cells if abs(cell) < 2.0**79]
    if not cells:
        return None
    if kind is not Kind.REAL:
        exact = sum(cells)
        return tidy(float(exact) / len(cells)) if mean else tidy(exact)
    whole = sum(int(cell) for cell in cells)
    fraction = sum(int(math.modf(cell)[0] * 2.0**79) for cell in cells)
    near = float(whole) + float(fraction) / 2.0**79
    return tidy(near / len(cells) if mean else near)


def related_query(rng: random.Random, plain: BoundedQuery) -> BoundedQuery:
    """The query asked of a random relation; of a table whose rows are units there is none."""
    unit = plain.unit or rng.choice(list(SCHEMA))
    measures = tuple(replace(one, chosen=True) if isinstance(one, Cells) else one for one in plain.measures)
    return BoundedQuery(  # cells of units are of chosen rows, always: no clamp bounds them
        plain.where, plain.keys, plain.public_keys, unit, plain.groups, plain.rows, measures, relation(rng, unit)
    )


def relation(rng: random.Random, unit: str, deep: bool = True) -> PerUnit:
    make = Expressions(rng)
    others = [name for name in SCHEMA if name != unit]
    keys = rng.sample(others, rng.choice([0, 0, 1, 1, 2]))
    named = [UnitKey(unit, Column(unit)), *(UnitKey(name, _of(make, SCHEMA[name])) for name in keys)]
    rng.shuffle(named)
    return PerUnit(
        keys=tuple(named),
        facts=tuple(fact(rng, make, name) for name in others if name not in keys),
        where=make.make(Kind.BOOLEAN, 1) if rng.random() < 0.3 else None,
        source=relation(rng, unit, deep=False) if deep and rng.random() < 0.2 else None,
    )


def fact(rng: random.Random, make: Expressions, name: str) -> Fact:
    kind = SCHEMA[name]
    if kind is Kind.INTEGER and rng.random() < 0.5:
        function = rng.choice(["count_rows", "count", "count_distinct"])
        return Fact(name, function, None if function == "count_rows" else _of(make, rng.choice(list(Kind))))
    if kind is Kind.REAL and rng.random() < 0.3:
        return Fact(name, "mean", _of(make, rng.choice([Kind.REAL, Kind.INTEGER])))
    functions = ["sum", "sum", "min", "max"] if kind.is_number else ["min", "max"]
    return Fact(name, rng.choice(functions), _of(make, kind))


def _of(make: Expressions, kind: Kind) -> Expression:
    """A column or an expression of that kind exactly."""
    columns = [Column(name) for name, one in SCHEMA.items() if one is kind]
    made = make.make(kind, 2) if make.rng.random() < 0.3 else make.rng.choice(columns)
    return made if kind_of(made, {}) is kind else make.rng.choice(columns)
