"""Every conversion holds against exact profiles (Arb), is as tight as it claims, and rounds against us."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tacit.privacy import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from tacit.privacy import conversion as c
from tacit.privacy.prices import price
from tests.privacy.oracle import Pair, arb, digits, gaussian_delta, hockey_stick, renyi, responses_delta, tail, upper

epsilons = st.floats(min_value=1e-6, max_value=20).map(price)
deltas = st.floats(min_value=-700, max_value=-0.01).map(lambda power: price(math.exp(power)))
orders = st.floats(min_value=1.001, max_value=300).map(price)
WITHIN = 1 + Fraction(1, 10**9)


@st.composite
def finite_pairs(draw: st.DrawFn, sizes: st.SearchStrategy[int] = st.integers(2, 5)) -> Pair:  # noqa: B008
    """Two distributions on the same few points, none of them impossible."""
    size = draw(sizes)
    weights = st.lists(st.integers(1, 50), min_size=size, max_size=size)
    one, other = draw(weights), draw(weights)
    assume(Fraction(one[0], sum(one)) != Fraction(other[0], sum(other)))
    return [Fraction(w, sum(one)) for w in one], [Fraction(w, sum(other)) for w in other]


def pure_epsilon(pair: Pair) -> Fraction:
    """max |ln(p/q)|, rounded up."""
    ratios = [max(p / q, q / p) for p, q in zip(*pair, strict=True)]
    return upper(arb(max(ratios)).log())


def response_epsilon(epsilon: Fraction, delta: Fraction) -> flint.arb:
    """The exact ε of one randomized response at δ."""
    return (arb(epsilon).exp() - arb(delta) * (1 + arb(epsilon).exp())).log()


# --- pure ------------------------------------------------------------------------------------------------------------


def test_pure_to_zcdp_and_bounded_range_are_the_stated_formulas() -> None:
    assert c.pure_to_zcdp(Fraction(1, 10)) == Fraction(1, 200)
    assert c.bounded_range_to_zcdp(Fraction(1, 10)) == Fraction(1, 800)
    assert PureDP("0.1").to(ZCDP) == ZCDP("0.005")


@given(finite_pairs(), orders)
def test_a_pure_pair_keeps_every_promise_made_for_it(pair: Pair, alpha: Fraction) -> None:
    """Random finite pairs: their exact divergences and profiles are below what their ε was converted to."""
    with digits(60):
        promise = PureDP(pure_epsilon(pair))
        divergence = renyi(pair, alpha)
        assert divergence <= arb(promise.to(RenyiDP, alpha=alpha).eps)
        assert divergence <= arb(promise.to(ZCDP).rho * alpha)
        for at in (Fraction(0), promise.eps / 3, promise.eps):
            exact = hockey_stick(pair, at)
            for claim in (promise, promise.to(ZCDP), promise.to(GaussianDP), promise.to(RenyiDP, alpha=alpha)):
                assert exact <= arb(claim.delta(at)), claim


@given(finite_pairs(), deltas)
def test_the_epsilon_of_every_conversion_holds(pair: Pair, delta: Fraction) -> None:
    with digits(400):
        promise = PureDP(pure_epsilon(pair))
        for claim in (promise, promise.to(ZCDP), promise.to(GaussianDP), promise.to(RenyiDP, alpha=8)):
            epsilon = claim.epsilon(delta)
            assert math.isfinite(epsilon)
            assert hockey_stick(pair, min(Fraction(epsilon), price(epsilon))) <= arb(delta)


@given(epsilons, orders)
def test_renyi_of_pure_is_exactly_randomized_response(epsilon: Fraction, alpha: Fraction) -> None:
    bound = c.pure_to_renyi(epsilon, alpha)
    with digits(80):
        e, a = arb(epsilon), arb(alpha)
        truth = (((a * e).exp() + ((1 - a) * e).exp()) / (1 + e.exp())).log() / (a - 1)
        assert truth <= arb(bound) <= truth * arb(WITHIN)
    assert bound <= min(epsilon, alpha * epsilon**2 / 2)
    assert c.pure_renyi_estimate(float(epsilon), float(alpha)) == pytest.approx(float(bound), rel=1e-6, abs=1e-15)


@given(st.floats(min_value=1e-9, max_value=500).map(price))
def test_gaussian_of_pure_is_the_stated_formula(epsilon: Fraction) -> None:
    """Φ(-μ/2) ≤ 1/(1+e^ε) holds at μ and fails just below it."""
    mu_squared = c.pure_to_gaussian(epsilon)
    with digits(400):
        e = arb(epsilon)
        half = arb(mu_squared).sqrt() / 2
        assert tail(half) <= 1 / (1 + e.exp())
        assert tail(half * (1 - arb(Fraction(1, 10**10)))) > 1 / (1 + e.exp())


def test_gaussian_of_pure_at_the_ends() -> None:
    assert c.pure_to_gaussian(Fraction(0)) == 0
    assert math.isfinite(float(c.pure_to_gaussian(Fraction(10**200))))
    assert c.pure_to_gaussian(Fraction(1, 10**100)) > 0


@given(epsilons, deltas)
def test_pure_at_delta_is_exactly_randomized_response(epsilon: Fraction, delta: Fraction) -> None:
    found = PureDP(epsilon).epsilon(delta)
    with digits(400):
        truth = response_epsilon(epsilon, delta) if arb(delta) < responses_delta(epsilon, 1, 0) else flint.arb(0)
        assert truth <= arb(found)
        assert arb(found) <= truth * arb(WITHIN) + arb(Fraction(1, 10**300))


# --- (ε,δ) -----------------------------------------------------------------------------------------------------------


@given(epsilons, deltas, st.floats(0, 1.5))
def test_the_profile_of_approximate_dp_is_exact(epsilon: Fraction, delta: Fraction, share: float) -> None:
    at = epsilon * Fraction(share)
    found = ApproxDP(epsilon, delta).delta(at)
    with digits(400):
        inside = responses_delta(epsilon, 1, at)
        truth = arb(delta) + (1 - arb(delta)) * inside
        assert truth <= arb(found) * (1 + arb(Fraction(1, 10**15)))
        assert price(found) >= delta
        assert arb(found) <= truth * arb(WITHIN)


def test_an_approximate_promise_needs_at_least_its_delta() -> None:
    promise = ApproxDP(1, "1e-6")
    assert promise.epsilon("0.9999e-6") == math.inf
    assert promise.epsilon("1e-6") == 1.0
    assert promise.epsilon("1e-5") < 1.0
    assert promise.epsilon(0.9) == 0.0
    assert promise.delta(1) == 1e-6
    assert promise.delta(5) == 1e-6


@given(epsilons, deltas, st.integers(2, 6))
def test_group_delta_is_the_geometric_sum(epsilon: Fraction, delta: Fraction, k: int) -> None:
    found = c.approx_group_delta(epsilon, delta, k)
    with digits(80):
        truth = sum((arb(epsilon).exp() ** i for i in range(k)), start=flint.arb(0)) * arb(delta)
        if found < 1:
            assert truth <= arb(found) <= truth * arb(WITHIN)
        else:
            assert truth > arb(1 - Fraction(1, 10**9))


@given(finite_pairs(st.just(3)), finite_pairs(st.just(3)), st.floats(0, 3))
def test_group_privacy_holds_along_a_chain(first: Pair, second: Pair, epsilon: float) -> None:
    """Three distributions in a row: the (ε,δ) between neighbours bounds the ends by the group's (2ε, δ')."""
    with digits(60):
        level = price(epsilon)
        chain = ((first[0], first[1]), (first[1], second[1]))
        delta = max(upper(hockey_stick(pair, level)) for pair in chain)
        assume(delta < 1 and c.approx_group_delta(level, delta, 2) < 1)
        group = ApproxDP(level, delta).group(2)
        assert hockey_stick((first[0], second[1]), group.eps) <= arb(group.dlt)


# --- Gaussian --------------------------------------------------------------------------------------------------------

mus = st.one_of(st.floats(min_value=1e-4, max_value=30), st.floats(-60, 1).map(lambda power: 10**power)).map(price)


@given(mus, st.floats(0, 300).map(price))
def test_gaussian_delta_is_exact(mu: Fraction, epsilon: Fraction) -> None:
    found = GaussianDP(mu).delta(epsilon)
    with digits(1500):
        truth = gaussian_delta(mu * mu, epsilon)
        assert truth <= arb(found)
        if truth > arb(Fraction(1, 10**300)):
            assert arb(found) <= truth * arb(WITHIN)
        else:
            assert found < 1e-299


@settings(max_examples=50)
@given(mus, deltas)
def test_gaussian_epsilon_is_exact(mu: Fraction, delta: Fraction) -> None:
    found = GaussianDP(mu).epsilon(delta)
    with digits(1000):
        assert gaussian_delta(mu * mu, min(Fraction(found), price(found))) <= arb(delta)
        if found:
            assert gaussian_delta(mu * mu, Fraction(found) * (1 - Fraction(1, 10**10))) > arb(delta)


@pytest.mark.parametrize("power", [1, 6, 30, 100, 300, 320, 1000])
def test_no_delta_is_too_small(power: int) -> None:
    delta = Fraction(1, 10**power)
    found = GaussianDP(1).epsilon(delta)
    with digits(2500):
        assert (
            gaussian_delta(1, Fraction(found))
            <= arb(delta)
            < gaussian_delta(1, Fraction(found) * (1 - Fraction(1, 10**10)))
        )


def test_gaussian_values_computed_elsewhere() -> None:
    """Oracle values of the specification, rounded to the digits shown."""
    assert (1000 * GaussianDP("0.02")).epsilon(1e-6) == pytest.approx(2.921601, abs=5e-7)
    sigma = 1 / math.sqrt(c.largest_gaussian(Fraction(1), Fraction(1, 10**6)))
    assert sigma == pytest.approx(4.224679, abs=5e-7)


@settings(max_examples=50)
@given(st.floats(1e-3, 20).map(price), deltas)
def test_the_largest_gaussian_meets_the_promise_and_no_larger_one_does(epsilon: Fraction, delta: Fraction) -> None:
    mu_squared = c.largest_gaussian(epsilon, delta)
    with digits(1000):
        assert gaussian_delta(mu_squared, epsilon) <= arb(delta)
        assert gaussian_delta(mu_squared * (1 + Fraction(1, 10**9)), epsilon) > arb(delta)


def test_the_largest_gaussian_at_the_ends() -> None:
    assert c.largest_gaussian(Fraction(1), Fraction(0)) == 0
    at_zero = c.largest_gaussian(Fraction(0), Fraction(1, 1000))
    with digits(50):
        assert gaussian_delta(at_zero, 0) <= arb(Fraction(1, 1000))
    assert 0 <= c.largest_gaussian(Fraction(0), Fraction(1, 10**400)) < Fraction(1, 10**700)


@given(mus, orders)
def test_gaussian_moments_are_the_stated_formulas(mu: Fraction, alpha: Fraction) -> None:
    assert GaussianDP(mu).to(ZCDP) == ZCDP(mu * mu / 2)
    assert GaussianDP(mu).to(RenyiDP, alpha=alpha) == RenyiDP(alpha, alpha * mu * mu / 2)


# --- zCDP and Rényi --------------------------------------------------------------------------------------------------

rhos = st.floats(min_value=1e-8, max_value=50).map(price)


@given(rhos, deltas)
def test_zcdp_never_promises_more_than_the_gaussian_it_came_from(rho: Fraction, delta: Fraction) -> None:
    """A Gaussian of μ² = 2ρ is ρ-zCDP, so its exact profile must lie below whatever ρ-zCDP is converted to."""
    epsilon = ZCDP(rho).epsilon(delta)
    with digits(1000):
        assert gaussian_delta(2 * rho, min(Fraction(epsilon), price(epsilon))) <= arb(delta)
        at = price(float(rho) + 1)
        assert gaussian_delta(2 * rho, at) <= arb(ZCDP(rho).delta(at))


@given(finite_pairs(), orders, st.floats(0, 4))
def test_renyi_to_delta_holds_for_finite_pairs(pair: Pair, alpha: Fraction, epsilon: float) -> None:
    with digits(80):
        divergence = upper(renyi(pair, alpha))
        at = price(epsilon)
        assert hockey_stick(pair, at) <= arb(RenyiDP(alpha, divergence).delta(at))


@given(finite_pairs(), orders, deltas)
def test_renyi_to_epsilon_holds_for_finite_pairs(pair: Pair, alpha: Fraction, delta: Fraction) -> None:
    with digits(400):
        epsilon = RenyiDP(alpha, upper(renyi(pair, alpha))).epsilon(delta)
        assert hockey_stick(pair, min(Fraction(epsilon), price(epsilon))) <= arb(delta)


def formula(alpha: flint.arb, divergence: flint.arb, delta: flint.arb) -> flint.arb:
    return divergence + (1 - 1 / alpha).log() - (delta.log() + alpha.log()) / (alpha - 1)


@given(orders, rhos, deltas)
def test_renyi_to_epsilon_is_the_stated_formula_at_the_best_order(
    alpha: Fraction, d: Fraction, delta: Fraction
) -> None:
    found = RenyiDP(alpha, d).epsilon(delta)
    with digits(400):
        truth = formula(arb(alpha), arb(d), arb(delta))
        assert arb(found) <= (truth if truth > 0 else flint.arb(0)) * arb(WITHIN) + arb(Fraction(1, 10**300))
        if alpha <= 1 / delta:
            assert truth <= arb(found)


@given(rhos, deltas, orders)
def test_no_order_beats_the_one_chosen_for_zcdp(rho: Fraction, delta: Fraction, alpha: Fraction) -> None:
    found = ZCDP(rho).epsilon(delta)
    with digits(400):
        other = formula(arb(alpha), arb(rho * alpha), arb(delta))
        assert arb(found) <= (other if other > 0 else flint.arb(0)) * arb(WITHIN) + arb(Fraction(1, 10**12))


@given(rhos, st.floats(0, 100).map(price), orders)
def test_no_order_beats_the_one_chosen_for_zcdp_at_epsilon(rho: Fraction, epsilon: Fraction, alpha: Fraction) -> None:
    found = ZCDP(rho).delta(epsilon)
    with digits(400):
        a = arb(alpha)
        other = ((a - 1) * (arb(rho * alpha) - arb(epsilon) + (1 - 1 / a).log())).exp() / a
        assert arb(found) <= (other if other < 1 else flint.arb(1)) * arb(Fraction(1000001, 1000000)) + arb(
            Fraction(5, 10**324)
        )


@given(orders, rhos, st.floats(0, 30).map(price))
def test_epsilon_and_delta_are_the_same_statement(alpha: Fraction, d: Fraction, epsilon: Fraction) -> None:
    promise = RenyiDP(alpha, d)
    delta = promise.delta(epsilon)
    if 1e-300 < delta < 0.99:
        assert promise.epsilon(delta) == pytest.approx(float(epsilon), rel=1e-6, abs=1e-6)


def test_better_than_the_older_conversion() -> None:
    """Mironov 2017: ε = D + ln(1/δ)/(α-1)."""
    assert RenyiDP(2, 1).epsilon(1e-6) < 1 + math.log(1e6)
    classic = 0.05 + 2 * math.sqrt(0.05 * math.log(1e6))
    assert ZCDP("0.05").epsilon(1e-6) < classic


@given(rhos, deltas, st.floats(0, 0.999))
def test_the_delta_of_approximate_zcdp_is_paid_first(rho: Fraction, delta: Fraction, share: float) -> None:
    leak = delta * price(share)
    rest = (delta - leak) / (1 - leak)
    assert ZCDP(rho, leak).epsilon(delta) == ZCDP(rho).epsilon(rest)
    assert ZCDP(rho, delta).epsilon(delta) == math.inf
    assert ZCDP(rho, delta).epsilon(delta / 2) == math.inf
    at = price(float(rho) + 1)
    with digits(400):
        joint = arb(leak) + (1 - arb(leak)) * arb(ZCDP(rho).delta(at))
        assert arb(ZCDP(rho, leak).delta(at)) <= joint * arb(WITHIN) + arb(Fraction(5, 10**324))


@settings(max_examples=50)
@given(st.floats(1e-3, 20).map(price), deltas)
def test_the_largest_zcdp_meets_the_promise_and_no_larger_one_does(epsilon: Fraction, delta: Fraction) -> None:
    rho = c.largest_zcdp(epsilon, delta)
    assert price(ZCDP(rho).epsilon(delta)) <= epsilon * (1 + Fraction(1, 10**9))
    assert ZCDP(rho).delta(epsilon) <= float(delta) * (1 + 1e-12)
    assert price(ZCDP(rho * (1 + Fraction(1, 10**6))).epsilon(delta)) > epsilon


@given(st.one_of(rhos), deltas)
def test_an_epsilon_is_never_negative(rho: Fraction, delta: Fraction) -> None:
    for promise in (ZCDP(rho), RenyiDP(1 + rho, rho / 100), GaussianDP(rho), PureDP(rho)):
        assert promise.epsilon(delta) >= 0
        assert promise.epsilon("0.999999") >= 0
        assert 0 <= promise.delta(0) <= 1


def test_nothing_learned_costs_nothing() -> None:
    for promise in (PureDP(0), ApproxDP(0, 0), ZCDP(0), RenyiDP(2, 0), GaussianDP(0)):
        assert promise.epsilon(0) == 0.0
        assert promise.delta(0) == 0.0


def test_unbounded_losses_have_no_epsilon_without_a_delta() -> None:
    for promise in (ApproxDP(1, 1e-6), ZCDP(1), RenyiDP(2, 1), GaussianDP(1), ZCDP(0, 1e-6)):
        assert promise.epsilon(0) == math.inf
