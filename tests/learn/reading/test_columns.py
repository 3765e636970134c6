"""Columns, frames, schemas: cells as whole numbers by public rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InvalidParameter, MissingBounds
from tacit.learn.estimators.logistic import LogisticRegression
from tacit.learn.reading.columns import LEVELS, MISSING, Category, Number, column_from_dict
from tacit.learn.reading.frames import read_cells
from tacit.learn.reading.schema import Schema, read_classes, read_columns
from tacit.testing import seeded


@given(
    st.tuples(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9)),
    st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=20),
)
def test_a_number_has_a_code_between_the_public_ones_whatever_it_is(pair: Any, cells: Any) -> None:
    column = Number("x", pair[0], pair[0] + pair[1]) if pair[0] + pair[1] > pair[0] else Number("x", 0, 1)
    codes = column.encode(np.array(cells))
    known = codes[codes != MISSING]
    assert (np.isnan(cells) == (codes == MISSING)).all()
    assert ((known >= column.lowest) & (known <= column.highest)).all()
    assert column.highest - column.lowest <= LEVELS
    alone = [int(column.encode(np.array([cell]))[0]) for cell in cells]
    assert alone == codes.tolist()  # no cell changes another's rounding


def test_codes_are_cut_toward_zero() -> None:
    column = Number("x", -10, 10)
    for value in np.linspace(-9.9, 9.9, 301):
        code = int(column.encode(np.array([value]))[0])
        assert abs(column.value(code)) <= abs(value) + 1e-12
        assert abs(column.value(code) - value) <= 20 / LEVELS + 1e-12


@pytest.mark.parametrize("bounds", [(1, 0), (0, 0), (0, np.inf), (np.nan, 1), ("a", 1), (-1e308, 1e308), (0, 1e-320)])
def test_bounds_that_are_none_are_refused(bounds: Any) -> None:
    with pytest.raises(InvalidParameter):
        Number("x", *bounds)


def test_frames_of_all_kinds_are_read_alike() -> None:
    made = {"age": [30, None, 50], "city": ["Rome", "Oslo", None], "flag": [True, False, True]}
    categories = {"city": ["Oslo", "Rome"]}
    codes = []
    for frame in (pd.DataFrame(made), pl.DataFrame(made), pa.table(made)):
        cells = read_cells(frame)
        columns = read_columns(cells, {"age": (0, 100), "flag": (0, 1)}, categories)
        codes.append(Schema(columns).encode(cells).tolist())
    assert codes[0] == codes[1] == codes[2]
    assert codes[0][1] == [MISSING, 0, 0]
    assert codes[0][2] == [8192, MISSING, LEVELS]


def test_categories_by_any_cell() -> None:
    column = Category("x", ("a", 1, 2.5))
    cells = np.array(["a", 1.0, 2.5, ["a"], {}, None, np.nan, "b"], dtype=object)
    assert column.encode(cells).tolist() == [0, 1, 2, *[MISSING] * 5]
    for wrong in ((), ("a", "a"), ([1],), (np.nan,)):
        with pytest.raises(InvalidParameter):
            Category("x", wrong)


def test_classes_are_public() -> None:
    assert read_classes(None, np.array([True])).values == (False, True)
    assert read_classes(None, np.array([5, 7])).values == (0, 1)
    with pytest.raises(InvalidParameter, match="private"):
        read_classes(None, np.array(["yes"]))
    with pytest.raises(InvalidParameter):
        read_classes(["one"], np.array(["one"]))


def test_a_column_needs_bounds_or_categories() -> None:
    cells = read_cells(pd.DataFrame({"age": [1.0], "city": ["Rome"]}))
    with pytest.raises(MissingBounds, match="city"):
        read_columns(cells, {"age": (0, 1)}, None)
    with pytest.raises(InvalidParameter, match="one of the two"):
        read_columns(cells, {"age": (0, 1)}, {"age": [1], "city": ["Rome"]})


def test_a_schema_is_written_and_read() -> None:
    schema = Schema((Number("a", 0, 1), Category("b", ("x", 2))), Number("target", -1, 1), named=False)
    assert Schema.from_dict(schema.to_dict()) == schema
    assert column_from_dict(Number("a", 0, 1).to_dict()) == Number("a", 0, 1)


@pytest.mark.parametrize("last", [1, True, None, "x", 0.5, 2**70, [1], (1, 2), float("nan"), 1j, b"y"])
def test_what_a_list_holds_decides_nothing(last: Any) -> None:
    """Neither labels nor columns of a list have a type that one cell could change: they are declared, or refused."""
    with pytest.raises(InvalidParameter, match="classes"):
        LogisticRegression(epsilon=1, bounds=(0, 1)).fit([[0.5], [0.1]], [0, last])
    with pytest.raises(MissingBounds):
        LogisticRegression(epsilon=1, classes=[0, 1]).fit([[True], [last]], [0, 1])
    model = LogisticRegression(epsilon=1, bounds=(0, 1), classes=[0, 1], rows_per_unit=2)
    model.fit([[0.5], [last]], [0, last], units=[(1, 2), last], entropy=seeded(7))
    assert model.predict([[last]]).shape == (1,)


@given(
    st.lists(st.one_of(st.none(), st.sampled_from(["1", " 2 ", "nan", "Rome", "", "1e400"]), st.text(max_size=3))),
    st.sampled_from(["str", "string", "object"]),
)
def test_texts_of_pandas_have_the_codes_that_each_has_alone(texts: list[str | None], kind: str) -> None:
    frame = pd.DataFrame({"x": pd.Series(texts, dtype=kind)})
    cells = read_cells(frame)
    for column in (Category("x", ("Rome", "1", "", None)), Number("x", 0, 10)):
        expected = [int(column.encode(np.array([cell], dtype=object))[0]) for cell in frame["x"].tolist()]
        assert Schema((column,)).encode(cells)[:, 0].tolist() == expected


@pytest.mark.parametrize("values", [(False, True), (True, False), (0, 1), ("no", True), ("no", "yes")])
def test_truth_values_have_the_codes_that_each_has_alone(values: tuple[Any, ...]) -> None:
    column, cells = Category("x", values), np.array([True, False, False, True])
    listed = np.array(cells.tolist(), dtype=object)
    assert column.encode(cells).tolist() == column.encode(listed).tolist()
    hidden = np.ma.MaskedArray(cells, mask=[True, False, True, False])
    assert column.encode(hidden).tolist() == [
        MISSING,
        *column.encode(listed).tolist()[1:2],
        MISSING,
        column.encode(listed).tolist()[3],
    ]
