"""The exact laws of the samplers, written down a second time: in ball arithmetic, from their formulas alone."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Protocol

import flint

__all__ = [
    "DiscreteGaussianLaw",
    "DiscreteLaplaceLaw",
    "GeometricLaw",
    "Law",
    "RoundedGaussianLaw",
    "RoundedLaplaceLaw",
    "ball",
]

PRECISION = 256
TABLE_LIMIT = 1 << 14  # variances up to here are summed term by term


def ball(value: Fraction | int) -> Any:
    exact = Fraction(value)
    return flint.arb(flint.fmpq(exact.numerator, exact.denominator))


class _Edges:
    """Cells between integers, and their probabilities."""

    def below(self, k: int) -> Any:
        raise NotImplementedError

    def quantile(self, p: float) -> float:
        raise NotImplementedError

    def edges(self, cells: int) -> list[int]:
        """Integers near the quantiles, two of them far out, and those around zero."""
        shares = [i / cells for i in range(1, cells)] + [0.02 / cells, 1 - 0.02 / cells]
        return sorted({round(self.quantile(p)) for p in shares} | {0, 1})

    def cells(self, edges: Sequence[int]) -> list[float]:
        """The probabilities below the first edge, between neighbours, and from the last one on."""
        with flint.ctx.workprec(PRECISION):
            marks = [ball(0), *(self.below(edge) for edge in edges), ball(1)]
            return [max(0.0, float(b - a)) for a, b in itertools.pairwise(marks)]


class Law(Protocol):
    """What the fits need: P[X < k] as a ball, cells, and the same law 10% off."""

    def below(self, k: int) -> Any: ...

    def stretched(self, factor: Fraction) -> Law: ...

    def edges(self, cells: int) -> list[int]: ...

    def cells(self, edges: Sequence[int]) -> list[float]: ...


@dataclass(frozen=True)
class GeometricLaw(_Edges):
    """P[G ≥ m] = e^(-m/scale)."""

    scale: Fraction

    def stretched(self, factor: Fraction) -> GeometricLaw:
        return GeometricLaw(self.scale * factor)

    def below(self, k: int) -> Any:
        return 1 - (-ball(max(k, 0) / self.scale)).exp()

    def quantile(self, p: float) -> float:
        return -float(self.scale) * math.log1p(-p)


@dataclass(frozen=True)
class DiscreteLaplaceLaw(_Edges):
    """P[X = k] ∝ e^(-|k|/scale)."""

    scale: Fraction

    def stretched(self, factor: Fraction) -> DiscreteLaplaceLaw:
        return DiscreteLaplaceLaw(self.scale * factor)

    def below(self, k: int) -> Any:
        decay = (-ball(1 / self.scale)).exp()
        if k <= 0:
            return (-ball((1 - k) / self.scale)).exp() / (1 + decay)
        return 1 - (-ball(k / self.scale)).exp() / (1 + decay)

    def quantile(self, p: float) -> float:
        return _laplace_quantile(p) * float(self.scale)


@dataclass(frozen=True)
class RoundedLaplaceLaw(_Edges):
    """floor(scale·L + offset), L the continuous Laplace law."""

    scale: Fraction
    offset: Fraction

    def stretched(self, factor: Fraction) -> RoundedLaplaceLaw:
        return RoundedLaplaceLaw(self.scale * factor, self.offset)

    def below(self, k: int) -> Any:
        x = (k - self.offset) / self.scale
        tail = (-ball(abs(x))).exp() / 2
        return tail if x < 0 else 1 - tail

    def quantile(self, p: float) -> float:
        return _laplace_quantile(p) * float(self.scale) + float(self.offset)


@dataclass(frozen=True)
class RoundedGaussianLaw(_Edges):
    """floor(σZ + offset), Z standard normal."""

    variance: Fraction
    offset: Fraction = Fraction(1, 2)

    def stretched(self, factor: Fraction) -> RoundedGaussianLaw:
        return RoundedGaussianLaw(self.variance * factor**2, self.offset)

    def below(self, k: int) -> Any:
        return (ball(self.offset - k) / ball(2 * self.variance).sqrt()).erfc() / 2

    def quantile(self, p: float) -> float:
        return NormalDist().inv_cdf(p) * math.sqrt(self.variance) + float(self.offset)


@dataclass(frozen=True)
class DiscreteGaussianLaw(_Edges):
    """P[X = k] ∝ e^(-k²/2·variance).

    Summed term by term up to `TABLE_LIMIT`; beyond, a sum over integers is the integral between half-integers
    up to |x²-1|/24σ² of itself with x in units of σ (midpoint rule): below 10⁻⁴ at 5σ, and far less nearer in.
    """

    variance: Fraction

    def stretched(self, factor: Fraction) -> DiscreteGaussianLaw:
        return DiscreteGaussianLaw(self.variance * factor**2)

    def below(self, k: int) -> Any:
        if self.variance > TABLE_LIMIT:
            return RoundedGaussianLaw(self.variance).below(k)
        tails = _gaussian_tails(self.variance)
        total = tails[0] + tails[1]
        if k > 0:
            return 1 - tails[min(k, len(tails) - 1)] / total
        return tails[min(1 - k, len(tails) - 1)] / total

    def quantile(self, p: float) -> float:
        return NormalDist().inv_cdf(p) * math.sqrt(self.variance)


@lru_cache(maxsize=64)
def _gaussian_tails(variance: Fraction) -> list[Any]:
    """The sums of e^(-i²/2·variance) over i ≥ 0, i ≥ 1, ..., down to 2⁻³⁰⁰."""
    with flint.ctx.workprec(PRECISION):
        length = math.isqrt(math.ceil(2 * variance * 210)) + 3
        tails = [flint.arb(0)]
        for i in range(length, -1, -1):
            tails.append(tails[-1] + (-ball(Fraction(i * i) / (2 * variance))).exp())
        return tails[::-1]


def _laplace_quantile(p: float) -> float:
    return math.log(2 * p) if p < 0.5 else -math.log(2 * (1 - p))
