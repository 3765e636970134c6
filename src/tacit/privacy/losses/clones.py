"""The clone bound of shuffling, evaluated exactly (Feldman, McMillan & Talwar 2021, Theorem 3.2 and Section 5).

n reports of an ε₀-DP randomizer, shuffled, hide one person's value as well as this pair: C ~ Bin(n-1, e^-ε₀) clones,
A ~ Bin(C, 1/2) of them on her side, and her own report, on her side with probability p = e^ε₀/(1+e^ε₀):
(A + B, C - A + 1 - B) against (A + 1 - B, C - A + B) with B ~ Bernoulli(p). The two are mirror images, so one direction
is both. Proof and error budget: ``docs/proofs/amplification.md``.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from flint import arb

from tacit.privacy.losses.pair import Floats

LARGEST_CROWD = 10**9
"""A larger crowd is counted as this many: more people only hide better."""

_SLACK = 1e-9
_SMALL = 1e-12


def clone_delta(epsilon0: float, n: int, epsilon: float, scale: float) -> float:
    """An upper bound on δ(ε), within a relative 1e-8 or so once δ is at least ``scale``.

    >>> round(clone_delta(1.0, 100, 0.5, 1e-3), 6)
    3.5e-05
    """
    crowd = min(n, LARGEST_CROWD)
    low, shares, missed = _clone_counts(crowd - 1, math.exp(-epsilon0), scale * _SMALL)
    values = _given_clones(low, shares.size, epsilon0, epsilon)
    return min(float((shares * values).sum()) * (1 + _SLACK) + missed, 1.0)


@lru_cache(maxsize=4)
def _clone_counts(trials: int, rate: float, tail: float) -> tuple[int, Floats, float]:
    """The smallest count followed, the probabilities from it on, and a bound on the mass left out (Chernoff)."""
    if trials == 0:
        return 0, np.ones(1), 0.0
    mean, doubt = trials * rate, -math.log(tail)
    low = max(0, math.floor(mean - math.sqrt(2 * mean * doubt)) - 1)
    high = min(trials, math.ceil(mean + doubt / 3 + math.sqrt(doubt * doubt / 9 + 2 * mean * doubt)) + 1)
    k = np.arange(low, high, dtype=np.float64)
    with np.errstate(divide="ignore"):
        logs = np.concatenate(
            [[0.0], np.cumsum(np.log((trials - k) / (k + 1)) + math.log(rate / -math.expm1(math.log(rate))))]
        )
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()  # what is left out is below 2·tail, so this rounds up
    return low, shares, 2 * tail


def _given_clones(low: int, size: int, epsilon0: float, epsilon: float) -> Floats:
    """δ(ε) for each fixed number c = low, low+1, … of clones.

    Of the c+1 reports a are on her side with P[a] = p·b(a-1) + (1-p)·b(a), b the fair binomial of c; the loss grows
    with a and exceeds ε for a > (c+1)·(p·e^ε - (1-p)) / ((2p-1)(1+e^ε)). So δ is a mix of two binomial tails,
    T(a-1) and T(a), which are carried from c to c+1: T' (a) = T(a) + b(a-1)/2.
    """
    # No difference of near numbers: with p = 1/(1+e^-ε₀), p - e^ε(1-p) = -p·(e^(ε-ε₀) - 1) and
    # p·e^ε - (1-p) = p·e^-ε₀·(e^(ε+ε₀) - 1); they differ by e^ε - 1.
    p, ratio = 1 / (1 + math.exp(-epsilon0)), math.exp(epsilon)
    gain, loss = -p * math.expm1(epsilon - epsilon0), math.expm1(epsilon)
    slope = p * (ratio - math.exp(-epsilon0) if epsilon > 1 else math.exp(-epsilon0) * math.expm1(epsilon + epsilon0))
    slope /= math.tanh(epsilon0 / 2) * (1 + ratio)
    values = np.zeros(size)
    a = math.floor((low + 1) * slope) + 1
    tail, point = _upper_tail(low, a)  # T(a) and b(a-1)
    for i in range(size):
        c = low + i
        wanted = math.floor((c + 1) * slope) + 1
        while a < wanted:
            point = point * (c - a + 1) / a
            tail = max(tail - point, 0.0)
            a += 1
        # gain·T(a-1) - cost·T(a), with T(a-1) = T(a) + b(a-1) and cost = gain + loss
        values[i] = gain * point - loss * tail
        tail += point / 2
        point = point * (c + 1) / (2 * (c + 2 - a)) if c + 2 > a else 0.5 ** (c + 1) if a == c + 2 else 0.0
    return np.maximum(values, 0.0)


def _upper_tail(c: int, a: int) -> tuple[float, float]:
    """P[Bin(c, 1/2) ≥ a] and P[Bin(c, 1/2) = a - 1], for a ≥ 1."""
    if a > c + 1:
        return 0.0, 0.0
    log_point = arb(c + 1).lgamma() - arb(a).lgamma() - arb(c - a + 2).lgamma() - c * arb(2).log()
    point = float(log_point.exp())
    total, term, k = 0.0, point, a
    while k <= c:
        term *= (c - k + 1) / k
        total += term
        if term < 1e-18 * total:
            break
        k += 1
    return total, point
