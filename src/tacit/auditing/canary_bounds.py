"""How many guesses about secret coins can be right, if what they are made from is (ε,δ)-DP in every coin.

Steinke, Nasr & Jagielski (2023), Theorem 5.2; proof: docs/proofs/canaries.md. In floats, with a slack far above
their error: every chance is larger than the true one by a part in a million.
"""

from __future__ import annotations

import math

import numpy as np

__all__ = ["chance_of_so_many", "epsilon_refuted"]

_SLACK = 1 + 1e-6
_STEPS = 60
_FEW = 32


def chance_of_so_many(canaries: int, guesses: int, right: int, epsilon: float, delta: float) -> float:
    """At least the chance of ``right`` or more right guesses of ``guesses``, about coins of ``canaries``.

    >>> round(chance_of_so_many(100, 10, 10, 0.0, 0.0), 6)     # (1/2)^10
    0.000977
    >>> round(chance_of_so_many(100, 10, 10, 1.0, 0.0), 4)     # (e/(1+e))^10
    0.0436
    """
    logs = _log_chances(guesses, epsilon)
    chances = np.exp(logs)
    beta = float(chances[right:].sum())
    if not delta or not right:
        return min(1.0, beta * _SLACK)
    below = np.cumsum(chances[:right][::-1])
    alpha = float((below / np.arange(1, right + 1)).max())
    return min(1.0, (beta + 2 * canaries * delta * alpha) * _SLACK)


def epsilon_refuted(canaries: int, guesses: int, right: int, delta: float, failure: float) -> float:
    """The largest ε, about, at which so many right guesses have a chance of at most ``failure``; 0 if there is none.

    No (ε,δ)-DP learner gives them more often, and so none with a smaller ε.
    """
    if chance_of_so_many(canaries, guesses, right, 0.0, delta) > failure:
        return 0.0
    low, high = 0.0, 64.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        holds = chance_of_so_many(canaries, guesses, right, middle, delta) <= failure
        low, high = (middle, high) if holds else (low, middle)
    return low


def _log_chances(trials: int, epsilon: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """ln P[Bin(trials, e^ε/(1+e^ε)) = k] for every k."""
    hit, miss = -math.log1p(math.exp(-epsilon)), -epsilon - math.log1p(math.exp(-epsilon))
    factorials = log_factorials(trials)
    places = np.arange(trials + 1)
    logs: np.ndarray[tuple[int], np.dtype[np.float64]] = (
        factorials[-1] - factorials - factorials[::-1] + places * hit + places[::-1] * miss
    )
    return logs


def log_factorials(most: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """ln k! for k from 0 on, off by less than 10⁻⁷ up to 10⁷: added up one by one, errors would add up too.

    From ``_FEW`` on by Stirling's series, whose first term left out is below 10⁻¹³ there (Abramowitz & Stegun 6.1.41).

    >>> log_factorials(3).round(6).tolist()
    [0.0, 0.0, 0.693147, 1.791759]
    """
    few = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1.0, min(most, _FEW) + 1)))))
    k = np.arange(_FEW + 1.0, most + 1)
    series = (1 / 12 - (1 / 360 - 1 / (1260 * k * k)) / (k * k)) / k
    return np.concatenate((few, k * (np.log(k) - 1) + np.log(2 * math.pi * k) / 2 + series))
