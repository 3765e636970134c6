"""Integers of any width in one form: exact, added exactly, clamped by a public bound in one way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.tables.engines.sums import NARROW, Sums

WHOLE = st.integers(-(2**124), 2**124) | st.integers(-(2**64), 2**64) | st.integers(-5, 5)


@given(st.lists(WHOLE, max_size=6), st.integers(1, 2**70))
def test_sums_are_exact_and_clamped_alike(values: list[int], most: int) -> None:
    found = Sums.of(values)
    assert found.tolist() == values
    assert [found[i] for i in range(len(found))] == values
    within = found.within(most)
    assert within.dtype == (np.int64 if most <= NARROW else object)
    assert within.tolist() == [min(max(value, -most), most) for value in values]


@given(st.lists(WHOLE, min_size=1, max_size=8))
def test_groups_are_added_without_overflow(values: list[int]) -> None:
    halves = [value // 8 for value in values]
    assert Sums.of(halves).summed(lambda x: x.sum(keepdims=True)).tolist() == [sum(halves)]


@given(st.lists(WHOLE, max_size=6))
def test_pieces_are_read_whichever_way_quotients_round(values: list[int]) -> None:
    def toward_zero(value: int) -> int:
        return abs(value) // NARROW * (1 if value >= 0 else -1)

    for quotient in (toward_zero, lambda value: value // NARROW):
        high = [quotient(value) for value in values]
        low = [value - first * NARROW for value, first in zip(values, high, strict=True)]
        assert Sums.of_pieces(high, low).tolist() == values


@pytest.mark.parametrize("most", [0, 1, NARROW - 1, NARROW])
def test_narrow_bounds_at_their_edges(most: int) -> None:
    edges = [sign * (2**bits + off) for bits in (0, 61, 62, 63, 64, 120) for off in (-1, 0, 1) for sign in (1, -1)]
    assert Sums.of(edges).within(most).tolist() == [min(max(value, -most), most) for value in edges]


def test_what_lies_beyond_is_clamped_and_nothing_shows() -> None:
    assert Sums.of([2**200, -(2**200)]).tolist() == [2**124, -(2**124)]
    assert repr(Sums.of([7])) == "Sums(private)"
    assert Sums.of([1, 2]).placed(np.array([2, 0]), 3).tolist() == [2, 0, 1]
    assert Sums.of([]).within(5).tolist() == []
