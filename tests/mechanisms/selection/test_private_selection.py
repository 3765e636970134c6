"""The best of many runs: the laws of stopping, the price by enumeration, bad input."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from tacit.errors import InvalidParameter, NotPrivate
from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.mechanisms.selection.private_selection import GEOMETRIC, LOGARITHMIC, PrivateSelection
from tacit.privacy import REPLACE, ZCDP, ApproxDP, PureDP, RenyiDP
from tacit.privacy.best_of_runs import divergence_up
from tacit.privacy.conversion import largest_zcdp, renyi_epsilon_up
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


def divergence(p, q, order):
    """D_order between finite laws, in floats."""
    logs = order * np.log(p) + (1 - order) * np.log(q)
    return (logs.max() + math.log(np.exp(logs - logs.max()).sum())) / (order - 1)


def gaussian_cells(shift, rho, cells=1201, reach=9.0):
    """The law of N(shift, σ²) over cells, σ² = 1/2ρ: post-processed Gaussian noise, so ρ-zCDP."""
    sigma = 1 / math.sqrt(2 * rho)
    edges = [-math.inf, *np.linspace(-reach * sigma, 1 + reach * sigma, cells - 1), math.inf]

    def between(low, high):
        low, high = ((e - shift) / (sigma * math.sqrt(2)) for e in (low, high))
        return 0.5 * (math.erfc(low) - math.erfc(high) if low > 0 else math.erfc(-high) - math.erfc(-low))

    return np.array([between(*pair) for pair in itertools.pairwise(edges)])


def best_of_many(chances, stopping, gamma):
    """`best_of` without differences of nearly equal numbers."""
    below = np.concatenate(([0.0], np.cumsum(chances)[:-1]))
    above = np.concatenate((np.cumsum(chances[::-1])[::-1][1:], [0.0]))
    weight = np.where(below < 0.5, 1 - (1 - gamma) * below, gamma + (1 - gamma) * (above + chances))
    if stopping is GEOMETRIC:
        return gamma * chances / (weight * (weight - (1 - gamma) * chances))
    return np.log1p(-(1 - gamma) * chances / weight) / math.log(gamma)


ORDERINGS = {
    "rising": lambda n: np.arange(n),
    "falling": lambda n: np.arange(n)[::-1],
    "middle first": lambda n: np.argsort(np.abs(np.arange(n) - n // 2)),
}


@pytest.mark.parametrize("stopping", [GEOMETRIC, LOGARITHMIC], ids=lambda s: s.name)
@pytest.mark.parametrize("order", [2, 8, 40])
def test_renyi_price_of_gaussian_runs_by_enumeration(stopping, order):
    """Runs whose result is Gaussian noise on a shifted number, scored in three ways: below the bound, above one run."""
    largest = 0.0
    for rho, gamma in itertools.product([0.005, 0.05, 0.5], [0.3, 0.02, 0.001]):
        exact = Fraction(gamma), Fraction(rho)
        bound = divergence_up(Fraction(order), exact[1], exact[0], stopping.times - 1, stopping.mean_up(exact[0]))
        for rank in ORDERINGS.values():
            p, q = gaussian_cells(0, rho), gaussian_cells(1, rho)
            places = rank(len(p))
            a, b = (best_of_many(law[places], stopping, gamma) for law in (p, q))
            assert a == pytest.approx(best_of(p[places], stopping, gamma), abs=1e-12)
            seen = max(divergence(a, b, order), divergence(b, a, order))
            assert seen <= float(bound) + 1e-9
            largest = max(largest, seen / (order * rho))
    assert largest > 1.5  # to charge the best of many like one run would be caught here


@pytest.mark.parametrize("stopping", [GEOMETRIC, LOGARITHMIC], ids=lambda s: s.name)
@pytest.mark.parametrize(("epsilon", "delta", "runs"), [(1, 1e-5, 20), (0.1, 1e-3, 5), (4, 1e-6, 100)])
def test_price_at_delta_by_enumeration(stopping, epsilon, delta, runs):
    """δ(ε) of the best of Gaussian runs at the price of each is below δ; at the price of all it would not be."""

    def reached(rho):
        gamma = float(m._gamma)
        worst = 0.0
        for rank in ORDERINGS.values():
            places = rank(1201)
            a, b = (best_of_many(gaussian_cells(s, rho)[places], stopping, gamma) for s in (0, 1))
            worst = max(worst, *(np.maximum(x - math.exp(epsilon) * y, 0).sum() for x, y in ((a, b), (b, a))))
        return worst

    m = PrivateSelection(epsilon=epsilon, delta=delta, runs=runs, stopping=stopping)
    assert m.guarantee == ApproxDP(epsilon, delta)
    assert reached(float(m.each.rho)) <= delta
    assert reached(float(largest_zcdp(Fraction(epsilon), Fraction(delta)))) > delta


def test_the_price_of_each_run_is_what_the_bound_gives_back():
    for stopping in (GEOMETRIC, LOGARITHMIC):
        m = PrivateSelection(epsilon=1, delta=1e-5, runs=10, stopping=stopping)
        law = m._gamma, stopping.times - 1, stopping.mean_up(m._gamma)
        curve = [divergence_up(Fraction(order), m.each.rho, *law) for order in range(2, 200)]
        epsilons = [renyi_epsilon_up(Fraction(2 + i), d, Fraction(1, 10**5)) for i, d in enumerate(curve)]
        assert 0.99 < min(epsilons) < 1.003  # whole orders; the search takes fractional ones too
        renyi = PrivateSelection(promise=RenyiDP(8, 1), runs=10, stopping=stopping)
        assert 0.999999 < divergence_up(Fraction(8), renyi.each.rho, *law) <= 1


def test_gaussian_runs_are_chosen_from_and_cannot_promise_rho():
    m = PrivateSelection(epsilon=1, delta=1e-5, runs=10)
    noise = DiscreteGaussian(promise=m.each, sensitivity=1)
    bits = seeded(9)
    best = m.select(
        [lambda: (noise.release(5, entropy=bits), "five"), lambda: (noise.release(9, entropy=bits), "nine")]
    )
    assert best.result in ("five", "nine")
    assert "runs on average" in m.explain()
    assert m.loss.epsilon(1e-5) == pytest.approx(1, rel=1e-4)
    for price in ({"rho": 1}, {"mu": 1}, {"promise": ApproxDP(1, 0)}, {"promise": RenyiDP(2, "0.01")}):
        with pytest.raises(NotPrivate):
            PrivateSelection(runs=10, **price)
    with pytest.raises(NotPrivate, match="loss distribution"):
        _ = PrivateSelection(promise=RenyiDP(8, 1), runs=10).loss
    assert PrivateSelection(promise=ApproxDP(1, 1e-5, neighbours=REPLACE), runs=10, neighbours=REPLACE).each == ZCDP(
        m.each.rho, neighbours=REPLACE
    )
