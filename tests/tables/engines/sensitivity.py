"""Random bounded queries on random neighbouring tables: what an engine returns, held against what the plan claims."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tacit.tables.engines.contract import (
    Asked,
    BoundedQuery,
    Category,
    Cells,
    Distinct,
    Engine,
    Integers,
    Measure,
    One,
    Present,
    Product,
    Quantised,
    RowValue,
    Square,
    Tallies,
    Votes,
)
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Call, Column, Expression, Literal
from tests.tables.engines.bounding_oracle import Answer, expected
from tests.tables.engines.random_rows import ODD, SCHEMA, Expressions, Rows, cell
from tests.tables.engines.row_oracle import value

SECRET = "5ec7e7"
Row = dict[str, Any]


class Moved(AssertionError):
    """The integers moved further than claimed, or are not those that the words promise."""


@dataclass(slots=True)
class Tally:
    """What was tried."""

    queries: int = 0
    neighbours: int = 0
    moved: int = 0
    bounded: int = 0


def examine(
    make: Callable[[Rows], Engine],
    seed: int,
    count: int,
    oracle: bool = True,
    ask: Callable[[random.Random], BoundedQuery] | None = None,
    tables: Callable[[], Rows] = Rows,
) -> Tally:
    """Try so many queries, each on a table and on neighbours of it; raises `Moved` at the first breach."""
    ask = bounded_query if ask is None else ask
    rng, rows, tally = random.Random(seed), tables(), Tally()
    engine = make(rows)
    for _ in range(count):
        held, query = table(rng), ask(rng)
        rows.fill(held, beyond=rng)
        base = answered(engine, query)
        tally.queries += 1
        if oracle:
            must_equal(base, expected(query, held, SECRET), query, "the words")
        rng.shuffle(held)
        rows.fill(held)
        must_equal(answered(engine, query), base, query, "another order of rows")
        for near in neighbours(rng, query, held):
            rows.fill(near)
            other = answered(engine, query)
            must_be_near(base, other, query)
            tally.neighbours += 1
            tally.moved += base != other
            if base != other and oracle:
                tally.bounded += loose(query, held, near) != loose_distance(base, other)
    rows.close()
    return tally


def agree(
    make: Callable[[Any], Engine],
    seed: int | str,
    count: int,
    ask: Callable[[random.Random], BoundedQuery],
    tables: Callable[[], Any],
) -> int:
    """Try so many queries, each once, against the oracle alone: parity, where an engine takes long over each."""
    rng, rows = random.Random(seed), tables()
    engine = make(rows)
    for _ in range(count):
        held, query = table(rng), ask(rng)
        rows.fill(held, beyond=rng)
        must_equal(answered(engine, query), expected(query, held, SECRET), query, "the words")
    return count


def answered(engine: Engine, query: BoundedQuery) -> Answer:
    """What the engine returns; an error would tell the neighbours apart, and is a breach too."""
    try:
        found = engine.run(query)
    except Exception as error:
        raise Moved(f"an error: {query}") from error
    return collected(query, found)


def collected(query: BoundedQuery, answer: Integers) -> Answer:
    """The answer by key, which must have one entry per key and whole numbers only."""
    keys = list(zip(*answer.keys, strict=True)) if query.keys else [()]
    numbers = [answer.units.tolist(), *(map_whole(one) for one in answer.measures)]
    if any(len(one) != len(keys) for one in numbers) or len({typed(key) for key in keys}) != len(keys):
        raise Moved(f"the answer has another shape: {query}")
    return dict(zip(keys, zip(*numbers, strict=True), strict=True))


def map_whole(measured: Any) -> list[Any]:
    if isinstance(measured, Tallies):
        found = [measured.of(group) for group in range(len(measured))]
        return [tuple(zip(cells.tolist(), counts.tolist(), strict=True)) for cells, counts in found]
    return list(map(int, measured))


def apart(one: Any, other: Any) -> int:
    """How far two integers are apart; of cells, how many rows in all, and whether only rows came or only rows went."""
    if not isinstance(one, tuple) and not isinstance(other, tuple):
        return abs(one - other)
    first, second = Counter(dict(one or ())), Counter(dict(other or ()))
    gone, come = first - second, second - first
    if gone and come:
        raise Moved("rows of other units changed their cells")
    return (gone + come).total()


def claimed(query: BoundedQuery, measure: Asked) -> int:
    """How far one unit may move a measure in one group; of cells, all of them together."""
    if isinstance(measure, Cells):
        return 1 if query.unit is None else query.rows
    return measure.reach


def typed(key: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple((type(one), one) for one in key)


def must_equal(found: Answer, wanted: Answer, query: BoundedQuery, what: str) -> None:
    if found != wanted:
        raise Moved(f"not as {what}: {query}\nfound  {found}\nwanted {wanted}")


def must_be_near(one: Answer, other: Answer, query: BoundedQuery) -> None:
    """Each measure within its reach in each group, units within one, in no more groups than claimed, in every norm."""
    nothing = (0,) * (1 + len(query.measures))
    groups = 1 if query.unit is None else query.groups
    changes = [
        [apart(x, y) for x, y in zip(one.get(k, nothing), other.get(k, nothing), strict=True)] for k in {*one, *other}
    ]
    for i, reach in enumerate([1, *(claimed(query, measure) for measure in query.measures)]):
        moved = [change[i] for change in changes if change[i]]
        own = query.measures[i - 1] if i else None
        if isinstance(own, Votes) and sum(m * m for m in moved) > query.groups * own.weights[-1][1] ** 2:
            raise Moved(f"votes moved by {moved}: {query}")
        within = all(m <= reach for m in moved) and len(moved) <= groups
        if not (within and sum(moved) <= groups * reach and sum(m * m for m in moved) <= groups * reach**2):
            raise Moved(f"measure {i} moved by {moved}, claimed {reach} in {groups} groups: {query}")
    if sum(any(change) for change in changes) > groups:
        raise Moved(f"more than {groups} groups were touched: {query}")


def loose(query: BoundedQuery, held: list[Row], near: list[Row]) -> int:
    """How far the answers were apart if nothing were limited: shows that limits were at work."""
    free = replace(query, groups=10**6, rows=10**6, measures=tuple(map(freed, query.measures)))
    return loose_distance(expected(free, held, SECRET), expected(free, near, SECRET))


def freed(measure: Asked) -> Asked:
    if isinstance(measure, Measure):
        return replace(measure, low=-(2**62), high=2**62)
    return replace(measure, most=10**6) if isinstance(measure, Distinct) else measure


def loose_distance(one: Answer, other: Answer) -> int:
    nothing = [0] * 100
    return sum(
        apart(x, y) for k in {*one, *other} for x, y in zip(one.get(k, nothing), other.get(k, nothing), strict=False)
    )


def neighbours(rng: random.Random, query: BoundedQuery, held: list[Row]) -> list[list[Row]]:
    """The table without one unit, for two units; and with a new one that has many rows."""
    if query.unit is None:
        return [held[:i] + held[i + 1 :] for i in rng.sample(range(len(held)), min(2, len(held)))]
    name = query.unit
    units = list(dict.fromkeys(u for row in held if (u := value(Column(name), row)) is not None))
    near = [[row for row in held if value(Column(name), row) != unit] for unit in rng.sample(units, min(2, len(units)))]
    absent = [one for one in ODD[SCHEMA[name]] if value(Column(name), {name: one}) not in [*units, None]]
    if absent:
        unit = rng.choice(absent)
        near.append(held + [row | {name: unit} for row in table(rng, most=30)])
    return near


def table(rng: random.Random, most: int = 40) -> list[Row]:
    """Few units with many rows, of few distinct contents, so that limits are reached and contents repeat."""
    some = {name: [cell(rng, kind) for _ in range(rng.randint(1, 8))] for name, kind in SCHEMA.items()}
    return [{name: rng.choice(cells) for name, cells in some.items()} for _ in range(rng.randint(0, most))]


def bounded_query(rng: random.Random) -> BoundedQuery:
    make = Expressions(rng)
    unit = None if rng.random() < 0.08 else rng.choice(list(SCHEMA))
    keys = tuple(group_key(rng, make) for _ in range(rng.choice([0, 1, 1, 1, 2])))
    public = None
    if keys and rng.random() < 0.5:
        public = tuple(tuple(listed_value(rng, key) for key in keys) for _ in range(rng.randint(0, 12)))
    made = BoundedQuery(
        where=make.make(Kind.BOOLEAN, rng.randint(1, 2)) if rng.random() < 0.4 else None,
        keys=keys,
        public_keys=public,
        unit=unit,
        groups=rng.choice([1, 1, 2, 3, 5, 17]),
        rows=rng.choice([1, 1, 2, 3, 5]),
        measures=tuple(measure(rng, make, unit) for _ in range(rng.randint(1, 4))),
    )
    return replace(made, measures=(*made.measures, votes(made.groups))) if made.groups in (2, 5, 17) else made


def votes(groups: int) -> Votes:
    """With a square of at most p·100², but for units of three to five groups, which share a weight."""
    numbers = [one for one in range(1, groups) if one not in (3, 4)] + [groups]
    return Votes(tuple((one, math.isqrt(groups * 100**2 // one)) for one in numbers))


def group_key(rng: random.Random, make: Expressions) -> Expression:
    if rng.random() < 0.6:
        return Column(
            rng.choice([name for name, kind in SCHEMA.items() if kind is not Kind.REAL or rng.random() < 0.5])
        )
    if rng.random() < 0.5:
        return Call("width_bucket", (Column("x"), Literal(-10), Literal(50), Literal(6)))
    return make.make(rng.choice([Kind.TEXT, Kind.INTEGER, Kind.BOOLEAN, Kind.DATE]), 2)


def listed_value(rng: random.Random, key: Expression) -> Any:
    if rng.random() < 0.1:
        return None
    if isinstance(key, Column):
        return rng.choice(ODD[SCHEMA[key.name]])
    return rng.choice([0, 1, 2, 3, 4, True, False, "a", "12", "", ODD[Kind.DATE][2]])


def measure(rng: random.Random, make: Expressions, unit: str | None) -> Asked:
    pick = rng.random()
    if pick < 0.15:
        return Distinct(make.make(rng.choice(list(Kind)), rng.randint(0, 1)), rng.choice([1, 1, 2, 3]) if unit else 1)
    if pick < 0.3:
        return Cells(cells(rng, make), chosen=unit is not None or rng.random() < 0.5)
    found = row_value(rng, make)
    widest = max(abs(bound) for bound in ends(found))
    low, high = sorted(rng.randint(-3 * widest, 3 * widest) for _ in range(2))
    if rng.random() < 0.5:
        low, high = min(low, 0), max(high, 0)
    return Measure(found, low, high, chosen=rng.random() < 0.6)


def cells(rng: random.Random, make: Expressions) -> Quantised | Category:
    if rng.random() < 0.5:
        granule = rng.choice([Fraction(1), Fraction(1, 4), Fraction(7)])
        low = rng.randint(-20, 20) * granule
        expression = Column(rng.choice(["x", "i"])) if rng.random() < 0.7 else make.number(2)
        return Quantised(expression, low, low + 50 * granule, low - granule, granule)
    name = rng.choice(list(SCHEMA))
    listed = tuple(rng.choice([*ODD[SCHEMA[name]], None, "a", 1]) for _ in range(rng.randint(0, 6)))
    return Category(Column(name), listed)


def row_value(rng: random.Random, make: Expressions) -> RowValue:
    pick = rng.randint(0, 5)
    if pick == 0:
        return One()
    if pick == 1:
        return Present(make.make(rng.choice(list(Kind)), 1))
    low = Fraction(rng.choice([-100, 0, -1, 3]))
    high = low + rng.choice([1, 7, 50, 1000])
    centre = rng.choice([low, Fraction(0), (low + high) / 2])
    granule = rng.choice([Fraction(1), Fraction(1, 4), Fraction(1, 100), Fraction(3), Fraction(1, 10**6)])
    expression = Column(rng.choice(["x", "i"])) if rng.random() < 0.7 else make.number(2)
    found = Quantised(expression, low, high, centre, granule)
    if pick == 5:
        other = Column(rng.choice(["x", "i"]))
        return Product(found, Quantised(other, Fraction(-7), Fraction(7), Fraction(0), Fraction(1, 2)))
    return found if pick < 4 else Square(found)


def ends(found: RowValue) -> tuple[int, int]:
    match found:
        case Quantised():
            return found.lowest, found.highest
        case Square(inner):
            return 0, max(abs(inner.lowest), abs(inner.highest)) ** 2
        case Product(left, right):
            most = max(abs(left.lowest), abs(left.highest)) * max(abs(right.lowest), abs(right.highest))
            return -most, most
    return 0, 1
