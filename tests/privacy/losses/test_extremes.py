"""Places where floating point gives out: bounds must still hold, and answers come at once."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tacit import Laplace
from tacit.errors import InvalidParameter
from tacit.privacy import ZCDP
from tacit.privacy.amplification import shuffled
from tacit.privacy.composing import compose
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.losses.clones import clone_delta
from tacit.privacy.plan import Plan, Step


@pytest.mark.parametrize(
    ("epsilon0", "n", "epsilon", "truth"),
    [  # summed in Arb at 600 bits
        (1.0, 2000, 0.3, 5.0210242557509604e-21),
        (2.0, 3000, 1.0, 3.859142820286396e-36),
        (1.0, 2000, 0.5, 7.143451887269656e-50),
        (0.5, 1500, 0.25, 3.443695752765104e-57),
        (20.0, 60, 19.0, 0.6321205190901827),
        (50.0, 30, 49.5, 0.3934693402873666),
    ],
)
def test_the_clone_bound_is_never_below_the_truth(epsilon0: float, n: int, epsilon: float, truth: float) -> None:
    for scale in (1e-3, 1e-30, truth):
        assert clone_delta(epsilon0, n, epsilon, scale) >= truth
    assert shuffled(epsilon0, n).delta(epsilon) == pytest.approx(truth, rel=1e-6, abs=0)


@pytest.mark.parametrize(("mu", "delta"), [(15, 1e-200), (10, 1e-240), (20, 1e-120)])
@pytest.mark.thorough
def test_more_mechanisms_never_cost_less_far_out_in_the_tail(mu: float, delta: float) -> None:
    """N(0,1) underflows at 38.6, N(μ,1) not before 38.6 + μ: its mass in between was once lost."""
    alone = LossDistribution.gaussian(1, mu).epsilon_bounds(delta)[0]
    low, high = (LossDistribution.gaussian(1, mu) + LossDistribution.pure(0.01)).epsilon_bounds(delta)
    assert high >= alone
    assert low <= high


@pytest.mark.parametrize("scale", [1e13, 1e15, 1e18])
def test_losses_below_rounding_are_bounded_not_lost(scale: float) -> None:
    loss = 1000 * LossDistribution.laplace(scale)
    assert 0 <= loss.epsilon(1e-6) <= 1001 / scale
    assert loss.delta(0) <= (1e-6 if scale < 1e16 else 1)
    assert (1000 * LossDistribution.gaussian(1).sampled(1e-18)).epsilon(1e-6) < 1e-6


def test_more_uses_than_rounding_allows_fall_back_on_the_largest_loss() -> None:
    assert (10**18 * LossDistribution.pure(1e-9)).epsilon(1e-6) == pytest.approx(1e9)
    assert (10**18 * LossDistribution.pure(1e-9)).delta(1) == 1
    assert (10**400 * LossDistribution.pure(1e-9)).epsilon(1e-6) == math.inf


def test_a_loss_at_delta_zero_is_not_below_the_quotient_it_stands_for() -> None:
    for scale in (3, 7, 11, 13, 49):
        assert Fraction(LossDistribution.laplace(scale).epsilon(0)) >= Fraction(1, scale)
        assert Fraction(LossDistribution.discrete_laplace(scale).epsilon(0)) >= Fraction(1, scale)


def test_a_delta_is_never_above_one_and_too_little_noise_is_refused() -> None:
    assert LossDistribution.gaussian(1).delta(1e300) < 1e-300
    with pytest.raises(InvalidParameter):
        LossDistribution.gaussian(1e-200)
    with pytest.raises(InvalidParameter):
        LossDistribution.discrete_gaussian(5, 10**9).epsilon(1e-6)


def test_a_mixed_plan_without_any_bound_says_so() -> None:
    plan = compose([Laplace.of_scale(5, sensitivity=1), ZCDP(1)])
    assert plan.epsilon(0) == math.inf


def test_a_delta_below_every_float_is_priced_as_well() -> None:
    plan = Plan((Step.of("laplace", {"scale": 3}),))
    assert plan.by_method("1e-400")[0].epsilon >= 1 / 3
