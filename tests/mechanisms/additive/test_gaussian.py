"""The Gaussian mechanism on reals: every calibration against an independent formula in ball arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest

from tacit.errors import InvalidParameter, NotPrivate
from tacit.mechanisms.additive.gaussian import Gaussian
from tacit.privacy import L2, ZCDP, ApproxDP, GaussianDP, RenyiDP
from tacit.testing import seeded
from tests.mechanisms.laws import hockey_stick, masses
from tests.statistical.laws import PRECISION, RoundedGaussianLaw, ball

EPSILONS = ["1e-4", "0.1", "0.5", "1", "3", "20"]
DELTAS = ["0.5", "0.01", "1e-6", "1e-15", "1e-60"]


def exact_delta(mu_squared: Fraction, epsilon: Fraction) -> Any:
    """Φ(μ/2 - ε/μ) - e^ε·Φ(-μ/2 - ε/μ): Balle & Wang 2018, Theorem 8."""
    mu = ball(mu_squared).sqrt()
    root = ball(Fraction(2)).sqrt()
    low = ((ball(epsilon) / mu - mu / 2) / root).erfc() / 2
    high = ((ball(epsilon) / mu + mu / 2) / root).erfc() / 2
    return low - ball(epsilon).exp() * high


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_analytic_calibration_is_exact_and_rounded_up(epsilon: str, delta: str) -> None:
    m = Gaussian(epsilon=epsilon, delta=delta, sensitivity=3)
    with flint.ctx.workprec(2 * PRECISION):
        reached = exact_delta(9 / m._variance, Fraction(epsilon))
        assert reached <= ball(Fraction(delta))
        assert reached >= ball(Fraction(delta)) * ball(1 - Fraction(1, 10**8))


def test_known_values() -> None:
    assert Gaussian(epsilon=1, delta=1e-6, sensitivity=1).scale == pytest.approx(4.2246786, rel=1e-7)
    assert Gaussian(rho="0.02", sensitivity=1).scale == 5
    assert Gaussian(mu="0.25", sensitivity=1).scale == 4
    assert Gaussian(promise=RenyiDP(8, 1), sensitivity=1)._variance == 4
    assert Gaussian(promise=ZCDP("0.5", "1e-9"), sensitivity=2).scale == 2


def test_sensitivities_may_be_roots() -> None:
    m = Gaussian(mu=1, sensitivity=L2.sqrt(2))
    assert m._variance == 2
    assert m.guarantee == GaussianDP(1)
    assert Gaussian.of_scale(1, sensitivity=L2.sqrt(2)).guarantee == GaussianDP.of_square(2)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("epsilon", ["1e-4", "0.1", "0.5", "1"])
def test_the_classic_formula_is_valid_up_to_one_and_never_better(epsilon: str, delta: str) -> None:
    m = Gaussian.classic(epsilon=epsilon, delta=delta, sensitivity=1)
    assert m.guarantee == ApproxDP(epsilon, delta)
    assert m._variance >= Gaussian(epsilon=epsilon, delta=delta, sensitivity=1)._variance
    with flint.ctx.workprec(PRECISION):
        stated = 2 * (ball(Fraction(5, 4) / Fraction(delta))).log() / ball(Fraction(epsilon)) ** 2
        assert ball(m._variance) >= stated
        assert ball(m._variance) <= stated * ball(1 + Fraction(1, 10**30))


def test_the_classic_formula_is_refused_above_one_where_it_fails() -> None:
    with pytest.raises(InvalidParameter, match="analytic calibration"):
        Gaussian.classic(epsilon="1.01", delta=1e-6, sensitivity=1)
    with pytest.raises(InvalidParameter, match="delta"):
        Gaussian.classic(epsilon=1, delta=0, sensitivity=1)
    with flint.ctx.workprec(PRECISION):  # at ε = 10, δ = 0.1 it would break the promise
        variance = 2 * (ball(Fraction(25, 2))).log() / 100
        mu_squared = 1 / Fraction(float(variance))
        assert exact_delta(mu_squared, Fraction(10)) > ball(Fraction(1, 10))


@pytest.mark.parametrize("mu", ["0.2", "1", "3"])
@pytest.mark.parametrize("place", [Fraction(0), Fraction(2, 7), Fraction(1, 2)])
def test_rounding_ideal_noise_never_costs_more(mu: str, place: Fraction) -> None:
    """Exact masses on a lattice as coarse as σ: wherever the values lie, δ(ε) is at most that of the continuous law."""
    variance = Fraction(4)
    shift = Fraction(mu) * 2
    reach = 30 + int(shift)
    first = masses(RoundedGaussianLaw(variance, place + Fraction(1, 2)), -reach, reach)
    second = masses(RoundedGaussianLaw(variance, place + shift + Fraction(1, 2)), -reach, reach)
    with flint.ctx.workprec(PRECISION):
        for epsilon in (Fraction(0), Fraction(1, 2), Fraction(2)):
            allowed = exact_delta(Fraction(mu) ** 2, epsilon)
            for one, other in ((first, second), (second, first)):
                assert hockey_stick(one, other, epsilon) <= allowed + ball(Fraction(1, 2**100))


def test_the_lattice_follows_from_the_scale() -> None:
    for scale in ("1e-200", "1e-9", "1", "3.7", "1e200"):
        m = Gaussian(mu=1, sensitivity=scale)
        assert m._lattice.granule * 2**19 <= Fraction(scale) < m._lattice.granule * 2**20
        released = m.release(np.zeros(500), entropy=seeded(1)) / m.granule
        assert (released == np.round(released)).all()
        assert 0.8 < released.std() * m.granule / m.scale < 1.2


def test_no_pure_promise() -> None:
    with pytest.raises(NotPrivate, match="unbounded privacy loss"):
        Gaussian(epsilon=1, sensitivity=1)
    with pytest.raises(InvalidParameter, match="delta"):
        Gaussian(epsilon=1, delta=0, sensitivity=1)


def test_a_promise_that_no_float_can_keep_is_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"promise|scale"):
        Gaussian(epsilon="1e-300", delta="1e-300", sensitivity=1)


def test_the_loss_is_that_of_the_continuous_law() -> None:
    m = Gaussian(mu=1, sensitivity=1)
    with flint.ctx.workprec(PRECISION):
        for epsilon in (0.5, 1.0, 3.0):
            exact = float(exact_delta(Fraction(1), Fraction(epsilon)))
            assert exact <= m.loss.delta(epsilon) <= exact * 1.001


def test_the_classic_mechanism_is_not_taken_for_the_analytic_one() -> None:
    classic = Gaussian.classic(epsilon=1, delta="1e-6", sensitivity=L2.sqrt(2))
    assert classic != Gaussian(epsilon=1, delta="1e-6", sensitivity=L2.sqrt(2))
    assert repr(classic) == "Gaussian.classic(epsilon=1, delta=1e-06, sensitivity=L2.sqrt(2))"
    assert eval(repr(classic), {"Gaussian": Gaussian, "L2": L2}) == classic
