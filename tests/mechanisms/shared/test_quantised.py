"""Rounding to the lattice: what it does to a sensitivity is never more than what is charged for."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InvalidParameter
from tacit.mechanisms.shared.quantised import (
    dimension_of,
    lattice_for,
    multiples,
    range_text,
    read_range,
    steps,
    to_floats,
)
from tacit.noise.lattice import Lattice
from tacit.privacy import L1

FRACTIONS = st.fractions(min_value=-20, max_value=20, max_denominator=64)


@given(st.lists(st.tuples(FRACTIONS, FRACTIONS), min_size=1, max_size=5), st.integers(-3, 2))
@settings(max_examples=100, deadline=None)
def test_rounded_neighbours_are_within_the_charged_steps(pairs: list[tuple[Fraction, Fraction]], exponent: int) -> None:
    distance = sum(abs(b - a) for a, b in pairs)
    if not distance:
        return
    lattice = Lattice(exponent)
    moved = sum(abs(lattice.nearest(b) - lattice.nearest(a)) for a, b in pairs)
    assert moved <= steps(L1(distance), lattice, len(pairs))


@pytest.mark.parametrize("dimension", [1, 2, 5])
@pytest.mark.parametrize("distance", [Fraction(3), Fraction(7, 2), Fraction(1, 10)])
def test_the_charge_is_reached(dimension: int, distance: Fraction) -> None:
    """A pair that costs all of it: every coordinate just below a half, and just above."""
    lattice = Lattice(0)
    charged = steps(L1(distance), lattice, dimension)
    tiny = Fraction(1, 1000)
    shifts = [tiny] * (dimension - 1) + [distance - (dimension - 1) * tiny]
    start = [Fraction(1, 2) - tiny / 2] * (dimension - 1)
    last = shifts[-1]
    start.append(Fraction(1, 2) - (last - math.floor(last)) / 2 if last.denominator > 1 else Fraction(0))
    moved = sum(lattice.nearest(a + d) - lattice.nearest(a) for a, d in zip(start, shifts, strict=True))
    assert moved == charged


def test_a_scalar_on_the_lattice_costs_nothing() -> None:
    assert steps(L1(3), Lattice(0), 1) == 3
    assert steps(L1(3), Lattice(-4), 1) == 48
    assert steps(L1(Fraction(1, 2)), Lattice(0), 1) == 1


def test_half_even_rounding_would_cost_a_granule_more() -> None:
    """Planted: with round() two values one granule apart can end up two granules apart."""
    lattice = Lattice(0)
    values = [Fraction(k, 2) for k in range(-9, 9)]
    ours = max(lattice.nearest(x + 1) - lattice.nearest(x) for x in values)
    half_even = max(round(x + 1) - round(x) for x in values)
    assert ours == steps(L1(1), lattice, 1) == 1
    assert half_even == 2


@pytest.mark.parametrize("exponent", [-30, -20, 0, 3, 60])
def test_multiples_are_those_of_exact_arithmetic(exponent: int) -> None:
    lattice = Lattice(exponent)
    granule = lattice.granule
    floats = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, 1e300, -1e300, 5e-324, 0.1, -0.3, math.pi, float(granule / 2)]
    floats += [float(granule * 3 / 2), float(-granule * 3 / 2), math.nextafter(float(granule / 2), 0)]
    expected = [math.floor(Fraction(x) / granule + Fraction(1, 2)) for x in floats]
    assert list(multiples(np.array(floats), lattice)) == expected
    assert [multiples(x, lattice) for x in floats] == expected
    whole = [0, 1, 2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**62 + 1, 2**63 - 1, -(2**63)]
    wanted = [math.floor(x / granule + Fraction(1, 2)) for x in whole]
    assert list(multiples(np.array(whole), lattice)) == wanted
    assert list(multiples(np.array([2**64 - 1], dtype=np.uint64), lattice)) == [
        math.floor((2**64 - 1) / granule + Fraction(1, 2))
    ]


@pytest.mark.parametrize("exponent", [-70, -61, -60, -8, -1, 0, 1, 3])
def test_whole_numbers_of_any_size_are_rounded_as_by_exact_arithmetic(exponent: int) -> None:
    """By a shift where it fits int64, number by number where it does not."""
    near = [
        0,
        1,
        -1,
        3,
        2**53 - 1,
        2**53 + 1,
        -(2**53) - 1,
        2**60 + 129,
        2**61 - 1,
        2**61,
        -(2**61),
        2**62 + 1,
        2**63 - 1,
    ]
    lattice = Lattice(exponent)
    for some in (near[:1], near[:4], near[:7], near[:8], near[:9], near):
        found = multiples(np.array(some), lattice)
        assert isinstance(found, np.ndarray)
        assert [int(k) for k in found] == [lattice.nearest(Fraction(x)) for x in some]
    for kind in (np.int8, np.uint8, np.bool_):
        small = multiples(np.array([0, 1], dtype=kind), lattice)
        assert isinstance(small, np.ndarray)
        assert [int(k) for k in small] == [lattice.nearest(Fraction(x)) for x in (0, 1)]
    assert np.size(multiples(np.empty(0, dtype=np.int64), lattice)) == 0


def test_floats_come_back() -> None:
    lattice = Lattice(-3)
    assert to_floats(13, lattice) == 1.625
    assert to_floats(np.array([13, -1]), lattice).tolist() == [1.625, -0.125]  # type: ignore[union-attr]
    wide = to_floats(np.array([2**70, -(2**1100)], dtype=object), lattice)
    assert wide.tolist() == [2.0**67, -1.7976931348623157e308]  # type: ignore[union-attr]


@pytest.mark.parametrize("granule", [0, -1, 3, 0.3, "x", math.nan, math.inf, Fraction(2, 3), True])
def test_a_granule_is_a_power_of_two(granule: object) -> None:
    with pytest.raises(InvalidParameter, match="granule"):
        lattice_for(Fraction(1), L1(1), 1, granule)  # type: ignore[arg-type]


def test_the_lattice_comes_from_public_numbers_only() -> None:
    assert lattice_for(Fraction(1), L1(1), 1, "0.25").exponent == -2
    assert lattice_for(Fraction(1), L1(1), 1, 8).exponent == 3
    assert lattice_for(Fraction(3), L1(1), 1, None).exponent == -20
    assert lattice_for(Fraction(3), L1(1), 1024, None).exponent == -30
    assert dimension_of(np.zeros((3, 4))) == 12
    assert dimension_of(np.zeros(0)) == dimension_of(5.0) == 1


def test_ranges_are_the_binary_numbers_they_are() -> None:
    for written in ((0, 10), (0.1, 2), ("1/3", "0.7")):
        exact = read_range(written)
        assert read_range(eval(range_text(exact))) == exact
    assert read_range((0.1, 2)) == (Fraction(0.1), Fraction(2))
    assert read_range(["0.1", "1e3"]) == (Fraction(1, 10), Fraction(1000))
