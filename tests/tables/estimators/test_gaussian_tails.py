"""Weighted sums of Gaussian noises on integers: bounds that hold by the law itself, and are near it."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

from tacit.privacy import ZCDP, GaussianDP
from tacit.tables.estimators import tails as gaussian_tails
from tacit.tables.estimators.noise import GaussianNoise
from tacit.tables.estimators.tails import gaussian_sum_errors

Floats = npt.NDArray[np.float64]
LAWS = ("discrete", "rounded")


def chances(sigma: float, law: str) -> tuple[Floats, Floats]:
    """Of the whole numbers, as far as doubles go."""
    reach = math.ceil(12 * sigma) + 2
    at = np.arange(-reach, reach + 1, dtype=np.float64)
    if law == "discrete":
        mass = np.exp(-(at**2) / (2 * sigma**2))
    else:
        edge = [math.erf((x + 0.5) / (sigma * math.sqrt(2))) - math.erf((x - 0.5) / (sigma * math.sqrt(2))) for x in at]
        mass = np.array(edge) / 2
    return at, mass / mass.sum()


def missed(weights: list[float], sigmas: list[float], law: str, error: float) -> float:
    """The chance of a sum further out, by going through all values of at most three noises."""
    sums, mass = np.zeros(1), np.ones(1)
    for weight, sigma in zip(weights, sigmas, strict=True):
        at, chance = chances(sigma, law)
        sums = (sums[:, None] + weight * at[None, :]).ravel()
        mass = (mass[:, None] * chance[None, :]).ravel()
    return float(mass[np.abs(sums) > error].sum())


def bound(weights: list[float], sigmas: list[float], beta: float) -> float:
    w, s = np.array(weights), np.array(sigmas)
    found = gaussian_sum_errors(
        np.array([math.sqrt(float((w**2 * s**2).sum()))]),
        np.array([math.sqrt(float((w**2).sum()))]),
        np.array([float(np.abs(w).sum())]),
        float(s.min()),
        beta,
    )
    return float(found[0])


CASES = [
    ([1.0], [2.0]),
    ([1.0], [7.5]),
    ([1.0, 1.0], [2.0, 2.0]),
    ([1.0, -1.0], [3.0, 9.0]),
    ([0.7, -0.3], [5.0, 2.0]),
    ([1.0, 0.5, 0.25], [2.0, 2.5, 4.0]),
    ([1.0, 1.0, 1.0], [2.0, 2.0, 2.0]),
]
BETAS = (0.5, 0.2, 0.05, 1e-3, 1e-6)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize(("weights", "sigmas"), CASES)
def test_the_bound_holds_by_the_law_itself(weights: list[float], sigmas: list[float], beta: float, law: str) -> None:
    assert missed(weights, sigmas, law, bound(weights, sigmas, beta)) <= beta


def even(sigma: float, law: str, other: float) -> tuple[Floats, Floats]:
    """P[|X + U| > x] next to P[|σ'Z + V| > x] for x at and between the steps."""
    at, chance = chances(sigma, law)
    x = np.linspace(0, 6 * sigma, 400)
    inside = np.clip(x[:, None] - at[None, :] + 0.5, 0, 1) - np.clip(-x[:, None] - at[None, :] + 0.5, 0, 1)
    v = (np.arange(400) + 0.5) / 200 - 1
    tails = [np.mean([math.erfc((one + d) / (other * math.sqrt(2))) for d in v]) for one in x]
    return 1 - (inside * chance).sum(axis=1), np.array(tails)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("sigma", [2.0, 2.3, 5.0])
def test_noise_made_even_is_more_peaked(sigma: float, law: str) -> None:
    own, other = even(sigma, law, sigma)
    assert bool((own <= other + 1e-9).all())
    own, other = even(sigma, law, 0.9 * sigma)
    assert float((own - other).max()) > 1e-3  # but not more than narrower noise


SUMS = {
    "a total and its parts": ([0.75, *[0.25] * 3], 8.0),
    "many small ones": ([0.5, 0.5, *[0.02] * 60], 6.0),
    "equal ones": ([0.3] * 30, 6.0),
}


@pytest.mark.parametrize("name", SUMS)
def test_the_bound_is_within_a_tenth_of_continuous_noise(name: str) -> None:
    """With three half steps for each weight it was 1.3 to 1.6 times as far."""
    weights, sigma = SUMS[name]
    plain = 1.959964 * sigma * math.sqrt(sum(w**2 for w in weights))
    assert 1 < bound(weights, [sigma] * len(weights), 0.05) / plain <= 1.1


def breached() -> bool:
    cases = [([1.0], [2.0]), ([1.0], [7.5]), ([1.0, -1.0], [3.0, 9.0]), ([1.0, 1.0, 1.0], [2.0, 2.0, 2.0])]
    betas = (0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02)
    return any(missed(w, s, law, bound(w, s, b)) > b for w, s in cases for b in betas for law in LAWS)


def test_planted_fault_half_steps_that_are_not_taken_away_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not breached()
    right = gaussian_sum_errors
    monkeypatch.setitem(
        globals(), "gaussian_sum_errors", lambda d, size, width, s, beta: right(d, 0 * size, 0 * width, s, beta)
    )
    assert breached()


def test_planted_fault_a_quantile_of_twice_as_many_misses_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = gaussian_tails._quantile
    monkeypatch.setattr(gaussian_tails, "_quantile", lambda beta, least: right(min(2 * beta, 0.99), least))
    assert breached()


def test_planted_fault_weights_that_are_left_out_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = gaussian_sum_errors
    monkeypatch.setitem(
        globals(), "gaussian_sum_errors", lambda d, size, width, s, beta: right(d / math.sqrt(2), size, width, s, beta)
    )
    assert breached()


@pytest.mark.parametrize("promise", [ZCDP(1), GaussianDP(1)], ids=["discrete", "rounded"])
def test_noise_of_statements_uses_it(promise: ZCDP | GaussianDP) -> None:
    weights = np.full((40, 1), 0.5)
    found = float(GaussianNoise(promise).furthest(weights, 10.0, 0.05)[0])
    assert found == pytest.approx(bound([0.5] * 40, [10.0] * 40, 0.05), rel=1e-6)
    assert found / (1.959964 * 10 * math.sqrt(10)) < 1.06
