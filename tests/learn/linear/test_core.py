"""The exact core against rows written out: lookups, norms, clipping, links."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.learn.linear.clipping import largest_factors, whole_root
from tacit.learn.linear.design import UNIT, design_of
from tacit.learn.linear.links import RESIDUAL, WEIGHT, logistic_table, places
from tacit.learn.linear.losses import Hinge, Logistic, Multinomial, Squares, shortened
from tacit.learn.linear.passes import parts_of
from tacit.learn.reading.columns import LEVELS, MISSING, Category, Number
from tacit.learn.reading.rows import Chunk
from tacit.learn.reading.schema import Schema

SCHEMA = Schema(
    (Number("a", 0, 1), Number("b", -3, 1), *[Category(f"c{i}", tuple(range(k))) for i, k in enumerate((7, 2, 40, 30))])
)


def codes(count: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    made = [rng.integers(one.lowest, one.highest + 1, count) for one in SCHEMA.columns]
    table = np.column_stack(made).astype(np.int16)
    table[rng.random(table.shape) < 0.1] = MISSING
    return np.asfortranarray(table)


def written_out(design: Any, table: Any) -> Any:
    """Every row as a list of its entries."""
    out = np.zeros((len(table), design.width))
    out[:, 0] = UNIT
    for at, place in enumerate(design.numbers):
        out[:, 1 + at] = np.where(table[:, place] == MISSING, 0, table[:, place])
    for block, start in zip(design.blocks, design.starts, strict=True):
        index = block.index(table[:, block.place])
        known = np.flatnonzero(index < block.size)
        out[known, start + index[known]] = UNIT
    return out


@pytest.mark.parametrize("bins", [(), (16, 4)])
@pytest.mark.parametrize("count", [0, 1, 300])
def test_sums_are_those_of_the_rows_written_out(bins: Any, count: int) -> None:
    design, table = design_of(SCHEMA, bins), codes(count)
    prepared, rows = design.prepare(table), written_out(design_of(SCHEMA, bins), table)
    rng = np.random.default_rng(1)
    weights, factors = rng.integers(-999, 999, design.width), rng.integers(-999, 999, count)
    assert np.array_equal(prepared.margins(design, weights.astype(float)), rows @ weights)
    assert np.array_equal(prepared.sums(design, factors.astype(float)), factors @ rows)
    assert np.array_equal(prepared.products(design), rows.T @ rows)
    count = len(design.numbers)
    found = prepared.diagonal_and_sums(design)
    assert np.array_equal(found[: design.width], (rows * rows).sum(axis=0))
    assert np.array_equal(found[design.width :], UNIT * rows[:, 1 : 1 + count].sum(axis=0))
    sizes, squares = prepared.norms(design)
    assert np.array_equal(sizes, np.abs(rows).sum(axis=1))
    assert np.array_equal(squares, (rows * rows).sum(axis=1))
    most = design.most
    assert all((np.abs(rows) ** p).sum(axis=1).max(initial=0) <= m for p, m in zip((1, 2, 4), most, strict=True))


@given(st.integers(1, 2**62), st.lists(st.integers(1, 2**50), min_size=1, max_size=5))
def test_the_largest_factor_is_the_largest(limit_squared: int, squares: list[int]) -> None:
    for k, square in zip(largest_factors(limit_squared, np.array(squares)).tolist(), squares, strict=True):
        assert k * k * square <= limit_squared < (k + 1) * (k + 1) * square


@given(st.lists(st.integers(0, 2**62 - 1), min_size=1, max_size=20))
def test_whole_roots(values: list[int]) -> None:
    assert whole_root(np.array(values)).tolist() == [math.isqrt(v) for v in values]


@given(st.lists(st.integers(-(2**17), 2**17), min_size=3, max_size=3), st.integers(0, 2**18), st.booleans())
def test_what_is_too_long_is_shortened_toward_zero(vector: list[int], limit: int, pure: bool) -> None:
    found = shortened(np.array(vector)[:, None], np.array([limit]), pure)[:, 0].tolist()
    length = sum(abs(v) for v in found) if pure else sum(v * v for v in found)
    assert length <= (limit if pure else limit**2)
    assert all(0 <= f * (1 if v >= 0 else -1) <= abs(v) for f, v in zip(found, vector, strict=True))
    fits = (sum(abs(v) for v in vector) if pure else sum(v * v for v in vector)) <= (limit if pure else limit**2)
    assert found == vector or not fits


def test_links_are_monotone_tables_of_whole_numbers() -> None:
    table = logistic_table()
    assert (np.diff(table) >= 0).all()
    assert np.array_equal(table, np.round(table))
    margins = np.array([-1e18, -1.0, 0.0, 1.0, 1e18]) * UNIT * WEIGHT
    means = table[places(margins)] / RESIDUAL
    assert np.allclose(means, [0, 1 / (1 + math.e), 0.5, math.e / (1 + math.e), 1], atol=1e-3)


@pytest.mark.parametrize("loss", [Logistic(), Hinge(), Multinomial(3), Squares(0, 1 << 20), Squares(0, 500)])
@pytest.mark.parametrize("pure", [False, True])
def test_residuals_are_whole_and_within_the_limits(loss: Any, pure: bool) -> None:
    rng = np.random.default_rng(2)
    margins = np.round(rng.normal(size=(loss.outputs, 500)) * 4 * UNIT * WEIGHT)
    target = rng.integers(0, 2, 500).astype(np.int16)
    limits = rng.integers(0, 2 * RESIDUAL, 500).astype(float)
    found = np.atleast_2d(loss.residuals(margins, target, limits, pure))
    assert np.array_equal(found, np.round(found))
    length = np.abs(found).sum(axis=0) if pure else np.sqrt((found * found).sum(axis=0))
    assert (length <= limits * (1 + 1e-12)).all()
    turned = rng.permutation(500)
    again = np.atleast_2d(loss.residuals(margins[:, turned], target[turned], limits[turned], pure))
    assert np.array_equal(again, found[:, turned])


def test_pieces_divide_no_unit() -> None:
    units = np.repeat([4, 9, 2, 7], [2, 3, 1, 2])
    chunk = Chunk(np.zeros((8, 1), dtype=np.int16), None, units)
    pieces = list(parts_of(chunk, 3))
    assert [(part.start, part.stop) for part, _ in pieces] == [(0, 2), (2, 5), (5, 8)]
    assert [firsts.tolist() for _, firsts in pieces if firsts is not None] == [[0], [0], [0, 1]]
    assert LEVELS == UNIT


def test_a_unit_of_more_rows_than_a_piece_holds_is_a_piece_by_itself() -> None:
    """One coin is drawn for it, and it is never divided."""
    units = np.array([0, 1, 1, 1, 1, 1, 2, 3], dtype=np.int64)
    pieces = list(parts_of(Chunk(codes(8), None, units), 3))
    assert [(part.start, part.stop) for part, _ in pieces] == [(0, 1), (1, 6), (6, 8)]
    assert [[] if firsts is None else firsts.tolist() for _, firsts in pieces] == [[0], [0], [0, 1]]
