"""Laplace noise on reals: the loss lies in [-c, c] for c = sensitivity / scale, with atoms at both ends."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.privacy.losses.pair import Cells, Floats, Lattice


@dataclass(frozen=True, slots=True, order=True)
class LaplacePair:
    """Lap(1) against Lap(1) moved by ``ratio``; the same profile in both directions.

    Under P: P[L = c] = 1/2, P[L = -c] = e^-c/2, and density e^((l-c)/2)/4 in between.

    >>> LaplacePair(1.0).extremes
    (-1.0, 1.0)
    """

    ratio: float

    @property
    def infinite(self) -> tuple[float, float]:
        return 0.0, 0.0

    @property
    def symmetric(self) -> bool:
        return True

    @property
    def extremes(self) -> tuple[float, float]:
        return -self.ratio, self.ratio

    @property
    def lattice(self) -> Lattice | None:
        return Lattice(self.ratio, 2 * self.ratio, diffuse=-math.expm1(-self.ratio) / 2)

    def group(self, size: int) -> LaplacePair:
        return LaplacePair(size * self.ratio)

    def reach(self, tail: float) -> tuple[float, float]:
        return self.extremes

    def cells(self, edges: Floats) -> Cells:
        c = self.ratio
        inside = np.clip(edges, -c, c)
        width = np.expm1(np.diff(inside) / 2) / 2
        p = np.exp((inside[:-1] - c) / 2) * width
        q = np.exp(-(inside[1:] + c) / 2) * width
        for place, mass_p, mass_q in ((c, 0.5, math.exp(-c) / 2), (-c, math.exp(-c) / 2, 0.5)):
            cell = int(np.searchsorted(edges, place, side="right")) - 1
            if 0 <= cell < p.size:
                p[cell] += mass_p
                q[cell] += mass_q
        return Cells(p, q)
