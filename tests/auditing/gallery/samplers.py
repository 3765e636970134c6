"""Noise in floats: low bits, gaps, short seeds; and exact samplers beside them."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np

from tacit import ApproxDP, GaussianDP, PureDP
from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.additive.laplace import Laplace
from tests.auditing.gallery.exhibit import Exhibit, coin, rng

legacy = np.random.RandomState(2026)
library = random.Random(2026)


def textbook(value: float) -> float:
    u = coin.random() - 0.5
    return value - math.copysign(1.0, u) * math.log(1 - 2 * abs(u))


def exponential_sign(value: float) -> float:
    return value + coin.choice((-1, 1)) * coin.expovariate(0.1)


def two_exponentials(value: float) -> float:
    return value + coin.expovariate(1.0) - coin.expovariate(1.0)


def short_seed(value: float) -> float:
    return value + float(np.round(np.random.RandomState(coin.getrandbits(20)).laplace(0, 50), 3))


def snapped(value: float) -> float:
    """Mironov's fault undone: rounded to a multiple of 1/8 that depends on nothing."""
    return round((value + rng.laplace(0, 1)) * 8) / 8


def float_count(value: int) -> int:
    return int(float(value)) + DiscreteLaplace(epsilon=1, sensitivity=50).release(0)


def box_muller(values: list[float]) -> list[float]:
    return [value + library.gauss(0, 5) for value in values]


def polar(values: list[float]) -> list[float]:
    return [value + float(legacy.normal(0, 5)) for value in values]


def _gaussian(mu: float) -> Any:
    return lambda x: math.floor(64 * (x + rng.normal(0, 1 / mu)) + 0.5)


ours = Laplace(epsilon=1, sensitivity=1)
ours_whole = DiscreteLaplace(epsilon=1, sensitivity=1)
BROKEN = [
    Exhibit("Laplace of a textbook, in floats", textbook, (0.0, 1.0)),
    Exhibit("numpy's Laplace, scale 1", lambda x: x + rng.laplace(0, 1), (0.0, 1.0)),
    Exhibit("numpy's Laplace, scale 100, at 100", lambda x: x + rng.laplace(0, 100), (100.0, 101.0), PureDP("0.01")),
    Exhibit("numpy's Laplace, scale 3, at 1000", lambda x: rng.laplace(x, 3), (1000.0, 1003.0)),
    Exhibit("an exponential of the standard library with a sign", exponential_sign, (40.0, 50.0)),
    Exhibit("numpy's logistic, scale 2", lambda x: x + rng.logistic(0, 2), (10.0, 12.0)),
    Exhibit("numpy's Laplace of a mean", lambda rows: np.mean(rows) + rng.laplace(0, 2), ([3, 5, 9, 3], [3, 5, 9, 11])),
    Exhibit(
        "two Gaussians of Box and Muller, standard library", box_muller, ([0.0, 0.0], [1.0, 0.0]), GaussianDP("0.2")
    ),
    Exhibit("two Gaussians of the polar method, numpy of old", polar, ([0.0, 0.0], [1.0, 0.0]), GaussianDP("0.2")),
    Exhibit("a seed of 20 bits", short_seed, (0, 50)),
    Exhibit("whole numbers through a float", float_count, [(0, 1), (2**60 + 128, 2**60 + 129)], PureDP("1/50")),
    Exhibit("Gaussian noise sold as pure", lambda x: round(x + rng.normal(0, 1)), (0, 3), PureDP(3)),
    Exhibit("Gaussian noise of half the size", _gaussian(2.0), (0, 1), GaussianDP(1)),
    Exhibit("uniform noise", lambda x: x + coin.randrange(100), (0, 1)),
    Exhibit("one-sided noise on a number", lambda x: x + int(rng.geometric(0.5)), (0, 1)),
]
SOUND = [
    Exhibit("Laplace of ours", ours.release, (0.0, 1.0)),
    Exhibit("discrete Laplace of ours", ours_whole.release, (0, 1)),
    Exhibit("discrete Laplace of ours at 2^60", ours_whole.release, (2**60 + 128, 2**60 + 129)),
    Exhibit("numpy's Laplace rounded to eighths", snapped, (0, 1)),
    Exhibit("Gaussian noise rounded", _gaussian(1.0), (0, 1), GaussianDP(1)),
    Exhibit("δ told as δ", lambda x: x if coin.random() < 0.01 else -1, (0, 1), ApproxDP(0, "0.01")),
]
