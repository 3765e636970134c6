"""Two-sided geometric noise on integers, for any integer sensitivity."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.privacy.losses.pair import Cells, Floats, Lattice


@dataclass(frozen=True, slots=True, order=True)
class DiscreteLaplacePair:
    """Noise with P[x] ∝ e^(-|x|·rate) against the same moved by ``shift``; rate = 1/scale.

    The loss (shift - 2x)·rate at x = 1 … shift-1 has the mass of x; the ends ±shift·rate collect the two tails. At
    shift 1 this is randomized response. No float stands between: x is an integer, cells are geometric sums.

    >>> DiscreteLaplacePair(0.5, 2).extremes
    (-1.0, 1.0)
    """

    rate: float
    shift: int

    @property
    def infinite(self) -> tuple[float, float]:
        return 0.0, 0.0

    @property
    def symmetric(self) -> bool:
        return True

    @property
    def extremes(self) -> tuple[float, float]:
        return -self.shift * self.rate, self.shift * self.rate

    @property
    def lattice(self) -> Lattice | None:
        if self.shift <= 1024:
            return Lattice(self.shift * self.rate, 2 * self.rate, exact=True)
        top = self.shift * self.rate  # too fine to follow: align the two ends, spread the rest
        return Lattice(top, 2 * top, diffuse=-math.expm1(-top) / 2)

    def group(self, size: int) -> DiscreteLaplacePair:
        return DiscreteLaplacePair(self.rate, size * self.shift)

    def reach(self, tail: float) -> tuple[float, float]:
        return self.extremes

    def cells(self, edges: Floats) -> Cells:
        # x has loss in [low, high) exactly when (shift - high/rate)/2 < x ≤ (shift - low/rate)/2.
        place = np.clip((self.shift - edges / self.rate) / 2, -0.25, self.shift + 0.25)
        last = np.floor(place)  # x ≤ last for the lower edge of a cell; edges rise, so `last` falls
        first, final = np.maximum(last[1:] + 1, 0), np.minimum(last[:-1], self.shift)
        step, shift = self.rate, self.shift
        norm = -math.expm1(-step) / (1 + math.exp(-step))
        # interior x from a to b, both within 1 … shift-1: geometric sums seen from either end
        a, b = np.maximum(first, 1), np.minimum(final, shift - 1)
        count = np.maximum(b - a + 1, 0)
        block = -np.expm1(-step * count) / (1 + math.exp(-step))
        p = np.exp(-step * a) * block
        q = np.exp(-step * (shift - b)) * block
        one_tail = norm / -math.expm1(-step)  # P[x ≤ 0] = 1/(1+e^-rate)
        far_tail = math.exp(-step * shift) * one_tail
        low_end, high_end = (first <= 0) & (final >= 0), (first <= shift) & (final >= shift)
        p += np.where(low_end, one_tail, 0.0) + np.where(high_end, far_tail, 0.0)
        q += np.where(low_end, far_tail, 0.0) + np.where(high_end, one_tail, 0.0)
        return Cells(p, q)
