"""Budgets, columns, frames, rows: what estimators are made of."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import ZCDP, ApproxDP, GaussianDP, PureDP
from tacit.errors import InvalidParameter, MissingBounds, NotPrivate
from tacit.learn.budget import read_budget
from tacit.learn.columns import LEVELS, MISSING, Category, Number, column_from_dict
from tacit.learn.cross_validation import cross_val_score
from tacit.learn.estimators.logistic import LogisticRegression
from tacit.learn.frames import read_cells, read_vector
from tacit.learn.rows import _numbered, bounded_rows
from tacit.learn.schema import Schema, read_classes, read_columns
from tacit.learn.spending import Spending
from tacit.testing import seeded


@pytest.mark.parametrize("promise", [ApproxDP(1, 1e-5), ZCDP(0.5), GaussianDP(1), PureDP(1)])
def test_parts_compose_to_no_more_than_the_promise(promise: Any) -> None:
    budget = read_budget("Any", promise=promise)
    for asked in (budget,) if isinstance(promise, GaussianDP) else (budget, budget.in_zcdp()):
        parts = [asked.part(Fraction(1, 10)), *[asked.part(Fraction(9, 70))] * 7]
        total = tacit.compose(parts)
        delta = 1e-5
        assert total.epsilon(0 if asked.pure else delta) <= promise.epsilon(0 if asked.pure else delta) * (1 + 1e-9)


def test_a_gaussian_promise_is_not_spent_in_zcdp() -> None:
    """μ²/2-zCDP does not imply μ-GDP: at δ = 10⁻⁵ it is an ε of 4.73 instead of 4.38."""
    assert ZCDP("0.5").epsilon(1e-5) > GaussianDP(1).epsilon(1e-5)
    with pytest.raises(NotPrivate, match="epsilon= or rho="):
        read_budget("Any", mu=1).in_zcdp()


def test_the_law_follows_the_promise() -> None:
    share = Fraction(1, 2)
    laws = [
        read_budget("Any", promise=p).noise(share, l1=4, l2_squared=4)
        for p in (ApproxDP(1, 1e-5), GaussianDP(1), ZCDP(1), PureDP(1))
    ]
    assert [getattr(law, "law", "laplace") for law in laws] == ["rounded", "rounded", "discrete", "laplace"]
    assert laws[3].guarantee == PureDP("0.5")
    assert laws[2].guarantee == ZCDP("0.5")


def test_more_than_all_cannot_be_spent() -> None:
    spending = Spending(read_budget("Any", rho=1), seeded(7))
    spending.buy("first", Fraction(2, 3), l1=1, l2_squared=1)
    with pytest.raises(NotPrivate):
        spending.buy("second", Fraction(2, 3), l1=1, l2_squared=1)
    spending.choice("third", Fraction(1, 3), sensitivity=1, monotone=True)
    with pytest.raises(NotPrivate):
        spending.choice("fourth", Fraction(1, 10**9), sensitivity=1, monotone=True)


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
