"""The clone bound of shuffling, evaluated exactly (Feldman, McMillan & Talwar 2021).

n reports of an ε₀-DP randomizer, shuffled, hide one person's value as well as this pair: C ~ Bin(n-1, e^-ε₀) clones,
A ~ Bin(C, 1/2) of them on her side, and her own report, on her side with probability p = e^ε₀/(1+e^ε₀):
(A + B, C - A + 1 - B) against (A + 1 - B, C - A + B) with B ~ Bernoulli(p). The two are mirror images, so one direction
is both. Proof and error budget: ``docs/proofs/amplification.md``.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from tacit.privacy.losses.pair import Floats

LARGEST_CROWD = 10**9
"""A larger crowd is counted as this many: more people only hide better."""

_SLACK = 1e-9
_SMALL = 1e-12
_BLOCK = 1e-5  # counts of clones within this share of each other are counted as the smallest of them
_MOST_LEVELS = 100_000
_ROOT_TWO_PI = math.sqrt(2 * math.pi)
_STIRLING_EXACT = np.array(
    [0.0] + [math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - math.log(_ROOT_TWO_PI) for n in range(1, 16)]
)


def clone_delta(epsilon0: float, n: int, epsilon: float, scale: float) -> float:
    """An upper bound on δ(ε), once δ is at least ``scale`` near enough to give ε within a relative 1e-5.

    >>> round(clone_delta(1.0, 100, 0.5, 1e-3), 6)
    3.5e-05
    """
    crowd = min(n, LARGEST_CROWD)
    counts, shares, missed = _clone_counts(crowd - 1, epsilon0, scale * _SMALL)
    values = _given_clones(counts, epsilon0, epsilon)
    return min(float((shares * values).sum()) * (1 + _SLACK) + missed + 1e-300, 1.0)


@lru_cache(maxsize=4)
def _clone_counts(trials: int, epsilon0: float, tail: float) -> tuple[Floats, Floats, float]:
    """Counts of clones, the probability of each, and a bound on the mass left out (Chernoff).

    δ never grows with the number of clones (one more, on either side by a fair coin, is post-processing), so a block of
    counts may stand for its smallest.
    """
    if trials == 0:
        return np.zeros(1), np.ones(1), 0.0
    mean, doubt = trials * math.exp(-epsilon0), -math.log(tail)
    low = max(0, math.floor(mean - math.sqrt(2 * mean * doubt)) - 1)
    high = min(trials, math.ceil(mean + doubt / 3 + math.sqrt(doubt * doubt / 9 + 2 * mean * doubt)) + 1)
    k = np.arange(low, high, dtype=np.float64)
    odds = -epsilon0 - math.log(-math.expm1(-epsilon0))
    logs = np.concatenate([[0.0], np.cumsum(np.log((trials - k) / (k + 1)) + odds)])
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()  # what is left out is below 2·tail, so this rounds up
    width = max(1, int(_BLOCK * low))
    starts = np.arange(0, shares.size, width)
    return low + starts.astype(np.float64), np.add.reduceat(shares, starts), 2 * tail


def _given_clones(c: Floats, epsilon0: float, epsilon: float) -> Floats:
    """δ(ε) for each fixed number c of clones.

    Of the c+1 reports a are on her side with P[a] = p·b(a-1) + (1-p)·b(a), b the fair binomial of c; the loss grows
    with a and exceeds ε for a > (c+1)·(p·e^ε - (1-p)) / ((2p-1)(1+e^ε)). So δ = p'·T(a-1) - q'·T(a) for the first such
    a, T the upper tails of b. Every a gives at most δ, so that its neighbours are tried too: rounding cannot hurt.
    """
    # No difference of near numbers: with p = 1/(1+e^-ε₀), p' = p - e^ε(1-p) = -p·(e^(ε-ε₀) - 1), and q' - p' = e^ε - 1.
    p, ratio, shrink = 1 / (1 + math.exp(-epsilon0)), math.exp(epsilon), math.exp(-epsilon0)
    gain, loss = -p * math.expm1(epsilon - epsilon0), math.expm1(epsilon)
    slope = p * (ratio - shrink if epsilon > 1 else shrink * math.expm1(epsilon + epsilon0))
    slope /= math.tanh(epsilon0 / 2) * (1 + ratio)
    last = np.minimum(np.floor((c + 1) * min(slope, 1.0)) + 2, c + 1)
    beyond = _tail_over_point(c, last) if loss > 0 else np.zeros(c.size)  # T(a) / b(a-1)
    best = np.zeros(c.size)
    for off in range(3):
        a = np.maximum(last - off, 1)
        best = np.maximum(best, _fair_binomial(c, a - 1) * (gain - loss * beyond))  # T(a-1) = T(a) + b(a-1)
        before = np.maximum(a - 1, 1)
        beyond = np.where(a > 1, (c - before + 1) / before * (1 + beyond), beyond)
    return best


def _fair_binomial(n: Floats, k: Floats) -> Floats:
    """P[Bin(n, 1/2) = k], by its deviance (Loader 2000): no large numbers cancel."""
    ends = (k <= 0) | (k >= n)
    inner_n, inner_k = np.where(ends, 2.0, n), np.where(ends, 1.0, k)
    x = (2 * inner_k - inner_n) / inner_n
    deviance = inner_n / 2 * ((1 + x) * np.log1p(x) + (1 - x) * np.log1p(-x))
    rest = inner_n - inner_k
    logs = _stirling(inner_n) - _stirling(inner_k) - _stirling(rest) - deviance
    inner = np.exp(logs) * np.sqrt(inner_n / (inner_k * rest)) / _ROOT_TWO_PI
    result: Floats = np.where(ends, np.exp2(-np.minimum(n, 1074.0)), inner)
    return result


def _stirling(n: Floats) -> Floats:
    """ln n! less Stirling's formula."""
    inverse = 1 / np.maximum(n, 16.0)
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188))))
    result: Floats = np.where(n < 16, _STIRLING_EXACT[np.minimum(n, 15.0).astype(np.intp)], series)
    return result


def _tail_over_point(c: Floats, a: Floats) -> Floats:
    """P[Bin(c, 1/2) ≥ a] / P[Bin(c, 1/2) = a - 1], by the incomplete beta function's continued fraction (Lentz).

    With a above c/2 its terms settle; a place that has settled is left alone.
    """
    result = (c - a + 1) / a / 2
    active = np.flatnonzero(result > 0)
    one, other = a[active], (c - a + 1)[active]
    value = d = 1 / (1 - (one + other) * 0.5 / (one + 1))
    up = np.ones(active.size)
    for m in range(1, _MOST_LEVELS):
        if not active.size:
            break
        even = m * (other - m) * 0.5 / ((one + 2 * m - 1) * (one + 2 * m))
        odd = -(one + m) * (one + other + m) * 0.5 / ((one + 2 * m) * (one + 2 * m + 1))
        d, up = 1 / (1 + even * d), 1 + even / up
        value = value * (up * d)
        d, up = 1 / (1 + odd * d), 1 + odd / up
        change = up * d
        value = value * change
        if m % 8 == 0:
            done = np.abs(change - 1) < 1e-13
            if done.any():
                result[active[done]] *= value[done]
                left = ~done
                active, one, other = active[left], one[left], other[left]
                value, d, up = value[left], d[left], up[left]
    result[active] *= value
    return result
