"""Staircase noise: never more than one step apart within the sensitivity, and the least expected error."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from tacit.errors import NotPrivate
from tacit.mechanisms.additive.laplace import Laplace
from tacit.mechanisms.additive.staircase import Staircase
from tacit.mechanisms.shared import quantised
from tacit.testing import seeded
from tests.mechanisms.laws import law_of
from tests.statistical.fit import fits

EPSILONS = ["0.01", "0.5", "1", "2", "5", "12", "40"]


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantised, "_FINENESS", 2)


def steps_down(m: Staircase, k: int) -> int:
    """How many factors e^(-ε) the mass of k lies below that of 0."""
    step, place = divmod(abs(k), m._period)
    return step + (place >= m._upper)


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("sensitivity", ["1", "0.3", "7"])
@pytest.mark.parametrize("epsilon", EPSILONS[:5])
def test_every_shift_costs_at_most_one_step(epsilon: str, sensitivity: str) -> None:
    """Exact: masses are powers of e^(-ε), and their exponents differ by one at most, for all shifts and outcomes."""
    m = Staircase(epsilon=epsilon, sensitivity=sensitivity)
    reach = range(-3 * m._period - 2, 3 * m._period + 3)
    for shift in range(m._period + 1):
        apart = [steps_down(m, k + shift) - steps_down(m, k) for k in reach]
        assert max(map(abs, apart)) <= 1
    assert max(steps_down(m, k + m._period + 1) - steps_down(m, k) for k in reach) == 2  # planted: one granule too far
    values = [Fraction(k, 37) for k in range(-90, 90)]
    moved = [abs(law_of(m, x + Fraction(sensitivity)).centre - law_of(m, x).centre) for x in values]
    assert max(moved) == m._period


def expected_error(m: Staircase) -> float:
    """E|noise| from the masses, in the units of the value."""
    epsilon, period, upper = float(m._guarantee.eps), m._period, m._upper
    drop = math.exp(-epsilon)
    mass = 2 * (upper + (period - upper) * drop) / (1 - drop) - 1
    high = upper * (upper - 1) / 2
    low = period * (period - 1) / 2 - high
    within = (high + low * drop) / (1 - drop)
    between = period * (upper + (period - upper) * drop) * drop / (1 - drop) ** 2
    return 2 * (within + between) / mass * float(m._lattice.granule)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_expected_error_is_the_least_possible(epsilon: str) -> None:
    """Geng & Viswanath 2014: no ε-DP noise on one real has E|noise| below Δe^(ε/2)/(e^ε-1)."""
    m = Staircase(epsilon=epsilon, sensitivity=3)
    least = 3 * math.exp(float(epsilon) / 2) / math.expm1(float(epsilon))
    assert expected_error(m) == pytest.approx(least, rel=2e-5)
    assert expected_error(m) <= Laplace(epsilon=epsilon, sensitivity=3).scale * (1 + 1e-5)


def test_the_error_seen_is_the_error_expected() -> None:
    m = Staircase(epsilon=3, sensitivity=1)
    bits = seeded(6)
    errors = np.abs([m.release(0.0, entropy=bits) for _ in range(6000)])
    assert abs(errors.mean() - expected_error(m)) <= 6.5 * errors.std() / math.sqrt(errors.size)
    assert abs(errors.mean() - expected_error(Staircase(epsilon="2.6", sensitivity=1))) > errors.std() / 20


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("epsilon", ["0.01", "1", "12", "40"])
def test_coarse_draws_follow_the_law(epsilon: str) -> None:
    """Also where the upper part of a step is a tiny share of it: nothing is drawn by rejection there."""
    m = Staircase(epsilon=epsilon, sensitivity=1)
    bits = seeded(5)
    samples = np.array([int(Fraction(m.release(2, entropy=bits)) / m._lattice.granule) for _ in range(4000)])
    law = law_of(m, 2)
    assert fits(samples, law, cells=6)
    off = max(1, m._upper // 2, int(m.scale / m._lattice.granule / 3))
    assert not fits(samples + off, law, cells=6)


def test_arrays_are_refused_because_every_step_costs_epsilon() -> None:
    with pytest.raises(NotPrivate, match="Use Laplace for arrays"):
        Staircase(epsilon=1, sensitivity=1).release([1.0, 2.0])
