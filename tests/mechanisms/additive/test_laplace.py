"""The Laplace mechanism on reals: a rounding of the ideal one, in every dimension."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
import pytest

from tacit.errors import InvalidParameter, NotPrivate
from tacit.mechanisms.additive.laplace import Laplace
from tacit.privacy import L1, REPLACE, PureDP
from tacit.testing import seeded
from tests.mechanisms.laws import hockey_stick, masses
from tests.statistical.laws import PRECISION, DiscreteLaplaceLaw, RoundedLaplaceLaw, ball


def test_the_scale_is_exactly_sensitivity_over_epsilon() -> None:
    assert Laplace(epsilon=0.1, sensitivity=1)._scale == 10
    assert Laplace(epsilon="1/3", sensitivity="0.1")._scale == Fraction(3, 10)
    assert Laplace(epsilon=1, sensitivity=0.1)._scale == Fraction(0.1)  # a float sensitivity is its binary number
    rounded = Laplace(epsilon=1, sensitivity=L1.sqrt(2))
    assert rounded._scale**2 > 2
    assert Laplace.of_scale(10, sensitivity=L1.sqrt(2)).guarantee.eps ** 2 > Fraction(2, 100)


@pytest.mark.parametrize("epsilon", ["1e-6", "0.1", "1", "20"])
@pytest.mark.parametrize("sensitivity", ["1e-9", "1", "123456789"])
def test_the_lattice_follows_from_the_scale(epsilon: str, sensitivity: str) -> None:
    m = Laplace(epsilon=epsilon, sensitivity=sensitivity)
    assert m._lattice.granule * 2**20 <= m._scale < m._lattice.granule * 2**21
    released = m.release(np.linspace(-5, 5, 1000) * m.scale, entropy=seeded(1)) / m.granule
    assert (released == np.round(released)).all()


@pytest.mark.parametrize("granules", [1, 3, 10])
@pytest.mark.parametrize("place", [Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10)])
def test_rounding_ideal_noise_never_costs_more(granules: int, place: Fraction) -> None:
    """Exact masses on a lattice as coarse as the scale: wherever the values lie, the loss is at most ε."""
    epsilon = Fraction(1, 2)
    scale = granules / epsilon  # a sensitivity of so many granules
    for shift in (Fraction(granules), Fraction(granules, 3), Fraction(1, 7)):
        reach = int(30 * scale)
        first = masses(RoundedLaplaceLaw(scale, place + Fraction(1, 2)), -reach, reach)
        second = masses(RoundedLaplaceLaw(scale, place + shift + Fraction(1, 2)), -reach, reach)
        with flint.ctx.workprec(PRECISION):
            ratios = [(first[k] / second[k]).log() for k in first]
            most = max(abs(float(ratio)) for ratio in ratios)
            assert all(abs(ratio) <= ball(shift / scale) + ball(Fraction(1, 2**100)) for ratio in ratios)
        assert most == pytest.approx(float(shift / scale))


def test_rounding_the_value_first_would_cost_more() -> None:
    """Planted: the discrete law around the *rounded* value, without a charge, breaks ε on a coarse lattice."""
    scale = Fraction(2)  # ε = ½ for a sensitivity of one granule
    first = masses(DiscreteLaplaceLaw(scale), -50, 50)
    # 0.49 rounds to 0 and 1.51, at a distance of 1.02 granules, to 2.
    second = dict(zip(range(-51, 52), masses(DiscreteLaplaceLaw(scale), -52, 48).values(), strict=True))
    loss = float((first[0] / second[0]).log())
    assert loss > 0.51 + 0.4


@pytest.mark.parametrize(("one", "other"), [(1, 1), (1, 3), (2, 2), (0, 4)])
@pytest.mark.parametrize("epsilon", ["0", "0.3", "1", "1.7"])
def test_a_shift_of_one_coordinate_is_the_worst_of_its_length(one: int, other: int, epsilon: str) -> None:
    """The divergence of a shift split over two coordinates is at most that of the whole shift in one."""
    scale, reach = Fraction(2), 60
    law = DiscreteLaplaceLaw(scale)
    base = [float(p) for p in masses(law, -reach, reach).values()]
    centre = np.array(base)

    def moved(shift: int) -> np.ndarray:
        return np.array([float(p) for p in masses(law, -reach - shift, reach - shift).values()])

    p = np.outer(centre, centre)
    q = np.outer(moved(one), moved(other))
    split = np.maximum(p - math.exp(float(epsilon)) * q, 0).sum()
    whole = np.maximum(centre - math.exp(float(epsilon)) * moved(one + other), 0).sum()
    assert split <= whole + 1e-12
    assert (one and other) or split == pytest.approx(whole)


def test_the_loss_is_that_of_the_continuous_law() -> None:
    m = Laplace(epsilon=1, sensitivity=1)
    for epsilon in (0.0, 0.2, 0.9):
        assert m.loss.delta(epsilon) == pytest.approx(1 - math.exp((epsilon - 1) / 2), rel=1e-4)
    coarse = masses(RoundedLaplaceLaw(Fraction(4), Fraction(1, 2)), -200, 200)
    moved = masses(RoundedLaplaceLaw(Fraction(4), Fraction(9, 2)), -200, 200)
    assert float(hockey_stick(coarse, moved, Fraction(1, 5))) <= m.loss.delta(0.2)


def test_only_a_pure_price_is_sold() -> None:
    for price in ({"rho": 1}, {"mu": 1}, {"epsilon": 1, "delta": 1e-6}):
        with pytest.raises(NotPrivate, match="Pass epsilon="):
            Laplace(sensitivity=1, **price)  # type: ignore[arg-type]


def test_the_neighbour_relation_goes_with_the_sensitivity() -> None:
    m = Laplace(epsilon=1, sensitivity=L1(2, neighbours=REPLACE))
    assert m.guarantee == PureDP(1, neighbours=REPLACE)
    assert m.explain().startswith("Replacing one unit")


def test_answers_beyond_the_floats_are_the_largest_float() -> None:
    m = Laplace(epsilon=1, sensitivity=1e290)
    top = 1.7976931348623157e308
    for seed in range(20):
        assert abs(m.release(top, entropy=seeded(seed))) <= top
        assert np.isfinite(m.release(np.array([top, -top]), entropy=seeded(seed))).all()
    assert m.release(10**400) == top
    assert m.release(-(10**400)) == -top
    assert m.release([10**400, 0.5])[0] == top


def test_a_scale_beyond_the_floats_is_refused() -> None:
    for epsilon, sensitivity in (("1e-90", "1e290"), ("1e90", "1e-290")):
        with pytest.raises(InvalidParameter, match="scale"):
            Laplace(epsilon=epsilon, sensitivity=sensitivity)


@pytest.mark.parametrize(("epsilon", "factor"), [("0.2", "1.23"), ("1", "2.72"), ("0.01", "1.011"), ("300", "e^300")])
def test_the_explanation_rounds_up(epsilon: str, factor: str) -> None:
    m = Laplace(epsilon=epsilon, sensitivity=1)
    assert f"a factor of at most {factor}." in m.explain()
    if "^" not in factor:
        assert math.exp(float(epsilon)) <= float(factor)
    stated = float(m.explain().split("more than ")[1].split(" at most")[0])
    assert m.accuracy(0.05) <= stated <= m.accuracy(0.05) * 1.001
