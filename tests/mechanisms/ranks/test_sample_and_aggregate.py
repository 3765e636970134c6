"""Sample and aggregate: one row moves one result, and nothing that a function does is seen."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from tacit import InvalidParameter, Quantile, SampleAndAggregate, audit_exact
from tacit.privacy import REPLACE
from tacit.testing import seeded
from tests.mechanisms.sources import nothing_drawn

ROWS = [0, 3, 3, 1]


def test_one_row_moves_one_result_whatever_the_blocks() -> None:
    for deal in permutations(range(4)):
        blocks = np.array_split(np.array(deal), 2)
        for row in range(4):
            other = list(ROWS)
            other[row] = 99
            moved = [sum(ROWS[i] for i in b) != sum(other[i] for i in b) for b in blocks]
            assert sum(moved) == 1


def quantile_law(values: list[int], epsilon: float) -> np.ndarray:
    """The exponential mechanism on 0..3: minus the distance of n/2 from the ranks of a point, Δ = 1 and factor 2."""
    ranks = [(sum(v < y for v in values), sum(v <= y for v in values)) for y in range(4)]
    middle = len(values) / 2
    weights = np.exp([-epsilon / 2 * max(0, low - middle, middle - high) for low, high in ranks])
    return weights / weights.sum()


def law(rows: list[int], epsilon: float) -> np.ndarray:
    """The chances of 0..3 for sums of two blocks of two rows, clamped, averaged over all deals."""
    deals = list(permutations(range(4)))
    return sum(  # type: ignore[return-value]
        quantile_law([min(rows[a] + rows[b], 3), min(rows[c] + rows[d], 3)], epsilon) for a, b, c, d in deals
    ) / len(deals)


def test_promise_by_exact_laws() -> None:
    m = SampleAndAggregate(blocks=2, bounds=(0, 3), granule=1, epsilon=1)
    for row in range(4):
        for value in range(4):
            other = list(ROWS)
            other[row] = value
            assert not audit_exact(law(ROWS, 1), law(other, 1), m.guarantee).violated


def test_draws_follow_the_law() -> None:
    m = SampleAndAggregate(blocks=2, bounds=(0, 3), granule=1, epsilon=1)
    drawn = m._releases(ROWS, sum, 40_000, seeded(6)).astype(int)
    seen = np.bincount(drawn, minlength=4)
    wanted = law(ROWS, 1) * 40_000
    assert ((seen - wanted) ** 2 / wanted).sum() < 38  # 3 degrees: once in 10⁷
    wanted = law(ROWS, 2) * 40_000
    assert ((seen - wanted) ** 2 / wanted).sum() > 38


def test_what_a_function_does_is_not_seen() -> None:
    m = SampleAndAggregate(blocks=5, bounds=(0, 1), epsilon=1)

    def fragile(rows: object) -> object:
        if 0 in list(rows):  # type: ignore[call-overload]
            raise ValueError("a secret")
        return "no number" if 1 in list(rows) else None  # type: ignore[call-overload]

    assert 0 <= m.release(list(range(20)), fragile) <= 1
    assert 0 <= m.release(list(range(20)), lambda rows: math.inf) <= 1


def test_as_many_rows_as_blocks_is_the_quantile_itself() -> None:
    m = SampleAndAggregate(blocks=3, bounds=(0, 15), granule=1, epsilon=1)
    median = Quantile(0.5, bounds=(0, 15), granule=1, epsilon=1, neighbours=REPLACE)
    ours = np.bincount(m._releases([1, 9, 4], lambda r: r[0], 30_000, seeded(1)).astype(int), minlength=16)
    theirs = np.bincount(median._releases([1, 9, 4], 30_000, seeded(2)).astype(int), minlength=16)
    assert (((ours - theirs) ** 2) / (ours + theirs)).sum() < 75  # 15 degrees: once in 10⁹


def test_arrays_with_a_row_per_unit() -> None:
    m = SampleAndAggregate(blocks=10, bounds=(-5, 5), epsilon=5)
    table = np.random.default_rng(1).normal(size=(1000, 2))
    assert abs(m.release(table, lambda part: part[:, 0].mean())) < 2


@pytest.mark.parametrize("rows", [[1, 2], "abcdef", np.array(3), None])
def test_bad_rows(rows: object) -> None:
    with nothing_drawn() as bits, pytest.raises(InvalidParameter, match="rows"):
        SampleAndAggregate(blocks=3, bounds=(0, 1), epsilon=1).release(rows, len, entropy=bits)


def test_no_blocks() -> None:
    with pytest.raises(InvalidParameter, match="blocks"):
        SampleAndAggregate(blocks=0, bounds=(0, 1), epsilon=1)
