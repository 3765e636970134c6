"""The lattice: floats taken apart exactly, rounded one way only, and charged for correctly."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tacit.noise.floors import WIDEST
from tacit.noise.lattice import LARGEST, Lattice

any_float = st.floats(allow_nan=False, allow_infinity=False)
exponents = st.integers(-1100, 1100)

HARD = [
    0.0,
    -0.0,
    0.1,
    -0.1,
    -0.3,
    -0.5,
    -0.75,
    -1e-3,
    1 - 2.0**-53,
    -1 + 2.0**-53,
    -(2.0**-60),
    5e-324,
    -5e-324,
    2.0**-1022,
    -(2.0**-1022) * 1.5,
    1e308,
    -1e308,
    LARGEST,
    -LARGEST,
    2.0**52 + 0.5,
    -(2.0**52) - 0.5,
    2.0**62,
    -(2.0**62),
    2.0**61 - 256,
    1 / 3,
    -1e-300,
]


def splits_exactly(lattice: Lattice, values: list[float]) -> bool:
    """Whole + rest is the value in granules, as rationals, wherever the arrays claim it."""
    wholes, rests, odd = lattice.split(np.array(values))
    left = set(odd.tolist())
    for i, value in enumerate(values):
        scaled = Fraction(value) / lattice.granule
        if i in left:
            if not (wholes[i] == 0 and rests[i] == 0):
                return False
        elif not (int(wholes[i]) + Fraction(float(rests[i])) == scaled and -0.5 < rests[i] < 1):
            return False
        whole, rest = lattice.split_one(value)
        if not (whole + Fraction(rest) == scaled and -0.5 < rest < 1):
            return False
    return True


@settings(max_examples=150, deadline=None)
@given(st.lists(any_float, min_size=1, max_size=30), exponents)
@example(HARD, 0)
@example(HARD, 1)
@example(HARD, -1)
@example(HARD, 1000)
@example(HARD, -1000)
@example(HARD, 901)
@example(HARD, -901)
@example(HARD, 62)
def test_split_is_exact(values: list[float], exponent: int) -> None:
    assert splits_exactly(Lattice(exponent), values)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-4, 4), min_size=1, max_size=30), st.integers(-3, 3))
def test_split_is_exact_near_zero(values: list[float], exponent: int) -> None:
    assert splits_exactly(Lattice(exponent), values)


@pytest.mark.parametrize("exponent", range(-1090, 1090, 109))
def test_split_is_exact_at_the_scale_of_the_granule(exponent: int) -> None:
    """Values within a few granules of zero and around 2⁵³ and 2⁶² granules, at every exponent."""
    rng = np.random.default_rng(abs(exponent))
    spreads = [rng.uniform(-3, 3, 200), rng.uniform(-1, 1, 50) * 2.0**62, rng.normal(size=50) * 2.0**53]
    mantissas = np.concatenate(spreads)
    with np.errstate(over="ignore"):
        values = [value for value in np.ldexp(mantissas, exponent).tolist() if math.isfinite(value)]
    assert splits_exactly(Lattice(exponent), values or [0.0])


def test_a_split_that_rounds_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the plain floor. One minus a tenth is not a float."""

    def plain(self: Lattice, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        scaled = values * 2.0**-self.exponent
        floors = np.floor(scaled)
        return floors.astype(np.int64), scaled - floors, np.empty(0, dtype=np.intp)

    monkeypatch.setattr(Lattice, "split", plain)
    assert splits_exactly(Lattice(0), [0.1, 0.7, -0.75, -1.1, 3.3])
    assert not splits_exactly(Lattice(0), [-0.1])
    assert not splits_exactly(Lattice(0), [-(2.0**-80)])


def test_split_leaves_out_only_what_it_must() -> None:
    lattice = Lattice(-10)
    values = np.array([1.0, -1e-30, 5e-324, 2.0**51, 2.0**52, -(2.0**52), 1e308, -0.3])
    assert lattice.split(values)[2].tolist() == [4, 5, 6]
    assert Lattice(900).split(np.array([1.0, -1.0, 0.0, 2.0**900]))[2].tolist() == []
    assert Lattice(900).split(np.array([2.0**-1]))[2].tolist() == [0]


def test_split_does_not_touch_its_input() -> None:
    values = np.array(HARD)
    before = values.copy()
    for exponent in (0, 5, -5, 1000):
        Lattice(exponent).split(values)
    assert (values == before).all()


# --- choosing and rounding ---------------------------------------------------------------------------------------


@given(st.fractions(min_value=Fraction(1, 10**30), max_value=10**30), st.integers(0, 40))
@example(Fraction(1), 0)
@example(Fraction(2**53 - 1, 2**53), 20)
@example(Fraction(3, 4), 3)
def test_finer_than_counts_granules(scale: Fraction, by: int) -> None:
    lattice = Lattice.finer_than(scale, by=by)
    assert 2**by <= scale / lattice.granule < 2 ** (by + 1)


@given(st.fractions(), st.integers(-40, 40))
@example(Fraction(1, 2), 0)
@example(Fraction(-1, 2), 0)
@example(Fraction(3, 2), 0)
def test_nearest_is_within_half_a_granule_and_rounds_halves_up(value: Fraction, exponent: int) -> None:
    lattice = Lattice(exponent)
    off = lattice.nearest(value) * lattice.granule - value
    assert -lattice.granule / 2 < off <= lattice.granule / 2


@given(st.fractions(max_denominator=10**6), st.integers(-8, 8), st.integers(-1000, 1000))
def test_nearest_moves_with_the_lattice(value: Fraction, exponent: int, steps: int) -> None:
    """The reason why a scalar whose sensitivity is a multiple of the granule pays nothing."""
    lattice = Lattice(exponent)
    assert lattice.nearest(value + steps * lattice.granule) == lattice.nearest(value) + steps


def worst_growth(dimension: int, sensitivity: Fraction, rounding: Callable[[Fraction], int]) -> Fraction:
    """The largest L1 distance after rounding, less the sensitivity, by trying eighths of a granule.

    Coordinates are independent, so it is enough to know how far apart a move of d can round one coordinate.
    """
    grid = Fraction(1, 8)
    starts = [grid * i for i in range(16)]
    reach = {
        d: max(abs(rounding(x + d * grid) - rounding(x)) for x in starts) for d in range(int(sensitivity / grid) + 1)
    }
    total = int(sensitivity / grid)
    best = max(
        sum(reach[d] for d in moves) + reach[total - sum(moves)]
        for moves in itertools.product(range(total + 1), repeat=dimension - 1)
        if sum(moves) <= total
    )
    return best - sensitivity


def half_up(x: Fraction) -> int:
    return Lattice(0).nearest(x)


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize(
    "sensitivity", [Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(2), Fraction(5, 2)], ids=str
)
def test_rounding_cost_is_what_brute_force_finds(dimension: int, sensitivity: Fraction) -> None:
    cost = Lattice(0).rounding_cost(dimension=dimension, sensitivity=sensitivity)
    assert cost == worst_growth(dimension, sensitivity, half_up)
    scaled = Lattice(-7).rounding_cost(dimension=dimension, sensitivity=sensitivity / 128)
    assert scaled == cost


def test_rounding_half_to_even_costs_a_whole_granule() -> None:
    """Planted: Python's own rounding. Spec 3.3 warns of it, and the brute force sees it."""
    sensitivity = Fraction(1)
    assert worst_growth(1, sensitivity, half_up) == 0 == Lattice(0).rounding_cost(dimension=1, sensitivity=sensitivity)
    assert worst_growth(1, sensitivity, round) == 1


@given(st.integers(1, 50), st.fractions(min_value=Fraction(1, 1000), max_value=1000), st.integers(-10, 10))
def test_rounding_cost_is_below_one_granule_a_coordinate(dimension: int, sensitivity: Fraction, exponent: int) -> None:
    lattice = Lattice(exponent)
    cost = lattice.rounding_cost(dimension=dimension, sensitivity=sensitivity)
    assert 0 <= cost < dimension
    assert (sensitivity / lattice.granule + cost).denominator == 1  # an integer sensitivity comes out


# --- released floats -----------------------------------------------------------------------------------------------


@given(st.integers(-(2**70), 2**70), st.integers(-1150, 1100))
@example(2**53 + 1, 0)
@example(3, -1075)
@example(1, -1076)
@example(1, 1024)
@example(-1, 1024)
@example(2**62, 990)
def test_value_is_the_nearest_float(multiple: int, exponent: int) -> None:
    lattice = Lattice(exponent)
    value = lattice.value(multiple)
    exact = multiple * lattice.granule
    assert math.isfinite(value)
    if abs(exact) > Fraction(LARGEST):
        assert value == math.copysign(LARGEST, multiple)
    else:
        neighbours = [math.nextafter(value, -math.inf), math.nextafter(value, math.inf)]
        gaps = [abs(Fraction(x) - exact) for x in neighbours if math.isfinite(x)]
        assert abs(Fraction(value) - exact) <= min(gaps)


@settings(max_examples=100)
@given(st.lists(st.integers(-WIDEST + 1, WIDEST - 1), min_size=1, max_size=20), st.integers(-1000, 1100))
@example([2**61, -(2**61), 1, -1, 0], 1000)
@example([2**61, -(2**61), 1], 970)
def test_values_agree_with_value(multiples: list[int], exponent: int) -> None:
    lattice = Lattice(exponent)
    together = lattice.values(np.array(multiples, dtype=np.int64)).tolist()
    assert together == [lattice.value(multiple) for multiple in multiples]


def test_values_saturate_without_a_warning() -> None:
    assert Lattice(1023).values(np.array([1, 2, -2, 0])).tolist() == [2.0**1023, LARGEST, -LARGEST, 0.0]
    assert Lattice(1023).value(2) == LARGEST
    assert Lattice(1023).value(-(10**40)) == -LARGEST
    assert Lattice(-1100).value(1) == 0.0
