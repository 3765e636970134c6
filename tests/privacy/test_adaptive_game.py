"""Adaptive composition as a game: what an adversary sees in one world, she nearly sees in the other.

Each round she picks a question, and a fresh pair of neighbouring data sets, from all earlier answers; world b answers
from her b-th data set. The unit is present in world 1 and absent in world 0 throughout (add-remove), or its value
differs (replace). Many games are played in both worlds with drawn noise; her best test on the view, known exactly
because she knows every likelihood, must not separate the worlds beyond the stated (ε, δ). A planted fault, half the
noise, is caught: so the test can fail.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.privacy import PureDP
from tacit.privacy.filters import Filter
from tacit.privacy.loss_distribution import LossDistribution

Floats = NDArray[np.float64]

GAMES = 40_000
ROUNDS = 12
CERTAINTY = 1e-9
"""How rarely an honest mechanism may fail the test by bad luck."""


@dataclass(frozen=True)
class Noise:
    """Additive noise, drawn and as a likelihood: the density of ``answer`` around ``truth``, up to a constant."""

    draw: Callable[[np.random.Generator, int], Floats]
    log_density: Callable[[Floats], Floats]


def gaussian(sigma: float) -> Noise:
    return Noise(lambda r, n: sigma * r.standard_normal(n), lambda x: -0.5 * (x / sigma) ** 2)


def laplace(scale: float) -> Noise:
    return Noise(lambda r, n: r.laplace(0, scale, n), lambda x: -np.abs(x) / scale)


def play(drawn: Noise, believed: Noise, world: int, seed: int, sampling: float = 1.0) -> Floats:
    """The adversary's loss, ln P₁(view)/P₀(view) by the honest likelihood, at the end of each of ``GAMES`` games.

    She keeps a running suspicion and turns each answer into the next question: the data set without the unit sums to a
    value hashed from the past, the unit adds a sign she chooses afresh, and her interest grows where she is unsure.
    """
    rng = np.random.default_rng(seed)
    suspicion = np.zeros(GAMES)
    last = np.zeros(GAMES)
    for _ in range(ROUNDS):
        without = np.floor(100 * np.abs(np.sin(last * 12.9898))) % 17  # a fresh pair, from past answers
        sign = np.where((np.floor(last * 8) + without) % 2 == 0, 1.0, -1.0)
        unit = sign * np.where(np.abs(suspicion) < 1.5, 1.0, np.tanh(np.abs(suspicion)))  # within sensitivity 1
        chosen = rng.random(GAMES) < sampling
        answer = without + world * unit * chosen + drawn.draw(rng, GAMES)
        absent, present = believed.log_density(answer - without), believed.log_density(answer - without - unit)
        if sampling < 1:
            present = np.logaddexp(math.log1p(-sampling) + absent, math.log(sampling) + present)
        suspicion += present - absent
        last = answer
    return suspicion


def separation(drawn: Noise, believed: Noise, epsilon: float, sampling: float = 1.0) -> float:
    """A lower bound, with ``CERTAINTY``, on δ at ε: the largest P[T] - e^ε·P'[T], T her best test."""
    present, absent = (play(drawn, believed, world, 7 + world, sampling) for world in (1, 0))
    doubt = math.sqrt(math.log(4 / CERTAINTY) / (2 * GAMES))  # Hoeffding
    found = 0.0
    for here, there in ((present, absent), (-absent, -present)):
        hits, misses = np.mean(here > epsilon), np.mean(there > epsilon)
        tight = math.sqrt(2 * max(float(misses), 1 / GAMES) * math.log(4 / CERTAINTY) / GAMES)
        tight += 3 * math.log(4 / CERTAINTY) / GAMES  # Bernstein: e^ε multiplies this one
        found = max(found, float(hits) - doubt - math.exp(epsilon) * (float(misses) + tight))
    return found


CASES = [
    ("gaussian", gaussian, 4.0, LossDistribution.gaussian, 1.0),
    ("laplace", laplace, 6.0, LossDistribution.laplace, 1.0),
    ("sampled gaussian", gaussian, 1.0, LossDistribution.gaussian, 0.4),
    ("sampled laplace", laplace, 1.2, LossDistribution.laplace, 0.4),
]


@pytest.mark.parametrize(("name", "noise", "scale", "loss", "rate"), CASES, ids=[case[0] for case in CASES])
def test_no_adversary_separates_the_worlds_beyond_the_stated_profile(
    name: str, noise: Callable[[float], Noise], scale: float, loss: Callable[[float], LossDistribution], rate: float
) -> None:
    plan = ROUNDS * (loss(scale).sampled(rate) if rate < 1 else loss(scale))
    for epsilon in (0.0, 0.25, 0.5, 1.0):
        stated = plan.delta(epsilon, tolerance=1e-3)
        assert separation(noise(scale), noise(scale), epsilon, rate) <= stated


@pytest.mark.parametrize(("name", "noise", "scale", "loss", "rate"), CASES, ids=[case[0] for case in CASES])
def test_half_the_noise_is_caught(
    name: str, noise: Callable[[float], Noise], scale: float, loss: Callable[[float], LossDistribution], rate: float
) -> None:
    """The planted fault: noise at half the scale that was priced."""
    plan = ROUNDS * (loss(scale).sampled(rate) if rate < 1 else loss(scale))
    caught = [
        separation(noise(scale / 2), noise(scale / 2), epsilon, rate) > plan.delta(epsilon, tolerance=1e-3)
        for epsilon in (0.0, 0.25, 0.5, 1.0)
    ]
    assert any(caught)


def test_the_adversary_comes_close_to_what_is_stated() -> None:
    """The bound is not vacuous: at ε = 0.5 she reaches most of the stated δ."""
    stated = (ROUNDS * LossDistribution.gaussian(4)).delta(0.5)
    assert separation(gaussian(4), gaussian(4), 0.5) > 0.6 * stated


def test_a_price_chosen_from_answers_needs_a_filter() -> None:
    """She also picks the noise: a filter stops her in every game, and the ε of the *budget* holds on every path."""
    rng = np.random.default_rng(3)
    worst = 0.0
    for game in range(300):
        budget = Filter(PureDP(1))
        loss, world = 0.0, game % 2
        while True:
            price = 0.05 if abs(loss) < 0.2 else 0.25  # spend more where it pays
            if not budget.allows(PureDP(price)):
                break
            budget.spend(PureDP(price))
            answer = world + rng.laplace(0, 1 / price)
            loss += (abs(answer) - abs(answer - 1)) * price
        worst = max(worst, abs(loss))
    assert 0.3 < worst <= 1 + 1e-9
