"""Many tables of the same rows: equal to counting by hand, and moved by one unit as far as is claimed."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from tacit.errors import InvalidParameter
from tacit.tables.engines.contract import Category
from tacit.tables.engines.duckdb.engine import DuckDBEngine
from tacit.tables.engines.rows import BoundedRows, ends
from tacit.tables.engines.tabulate import MOST_CELLS, Bins, tabulated
from tacit.tables.expressions.tree import Column
from tests.tables.engines.chosen_rows import bounded_rows
from tests.tables.engines.random_rows import Rows
from tests.tables.engines.rows_oracle import expected_units
from tests.tables.engines.sensitivity import SECRET, neighbours, table


def some_bins(rng: random.Random, asked: BoundedRows) -> list[Bins]:
    made = []
    for column in asked.columns:
        size = len(Bins.single(column).places)
        made.append(Bins.of(column, [rng.randrange(4) for _ in range(size)]))
    return made


@pytest.mark.parametrize("seed", range(3))
def test_tables_are_those_of_counting_by_hand_and_move_by_a_units_rows(seed: int) -> None:
    rng, rows = random.Random(seed), Rows()
    engine = DuckDBEngine(rows, SECRET)
    for _ in range(4):
        asked, held = few_codes(rng), table(rng)
        places = range(len(asked.columns))
        tables = [*((i,) for i in places), *combinations(places, 2), *combinations(places, 3)]
        bins = some_bins(rng, asked)

        def counted(held: list[dict[str, object]], asked=asked, bins=bins, tables=tables) -> list[np.ndarray]:  # type: ignore[no-untyped-def,type-arg]
            rows.fill(held)
            with engine.read(asked) as chosen:
                return tabulated(asked, chosen, bins, tables)

        found = counted(held)
        units = expected_units(asked, held, SECRET)
        flat = [row for unit, times in units.items() for row in unit * times]
        for at, counts in zip(tables, found, strict=True):
            by_hand = Counter(tuple(int(bins[i].places[row[i] - bins[i].lowest]) for i in at) for row in flat)
            assert {cell: n for cell, n in np.ndenumerate(counts) if n} == by_hand
        for near in neighbours(rng, asked, held):  # type: ignore[arg-type]
            other = counted(near)
            moved = [np.abs(one - two).sum() for one, two in zip(found, other, strict=True)]
            assert len(set(moved)) <= 1  # the same rows in every table
            assert all(m <= asked.most for m in moved)
            assert all((one >= two).all() or (one <= two).all() for one, two in zip(found, other, strict=True))
    rows.close()


def few_codes(rng: random.Random) -> BoundedRows:
    while True:
        asked = bounded_rows(rng)
        if max(high - low for low, high in map(ends, asked.columns)) < 50_000:
            return asked


PLAN = Category(Column("plan"), ("free", "pro"))
ASKED = BoundedRows((PLAN, PLAN), "who", 1)


@pytest.mark.parametrize("places", [[0, 1], [0, 1, 2, 3], [0, -1, 1], [0, 1, MOST_CELLS]])
def test_bins_must_hold_every_code(places: list[int]) -> None:
    with pytest.raises(InvalidParameter, match="bins"):
        Bins.of(PLAN, places)


@pytest.mark.parametrize("at", [(), (2,), (-1,), (0, 0)])
def test_tables_name_different_columns(at: tuple[int, ...]) -> None:
    with pytest.raises(InvalidParameter, match="tables"):
        tabulated(ASKED, [], [Bins.single(PLAN)] * 2, [at])


def test_tables_of_too_many_cells_are_refused_before_rows_are_read() -> None:
    wide = Bins.of(PLAN, [0, 1, 1 << 20])
    with pytest.raises(InvalidParameter, match="cells"):
        tabulated(ASKED, [], [wide, wide], [(0, 1)])
    with pytest.raises(InvalidParameter, match="bins"):
        tabulated(ASKED, [], [wide], [(0,)])


def test_an_empty_table_has_all_its_cells() -> None:
    (counts,) = tabulated(ASKED, [], [Bins.single(PLAN)] * 2, [(0, 1)])
    assert counts.tolist() == [[0, 0, 0]] * 3
