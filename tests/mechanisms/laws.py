"""The law of every mechanism's release, written down a second time: in ball arithmetic, from its definition alone.

`law_of(mechanism, value)` is the law of the released multiple of the granule. It takes the mechanism's parameters
(scale, limit, period) as they are; that they keep the promise is what the tests then check.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import flint

from tacit.mechanisms.additive.bounded_laplace import BoundedLaplace
from tacit.mechanisms.additive.clamped_laplace import ClampedLaplace
from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.additive.gaussian import Gaussian
from tacit.mechanisms.additive.laplace import Laplace
from tacit.mechanisms.additive.staircase import Staircase
from tacit.mechanisms.additive.truncated_laplace import TruncatedLaplace
from tacit.mechanisms.shared.base import AdditiveMechanism
from tests.statistical.laws import (
    PRECISION,
    DiscreteGaussianLaw,
    DiscreteLaplaceLaw,
    Law,
    RoundedGaussianLaw,
    RoundedLaplaceLaw,
    ball,
)

__all__ = [
    "ConditionedLaw",
    "ReleaseLaw",
    "StaircaseLaw",
    "granule_of",
    "hockey_stick",
    "largest_ratio",
    "law_of",
    "masses",
]


@dataclass(frozen=True)
class ConditionedLaw:
    """A law given that it lies in low … high, both included."""

    law: Law
    low: int
    high: int

    def below(self, k: int) -> Any:
        if k <= self.low:
            return ball(0)
        if k > self.high:
            return ball(1)
        start, width = _ends(self)
        return (self.law.below(k) - start) / width

    def stretched(self, factor: Fraction) -> ConditionedLaw:
        return ConditionedLaw(self.law.stretched(factor), self.low, self.high)


@lru_cache(maxsize=1024)
def _ends(conditioned: ConditionedLaw) -> tuple[Any, Any]:
    """P[X < low] and P[low ≤ X ≤ high]."""
    with flint.ctx.workprec(PRECISION):
        start = conditioned.law.below(conditioned.low)
        return start, conditioned.law.below(conditioned.high + 1) - start


@dataclass(frozen=True)
class StaircaseLaw:
    """P[k] ∝ e^(-ε·steps) with one step down at |k| = r, D + r, 2D + r, …"""

    epsilon: Fraction
    period: int
    upper: int

    def weight_below(self, size: int) -> Any:
        """The weights of 0 … size - 1."""
        drop = (-ball(self.epsilon)).exp()
        whole, part = divmod(size, self.period)
        fallen = (-ball(self.epsilon * whole)).exp()
        step = self.upper + (self.period - self.upper) * drop
        return step * (1 - fallen) / (1 - drop) + fallen * (min(part, self.upper) + max(0, part - self.upper) * drop)

    def below(self, k: int) -> Any:
        drop = (-ball(self.epsilon)).exp()
        side = (self.upper + (self.period - self.upper) * drop) / (1 - drop)
        total = 2 * side - 1
        if k <= 0:
            return (side - self.weight_below(1 - k)) / total
        return 1 - (side - self.weight_below(k)) / total

    def stretched(self, factor: Fraction) -> StaircaseLaw:
        return StaircaseLaw(self.epsilon, round(self.period * factor), round(self.upper * factor))


@dataclass(frozen=True)
class ReleaseLaw:
    """A law moved by a whole number, with the cells that the fits need."""

    noise: Law | ConditionedLaw | StaircaseLaw
    centre: int

    def below(self, k: int) -> Any:
        """P[release < k]."""
        with flint.ctx.workprec(PRECISION):
            return self.noise.below(k - self.centre)

    def stretched(self, factor: Fraction) -> ReleaseLaw:
        return ReleaseLaw(self.noise.stretched(factor), self.centre)

    def quantile(self, p: float) -> int:
        """The smallest k with P[release ≤ k] ≥ p, nearly: only used to place cells."""
        low, high, step = self.centre, self.centre, 1
        while float(self.below(high + 1)) < p:
            high, step = high + step, 2 * step
        step = 1
        while float(self.below(low + 1)) >= p:
            low, step = low - step, 2 * step
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if float(self.below(middle + 1)) >= p else (middle, high)
        return high

    def edges(self, cells: int) -> list[int]:
        shares = [i / cells for i in range(1, cells)] + [0.02 / cells, 1 - 0.02 / cells]
        return sorted({self.quantile(p) for p in shares})

    def cells(self, edges: Sequence[int]) -> list[float]:
        with flint.ctx.workprec(PRECISION):
            marks = [ball(0), *(self.below(edge) for edge in edges), ball(1)]
            return [max(0.0, float(b - a)) for a, b in pairwise(marks)]

    def beyond(self, value: Fraction, error: Fraction) -> Any:
        """P[|release - value| > error], all in multiples of the granule."""
        with flint.ctx.workprec(PRECISION):
            return 1 - (self.below(math.floor(value + error) + 1) - self.below(math.ceil(value - error)))


def granule_of(m: AdditiveMechanism, dimension: int = 1) -> Fraction:
    """The step of the released numbers."""
    if isinstance(m, ClampedLaplace):
        return granule_of(m._inner)
    if isinstance(m, TruncatedLaplace):
        return m._law(dimension if m._granule is None else 1).lattice.granule
    lattice = getattr(m, "_lattice", None)
    return Fraction(1) if lattice is None else lattice.granule


def _laplace(m: Laplace, value: Fraction, _: int) -> ReleaseLaw:
    whole, rest = divmod(value / m._lattice.granule, 1)
    return ReleaseLaw(RoundedLaplaceLaw(m._scale / m._lattice.granule, rest + Fraction(1, 2)), int(whole))


def _gaussian(m: Gaussian, value: Fraction, _: int) -> ReleaseLaw:
    whole, rest = divmod(value / m._lattice.granule, 1)
    return ReleaseLaw(RoundedGaussianLaw(m._variance / m._lattice.granule**2, rest + Fraction(1, 2)), int(whole))


def _discrete_gaussian(m: DiscreteGaussian, value: Fraction, _: int) -> ReleaseLaw:
    law = RoundedGaussianLaw(m._variance) if m.law == "rounded" else DiscreteGaussianLaw(m._variance)
    return ReleaseLaw(law, int(value))


def _bounded(m: BoundedLaplace, value: Fraction, _: int) -> ReleaseLaw:
    low, high = m._domain
    centre = min(max(math.floor(value / m._lattice.granule + Fraction(1, 2)), low), high)
    return ReleaseLaw(ConditionedLaw(DiscreteLaplaceLaw(m._units), low - centre, high - centre), centre)


def _truncated(m: TruncatedLaplace, value: Fraction, dimension: int) -> ReleaseLaw:
    law = m._law(dimension if m._granule is None else 1)
    centre = math.floor(value / law.lattice.granule + Fraction(1, 2))
    return ReleaseLaw(ConditionedLaw(DiscreteLaplaceLaw(law.scale), -law.limit, law.limit), centre)


def _staircase(m: Staircase, value: Fraction, _: int) -> ReleaseLaw:
    centre = math.floor(value / m._lattice.granule + Fraction(1, 2))
    return ReleaseLaw(StaircaseLaw(m._guarantee.eps, m._period, m._upper), centre)


_LAWS: dict[type, Callable[[Any, Fraction, int], ReleaseLaw]] = {
    Laplace: _laplace,
    DiscreteLaplace: lambda m, value, _: ReleaseLaw(DiscreteLaplaceLaw(m._scale), int(value)),
    Gaussian: _gaussian,
    DiscreteGaussian: _discrete_gaussian,
    ClampedLaplace: lambda m, value, _: _laplace(m._inner, value, 1),
    BoundedLaplace: _bounded,
    TruncatedLaplace: _truncated,
    Staircase: _staircase,
}


def law_of(m: AdditiveMechanism, value: Fraction | int | float, dimension: int = 1) -> ReleaseLaw:
    """The law of one released coordinate, in multiples of the granule; of `ClampedLaplace`, before clamping."""
    return _LAWS[type(m)](m, Fraction(value), dimension)


def masses(law: ReleaseLaw | ConditionedLaw | StaircaseLaw | Law, low: int, high: int) -> dict[int, Any]:
    """P[k] for low ≤ k ≤ high, and what lies below and above at low - 1 and high + 1."""
    with flint.ctx.workprec(PRECISION):
        marks = [ball(0), *(law.below(k) for k in range(low, high + 2)), ball(1)]
        return {low - 1 + i: b - a for i, (a, b) in enumerate(pairwise(marks))}


def hockey_stick(first: dict[Any, Any], second: dict[Any, Any], epsilon: Fraction) -> Any:
    """Σ (p - e^ε·q)₊ as a ball; its upper end bounds what any event can add beyond e^ε."""
    with flint.ctx.workprec(PRECISION):
        factor = ball(epsilon).exp()
        total = ball(0)
        for key, p in first.items():
            excess = p - factor * second.get(key, ball(0))
            if not excess < 0:
                total += excess if excess > 0 else abs(excess)
        return total


def largest_ratio(first: dict[Any, Any], second: dict[Any, Any]) -> Any:
    """ln of the largest p/q, both positive everywhere."""
    with flint.ctx.workprec(PRECISION):
        best = ball(-(10**6))
        for key, p in first.items():
            best = best.max((p / second[key]).log())
        return best
