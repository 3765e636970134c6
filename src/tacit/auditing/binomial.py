"""Exact limits of a probability from a count (Clopper & Pearson 1934), in ball arithmetic: no approximation to trust.

P[Bin(n, p) ≥ k] = I_p(k, n-k+1), the regularised incomplete beta function, which Arb encloses.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.noise.exact import flint, working_precision

__all__ = ["lower_limit", "upper_limit"]

_PRECISIONS = (64, 128, 256)
_STEPS = 50
_CLOSE = 1e-6  # of the distance from the share of hits: finer limits would change no verdict


def lower_limit(hits: int, trials: int, failure: float) -> float:
    """A p that is above the true probability with chance at most ``failure``, whatever the true probability is.

    >>> lower_limit(0, 10, 0.01), round(lower_limit(10, 10, 0.01), 4)     # 0.01^(1/10)
    (0.0, 0.631)
    """
    if hits == 0:
        return 0.0
    guess = _estimate(hits, trials, failure)
    step = _CLOSE * abs(hits / trials - guess) + 1e-15 * guess
    while guess - step > 0:
        if _tail_at_most(guess - step, hits, trials, failure):
            return guess - step
        step *= 2
    return 0.0


def upper_limit(hits: int, trials: int, failure: float) -> float:
    """A p that is below the true probability with chance at most ``failure``.

    >>> round(upper_limit(0, 10, 0.01), 4), upper_limit(10, 10, 0.01)
    (0.369, 1.0)
    """
    other = lower_limit(trials - hits, trials, failure)
    return min(1.0, math.nextafter(1 - other, 2.0)) if other else 1.0


def _estimate(hits: int, trials: int, failure: float) -> float:
    """Where the limit is, in floats: only a guess, that is then verified."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _log_tail(middle, hits, trials) < math.log(failure) else (low, middle)
    return low


def _log_tail(p: float, hits: int, trials: int) -> float:
    """ln P[Bin(trials, p) ≥ hits], about; 0 where it is large anyway."""
    if hits <= trials * p:
        return 0.0
    count = min(trials - hits, int(20 * math.sqrt(trials * p * (1 - p)) + 200))
    places = np.arange(hits, hits + count)
    ratios = (trials - places) / (places + 1) * (p / (1 - p))
    choose = math.lgamma(trials + 1) - math.lgamma(hits + 1) - math.lgamma(trials - hits + 1)
    first = choose + hits * math.log(p) + (trials - hits) * math.log1p(-p)
    return first + math.log1p(float(np.cumprod(ratios).sum()))


def _tail_at_most(p: float, hits: int, trials: int, failure: float) -> bool:
    """Whether P[Bin(trials, p) ≥ hits] ≤ failure is certain; what stays open counts as no."""
    for bits in _PRECISIONS:
        with working_precision(bits):
            tail = flint().arb(p).beta_lower(hits, trials - hits + 1, regularized=1)
            if tail <= failure:
                return True
            if tail > failure:
                return False
    return False
