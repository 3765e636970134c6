"""Random reads of rows on random neighbouring tables, held against the words of `engines.rows` and what they claim."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tacit.tables.engines.contract import Category, Engine, Present, Quantised
from tacit.tables.engines.rows import BoundedRows, Coded
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Column
from tests.tables.engines.random_rows import ODD, SCHEMA, Expressions
from tests.tables.engines.rows_oracle import Unit, collected_units, expected_units
from tests.tables.engines.sensitivity import SECRET, Moved, Tally, neighbours, table


def examine_rows(
    make: Callable[[Any], Engine],
    seed: int,
    count: int,
    tables: Callable[[], Any],
    *,
    ask: Callable[[random.Random], BoundedRows] | None = None,
    oracle: bool = True,
) -> Tally:
    """Try so many reads, each on a table and on neighbours of it; raises `Moved` at the first breach."""
    rng, rows, tally = random.Random(seed), tables(), Tally()
    engine = make(rows)
    for _ in range(count):
        held, asked = table(rng), (ask or bounded_rows)(rng)
        rows.fill(held, beyond=rng)
        base = read(engine, asked)
        tally.queries += 1
        if oracle and base != expected_units(asked, held, SECRET):
            raise Moved(f"not as the words: {asked}")
        rng.shuffle(held)
        rows.fill(held)
        if read(engine, asked) != base:
            raise Moved(f"not as another order of rows: {asked}")
        for near in neighbours(rng, asked, held):  # type: ignore[arg-type]
            rows.fill(near)
            other = read(engine, asked)
            must_be_near(base, other, asked)
            tally.neighbours += 1
            tally.moved += base != other
    rows.close()
    return tally


def agree_rows(make: Callable[[Any], Engine], seed: int | str, count: int, tables: Callable[[], Any]) -> int:
    """Try so many reads, each once, against the oracle alone."""
    rng, rows = random.Random(seed), tables()
    engine = make(rows)
    for _ in range(count):
        held, asked = table(rng), bounded_rows(rng)
        rows.fill(held, beyond=rng)
        if read(engine, asked) != expected_units(asked, held, SECRET):
            raise Moved(f"not as the words: {asked}")
    return count


def read(engine: Engine, asked: BoundedRows) -> Counter[Unit]:
    """The units, the same at each reading; an error would tell neighbours apart, and is a breach too."""
    try:
        with engine.read(asked) as held:
            units = collected_units(held)
            again = collected_units(held)
    except Exception as error:
        raise Moved(f"an error: {asked}") from error
    if units != again:
        raise Moved(f"other rows at the second reading: {asked}")
    return units


def must_be_near(base: Counter[Unit], other: Counter[Unit], asked: BoundedRows) -> None:
    """One unit has come or gone, with at most so many rows; all others are as they were."""
    gone, come = base - other, other - base
    if gone.total() + come.total() > 1:
        raise Moved(f"{gone.total()} units went and {come.total()} came: {asked}")
    if any(len(unit) > asked.most for unit in (*base, *other)):
        raise Moved(f"a unit has more than {asked.most} rows: {asked}")


def bounded_rows(rng: random.Random) -> BoundedRows:
    make = Expressions(rng)
    unit = None if rng.random() < 0.15 else rng.choice(list(SCHEMA))
    rows = rng.choice([1, 1, 2, 3, 5])
    return BoundedRows(
        columns=tuple(coded(rng, make) for _ in range(rng.randint(1, 5))),
        unit=unit,
        rows=rows,
        where=make.make(Kind.BOOLEAN, rng.randint(1, 2)) if rng.random() < 0.3 else None,
        chunk=rng.choice([rows, rows + 1, 7, 1 << 16]) if rows < 7 else 7,
    )


def coded(rng: random.Random, make: Expressions) -> Coded:
    pick = rng.random()
    if pick < 0.1:
        return Present(make.make(rng.choice(list(Kind)), 1))
    if pick < 0.5:
        name = rng.choice(list(SCHEMA))
        some = [*ODD[SCHEMA[name]], None, "a", 1]
        return Category(Column(name), tuple(rng.choice(some) for _ in range(rng.choice([0, 3, 6, 127, 128]))))
    low = Fraction(rng.choice([-100, 0, -1, 3]))
    high = low + rng.choice([1, 7, 50, 127, 128, 40_000, 10**10])
    granule = rng.choice([Fraction(1), Fraction(1, 4), Fraction(3), Fraction(1, 10**6)])
    centre = rng.choice([low - granule, low - granule / 2, Fraction(0), (low + high) / 2])
    expression = Column(rng.choice(["x", "i"])) if rng.random() < 0.7 else make.number(2)
    return Quantised(expression, low, high, centre, granule)
