"""Mechanisms whose loss has bounded range: the exponential mechanism, report noisy max with Gumbel noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.privacy.losses.pair import Cells, Floats, Lattice


@dataclass(frozen=True, slots=True, order=True)
class BoundedRangePair:
    """The pair that dominates every mechanism whose loss has range η, adaptively chosen ones included.

    Dong, Durfee & Rogers (2020) reduce such a mechanism to two-point pairs with losses t and t-η; the supremum of their
    profiles, δ(ε) = (e^{η/2} - e^{ε/2})²/(e^η - 1) on [-η, η], is convex in e^ε and hence the profile of a pair
    (Zhu, Dong & Wang 2022): density ½·a·e^{l/2}/(a²-1) under P on [-η, η], a = e^{η/2}.
    """

    eta: float

    @property
    def infinite(self) -> tuple[float, float]:
        return 0.0, 0.0

    @property
    def symmetric(self) -> bool:
        return True

    @property
    def extremes(self) -> tuple[float, float]:
        return -self.eta, self.eta

    @property
    def lattice(self) -> Lattice | None:
        return None

    def group(self, size: int) -> BoundedRangePair:
        return BoundedRangePair(size * self.eta)

    def reach(self, tail: float) -> tuple[float, float]:
        return self.extremes

    def cells(self, edges: Floats) -> Cells:
        # P(low < L ≤ high) = (e^{high/2} - e^{low/2})·a/(a²-1); Q mirrors it. No difference of near numbers is taken.
        inside = np.clip(edges, -self.eta, self.eta)
        width = np.expm1(np.diff(inside) / 2) / (2 * math.sinh(self.eta / 2))
        return Cells(np.exp(inside[:-1] / 2) * width, np.exp(-inside[1:] / 2) * width)
