"""Chosen rows on disk: whole units in every chunk, the same at every reading, gone when let go, and silent."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

from tacit.tables.engines.contract import Category
from tacit.tables.engines.rows import BoundedRows, Chunk
from tacit.tables.engines.spool import Batch, ChosenRows
from tacit.tables.expressions.tree import Column

CODED = Category(Column("s"), tuple(range(300)))


def batched(units: list[list[int]], cuts: list[int]) -> Iterator[Batch]:
    """The units' rows, numbered, as batches that end anywhere."""
    values = np.array([value for rows in units for value in rows], dtype=np.int16)
    numbers = np.repeat(np.arange(len(units)), [len(rows) for rows in units])
    for start, end in zip([0, *cuts], [*cuts, len(values)], strict=True):
        yield [values[start:end]], numbers[start:end]


def units_of(held: ChosenRows) -> list[list[int]]:
    return [
        chunk.columns[0][chunk.starts[u] : chunk.starts[u + 1]].tolist() for chunk in held for u in range(chunk.units)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_units_stay_whole_wherever_batches_and_chunks_end(seed: int) -> None:
    rng = random.Random(seed)
    most = rng.randint(1, 5)
    units = [[rng.randint(0, 300) for _ in range(rng.randint(1, most))] for _ in range(rng.randint(0, 40))]
    size = sum(map(len, units))
    cuts = sorted(rng.randint(0, size) for _ in range(rng.randint(0, 6)))
    asked = BoundedRows((CODED,), "who", most, chunk=rng.randint(most, most + 4))
    with ChosenRows(asked, batched(units, cuts)) as held:
        assert units_of(held) == units
        assert units_of(held) == units
        assert all(chunk.rows <= asked.chunk for chunk in held)


def test_without_a_unit_column_each_row_is_a_unit() -> None:
    asked = BoundedRows((CODED,), None, 1, chunk=2)
    with ChosenRows(asked, [([np.array([5, 5, 7], dtype=np.int16)], None)]) as held:
        assert units_of(held) == [[5], [5], [7]]


def test_no_rows_are_no_chunks() -> None:
    with ChosenRows(BoundedRows((CODED,), "who", 1), []) as held:
        assert list(held) == []


def test_a_unit_with_too_many_rows_is_refused_also_across_batches() -> None:
    asked = BoundedRows((CODED,), "who", 2)
    with pytest.raises(AssertionError, match=r"^a unit has too many rows$"):
        ChosenRows(asked, batched([[1], [1, 2, 3]], [2]))


@pytest.mark.parametrize("cut", [0, 1, 2, 3])
def test_units_in_two_places_are_refused(cut: int) -> None:
    values, numbers = np.array([1, 2, 3], dtype=np.int16), np.array([4, 5, 4])
    batches: list[Batch] = [([values[:cut]], numbers[:cut]), ([values[cut:]], numbers[cut:])]
    with pytest.raises(AssertionError, match=r"^units are out of order$"):
        ChosenRows(BoundedRows((CODED,), "who", 2), batches)


def test_rows_are_gone_when_let_go_and_after_a_failure() -> None:
    asked = BoundedRows((CODED,), "who", 3)
    held = ChosenRows(asked, batched([[1, 2]], []))
    assert held._path.exists()
    held.close()
    assert not held._path.parent.exists()

    seen = []

    def broken() -> Iterator[Batch]:
        yield from batched([[1]], [])
        raise OSError

    class Noticed(ChosenRows):
        def close(self) -> None:
            super().close()
            seen.append(self._path.parent.exists())

    with pytest.raises(OSError):
        Noticed(asked, broken())
    assert seen == [False]


def test_nothing_private_is_shown() -> None:
    with ChosenRows(BoundedRows((CODED,), "who", 3), batched([[123, 45]], [])) as held:
        (chunk,) = held
        assert repr(held) == "ChosenRows(private)"
        assert repr(chunk) == str(chunk) == "Chunk(private)"
        assert isinstance(chunk, Chunk)
