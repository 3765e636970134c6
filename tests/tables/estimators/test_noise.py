"""When a gap is too large for noises: never said too often, by summing the laws themselves."""

from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt
import pytest

from tacit.privacy import ZCDP, GaussianDP, PureDP
from tacit.tables.estimators import noise as noises
from tacit.tables.estimators.noise import GaussianNoise, LaplaceNoise, Noise, _off_from_laplace

Floats = npt.NDArray[np.float64]
LAPLACE, DISCRETE, ROUNDED = LaplaceNoise(PureDP(1)), GaussianNoise(ZCDP(1)), GaussianNoise(GaussianDP(1))
WEIGHTS = [0.0, 0.1, 0.5, 1.0, 1.7, 3.0, 25.0]


def law(noise: Noise, scale: float) -> tuple[Floats, Floats]:
    """The integers and their chances, all but 1e-12 of them."""
    reach = math.ceil(30 * scale) + 8
    at = np.arange(-reach, reach + 1).astype(float)
    if noise is LAPLACE:
        chance = np.exp(-np.abs(at) / scale)
    elif noise is DISCRETE:
        chance = np.exp(-(at**2) / (2 * scale**2))
    else:
        edges = np.array([math.erf((one + 0.5) / scale / math.sqrt(2)) for one in (at[0] - 1, *at)])
        chance = np.diff(edges)
    return at, chance / chance.sum()


def too_often(noise: Noise, scale: float, weight: float, beta: float) -> float:
    """P[the truth is called implausible]."""
    x, chance = law(noise, scale)
    gap = np.abs(x[:, None] - weight * x[None, :])
    weights = np.array([[1.0], [-weight]]) * np.ones(gap.size)
    out = noise.unlikely(gap.ravel(), weights, scale, beta).reshape(gap.shape)
    far = gap > noise.furthest(weights[:, :1], scale, beta)[0]
    found = [float((one * chance[:, None] * chance[None, :]).sum()) for one in (out, far)]
    return max(found)


@pytest.mark.parametrize("noise", [LAPLACE, DISCRETE, ROUNDED], ids=["Laplace", "discrete Gaussian", "rounded"])
@pytest.mark.parametrize("weight", WEIGHTS)
def test_the_truth_is_implausible_at_most_as_often_as_said(noise: Noise, weight: float) -> None:
    for scale in (0.2, 0.6, 1.0, 3.0, 10.0):
        for beta in (0.05, 0.3, 1e-4):
            assert too_often(noise, scale, weight, beta) <= beta + 1e-9, (scale, beta)


def test_it_is_not_said_much_too_seldom() -> None:
    for noise, scale in ((LAPLACE, 20.0), (ROUNDED, 20.0), (DISCRETE, 20.0)):
        assert too_often(noise, scale, 0.5, 0.05) > 0.03


def test_planted_fault_without_the_steps_it_is_said_too_often(monkeypatch: pytest.MonkeyPatch) -> None:
    assert too_often(LAPLACE, 0.6, 1.0, 0.05) <= 0.05
    monkeypatch.setattr(noises, "_off_from_laplace", lambda scale: 0.0)
    assert max(too_often(LAPLACE, s, w, 0.05) for s in (0.3, 0.6, 1.0) for w in (0.5, 1.0)) > 0.05


@pytest.mark.parametrize("scale", [0.05, 0.3, 1.0, 2.5, 40.0])
def test_discrete_laplace_noise_is_near_the_continuous_one(scale: float) -> None:
    """One uniform draw through both distributions: how far the two numbers are apart at most."""
    tail = [math.exp(-k / scale) / (1 + math.exp(-1 / scale)) for k in range(1, 40)]  # P[X >= k]
    starts = [-scale * math.log(2 * one) for one in tail if one > 1e-300]  # where P[L >= t] is the same
    for k, (start, end) in enumerate(itertools.pairwise(starts), 1):
        assert k - start <= 0.5 + 1e-9  # X = k while start <= L < end
        assert end - k <= _off_from_laplace(scale) + 1e-9
    shift = scale * (1 / (2 * scale) + math.log1p(math.exp(-1 / scale)) - math.log(2))  # s·ln cosh(1/2s)
    assert starts[0] == pytest.approx(1 - (0.5 - shift))
    assert starts[0] <= _off_from_laplace(scale) + 1e-9  # and X = 0 in between
