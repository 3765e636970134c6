"""Shares of sets of keys: variances are those of the fit, no set is told worse, the error asked for gets smaller."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest

from tacit import DiscreteGaussian
from tacit.tables.estimators.noise import spread
from tacit.tables.fitting.least_squares import reconciliation
from tacit.tables.fitting.levels import by_keys
from tacit.tables.fitting.shares import Design, all_of_them, better_shares, largest, root_mean_square

Sets = list[tuple[int, ...]]
CUBE: Sets = [(0, 1), (0,), (1,), ()]
ROLLUP: Sets = [(0, 1), (0,), ()]


def cube(keys: int) -> Sets:
    return [one for size in range(keys + 1) for one in itertools.combinations(range(keys), size)]


@pytest.mark.parametrize(
    ("sizes", "sets"),
    [((3, 2), CUBE), ((4, 3), ROLLUP), ((3, 2, 2), cube(3)), ((5,), [(0,), ()]), ((2, 3), [(0,), (1,)])],
)
def test_variances_are_those_of_the_fit(sizes: Sequence[int], sets: Sets) -> None:
    levels = by_keys(sizes, sets)
    noise = [DiscreteGaussian.of_scale(3 + 2 * at, sensitivity=1) for at in range(len(levels))]
    each = tuple(one for level, one in zip(levels, noise, strict=True) for _ in range(level.size))
    fit = reconciliation(np.vstack([level.sums() for level in levels]), each)
    variances = np.array([spread(one) ** 2 for one in each])
    found = Design.of(sizes, sets).variances(np.array([spread(one) ** 2 for one in noise]))
    for at, level in enumerate(levels):
        dense = ((level.sums() @ fit.cells) ** 2) @ variances
        assert np.allclose(dense, found[at])


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize(
    ("sizes", "sets"), [((20, 2), CUBE), ((4, 3, 2), cube(3)), ((20, 10), ROLLUP), ((10, 5, 3), cube(3))]
)
def test_by_themselves_shares_make_no_set_worse(sizes: Sequence[int], sets: Sets, power: int) -> None:
    design, even = Design.of(sizes, sets), np.ones(len(sets))
    shares = better_shares(design, even, power)
    assert sum(shares) == 1
    assert min(shares) > 0
    made = design.variances(even / (np.array(shares, dtype=float) * len(sets)) ** power)
    assert (made <= design.variances(even) * 1.005).all()  # a step of the shares may lie beyond


def test_keys_of_two_values_need_not_be_measured_twice() -> None:
    design, even = Design.of((20, 2), CUBE), np.ones(4)
    shares = better_shares(design, even, 2)
    made = design.variances(even / (np.array(shares, dtype=float) * 4) ** 2)
    gain = math.exp(-float(np.log(made / design.variances(even)).mean()) / 2)
    assert gain > 1.3
    assert shares[1] < 0.01 > shares[3]


@pytest.mark.parametrize(("power", "gain"), [(2, 1.7), (1, 1.3)])
def test_the_root_mean_square_gets_smaller_where_it_is_asked_for(power: int, gain: float) -> None:
    for sizes, sets in (((200, 2), CUBE), ((10, 5, 3), cube(3)), ((20, 10), ROLLUP)):
        design, even = Design.of(sizes, sets), np.ones(len(sets))
        aim = root_mean_square([math.prod(sizes[axis] for axis in own) for own in sets])
        shares = np.array(better_shares(design, even, power, aim), dtype=float)
        made, first = design.variances(even / (shares * len(sets)) ** power), design.variances(even)
        assert math.exp(-aim(made, first) / 2) > gain


def test_the_largest_error_is_never_larger() -> None:
    for sizes, sets in (((200, 2), CUBE), ((5, 3), ROLLUP)):
        for power in (1, 2):
            design, even = Design.of(sizes, sets), np.ones(len(sets))
            shares = np.array(better_shares(design, even, power, largest), dtype=float)
            made = design.variances(even / (shares * len(sets)) ** power)
            assert made.max() <= design.variances(even).max() * 1.005


def test_what_is_told_worse_is_no_aim() -> None:
    assert all_of_them(np.array([1.0, 1.1]), np.ones(2)) == math.inf
    assert all_of_them(np.array([1.0, 0.9]), np.ones(2)) < all_of_them(np.ones(2), np.ones(2))
