"""Pairs under sampling: a coin for each unit (Poisson), or a fixed number drawn without replacement."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tacit.privacy.losses.atoms import general_group
from tacit.privacy.losses.gaussian import GaussianMixturePair, GaussianPair
from tacit.privacy.losses.numbers import float_above
from tacit.privacy.losses.pair import Cells, Floats, Lattice, Pair, segment_sums


@dataclass(frozen=True, slots=True)
class PoissonSampledPair:
    """((1-q)Q + qP, Q): the unit is in the batch with probability q (add-remove; Zhu, Dong & Wang 2022).

    The loss ln(1 - q + q·e^l) increases with the base loss l, so each range of it is one range of l. Reversed, it is
    the pair for adding a unit; the two directions differ and are never mixed.
    """

    base: Pair
    rate: float

    @property
    def infinite(self) -> tuple[float, float]:
        lost = float_above(Fraction(self.rate) * Fraction(self.base.infinite[0]))
        return lost, 0.0 if self.rate < 1 else self.base.infinite[1]

    @property
    def symmetric(self) -> bool:
        return False

    @property
    def extremes(self) -> tuple[float, float]:
        low, high = self.base.extremes
        floor = low if self.base.infinite[1] == 0 else -math.inf
        return sampled_loss(floor, self.rate), sampled_loss(high, self.rate)

    @property
    def lattice(self) -> Lattice | None:
        atoms = self.base.lattice
        if atoms is None:
            return None
        low, high = self.extremes
        return Lattice(high, high - low, diffuse=1.0) if math.isfinite(high) else None

    def group(self, size: int) -> Pair:
        if not isinstance(self.base, GaussianPair) or size > 64:
            return general_group(self, size)
        coins = [math.comb(size, j) * self.rate**j * (1 - self.rate) ** (size - j) for j in range(size + 1)]
        return GaussianMixturePair(self.base.mu, tuple(coins))

    def reach(self, tail: float) -> tuple[float, float]:
        low, high = self.base.reach(tail)
        floor = low if self.base.infinite[1] == 0 else -math.inf
        return sampled_loss(floor, self.rate), sampled_loss(high, self.rate)

    def cells(self, edges: Floats) -> Cells:
        base = self.base.cells(np.maximum.accumulate(base_losses(edges, self.rate)))
        p = (1 - self.rate) * base.q + self.rate * base.p
        q = base.q.copy()
        missing = self.base.infinite[1]  # outcomes that only Q has: the batch's base loss there is -∞
        if missing > 0 and self.rate < 1:
            cell = int(np.searchsorted(edges, math.log1p(-self.rate), side="right")) - 1
            if 0 <= cell < q.size:
                p[cell] += (1 - self.rate) * missing
                q[cell] += missing
        return Cells(p, q)


@dataclass(frozen=True, slots=True)
class FixedSizeSampledPair:
    """m of n units drawn without replacement, under replace; γ = m/n (Balle, Barthe & Gaboardi 2018; Zhu et al. 2022).

    Above loss 0 the pair is ((1-γ)Q + γP, Q), below it the mirror image (P, (1-γ)P + γQ); an atom at 0 makes up the
    rest. The base must have the same profile both ways.
    """

    base: Pair
    chosen: int
    population: int

    @property
    def rate(self) -> float:
        return self.chosen / self.population

    @property
    def infinite(self) -> tuple[float, float]:
        lost = float_above(Fraction(self.chosen, self.population) * Fraction(self.base.infinite[0]))
        return lost, lost

    @property
    def symmetric(self) -> bool:
        return True

    @property
    def extremes(self) -> tuple[float, float]:
        high = sampled_loss(self.base.extremes[1], self.rate)
        return -high, high

    @property
    def lattice(self) -> Lattice | None:
        high = self.extremes[1]
        return Lattice(0.0, high, diffuse=1.0) if math.isfinite(high) and high > 0 else None

    def group(self, size: int) -> Pair:
        return general_group(self, size)

    def reach(self, tail: float) -> tuple[float, float]:
        high = sampled_loss(self.base.reach(tail)[1], self.rate)
        return -high, high

    def cells(self, edges: Floats) -> Cells:
        at_zero = int(np.searchsorted(edges, 0.0, side="right"))
        cuts = np.insert(edges, at_zero, 0.0)
        mirrored = np.copysign(base_losses(np.abs(cuts), self.rate), cuts)
        base = self.base.cells(np.maximum.accumulate(mirrored))
        positive = cuts[:-1] >= 0
        mixed = (1 - self.rate) * np.where(positive, base.q, base.p)
        p = np.where(positive, mixed + self.rate * base.p, base.p)
        q = np.where(positive, base.q, mixed + self.rate * base.q)
        starts = np.delete(np.arange(cuts.size), at_zero)
        p, q = segment_sums(p, starts), segment_sums(q, starts)
        upper = self.base.cells(np.array([0.0, math.inf]))
        atom = (1 - self.rate) * max(upper.p[0] - upper.q[0], 0.0)
        atom += (1 - self.rate) * self.base.infinite[0]
        if 1 <= at_zero <= p.size:
            p[at_zero - 1] += atom
            q[at_zero - 1] += atom
        return Cells(p, q)


def sampled_loss(loss: float, rate: float) -> float:
    """ln(1 - q + q·e^loss), without overflow."""
    if rate >= 1:
        return loss
    if loss > 30:
        return loss + math.log(rate + (1 - rate) * math.exp(-loss))
    return math.log1p(rate * math.expm1(loss))


def base_losses(losses: Floats, rate: float) -> Floats:
    """The base loss at which a sampled loss is reached; -∞ where it never is so low."""
    if rate >= 1:
        return losses
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        small = np.log(np.maximum(np.expm1(losses) + rate, 0.0)) - math.log(rate)
        near = np.log1p(np.maximum(np.expm1(np.minimum(losses, 1.0)) / rate, -1.0))
        large = losses + np.log1p(-(1 - rate) * np.exp(-losses)) - math.log(rate)
    middle = np.where(np.abs(losses) < 0.5 * rate, near, small)
    result: Floats = np.where(losses > 30, large, middle)
    return result
