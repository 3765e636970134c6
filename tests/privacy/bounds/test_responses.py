"""k randomized responses: the bound is the exact binomial sum (Arb, term by term), rounded up, for every k."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.privacy.bounds import responses
from tacit.privacy.bounds.responses import responses_delta_up, responses_epsilon
from tacit.privacy.prices import price
from tests.privacy.oracle import arb, digits, responses_delta
from tests.steps import at_most

epsilons = st.floats(min_value=1e-4, max_value=5).map(price)
deltas = st.floats(min_value=-200, max_value=-0.05).map(lambda power: price(math.exp(power)))
WITHIN = 1 + Fraction(1, 10**12)


@given(epsilons, st.integers(1, 60), st.floats(0, 1.1))
def test_delta_is_the_exact_sum(epsilon: Fraction, k: int, share: float) -> None:
    at = k * epsilon * Fraction(share)
    bound = responses_delta_up(epsilon, k, at)
    with digits(120):
        truth = responses_delta(epsilon, k, at)
        assert not truth > arb(Fraction(bound))
        assert not arb(Fraction(bound)) > truth * arb(WITHIN) + arb(Fraction(1, 10**90))


@given(epsilons, st.integers(1, 60), deltas)
def test_epsilon_is_the_exact_inverse(epsilon: Fraction, k: int, delta: Fraction) -> None:
    found = responses_epsilon(epsilon, k, delta)
    exact = min(Fraction(found), price(found))
    with digits(250):
        assert responses_delta(epsilon, k, exact) <= arb(delta)
        if found:
            assert responses_delta(epsilon, k, exact * (1 - Fraction(1, 10**12))) > arb(delta)


@settings(max_examples=6)
@given(epsilons, st.integers(990, 1500), deltas)
def test_epsilon_across_stirlings_threshold(epsilon: Fraction, k: int, delta: Fraction) -> None:
    found = responses_epsilon(epsilon, k, delta)
    exact = min(Fraction(found), price(found))
    with digits(250):
        assert responses_delta(epsilon, k, exact) <= arb(delta)
        if found:
            assert responses_delta(epsilon, k, exact * (1 - Fraction(1, 10**10))) > arb(delta)


@given(epsilons, st.integers(1, 30), deltas)
def test_whatever_line_is_tried_its_answer_holds(epsilon: Fraction, k: int, delta: Fraction) -> None:
    """The search decides only how tight the answer is: every line that gives one gives a true one."""
    for last in range((k + 1) // 2):
        found = responses._root(epsilon, k, last, delta)
        if found is not None:
            with digits(250):
                assert not responses_delta(epsilon, k, max(Fraction(found), Fraction(0))) > arb(delta)


@pytest.mark.parametrize("n", [0, 1, 2, 10, 999, 1000, 1001, 4096, 10**6, 10**9])
def test_factorials_are_enclosed(n: int) -> None:
    low, high = responses._log_factorial(n)
    with digits(80):
        truth = (arb(n) + 1).lgamma()
        assert not truth < arb(Fraction(low))
        assert not truth > arb(Fraction(high))
    assert high - low < Decimal("1e-22")


@given(epsilons, st.integers(20, 60), st.floats(0, 0.9), st.integers(1, 15))
def test_sums_cut_short_stay_above_the_truth(epsilon: Fraction, k: int, share: float, terms: int) -> None:
    """As for more parts than can be summed to the end: the rest is bounded, not forgotten."""
    at = k * epsilon * Fraction(share)
    with pytest.MonkeyPatch.context() as patch, digits(120):
        patch.setattr(responses, "_MOST_TERMS", terms)
        responses._line.cache_clear()
        bound = responses_delta_up(epsilon, k, at)
        assert not responses_delta(epsilon, k, at) > arb(Fraction(bound))
    responses._line.cache_clear()


@pytest.mark.parametrize("k", [1, 2, 3, 4, 7, 10])
@pytest.mark.parametrize("last", [0, 1, 2, 3])
def test_breakpoints_are_exact(k: int, last: int) -> None:
    """At at = (k-2l)ε two terms meet; the δ that the theorem states there is met by exactly that ε."""
    if 2 * last >= k:
        return
    epsilon = Fraction(1, 2)
    at = (k - 2 * last) * epsilon
    with digits(60):
        truth = responses_delta(epsilon, k, at)
        assert not truth > arb(Fraction(responses_delta_up(epsilon, k, at)))
        if last:
            found = responses_epsilon(epsilon, k, Fraction(responses_delta_up(epsilon, k, at)))
            assert found == pytest.approx(float(at), rel=1e-12)


def test_the_value_of_the_specification() -> None:
    assert responses_epsilon(Fraction(1, 100), 1000, Fraction(1, 10**6)) == pytest.approx(1.365447, abs=5e-7)


def test_a_million_parts_agree_with_a_sum_in_logarithms() -> None:
    """Independent of the code: log-gamma weights, summed by fsum around the threshold."""
    epsilon, k, delta = 0.001, 10**6, 1e-6
    found = responses_epsilon(price(epsilon), k, price(delta))

    def total(at: float) -> float:
        terms = []
        base = math.lgamma(k + 1) - k * math.log1p(math.exp(epsilon))
        last = math.ceil((k * epsilon - at) / (2 * epsilon)) - 1
        for lies in range(last, last - 12_000, -1):
            log = base - math.lgamma(lies + 1) - math.lgamma(k - lies + 1)
            terms.append(math.exp(log + (k - lies) * epsilon) * -math.expm1(at - (k - 2 * lies) * epsilon))
        return math.fsum(terms)

    assert total(found * (1 + 1e-7)) < delta < total(found * (1 - 1e-7))


@pytest.mark.parametrize(
    ("epsilon", "k", "delta"),
    [
        (Fraction(1), 10**6, Fraction(1, 10**6)),
        (Fraction(10**7), 3, Fraction(1, 2)),
        (Fraction(1, 10**9), 10**6, Fraction(1, 2)),
    ],
)
def test_extremes_end_quickly_and_stay_below_basic_composition(epsilon: Fraction, k: int, delta: Fraction) -> None:
    with at_most(10**6):
        found = responses_epsilon(epsilon, k, delta)
    assert 0 <= found <= float(k * epsilon)


@given(epsilons, st.integers(1, 40), deltas)
def test_monotone_in_everything(epsilon: Fraction, k: int, delta: Fraction) -> None:
    found = responses_epsilon(epsilon, k, delta)
    slack = 1 + 1e-13
    assert found <= responses_epsilon(epsilon, k + 1, delta) * slack
    assert found <= responses_epsilon(epsilon * Fraction(11, 10), k, delta) * slack
    assert found <= responses_epsilon(epsilon, k, delta / 2) * slack
