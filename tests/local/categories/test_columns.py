"""Sums of packed columns against unpacking them."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.local.categories.columns import column_sums


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 26, 27, 28, 1000, 5000])
@pytest.mark.parametrize("columns", [1, 8, 9, 103])
def test_sums_are_those_of_the_unpacked_bits(count: int, columns: int) -> None:
    bits = np.random.default_rng(count).random((count, columns)) < 0.3
    assert np.array_equal(column_sums(np.packbits(bits, axis=1), columns), bits.sum(axis=0))


def test_all_ones() -> None:
    assert set(column_sums(np.full((20_000, 40), 255, dtype=np.uint8), 320)) == {20_000}
