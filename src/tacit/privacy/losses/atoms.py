"""Finite families: randomized response, the pairs of pure and approximate DP, and any two finite distributions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tacit.errors import NotPrivate
from tacit.privacy.losses.pair import Cells, Floats, Lattice, Pair, atom_cells


@dataclass(frozen=True, slots=True, order=True)
class ResponsePair:
    """Randomized response over ``categories`` answers, truth e^ε times as likely as any one lie.

    Two categories: the pair that dominates every ε-DP mechanism (Kairouz, Oh & Viswanath 2015, Theorem 3.3).
    """

    epsilon: float
    categories: int = 2

    @property
    def infinite(self) -> tuple[float, float]:
        return 0.0, 0.0

    @property
    def symmetric(self) -> bool:
        return True

    @property
    def extremes(self) -> tuple[float, float]:
        return -self.epsilon, self.epsilon

    @property
    def lattice(self) -> Lattice | None:
        return Lattice(self.epsilon, self.epsilon * (2 if self.categories == 2 else 1), exact=True)

    def group(self, size: int) -> Pair:
        return ResponsePair(size * self.epsilon)

    def reach(self, tail: float) -> tuple[float, float]:
        return self.extremes

    def cells(self, edges: Floats) -> Cells:
        shrink = math.exp(-self.epsilon)
        truth = 1 / (1 + (self.categories - 1) * shrink)
        lie = shrink * truth
        losses = np.array([-self.epsilon, 0.0, self.epsilon])
        rest = (self.categories - 2) * lie
        return atom_cells(losses, np.array([lie, rest, truth]), np.array([truth, rest, lie]), edges)


@dataclass(frozen=True, slots=True, order=True)
class ApproximatePair:
    """The pair that dominates every (ε, δ)-DP mechanism: with probability δ everything is revealed."""

    epsilon: float
    delta: float

    @property
    def infinite(self) -> tuple[float, float]:
        return self.delta, self.delta

    @property
    def symmetric(self) -> bool:
        return True

    @property
    def extremes(self) -> tuple[float, float]:
        return -self.epsilon, self.epsilon

    @property
    def lattice(self) -> Lattice | None:
        return Lattice(self.epsilon, 2 * self.epsilon, exact=True) if self.epsilon > 0 else Lattice(0.0, 1.0)

    def group(self, size: int) -> Pair:
        spread = math.expm1(size * self.epsilon) / math.expm1(self.epsilon) if self.epsilon > 0 else size
        return ApproximatePair(size * self.epsilon, min(1.0, self.delta * spread * (1 + 2.0**-50)))

    def reach(self, tail: float) -> tuple[float, float]:
        return self.extremes

    def cells(self, edges: Floats) -> Cells:
        inner = ResponsePair(self.epsilon).cells(edges)
        return Cells(inner.p * (1 - self.delta), inner.q * (1 - self.delta))


@dataclass(frozen=True, slots=True, order=True)
class FinitePair:
    """Two distributions on finitely many outcomes, as atoms of equal loss: (loss, P mass, Q mass), increasing."""

    atoms: tuple[tuple[float, float, float], ...]
    infinite: tuple[float, float]

    @property
    def symmetric(self) -> bool:
        return (
            all(
                abs(a[0] + b[0]) <= 2.0**-48 * abs(a[0]) and a[1] == b[2] and a[2] == b[1]
                for a, b in zip(self.atoms, reversed(self.atoms), strict=True)
            )
            and self.infinite[0] == self.infinite[1]
        )

    @property
    def extremes(self) -> tuple[float, float]:
        return self.atoms[0][0], self.atoms[-1][0]

    @property
    def lattice(self) -> Lattice | None:
        losses = [loss for loss, _, _ in self.atoms]
        if len(losses) == 1:
            return Lattice(losses[0], 1.0)
        spacing = common_step([b - a for a, b in pairwise(losses)])
        if spacing is not None:
            return Lattice(losses[-1], spacing)
        return Lattice(losses[-1], losses[-1] - losses[0], diffuse=1 - self.atoms[0][1] - self.atoms[-1][1])

    def group(self, size: int) -> Pair:
        return general_group(self, size)

    def reach(self, tail: float) -> tuple[float, float]:
        return self.extremes

    def cells(self, edges: Floats) -> Cells:
        losses, p, q = (np.array(column) for column in zip(*self.atoms, strict=True))
        return atom_cells(losses, p, q, edges)


def general_group(pair: Pair, size: int) -> Pair:
    """Group privacy of a mechanism of which only its largest loss is known: pure, ``size`` times as much."""
    largest = max(pair.extremes[1], -pair.extremes[0])
    if math.isinf(largest) or max(pair.infinite) > 0:
        raise NotPrivate(
            f"no bound on groups is known for {pair!r}: its loss is unbounded. "
            "Convert first, for example ApproxDP(loss.epsilon(delta), delta).group(k)."
        )
    return ResponsePair(size * largest)


def common_step(gaps: list[float]) -> float | None:
    """A step of which every gap is a whole multiple below 65, to the last bits; None if there is none."""
    smallest = min(gaps)
    for parts in range(1, 9):
        step = smallest / parts
        if all(gap / step < 65 and abs(gap / step - round(gap / step)) < 1e-12 for gap in gaps):
            return step
    return None
