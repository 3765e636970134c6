"""Counts that decided on themselves: intervals hold for those that are shown, however near the threshold they are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from tacit import DiscreteGaussian, DiscreteLaplace, PureDP
from tacit.mechanisms.additive.integer_mechanism import IntegerMechanism
from tacit.mechanisms.shared.estimate import BETA
from tacit.privacy.guarantees.gaussian import GaussianDP
from tacit.tables.estimators.base import Noisy
from tacit.tables.estimators.noise import GaussianNoise, LaplaceNoise
from tacit.tables.release.shown import Shown, _Gaussian, _Laplace

LAWS: dict[str, IntegerMechanism] = {
    "Laplace": DiscreteLaplace.of_scale(6, sensitivity=1),
    "narrow Laplace": DiscreteLaplace.of_scale("0.4", sensitivity=1),
    "wide Laplace": DiscreteLaplace.of_scale(900, sensitivity=1),
    "discrete Gaussian": DiscreteGaussian.of_scale(7, sensitivity=1),
    "narrow Gaussian": DiscreteGaussian.of_scale("0.6", sensitivity=1),
    "rounded Gaussian": DiscreteGaussian(promise=GaussianDP(0.15), sensitivity=1),
}


def law(noise: IntegerMechanism) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Whole numbers and their chances, of the mechanism's own law."""
    reach = int(45 * noise.scale) + 10
    at = np.arange(-reach, reach + 1).astype(np.float64)
    if isinstance(noise, DiscreteLaplace):
        chance = np.exp(-np.abs(at) / noise.scale)
    else:  # rounded noise of this scale is next to discrete noise: 10⁻⁴ is between them
        chance = np.exp(-(at**2) / (2 * noise.scale**2))
    return at, chance / chance.sum()


def shown(noise: IntegerMechanism, values: npt.NDArray[np.float64], threshold: int) -> Shown:
    kind = LaplaceNoise(PureDP(1)) if isinstance(noise, DiscreteLaplace) else GaussianNoise(GaussianDP(1))
    return Shown(values, noise, kind, threshold)


@pytest.mark.parametrize("name", LAWS)
def test_intervals_cover_what_is_shown_whatever_the_count(name: str) -> None:
    noise = LAWS[name]
    threshold = 2 + int(noise.accuracy(Fraction(1, 10**6)))
    at, chance = law(noise)
    counts = {
        1,
        2,
        threshold // 4,
        threshold // 2,
        threshold - 1,
        threshold,
        threshold + 1,
        2 * threshold,
        5 * threshold,
    }
    for count in counts - {0}:
        seen = count + at >= threshold
        values = count + at[seen]
        low, high = shown(noise, values, threshold).interval(BETA)
        covered = chance[seen][(low <= count) & (count <= high)].sum() / chance[seen].sum()
        assert covered >= 0.95 - 2e-4, (name, count)


@pytest.mark.parametrize("name", ["Laplace", "discrete Gaussian"])
def test_planted_fault_plain_intervals_miss_near_the_threshold(name: str) -> None:
    noise = LAWS[name]
    threshold = 2 + int(noise.accuracy(Fraction(1, 10**6)))
    at, chance = law(noise)
    count = threshold // 2
    seen = count + at >= threshold
    made = shown(noise, count + at[seen], threshold)
    low, high = Noisy.interval(made, BETA)
    assert chance[seen][(low <= count) & (count <= high)].sum() / chance[seen].sum() < 0.05
    assert (made.interval(BETA)[0] <= low).all()


def test_far_above_the_threshold_intervals_are_those_of_the_noise() -> None:
    for noise in LAWS.values():
        values = np.array([1000.0, 5000.0]) * max(1, int(noise.scale))
        low, high = shown(noise, values, 30).interval(BETA)
        plain_low, plain_high = Noisy.interval(shown(noise, values, 30), BETA)
        assert (np.abs(low - plain_low) <= 1).all()
        assert (high == plain_high).all()


def test_ends_grow_with_what_is_seen() -> None:
    for noise in LAWS.values():
        threshold = 5 + int(noise.accuracy(Fraction(1, 10**4)))
        values = np.arange(threshold, threshold + int(40 * noise.scale) + 40).astype(np.float64)
        low, _ = shown(noise, values, threshold).interval(BETA)
        assert (np.diff(low) >= -1).all()
        assert low.min() >= 1  # a group that is shown has somebody in it
        assert (low <= values).all()


@pytest.mark.parametrize("scale", [0.3, 1.0, 50.0])
def test_logarithms_of_tails(scale: float) -> None:
    q = np.exp(-1 / scale)
    for least in (-40, -3, 0, 1, 2, 30):
        terms = q ** np.abs(np.arange(least, least + int(60 * scale) + 200).astype(float)) * (1 - q) / (1 + q)
        assert np.isclose(_Laplace(scale).log_beyond(least), np.log(terms.sum()), rtol=1e-9, atol=1e-12)
    near, far = _Gaussian(scale).log_beyond(24.99 * scale + 0.5), _Gaussian(scale).log_beyond(25.01 * scale + 0.5)
    assert near > far > near - 1  # the formula for far ones goes on where the other ends
    assert np.isclose(near - far, (25.01**2 - 24.99**2) / 2, rtol=2e-2)


@pytest.mark.parametrize(
    "noise", [DiscreteLaplace.of_scale(10**30, sensitivity=1), DiscreteLaplace.of_scale("0.001", sensitivity=1)]
)
def test_noise_of_any_width_has_intervals(noise: IntegerMechanism) -> None:
    threshold = 2 + int(noise.accuracy(Fraction(1, 10**9)))
    values = np.array([float(threshold), threshold + noise.scale, 1e3 * (threshold + noise.scale)])
    low, high = shown(noise, values, threshold).interval(BETA)
    assert np.isfinite(low).all()
    assert np.isfinite(high).all()
    assert (low <= values).all()
    assert (values <= high).all()
