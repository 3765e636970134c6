"""Hashing over GF(2): collisions counted, the server's transform against a loop."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.local.categories.gf2 import hashed, sign_sums, walsh


def product(matrix: int, value: int, rows: int) -> int:
    return sum((((matrix >> row) & value).bit_count() & 1) << row for row in range(rows))


@pytest.mark.parametrize(("columns", "rows"), [(1, 1), (2, 1), (3, 2), (4, 3), (2, 4)])
def test_two_values_collide_exactly_one_time_in_g(columns: int, rows: int) -> None:
    matrices = np.arange(1 << (columns + rows - 1), dtype=np.uint32)
    images = [hashed(matrices, np.full(matrices.size, v), columns, rows) for v in range(1 << columns)]
    for v, image in enumerate(images):
        assert image.tolist() == [product(int(m), v, rows) for m in matrices]
        for other in images[:v]:
            assert int((image == other).sum()) * (1 << rows) == matrices.size
        if v:
            assert set(np.bincount(image, minlength=1 << rows)) == {matrices.size >> rows}


@pytest.mark.parametrize(("columns", "rows"), [(3, 1), (5, 2), (6, 3)])
def test_the_transform_counts_what_a_loop_over_hashes_counts(columns: int, rows: int) -> None:
    rng = np.random.default_rng(1)
    matrices = rng.integers(0, 1 << (columns + rows - 1), 300, dtype=np.uint32)
    products = rng.integers(0, 1 << rows, 300, dtype=np.uint32)
    sums = walsh(sign_sums(matrices, products, None, columns, rows))
    for v in range(1 << columns):
        count = sum(product(int(m), v, rows) == int(y) for m, y in zip(matrices, products, strict=True))
        assert int(sums[v]) + 300 == count << rows


def test_weights_stand_for_repeated_reports() -> None:
    matrices, products = np.array([3, 5], dtype=np.uint32), np.array([1, 0], dtype=np.uint32)
    once = sign_sums(np.repeat(matrices, [4, 2]), np.repeat(products, [4, 2]), None, 3, 2)
    assert np.array_equal(once, sign_sums(matrices, products, np.array([4.0, 2.0]), 3, 2))


def test_walsh_is_its_own_inverse_up_to_its_size() -> None:
    values = np.random.default_rng(2).integers(-5, 5, 64)
    assert np.array_equal(walsh(walsh(values)), 64 * values)
