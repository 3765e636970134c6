"""Calibration: oracle values, and both halves of the certificate."""

from __future__ import annotations

import pytest

from tacit.errors import InvalidParameter
from tacit.privacy.calibration import LESS, calibrate
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.neighbours import REPLACE

L = LossDistribution


def test_analytic_gaussian():
    found = calibrate(L.gaussian, target=(1, 1e-6))
    assert 4.224679 * (1 - 1e-6) <= found.scale <= 4.224679 * (1 + 1e-4)


def test_dp_sgd():
    found = calibrate(L.gaussian, target=(3, 1e-5), steps=10_000, sampling=0.01)
    assert 1.56498 <= found.scale <= 1.56499 * (1 + 1e-4)
    assert found.tight


PLANS = {
    "laplace": (L.laplace, {"steps": 100}),
    "pure laplace": (L.laplace, {"steps": 7, "target": (2, 0)}),
    "discrete laplace": (L.discrete_laplace, {"steps": 50, "sensitivity": 3}),
    "discrete gaussian": (L.discrete_gaussian, {"steps": 3, "sensitivity": 2}),
    "sampled laplace": (L.laplace, {"steps": 200, "sampling": 0.05}),
    "exponential": (lambda noise: L.bounded_range(1 / noise), {"steps": 60}),
    "response": (lambda noise: L.randomized_response(1 / noise, 4), {"steps": 60}),
    "fixed size": (lambda noise: L.gaussian(noise, neighbours=REPLACE), {"steps": 100, "sampling": (20, 1000)}),
}


@pytest.mark.parametrize("name", PLANS)
def test_certificate(name):
    family, settings = PLANS[name]
    epsilon, delta = settings.pop("target", (1, 1e-6)) if "target" in settings else (1, 1e-6)
    found = calibrate(family, target=(epsilon, delta), **settings)
    assert found.loss.epsilon(delta) <= epsilon
    assert found.epsilon <= epsilon
    assert found.tight
    assert found.epsilon_at_less > epsilon
    assert LESS == 0.999


class _Mechanism:
    @classmethod
    def loss_at(cls, scale: float, sensitivity: object) -> LossDistribution:
        return L.gaussian(scale, sensitivity)


def test_a_mechanism_class_offers_loss_at():
    assert calibrate(_Mechanism, target=(1, 1e-6), sensitivity=2).scale == pytest.approx(2 * 4.224679, rel=1e-4)


@pytest.mark.parametrize(
    "settings",
    [
        {"target": (0, 1e-6)},
        {"target": (1, 1)},
        {"target": 3},
        {"target": (1, 1e-6), "steps": 0},
        {"target": (1, 1e-6), "steps": 1.5},
        {"target": (1, 1e-6), "sampling": 2},
        {"target": (1, 0)},
    ],
)
def test_bad_input(settings):
    with pytest.raises(InvalidParameter):
        calibrate(L.gaussian, **settings)


def test_the_family_must_return_a_loss():
    with pytest.raises(InvalidParameter, match="LossDistribution"):
        calibrate(lambda noise: noise, target=(1, 1e-6))
    with pytest.raises(InvalidParameter, match="loss_at"):
        calibrate(3, target=(1, 1e-6))


@pytest.mark.parametrize("sampling", [0, 0.0, (1, 2, 3), (0, 10), ()])
def test_a_sample_that_is_none_is_refused(sampling) -> None:
    with pytest.raises(InvalidParameter, match="sampling"):
        calibrate(LossDistribution.gaussian, target=(1, 1e-5), sampling=sampling)


@pytest.mark.parametrize("tolerance", [0, -1, float("nan"), float("inf"), True, "x"])
def test_bad_tolerances(tolerance) -> None:
    with pytest.raises(InvalidParameter, match="tolerance"):
        calibrate(LossDistribution.gaussian, target=(1, 1e-5), tolerance=tolerance)


def test_a_finer_tolerance_gives_less_noise_and_more_digits() -> None:
    exact = 1.5649655355  # bench/exact.py
    for tolerance in (3e-3, 1e-3, 4e-5, 1e-5, 1e-6):
        found = calibrate(LossDistribution.gaussian, target=(3, 1e-5), steps=10_000, sampling=0.01, tolerance=tolerance)
        assert exact <= found.scale <= exact * (1 + tolerance + 1e-5)
        assert found.epsilon <= 3
        assert found.tight or tolerance > 1e-4
