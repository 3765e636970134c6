"""The best of many runs: the laws of stopping, the price by enumeration, bad input."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from tacit.errors import InvalidParameter, NotPrivate
from tacit.mechanisms.private_selection import GEOMETRIC, LOGARITHMIC, PrivateSelection
from tacit.privacy import PureDP
from tacit.testing import seeded
from tests.mechanisms.divergence import max_divergence
from tests.statistical.fit import fits_cells


def stopping_law(stopping, gamma, k):
    if stopping is GEOMETRIC:
        return gamma * (1 - gamma) ** (k - 1)
    return (1 - gamma) ** k / (k * -math.log(gamma))


@pytest.mark.parametrize("stopping", [GEOMETRIC, LOGARITHMIC], ids=lambda s: s.name)
def test_number_of_runs_follows_its_law(stopping):
    gamma = Fraction(1, 5)
    bits = seeded(7)
    seen = np.bincount([min(stopping.draw(gamma, bits), 12) for _ in range(8_000)], minlength=13)[1:]

    def law(g):
        chances = [stopping_law(stopping, g, k) for k in range(1, 12)]
        return [*chances, 1 - math.fsum(chances)]

    assert fits_cells(seen, law(0.2))
    assert not fits_cells(seen, law(0.26))
    assert not fits_cells(seen, law(0.15))
    assert stopping.mean(gamma) == pytest.approx(sum(k * stopping_law(stopping, 0.2, k) for k in range(1, 300)))


def best_of(chances, stopping, gamma):
    """P[outcome is released], outcomes ordered by score: f(P[≤ y]) - f(P[< y]), f the generating function of K."""

    def f(p):
        if stopping is GEOMETRIC:
            return gamma * p / (1 - (1 - gamma) * p)
        return math.log1p(-(1 - gamma) * p) / math.log(gamma)

    marks = [f(p) for p in itertools.accumulate(chances, initial=0.0)]
    return [b - a for a, b in itertools.pairwise(marks)]


@pytest.mark.parametrize(("stopping", "times"), [(GEOMETRIC, 3), (LOGARITHMIC, 2)], ids=["geometric", "logarithmic"])
def test_price_by_enumeration(stopping, times):
    """All pairs of three-point runs with losses near ±ε or 0: within times·ε, and near it for rare good outcomes."""
    epsilon, gamma = 0.5, 0.001
    worst = 0.0
    for masses in itertools.product([0.001, 0.01, 0.3, 1.0], repeat=3):
        p = np.array(masses) / sum(masses)
        for tilt in itertools.product([-0.95, 0, 0.95], repeat=3):
            q = p * np.exp(epsilon * np.array(tilt))
            scaled = q / q.sum()
            if max(max_divergence(p, scaled), max_divergence(scaled, p)) > epsilon + 1e-12:
                continue
            a, b = best_of(p, stopping, gamma), best_of(scaled, stopping, gamma)
            worst = max(worst, max_divergence(a, b), max_divergence(b, a))
    assert 0.85 * times * epsilon < worst <= times * epsilon + 1e-9


def test_choosing_the_best_of_a_fixed_number_of_runs_is_caught():
    """With K = 50 runs always, the price is far above 3ε."""
    epsilon = 0.5
    p = np.array([0.9, 0.1])
    q = np.array([1 - 0.1 * math.exp(-epsilon), 0.1 * math.exp(-epsilon)])
    assert math.log(p[0] ** 50 / q[0] ** 50) < -3 * epsilon


def test_the_best_run_is_released():
    m = PrivateSelection(epsilon=1, runs=30)
    bits = seeded(8)
    picked = [m.select([lambda: (0.0, "poor"), lambda: (1.0, "good")], entropy=bits).result for _ in range(200)]
    assert picked.count("good") > 120
    once = m.select([lambda: (float("nan"), "broken")], entropy=bits)
    assert (once.index, once.score, once.result) == (0, -math.inf, "broken")


def test_parameters():
    m = PrivateSelection(epsilon=1, runs=20)
    assert m.guarantee == PureDP(1)
    assert m.each == PureDP("0.5")
    assert m.runs == pytest.approx(20, rel=1e-6)
    three = PrivateSelection(epsilon=1, runs=20, stopping=GEOMETRIC)
    assert three.each == PureDP("1/3")
    assert "20 runs on average" in three.explain()
    assert m != three
    with pytest.raises(InvalidParameter, match="runs"):
        PrivateSelection(epsilon=1, runs=1)
    with pytest.raises(InvalidParameter, match="mechanisms"):
        m.select([])
    with pytest.raises(InvalidParameter, match="mechanisms"):
        m.select([3])
    with pytest.raises(NotPrivate):
        PrivateSelection(rho=1, runs=5)


@pytest.mark.parametrize("returned", [5, None, (1.0,), (1.0, 2, 3), ("secret", 2), (None, 2), (1j, 2)])
def test_a_run_that_returns_something_else_is_named_and_not_shown(returned):
    with pytest.raises(InvalidParameter, match="score, result") as caught:
        PrivateSelection(epsilon=1, runs=3).select([lambda: returned])
    assert "secret" not in str(caught.value)
