"""Rows of units, and cells that change no other cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.learn.estimators.logistic import LogisticRegression
from tacit.learn.reading.columns import MISSING, Category, Number
from tacit.learn.reading.frames import read_cells, read_vector
from tacit.learn.reading.rows import _numbered, bounded_rows
from tacit.learn.reading.schema import read_classes
from tacit.learn.tuning.cross_validation import cross_val_score
from tacit.testing import seeded


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-3, 3)), max_size=30), st.integers(1, 3), st.randoms())
def test_a_unit_has_at_most_so_many_rows_wherever_they_stand(rows: Any, limit: int, random: Any) -> None:
    turned = list(rows)
    random.shuffle(turned)
    kept = []
    for order in (rows, turned):
        codes = np.array([[value] for _, value in order], dtype=np.int16).reshape(-1, 1)
        units = np.array([unit for unit, _ in order], dtype=object)
        chunk = bounded_rows(codes, None, units, limit, seeded(7)).chunk
        assert chunk.units is not None
        owners = {int(u): units.tolist()[list(_first(units)).index(u)] for u in set(chunk.units.tolist())}
        found = sorted((owners[int(u)], int(c)) for u, c in zip(chunk.units, chunk.codes[:, 0], strict=True))
        kept.append(found)
        for unit in {unit for unit, _ in order}:
            have = [one for one in found if one[0] == unit]
            assert len(have) == min(limit, sum(u == unit for u, _ in order))
        starts = chunk.firsts()
        assert len(starts) == len({unit for unit, _ in order})
    assert kept[0] == kept[1]


def _first(units: Any) -> Any:
    """The number that each row's unit is given: by first appearance."""
    seen: dict[Any, int] = {}
    return [seen.setdefault(unit, len(seen)) for unit in units.tolist()]


def test_rows_without_a_unit_are_left_out() -> None:
    units = np.array([None, np.nan, 1, 1, [2]], dtype=object)
    rows = bounded_rows(np.zeros((5, 1), dtype=np.int16), np.zeros(5, dtype=np.int16), units, 5, seeded(7))
    assert rows.chunk.size == 2
    assert repr(rows) == "InMemoryRows(private)"


@pytest.mark.parametrize("last", [None, 0.5, float("nan"), 2**63])
def test_one_cell_does_not_merge_large_whole_numbers_in_others(last: Any) -> None:
    """One null or float makes floats of a whole column, where 2⁵³ and 2⁵³ + 1 are one: two people, or two labels."""
    numbers = [2**53, 2**53 + 1, last]
    columns: list[Any] = [numbers]
    if last is None:
        columns += [pd.Series(numbers, dtype="Int64"), pl.Series(numbers), pa.chunked_array([numbers])]
    for column in columns:
        read = read_vector(column, 3)
        assert read.tolist()[:2] == numbers[:2]
        assert Category("seen", tuple(numbers[:2])).encode(read).tolist()[:2] == [0, 1]
        ids = bounded_rows(np.zeros((3, 1), dtype=np.int16), None, read, 1, seeded(7)).chunk.units
        assert ids is not None
        assert len(set(ids.tolist())) == len(ids) >= 2
    table = read_cells([[one, 1] for one in numbers])
    assert table.columns[0].tolist()[:2] == numbers[:2]


BIG = 1 << 53


@pytest.mark.parametrize("frame", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize(
    ("kind", "cells"), [("int64", [BIG, BIG + 1]), ("bool", [True, False]), ("double", [0.5, 1.0])]
)
def test_one_null_changes_no_other_cell_and_no_kind_of_a_column(frame: str, kind: str, cells: list[Any]) -> None:
    """Once a null made floats of whole numbers, so that two units beyond 2⁵³ were one, and objects of truth values."""

    def read(values: list[Any]) -> Any:
        column = pa.chunked_array(
            [values], type=getattr(pa, {"int64": "int64", "bool": "bool_", "double": "float64"}[kind])()
        )
        table = pa.table({"x": column})
        if frame == "pandas":
            nullable = {"int64": "Int64", "bool": "boolean", "double": "Float64"}[kind]
            return read_cells(pd.DataFrame({"x": pd.array(values, dtype=nullable)})).columns[0]
        return read_cells(table if frame == "arrow" else pl.from_arrow(table)).columns[0]

    alone, with_null, nothing = read(cells), read([*cells, None]), read([])
    wanted = {"int64": "i", "bool": "b", "double": "f"}[kind]
    assert alone.dtype.kind == with_null.dtype.kind == nothing.dtype.kind == wanted
    assert with_null.tolist()[:2] == alone.tolist() == cells
    listed = Category("x", tuple(cells))
    assert listed.encode(with_null).tolist() == [0, 1, MISSING]
    number = Number("x", 0, 2 * BIG)
    assert number.encode(with_null).tolist() == [*number.encode(alone).tolist(), MISSING]
    assert read_classes(None, alone) == read_classes(None, with_null)
    assert _numbered(read_vector(with_null, 3, "units")).tolist() == [0, 1, -1]
    assert _numbered(read_vector([*cells, -0.25], 3, "units")).tolist() == [0, 1, 2]


@pytest.mark.parametrize("last", [None, 1])
def test_labels_with_a_null_are_learned_from_as_labels_without(last: int | None) -> None:
    frame = pd.DataFrame({"x": np.arange(200.0)})
    y = pd.Series([*(i >= 100 for i in range(199)), None if last is None else True], dtype="boolean")
    model = LogisticRegression(epsilon=50, delta=1e-6, bounds=(0, 200), steps=3)
    assert model.fit(frame, y, entropy=seeded(7)).classes_.tolist() == [False, True]
    found = cross_val_score(model, frame, y, cv=2, units=pd.Series([*range(199), last], dtype="Int64"))
    assert found.scores.shape == (2,)
