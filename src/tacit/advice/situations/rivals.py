"""How far below the best k of k + m noisy scores a rival may lie and still get in, with a given probability.

The k best scores are equal, and m rivals are equal and lower by t: the hardest scores there are for a sorting by
noisy scores. One race compares everybody's noise once; k rounds compare the best of those that are left each time.
Computed by the trapezoid rule on a fine grid, in units of the noise's scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

__all__ = ["EXPONENTIAL_LAW", "GAUSS", "LAPLACE_LAW", "RACE", "Law", "one_shot_error", "rounds_error"]

Reals = npt.NDArray[np.float64]
_POINTS = 4001
_ROUNDS = 64  # of more rounds than this, so many are computed, and stand for the others


@dataclass(frozen=True)
class Law:
    """A law of noise of scale 1: its distribution function, and where nearly all of it lies."""

    name: str
    below: Callable[[Reals], Reals]
    reach: Callable[[float], tuple[float, float]]
    """mass left out → the two ends."""


def _laplace(x: Reals) -> Reals:
    half = np.exp(-np.abs(x)) / 2
    return np.where(x < 0, half, 1 - half)


def _gauss(x: Reals) -> Reals:
    return np.array([math.erfc(-one / math.sqrt(2)) / 2 for one in x.tolist()])


LAPLACE_LAW = Law("laplace", _laplace, lambda out: (math.log(out), -math.log(out)))
GAUSS = Law("gauss", _gauss, lambda out: (-math.sqrt(-2 * math.log(out)), math.sqrt(-2 * math.log(out))))
RACE = Law("race", lambda x: np.exp(-np.exp(-x)), lambda out: (-math.log(-math.log(out)), -math.log(out)))
EXPONENTIAL_LAW = Law("exponential", lambda x: -np.expm1(-np.maximum(x, 0.0)), lambda out: (0.0, -math.log(out)))


def one_shot_error(law: Law, best: int, rivals: int, beta: float) -> float:
    """t with P[largest of ``rivals`` noises - t > least of ``best`` noises] = β."""
    return _root(law, best, rivals, beta, rounds=False)


def rounds_error(best: int, rivals: int, beta: float) -> float:
    """t at which one of ``best`` rounds with exponential noise picks a rival with probability β."""
    return _root(EXPONENTIAL_LAW, best, rivals, beta, rounds=True)


@lru_cache(maxsize=1024)
def _root(law: Law, best: int, rivals: int, beta: float, *, rounds: bool) -> float:
    if not rivals:
        return 0.0
    chance = _rounds if rounds else _one_shot
    low, high = 0.0, 1.0
    if chance(law, best, rivals, 0.0) <= beta:
        return 0.0
    while chance(law, best, rivals, high) > beta:
        low, high = high, 2 * high
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if chance(law, best, rivals, middle) > beta else (low, middle)
    return high


def _one_shot(law: Law, best: int, rivals: int, gap: float) -> float:
    low, high = law.reach(1e-9 / (best + rivals))
    x = np.linspace(low, high, _POINTS)
    least = -np.expm1(best * np.log1p(-np.minimum(law.below(x), 1 - 1e-16)))  # P[least of best ≤ x]
    over = 1 - law.below(x + gap) ** rivals
    return _against(over, least)


def _rounds(law: Law, best: int, rivals: int, gap: float) -> float:
    """Of each round: the largest of those left of the best is below the largest rival by more than the gap."""
    low, high = law.reach(1e-9 / (best + rivals))
    x = np.linspace(low, high, _POINTS)
    own, theirs = law.below(x), 1 - law.below(x + gap) ** rivals
    taken = np.unique(np.linspace(1, best, min(best, _ROUNDS)).astype(int))
    wins = [_against(theirs, own**left) for left in taken.tolist()]
    lost = np.interp(np.arange(1, best + 1), taken, np.log1p(-np.minimum(wins, 1 - 1e-16)))
    return float(-np.expm1(lost.sum()))


def _against(over: Reals, distribution: Reals) -> float:
    """∫ over dF, by the trapezoid rule."""
    steps = np.diff(distribution)
    return float(((over[1:] + over[:-1]) / 2 * steps).sum() + over[0] * distribution[0])
