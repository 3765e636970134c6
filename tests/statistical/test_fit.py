"""The goodness-of-fit test itself: its bound holds, it accepts what is right and rejects what is 10% off."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from tests.statistical.fit import ALARM, fits, fits_cells, fits_fields, histogram, p_bound
from tests.statistical.laws import DiscreteLaplaceLaw


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


@pytest.mark.parametrize(
    ("trials", "law"),
    [
        (12, (0.5, 0.5)),
        (40, (0.999, 0.001)),
        (15, (0.2, 0.3, 0.5)),
        (20, (0.9, 0.09, 0.01)),
        (10, (0.25, 0.25, 0.25, 0.25)),
        (9, (0.96, 0.01, 0.01, 0.01, 0.01)),
    ],
)
def test_bound_holds_by_enumeration(trials: int, law: tuple[float, ...]) -> None:
    outcomes = []
    for counts in compositions(trials, len(law)):
        ways = math.factorial(trials) / math.prod(math.factorial(c) for c in counts)
        outcomes.append((p_bound(counts, law), ways * math.prod(p**c for p, c in zip(law, counts, strict=True))))
    outcomes.sort()
    assert math.isclose(sum(chance for _, chance in outcomes), 1)
    seen = 0.0
    for bound, chances in itertools.groupby(outcomes, key=lambda pair: pair[0]):
        seen += sum(chance for _, chance in chances)
        assert seen <= bound * (1 + 1e-9)


def test_accepts_and_rejects_on_both_sides() -> None:
    even = [0.25] * 4
    n = 40_000
    assert fits_cells([n // 4] * 4, even)
    assert fits_cells([n // 4 + 150, n // 4 - 150, n // 4, n // 4], even)
    for factor in (0.9, 1.1):
        off = [n // 4 * factor, n // 4 * (2 - factor), n // 4, n // 4]
        assert not fits_cells([round(c) for c in off], even)


def test_impossible_cell_is_rejected() -> None:
    assert p_bound([10, 1], [1.0, 0.0]) == 0
    assert p_bound([10, 0], [1.0, 0.0]) == 1


def test_a_single_count_in_a_cell_of_tiny_probability_is_rejected() -> None:
    assert p_bound([10**5, 1], [1.0, 1e-20]) < ALARM


def test_histogram_puts_an_edge_into_the_cell_it_opens() -> None:
    samples = np.array([-1, 0, 0, 1, 5])
    assert histogram(samples, [0, 1]).tolist() == [1, 2, 2]
    assert histogram(samples.astype(object), [0, 1]).tolist() == [1, 2, 2]
    assert histogram(np.array([10**30, -(10**30)], dtype=object), [0, 1]).tolist() == [1, 0, 1]


def numpy_laplace(scale: float, count: int) -> np.ndarray:
    return np.floor(np.random.default_rng(3).laplace(0, scale, count)).astype(np.int64)


def test_fits_a_wide_law_drawn_by_other_means() -> None:
    samples = numpy_laplace(1e6, 60_000)
    assert fits(samples, DiscreteLaplaceLaw(Fraction(10**6)))
    assert not fits(samples, DiscreteLaplaceLaw(Fraction(900_000)))
    assert not fits(samples, DiscreteLaplaceLaw(Fraction(1_100_000)))


def test_fields_see_what_cells_cannot() -> None:
    law = DiscreteLaplaceLaw(Fraction(10**9))
    samples = numpy_laplace(1e9, 60_000)
    assert fits_fields(samples, law, [(0, 3)])
    granular = samples & ~np.int64(7)
    assert fits(granular, law)
    assert not fits_fields(granular, law, [(0, 3)])
    # uniform one by one, but the low field repeats a high one
    echo = (samples & ~np.int64(7)) | ((samples >> 12) & 7)
    assert fits_fields(echo, law, [(0, 3)])
    assert not fits_fields(echo, law, [(0, 3), (12, 3)])
    # the low bits depend on the sign: only the joint cells show it
    tied = np.where(samples < 0, samples & ~np.int64(1), samples | 1)
    assert not fits_fields(tied, law, [(0, 1)])
