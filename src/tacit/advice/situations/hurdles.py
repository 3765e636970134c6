"""How far off the answers of a stream are on the hardest values: all at T - α, and at T + α where a hit is due.

The proven bounds add up a quantile of the threshold's noise and one of the values'; this is the chance itself, of both
together, by a sum over a fine grid of the threshold's noise.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from tacit.advice.situations.rivals import Law

__all__ = ["stream_error"]

_POINTS = 1001
_FINEST = 1e-9
"""Below such a chance the sum's own rounding would be counted."""


@lru_cache(maxsize=512)
def stream_error(law: Law, bar: float, jump: float, length: int, hits: int, beta: float, *, redrawn: bool) -> float:
    """α at which some answer is wrong with probability β; ``bar`` and ``jump`` are the scales of the two noises."""
    if beta < _FINEST:
        return math.inf  # the proven bound stands alone
    runs = hits if redrawn else 1
    below, above = (length - hits) / runs, hits / runs
    low, high = law.reach(1e-12)
    grid = np.linspace(low, high, _POINTS)
    weights = np.diff(law.below(grid))
    bars = (grid[1:] + grid[:-1]) / 2 * bar if bar else np.zeros(1)
    weights = weights if bar else np.ones(1)

    def wrong(alpha: float) -> float:
        right = law.below((bars + alpha) / jump) ** below * (1 - law.below((bars - alpha) / jump)) ** above
        return float(1 - (weights @ right) ** runs)

    small, large = 0.0, jump
    while wrong(large) > beta:
        small, large = large, 2 * large
    for _ in range(24):
        middle = (small + large) / 2
        small, large = (middle, large) if wrong(middle) > beta else (small, middle)
    return large
