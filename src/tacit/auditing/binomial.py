"""Exact limits of a probability from a count (Clopper & Pearson 1934), in ball arithmetic: no approximation to trust.

P[Bin(n, p) ≥ k] = I_p(k, n-k+1), the regularised incomplete beta function, which Arb encloses.
"""

from __future__ import annotations

import math

from tacit.noise.exact import flint, working_precision

__all__ = ["lower_limit", "upper_limit"]

_PRECISIONS = (96, 192, 384)
_STEPS = 60


def lower_limit(hits: int, trials: int, failure: float) -> float:
    """A p that is above the true probability with chance at most ``failure``, whatever the true probability is.

    >>> lower_limit(0, 10, 0.01), round(lower_limit(10, 10, 0.01), 6)     # 0.01^(1/10)
    (0.0, 0.630957)
    """
    if hits == 0:
        return 0.0
    low, high = 0.0, hits / trials
    start = max(0.0, high - math.sqrt(2 * high * (1 - high) * -math.log(failure) / trials))
    if 0 < start < high and _tail_at_most(start, hits, trials, failure):
        low = start
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if not low < middle < high or high - low < 1e-13 * high:
            break
        low, high = (middle, high) if _tail_at_most(middle, hits, trials, failure) else (low, middle)
    return low


def upper_limit(hits: int, trials: int, failure: float) -> float:
    """A p that is below the true probability with chance at most ``failure``.

    >>> round(upper_limit(0, 10, 0.01), 6), upper_limit(10, 10, 0.01)
    (0.369043, 1.0)
    """
    other = lower_limit(trials - hits, trials, failure)
    return min(1.0, math.nextafter(1 - other, 2.0)) if other else 1.0


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
