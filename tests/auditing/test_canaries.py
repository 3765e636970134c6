"""Canaries in one run: the bound against exact numbers, honest learners, planted faults."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from tacit.auditing.canaries import audit_canaries
from tacit.auditing.canary_bounds import chance_of_so_many, epsilon_refuted, log_factorials
from tacit.errors import InvalidParameter
from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.privacy import ZCDP, ApproxDP, PureDP
from tacit.testing import seeded


@pytest.mark.parametrize(("guesses", "right"), [(1, 1), (7, 5), (30, 30), (40, 22), (40, 0)])
@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 1000)])
def test_the_bound_is_the_theorem_in_exact_fractions(guesses, right, delta):
    odds = Fraction(math.exp(0.75))  # so that q is a fraction: the float ε is ln of it to 1e-16
    q, canaries = odds / (1 + odds), 50
    law = [math.comb(guesses, k) * q**k * (1 - q) ** (guesses - k) for k in range(guesses + 1)]
    beta = sum(law[right:])
    alpha = max((sum(law[max(right - i, 0) : right]) / i for i in range(1, right + 1)), default=Fraction(0))
    exact = min(Fraction(1), beta + 2 * canaries * delta * alpha)
    found = chance_of_so_many(canaries, guesses, right, 0.75, float(delta))
    assert exact <= Fraction(found) <= exact * (1 + Fraction(1, 10**5))


def off(factorials):
    """How far they are from ball arithmetic, at the worst of some places."""
    last = len(factorials) - 1
    places = {*range(min(last, 70)), *(last * i // 40 for i in range(41))}
    return max(abs(float(arb(factorials[k]) - arb(k + 1).lgamma())) for k in places)


def test_logarithms_of_factorials_are_near_enough_for_every_number_of_guesses():
    for most in (0, 1, 31, 32, 33, 1000, 10**7):
        assert len(log_factorials(most)) == most + 1
        assert off(log_factorials(most)) < 1e-7
    one_by_one = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, 10**7 + 1)))))
    assert off(one_by_one) > 1e-6  # as they were once, and called off by less than 1e-9


def coins_and_answers(epsilon, delta, canaries):
    """The joint law of all coins, and answers that tell each with odds e^ε, or, with chance δ, all of them at once."""
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    for coins in itertools.product([0, 1], repeat=canaries):
        for answers in itertools.product([0, 1], repeat=canaries):
            right = sum(a == b for a, b in zip(coins, answers, strict=True))
            chance = truth**right * (1 - truth) ** (canaries - right)
            yield right, 2.0**-canaries * (1 - delta) * chance
        yield canaries, 2.0**-canaries * delta  # coins are released: a δ that is used up wholly


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_no_honest_release_is_right_more_often(epsilon, delta):
    canaries = 6
    seen = [0.0] * (canaries + 1)
    for right, chance in coins_and_answers(epsilon, delta, canaries):
        seen[right] += chance
    for right in range(canaries + 1):
        assert sum(seen[right:]) <= chance_of_so_many(canaries, canaries, right, epsilon, delta) + 1e-12
    worst = sum(seen[canaries:])
    assert worst > chance_of_so_many(canaries, canaries, canaries, max(epsilon - 0.3, 0), 0) or not (epsilon or delta)


def noisy_sum(canaries, *, scale, value):
    """A sum of rows, one direction for each canary, with Gaussian noise: what a gradient step releases."""

    def run(included):
        bits = seeded(11)
        total = value * included.astype(np.int64)  # each canary has a coordinate of its own
        noise = DiscreteGaussian.of_scale(scale, sensitivity=1).release(
            np.zeros(canaries, dtype=np.int64), entropy=bits
        )
        return total + noise

    return run


def as_released(released):
    return released


ROWS = 2_000
CLAIM = ZCDP("0.02")
SCALE = 5  # of a row of length 1: ρ = 1/(2·25) = 0.02


def test_an_honest_sum_is_not_accused():
    for seed in range(5):
        run = noisy_sum(ROWS, scale=SCALE, value=1)
        found = audit_canaries(run, as_released, canaries=ROWS, claim=CLAIM, entropy=seeded(seed))
        assert not found.violated
        assert found.epsilon_lower < 0.5


@pytest.mark.parametrize(
    "fault",
    [
        {"scale": SCALE, "value": 10},  # rows are not clipped
        {"scale": Fraction(1, 2), "value": 1},  # noise of the mean, not of the sum
    ],
    ids=["no clipping", "too little noise"],
)
def test_planted_faults_are_seen_in_one_run(fault):
    run = noisy_sum(ROWS, **fault)
    found = audit_canaries(run, as_released, canaries=ROWS, claim=CLAIM, entropy=seeded(3))
    assert found.violated
    assert found.epsilon_lower > 1
    assert "is violated" in found.verdict


def test_more_right_guesses_prove_more_and_a_delta_takes_away():
    proven = [epsilon_refuted(1000, 100, right, 1e-5, 0.01) for right in range(50, 101)]
    assert proven == sorted(proven)
    assert proven[0] == 0
    assert 2.5 < proven[-1] < epsilon_refuted(1000, 100, 100, 0.0, 0.01) < 3.2
    assert epsilon_refuted(1000, 100, 90, 1e-3, 0.01) < epsilon_refuted(1000, 100, 90, 0.0, 0.01)


def test_the_claims_point_and_bad_parameters():
    bits = seeded(5)
    flat = audit_canaries(
        lambda coins: None, lambda _: np.zeros(64), canaries=64, claim=ApproxDP(1, 1e-5), entropy=bits
    )
    assert (flat.epsilon, flat.delta) == (1.0, pytest.approx(1e-5))
    odd = audit_canaries(
        lambda coins: coins, lambda r: np.where(r, np.nan, -1), canaries=64, claim=PureDP(1), guesses=20
    )
    assert odd.guesses == odd.right == 20
    for wrong in ({"canaries": 1}, {"canaries": 64, "guesses": 65}, {"canaries": 64, "confidence": 1.0}):
        with pytest.raises(InvalidParameter):
            audit_canaries(lambda coins: coins, lambda r: r, **{"claim": PureDP(1), **wrong})
    with pytest.raises(InvalidParameter, match="each of the 64"):
        audit_canaries(lambda coins: coins, lambda r: r[:3], canaries=64, claim=PureDP(1))
