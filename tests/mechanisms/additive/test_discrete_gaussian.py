"""Gaussian noise on whole numbers: which of the two laws is drawn, and that each keeps what it promises."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest

from tacit.errors import InvalidParameter, NotPrivate
from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.mechanisms.additive.gaussian import Gaussian
from tacit.privacy import L2, ZCDP, ApproxDP, GaussianDP, RenyiDP
from tacit.testing import seeded
from tests.mechanisms.laws import hockey_stick, masses
from tests.statistical.laws import PRECISION, DiscreteGaussianLaw, RoundedGaussianLaw, ball


def renyi(variance: Fraction, shift: int, alpha: Fraction) -> Any:
    """D_α between the discrete Gaussian and itself moved by ``shift``, summed term by term."""
    reach = range(-60 - 20 * shift, 61 + 20 * shift)
    weights = {k: (-ball(Fraction(k * k) / (2 * variance))).exp() for k in reach}
    total = sum(weights.values(), ball(0))
    moved = {k: (-ball(Fraction((k - shift) ** 2) / (2 * variance))).exp() for k in reach}
    inside = sum((weights[k] ** ball(alpha) * moved[k] ** ball(1 - alpha) for k in reach), ball(0))
    return (inside / total).log() / ball(alpha - 1)


@pytest.mark.parametrize("variance", ["1/16", "1/2", "2", "9"])
@pytest.mark.parametrize("shift", [1, 2])
def test_the_discrete_law_keeps_rho_at_every_order(variance: str, shift: int) -> None:
    """Canonne, Kamath & Steinke 2020, Proposition 5: D_α ≤ αΔ²/2σ², with equality where α·Δ is whole."""
    with flint.ctx.workprec(PRECISION):
        for alpha in (Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(3), Fraction(8)):
            bound = ball(alpha * shift**2 / (2 * Fraction(variance)))
            reached = renyi(Fraction(variance), shift, alpha)
            assert reached <= bound + ball(Fraction(1, 10**40))
            if alpha.denominator == 1:
                assert float(reached) == pytest.approx(float(bound))


def test_a_smaller_variance_would_break_rho() -> None:
    with flint.ctx.workprec(PRECISION):
        assert renyi(Fraction(9, 5), 1, Fraction(2)) > ball(Fraction(2) / (2 * 2))


def test_which_law_is_drawn() -> None:
    assert DiscreteGaussian(rho=1, sensitivity=1).law == "discrete"
    assert DiscreteGaussian(promise=RenyiDP(2, 1), sensitivity=1).law == "discrete"
    assert DiscreteGaussian.of_scale(3, sensitivity=1).law == "discrete"
    assert DiscreteGaussian(mu=1, sensitivity=1).law == "rounded"
    assert DiscreteGaussian(epsilon=1, delta=1e-6, sensitivity=1).law == "rounded"


def test_the_discrete_law_would_break_an_analytic_promise() -> None:
    """Why (ε, δ) is kept by a rounded law: at the analytic σ the discrete one exceeds δ, the rounded one does not."""
    worst = 0.0
    for epsilon in ("1", "3", "6"):
        for delta in ("1e-3", "1e-6"):
            m = DiscreteGaussian(epsilon=epsilon, delta=delta, sensitivity=1)
            assert m._variance == Gaussian(epsilon=epsilon, delta=delta, sensitivity=1)._variance
            reach = int(20 * m.scale) + 10
            rounded, moved = (
                masses(RoundedGaussianLaw(m._variance, Fraction(1, 2) + x), -reach, reach) for x in (0, 1)
            )
            discrete = masses(DiscreteGaussianLaw(m._variance), -reach, reach)
            further = dict(
                zip(
                    range(-reach - 1, reach + 2),
                    masses(DiscreteGaussianLaw(m._variance), -reach - 1, reach - 1).values(),
                    strict=True,
                )
            )
            with flint.ctx.workprec(PRECISION):
                for one, other in ((rounded, moved), (moved, rounded)):
                    assert hockey_stick(one, other, Fraction(epsilon)) <= ball(Fraction(delta))
            worst = max(worst, float(hockey_stick(discrete, further, Fraction(epsilon))) / float(delta))
    assert worst > 1.3


def test_two_coordinates_at_the_root_of_two() -> None:
    """A distance that only vectors have: (1, 1), at the promise stated for √2, summed over all pairs of outcomes."""
    m = DiscreteGaussian(mu="0.5", sensitivity=L2.sqrt(2))
    assert m._variance == 8
    reach = 40
    one, other = (
        np.array(
            [float(p) for p in masses(RoundedGaussianLaw(m._variance, Fraction(1, 2) + x), -reach, reach).values()]
        )
        for x in (0, 1)
    )
    p, q = np.outer(one, one), np.outer(other, other)
    for epsilon in (0.0, 0.3, 1.0):
        reached = np.maximum(p - math.exp(epsilon) * q, 0).sum()
        assert reached <= m.guarantee.delta(epsilon)
        assert reached >= 0.8 * m.guarantee.delta(epsilon)


def test_the_loss_is_given_where_it_is_known() -> None:
    assert DiscreteGaussian.of_scale(5, sensitivity=1).loss.epsilon(1e-6) == pytest.approx(0.83498, rel=1e-3)
    assert DiscreteGaussian(mu=1, sensitivity=3).loss.epsilon(1e-6) == pytest.approx(
        GaussianDP(1).epsilon(1e-6), rel=1e-3
    )
    with pytest.raises(NotPrivate, match="how a shift is spread"):
        _ = DiscreteGaussian.of_scale(5, sensitivity=2).loss


@pytest.mark.parametrize("law", ["discrete", "rounded"])
@pytest.mark.parametrize("sigma", ["0.1", "0.7", "3", "40"])
@pytest.mark.parametrize("beta", ["0.9", "0.5", "0.05", "1e-10", "1e-320"])
def test_accuracy_is_the_quantile_of_the_law_drawn(law: str, sigma: str, beta: str) -> None:
    made = DiscreteGaussian.of_scale(sigma, sensitivity=1)
    m = made if law == "discrete" else DiscreteGaussian(mu=1 / Fraction(sigma), sensitivity=1)
    assert m.law == law
    found = int(m.accuracy(beta))
    with flint.ctx.workprec(2000):
        variance = Fraction(sigma) ** 2
        if law == "rounded":

            def beyond(k: int) -> Any:
                return (ball(Fraction(2 * k + 1, 2)) / ball(2 * variance).sqrt()).erfc()
        else:
            terms = [(-ball(Fraction(k * k) / (2 * variance))).exp() for k in range(int(45 * float(sigma)) + 10)]
            total = 2 * sum(terms, ball(0)) - 1

            def beyond(k: int) -> Any:
                return 2 * sum(terms[k + 1 :], ball(0)) / total

        assert beyond(found) <= ball(Fraction(beta))
        assert found == 0 or beyond(found - 1) > ball(Fraction(beta))


@pytest.mark.parametrize("beta", ["0.9", "0.5", "0.32", "0.05", "1e-10"])
def test_accuracy_beyond_the_sums_is_that_of_the_integral(beta: str) -> None:
    """Above σ = 2000 the tail comes from integrals: the same as just below, in units of σ, on both sides of σ."""
    below, above = (DiscreteGaussian.of_scale(scale, sensitivity=1).accuracy(beta) / scale for scale in (1999, 2001))
    assert below == pytest.approx(above, abs=1.1e-3)
    with flint.ctx.workprec(PRECISION):
        huge = DiscreteGaussian.of_scale(10**12, sensitivity=1).accuracy(beta)
        tail = (ball(Fraction(int(huge), 10**12)) / ball(Fraction(2)).sqrt()).erfc()
        assert float(tail) == pytest.approx(float(beta), rel=1e-8)


def test_sensitivities_of_whole_numbers() -> None:
    assert DiscreteGaussian(rho=1, sensitivity=L2.sqrt(5)).sensitivity == L2.sqrt(5)
    for sensitivity in (0.5, L2.sqrt("1/2"), "7/2"):
        with pytest.raises(InvalidParameter, match="whole"):
            DiscreteGaussian(rho=1, sensitivity=sensitivity)


def test_extreme_scales() -> None:
    for promise in (ZCDP("0.5"), ApproxDP(1, "1e-6")):
        m = DiscreteGaussian(promise=promise, sensitivity=10**40)
        assert abs(m.release(0, entropy=seeded(1))) > 10**35
        assert m.release(np.zeros(3, dtype=np.int64), entropy=seeded(1)).dtype == np.int64
    with pytest.raises(InvalidParameter, match="scale"):
        DiscreteGaussian(rho=1, sensitivity=10**200)
