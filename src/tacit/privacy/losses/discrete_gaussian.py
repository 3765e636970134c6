"""Discrete Gaussian noise on integers, for an integer shift: not the continuous loss, and computed as what it is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tacit.privacy.losses.gaussian import normal_quantile_bound
from tacit.privacy.losses.pair import Cells, Floats, Lattice, atom_cells

LARGEST_SCALE = 50_000.0
_REACH = 38.5  # standard deviations: the mass beyond is below 1e-320


@dataclass(frozen=True, slots=True, order=True)
class DiscreteGaussianPair:
    """P[x] ∝ e^(-(x-shift)²/2σ²) against P[x] ∝ e^(-x²/2σ²) on the integers (Canonne, Kamath & Steinke 2020)."""

    scale: float
    shift: int

    @property
    def infinite(self) -> tuple[float, float]:
        return 0.0, 0.0

    @property
    def symmetric(self) -> bool:
        return True

    @property
    def extremes(self) -> tuple[float, float]:
        return -math.inf, math.inf

    @property
    def lattice(self) -> Lattice | None:
        spacing = self.shift / self.scale / self.scale
        return Lattice(spacing * self.shift / 2, spacing)

    def group(self, size: int) -> DiscreteGaussianPair:
        return DiscreteGaussianPair(self.scale, size * self.shift)

    def reach(self, tail: float) -> tuple[float, float]:
        # Discrete tails are below the continuous ones moved by one: Σ_{x ≥ m} ≤ ∫_{m-1}, and the norm exceeds σ√(2π).
        far = self.scale * normal_quantile_bound(tail) + 1 + self.shift
        top = self.shift * (far - self.shift / 2) / self.scale / self.scale
        return -top, top

    def cells(self, edges: Floats) -> Cells:
        losses, p, q = _table(self.scale, self.shift)
        return atom_cells(losses, p, q, edges)


@lru_cache(maxsize=8)
def _table(scale: float, shift: int) -> tuple[Floats, Floats, Floats]:
    """Losses, P masses and Q masses at every integer within reach of either centre."""
    far = math.ceil(_REACH * scale) + 1
    x = np.arange(-far, far + shift + 1, dtype=np.float64)
    weights = np.exp(-0.5 * (np.arange(-far, far + 1) / scale) ** 2)
    norm = math.fsum(weights.tolist()) if far < 10_000 else float(weights.sum())
    q = np.exp(-0.5 * (x / scale) ** 2) / norm
    p = np.exp(-0.5 * ((x - shift) / scale) ** 2) / norm
    losses = (x - shift / 2) * (shift / scale / scale)
    for table in (losses, p, q):
        table.flags.writeable = False
    return losses, p, q
