"""Loss distributions: oracle values, random plans against an independent oracle, and the algebra's laws."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.neighbours import ADD_REMOVE, REPLACE
from tests.privacy.losses import oracle

L = LossDistribution


def dp_sgd(steps: int = 10_000) -> LossDistribution:
    return steps * L.gaussian(1).sampled(0.01)


ORACLE_VALUES = [
    (1000 * L.laplace(100), 1e-6, 1.362925),
    (1000 * L.discrete_laplace(100), 1e-6, 1.365447),
    (1000 * L.pure(0.01), 1e-6, 1.365447),
    (1000 * L.gaussian(50), 1e-6, 2.921601),
    (dp_sgd(), 1e-5, 6.187712),
    (L.discrete_gaussian(5), 1e-6, 0.834976),
]


@pytest.mark.parametrize(("loss", "delta", "value"), ORACLE_VALUES, ids=lambda x: repr(x)[:40])
def test_oracle_values_are_met_from_above(loss, delta, value):
    lower, upper = loss.epsilon_bounds(delta)
    assert value * (1 - 1e-6) <= upper <= value * (1 + 1e-4)
    assert lower <= value * (1 + 1e-6)
    assert lower >= value * (1 - 1e-3)
    assert loss.epsilon(delta) <= value * (1 + 1e-4)


# --- random plans ----------------------------------------------------------------------------------------------------


def _plan(rng: random.Random):
    """A random smooth plan: its loss, and for each direction its moment generating functions."""
    kind = rng.randrange(6)
    mu = rng.uniform(0.2, 1.0)
    if kind == 0:
        q, k = 10 ** rng.uniform(-2.5, -0.3), rng.randint(30, 2000)
        return k * L.gaussian(1 / mu).sampled(q), [[(oracle.sampled_gaussian(mu, q, b), k)] for b in (False, True)]
    if kind == 1:
        ks = [rng.randint(1, 50) for _ in range(4)]
        c, e, eta, cats = rng.uniform(0.01, 0.3), rng.uniform(0.01, 0.3), rng.uniform(0.05, 0.4), rng.randint(2, 5)
        loss = (
            ks[0] * L.laplace(1 / c)
            + ks[1] * L.gaussian(1 / mu)
            + ks[2] * L.randomized_response(e, cats, neighbours=ADD_REMOVE)
            + ks[3] * L.bounded_range(eta)
        )
        families = [oracle.laplace(c), oracle.gaussian(mu), oracle.response(e, cats), oracle.bounded_range(eta)]
        return loss, [list(zip(families, ks, strict=True))]
    if kind == 2:
        q, q2, c, k, k2 = (
            rng.uniform(0.01, 0.3),
            rng.uniform(0.01, 0.5),
            rng.uniform(0.05, 0.5),
            rng.randint(10, 200),
            20,
        )
        loss = k * L.gaussian(1 / mu).sampled(q) + L.gaussian(4) + k2 * L.laplace(1 / c).sampled(q2)
        ways = (False, True)
        return loss, [
            [(oracle.sampled_gaussian(mu, q, b), k), (oracle.gaussian(0.25), 1), (oracle.sampled_laplace(c, q2, b), k2)]
            for b in ways
        ]
    if kind == 3:
        m, k = rng.randint(5, 200), rng.randint(20, 300)
        base = L.gaussian(1 / mu, neighbours=REPLACE)
        loss = k * base.sampled_without_replacement(m, 1000) + L.gaussian(4, neighbours=REPLACE)
        return loss, [[(oracle.fixed_size_gaussian(mu, m / 1000), k), (oracle.gaussian(0.25), 1)]]
    if kind == 4:
        scale, shift, k = rng.uniform(3, 30), rng.randint(1, 3), rng.randint(1, 30)
        loss = k * L.discrete_gaussian(scale, shift) + L.gaussian(1 / mu)
        return loss, [[(oracle.discrete_gaussian(scale, shift), k), (oracle.gaussian(mu), 1)]]
    q, k, g = rng.uniform(0.01, 0.3), rng.randint(10, 200), rng.randint(2, 4)
    return k * L.gaussian(1 / mu).sampled(q).group(g), [
        [(oracle.sampled_gaussian(mu, q, b, g), k)] for b in (False, True)
    ]


def _tilt_and_span(plan, epsilon: float) -> tuple[float, float]:
    def log_m(t: float) -> float:
        with np.errstate(all="ignore"):
            return float(sum(n * np.log(m(np.array([t + 0j]))[0].real) for m, n in plan))

    values = [(log_m(t) - t * epsilon, t) for t in np.geomspace(0.02, 2000, 60)]
    tilt = min(pair for pair in values if math.isfinite(pair[0]))[1]
    step = 1e-3 * tilt
    variance = (log_m(tilt + step) - 2 * log_m(tilt) + log_m(tilt - step)) / step**2
    return tilt, max(40 * math.sqrt(variance) + epsilon, 60 / tilt + 4 * epsilon) + 6


def check_against_oracle(seed: int) -> None:
    rng = random.Random(seed)
    loss, plans = _plan(rng)
    delta = 10 ** rng.uniform(-11, -3)
    lower, upper = loss.epsilon_bounds(delta)
    settled = [(plan, *_tilt_and_span(plan, upper)) for plan in plans]

    def truth(epsilon: float) -> float:
        return max(oracle.delta(plan, epsilon, tilt, span) for plan, tilt, span in settled)

    assert truth(upper) <= delta * (1 + 1e-7), loss
    assert truth(upper * (1 - 1e-4)) >= delta, loss
    assert lower == 0 or truth(lower) >= delta * (1 - 1e-7), loss
    assert lower >= 0.98 * upper


@pytest.mark.parametrize("seed", range(10))
def test_random_plans_against_the_oracle(seed):
    check_against_oracle(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 500))
def test_hundreds_of_random_plans_against_the_oracle(seed):
    check_against_oracle(seed)


# --- finite distributions, exactly -----------------------------------------------------------------------------------


def _exact_distribution(rng: random.Random, size: int, zeros: bool) -> list[Fraction]:
    weights = [rng.randint(0 if zeros else 1, 9) for _ in range(size)]
    if not any(weights):
        weights[0] = 1
    return [Fraction(w, sum(weights)) for w in weights]


@pytest.mark.parametrize("seed", range(20))
def test_finite_pairs_agree_with_brute_force(seed):
    rng = random.Random(seed)
    pairs = []
    for _ in range(rng.randint(1, 3)):
        size = rng.randint(2, 4)
        pairs.append((_exact_distribution(rng, size, seed % 3 == 0), _exact_distribution(rng, size, seed % 3 == 0)))
    times = rng.randint(1, 2)
    loss = L.compose([times * L.finite(p, q) for p, q in pairs])
    forward = [pair for pair in pairs for _ in range(times)]
    backward = [(q, p) for p, q in forward]
    for epsilon in (0.0, 0.3, 1.0, 2.5):
        ratio = Fraction(math.exp(epsilon))
        exact = float(max(oracle.finite_delta(forward, ratio), oracle.finite_delta(backward, ratio)))
        low, high = loss.delta_bounds(epsilon, tolerance=1e-6)
        assert low <= exact * (1 + 1e-9) + 1e-15
        assert exact * (1 - 1e-9) - 1e-15 <= high
        assert high <= exact * (1 + 2e-3) + 1e-6


def test_identical_responses_follow_the_binomial():
    """Kairouz, Oh & Viswanath, for 20 uses of ε = 0.3, by exact summation."""
    e, k = 0.3, 20
    p = math.exp(e) / (1 + math.exp(e))
    for epsilon in (0.0, 0.5, 2.0, 4.0):
        exact = math.fsum(
            math.comb(k, i) * p**i * (1 - p) ** (k - i) * max(0.0, -math.expm1(epsilon - (2 * i - k) * e))
            for i in range(k + 1)
        )
        low, high = (k * L.pure(e)).delta_bounds(epsilon)
        assert low <= exact * (1 + 1e-12)
        assert exact <= high <= exact * (1 + 1e-8)


# --- laws ------------------------------------------------------------------------------------------------------------

LOSSES = st.sampled_from(
    [
        L.laplace(3),
        L.discrete_laplace(4, 3),
        L.gaussian(2),
        L.discrete_gaussian(3, 2),
        L.randomized_response(0.4, 3, neighbours=ADD_REMOVE),
        L.bounded_range(0.5),
        L.pure(0.2),
        L.approximate(0.2, 1e-9),
        L.finite([Fraction(1, 2), Fraction(1, 2)], [Fraction(2, 3), Fraction(1, 3)]),
        L.gaussian(1).sampled(0.05),
        L.laplace(1).sampled(0.1),
    ]
)
DELTAS = st.sampled_from([1e-3, 1e-6, 1e-12])


@settings(max_examples=15, deadline=None)
@given(LOSSES, LOSSES, st.integers(1, 8), DELTAS)
def test_order_does_not_matter(a, b, k, delta):
    assert a + k * b == k * b + a
    assert (a + k * b).epsilon(delta) == (k * b + a).epsilon(delta)


@settings(max_examples=10, deadline=None)
@given(LOSSES, LOSSES, st.integers(1, 8), DELTAS)
def test_more_mechanisms_never_cost_less(a, b, k, delta):
    low, high = (k * a).epsilon_bounds(delta, tolerance=1e-4)
    more_low, more_high = (k * a + b).epsilon_bounds(delta, tolerance=1e-4)
    assert low <= high
    assert more_low <= more_high
    assert low <= more_high
    assert high <= more_high * (1 + 2e-4)


@settings(max_examples=12, deadline=None)
@given(LOSSES, st.integers(1, 30), DELTAS)
def test_epsilon_and_delta_are_inverse(loss, k, delta):
    epsilon = (k * loss).epsilon(delta)
    if math.isinf(epsilon):
        assert (k * loss).infinite_mass > delta
        return
    low, _ = (k * loss).delta_bounds(epsilon)
    assert low <= delta * (1 + 1e-9)
    if epsilon > 0:
        assert (k * loss).delta(epsilon * (1 + 1e-3)) <= delta * (1 + 1e-9)


@settings(max_examples=10, deadline=None)
@given(LOSSES, st.integers(1, 30), DELTAS)
def test_a_finer_tolerance_is_no_worse(loss, k, delta):
    coarse, fine = (k * loss).epsilon(delta, tolerance=1e-3), (k * loss).epsilon(delta, tolerance=1e-5)
    assert fine <= coarse * (1 + 1e-5)
    assert coarse <= fine * (1 + 1e-3) + 1e-12


@pytest.mark.parametrize("delta", [1e-4, 1e-9, 1e-30])
def test_monotone_in_every_parameter(delta):
    def rising(values):
        return all(a <= b * (1 + 2e-4) for a, b in pairwise(values))

    assert rising([(9 * L.laplace(1 / c)).epsilon(delta) for c in (0.1, 0.2, 0.4, 0.8)])
    assert rising([(9 * L.discrete_laplace(5, d)).epsilon(delta) for d in (1, 2, 3, 4)])
    assert rising([(9 * L.discrete_gaussian(5, d)).epsilon(delta) for d in (1, 2, 3, 4)])
    assert rising([(9 * L.gaussian(2).sampled(q)).epsilon(delta) for q in (0, 0.01, 0.1, 0.5, 0.99, 1)])
    assert rising([(9 * L.bounded_range(e)).epsilon(delta) for e in (0.1, 0.3, 0.5)])
    assert rising([(k * L.gaussian(2).sampled(0.1)).epsilon(delta) for k in (1, 2, 5, 20, 100)])
    assert rising([(9 * L.gaussian(2).sampled(0.1).group(g)).epsilon(delta) for g in (1, 2, 3)])


def test_finite_exactly_when_delta_reaches_the_infinite_mass():
    loss = L.approximate(1, 1e-6)
    assert loss.epsilon(1e-6) == 1
    assert loss.epsilon(0.999e-6) == math.inf
    assert (3 * loss).epsilon(2.9e-6) == math.inf
    assert math.isfinite((3 * loss).epsilon(3.1e-6))
    assert loss.infinite_mass == 1e-6
    assert L.pure(1).epsilon(0) == 1
    assert L.gaussian(1).epsilon(0) == math.inf
    assert (5 * L.gaussian(1).sampled(0.1)).epsilon(0) == math.inf
    assert (5 * L.laplace(2)).epsilon(0) == pytest.approx(2.5, rel=1e-12)


def test_identities():
    loss = L.gaussian(2)
    assert loss.group(1) == loss
    assert loss.sampled(1) == loss
    assert loss.sampled(0).epsilon(1e-6) == 0
    assert (0 * loss).epsilon(1e-6) == 0
    assert loss.sampled(0.5).sampled(0.5) == loss.sampled(0.25)
    assert (4 * loss).sampled(0.1) == L.gaussian(1).sampled(0.1)
    assert L.laplace(1, 0).epsilon(0) == 0
    assert L.gaussian(2).to_replace() == L.gaussian(1, neighbours=REPLACE)
    assert loss.group(2).epsilon(1e-6) == L.gaussian(1).epsilon(1e-6)


def test_the_two_directions_of_a_sample_differ_and_the_larger_counts():
    """One use, q = 1/2, pure ε = 1: ln(1 + (e-1)/2) to remove, -ln(1 - (1-1/e)/2) to add."""
    assert L.pure(1).sampled(0.5).epsilon(0) == pytest.approx(math.log(1 + (math.e - 1) / 2), rel=1e-12)


def test_tiny_deltas_are_as_easy():
    for delta in (1e-30, 1e-100, 1e-200):
        low, high = (100 * L.gaussian(1).sampled(0.1)).epsilon_bounds(delta)
        assert low <= high <= low * (1 + 2e-4)


def test_a_million_compositions():
    assert (10**6 * L.laplace(1000)).epsilon(1e-6) == pytest.approx(4.885_60, rel=5e-5)


def test_repr_says_what_is_composed():
    assert "10000 × PoissonSampledPair" in repr(dp_sgd())
    assert "add-remove" in repr(dp_sgd())


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [-1e-9, 1, 1.5, math.nan, "x", None])
def test_delta_outside_its_range(delta):
    with pytest.raises(InvalidParameter, match="delta"):
        L.pure(1).epsilon(delta)


@pytest.mark.parametrize("rate", [-0.1, 1.1, math.nan])
def test_rate_outside_its_range(rate):
    with pytest.raises(InvalidParameter, match="rate"):
        L.pure(1).sampled(rate)


@pytest.mark.parametrize("steps", [-1, 1.5, 2.0, True, "3"])
def test_steps_must_be_whole(steps):
    with pytest.raises(InvalidParameter, match="steps"):
        steps * L.pure(1)


def test_refusals():
    with pytest.raises(InvalidParameter, match="at least one"):
        L.compose([])
    with pytest.raises(InvalidParameter, match="to_replace"):
        L.pure(1) + L.pure(1, neighbours=REPLACE)
    with pytest.raises(NotPrivate, match="add-remove"):
        L.pure(1, neighbours=REPLACE).sampled(0.1)
    with pytest.raises(NotPrivate, match="replace"):
        L.pure(1).sampled_without_replacement(1, 10)
    with pytest.raises(InvalidParameter, match="chosen"):
        L.pure(1, neighbours=REPLACE).sampled_without_replacement(11, 10)
    with pytest.raises(InvalidParameter, match="Sample first"):
        (2 * L.pure(1)).sampled(0.1)
    with pytest.raises(NotPrivate, match="unbounded"):
        L.gaussian(1, neighbours=REPLACE).sampled_without_replacement(1, 10).group(2)
    with pytest.raises(InvalidParameter, match="sum to 1"):
        L.finite([0.5, 0.4], [0.5, 0.5])
    with pytest.raises(InvalidParameter, match="scale"):
        L.laplace(0)
    with pytest.raises(InvalidParameter, match="sensitivity"):
        L.discrete_laplace(1, 1.5)
    with pytest.raises(InvalidParameter, match="neighbours"):
        L.laplace(1, 1, neighbours="replace")


def test_a_sampled_loss_is_not_turned_into_a_replace_one() -> None:
    """Its group bound is about units added together; replacing is one removed and one added, unproved."""
    for plan in (L.gaussian(1).sampled(0.1), 10 * L.laplace(2).sampled(0.5), L.pure(1) + L.gaussian(1).sampled(0.1)):
        with pytest.raises(NotPrivate, match="no proven replace loss"):
            plan.to_replace()
    assert L.gaussian(1).sampled(1).to_replace() == L.gaussian(1, 2, REPLACE)


def test_sum_composes():
    one = L.laplace(10)
    assert sum([one, one, one]) == 3 * one
    with pytest.raises(TypeError):
        1 + one


def test_what_a_finite_pair_reveals_is_not_understated():
    """8/21 lies between two floats: the upper bound is the one above, the lower bound the one below."""
    p, q = [Fraction(8, 21), Fraction(6, 21), Fraction(7, 21)], [Fraction(0), Fraction(10, 21), Fraction(11, 21)]
    loss = LossDistribution.finite(p, q)
    assert Fraction(float(Fraction(8, 21))) < Fraction(8, 21)  # rounding to nearest would be on the wrong side
    for epsilon in (0, 0.1, 5):
        low, high = (Fraction(end) for end in loss.delta_bounds(epsilon))
        grown = Fraction(math.exp(epsilon))
        ways = [list(zip(p, q, strict=True)), list(zip(q, p, strict=True))]
        exact = max(sum(max(a - b * grown, Fraction(0)) for a, b in pairs) for pairs in ways)
        assert low <= exact <= high
    assert Fraction(loss.infinite_mass) >= Fraction(8, 21)
    assert loss.epsilon_bounds(float(Fraction(8, 21))) == (math.inf, math.inf)
