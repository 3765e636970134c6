"""How a sparse vector divides its price between the noise on the threshold and the noise on the queries."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from tacit.errors import InvalidParameter
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.rounding import UP, decimal_down, decimal_up, ln_down, ln_up, sqrt_up

__all__ = ["BOOK", "IMPROVED", "NoiseScales", "Split", "advanced_sigma", "read_split"]


@dataclass(frozen=True, slots=True)
class NoiseScales:
    """Laplace scales per unit of sensitivity, and the promise that they keep."""

    threshold: Fraction
    query: Fraction
    redrawn: bool
    """Whether the threshold gets fresh noise after each hit."""
    guarantee: Guarantee


class Split(Protocol):
    """A proved choice of scales for ``hits`` hits; ``ways`` is 1 for monotone queries, else 2."""

    @property
    def name(self) -> str: ...

    @property
    def accepts(self) -> tuple[type[Guarantee], ...]: ...

    def scales(self, promise: Guarantee, hits: int, ways: int) -> NoiseScales: ...


@dataclass(frozen=True, slots=True)
class _Book:
    """Dwork & Roth 2014, Algorithms 1 and 2: hits runs of AboveThreshold, composed simply or by advanced composition.

    σ = 2c/ε, or √(32c·ln(1/δ))/ε where that is less noise and proved: c ≥ 8·ln(1/δ) and ε ≤ 3.2·ln(1/δ).
    """

    name: str = "BOOK"
    accepts: tuple[type[Guarantee], ...] = (PureDP, ApproxDP)

    def scales(self, promise: Guarantee, hits: int, ways: int) -> NoiseScales:
        assert isinstance(promise, PureDP | ApproxDP)
        sigma = 2 * hits / promise.eps
        kept: Guarantee = PureDP(promise.eps, neighbours=promise.neighbours)
        if isinstance(promise, ApproxDP) and promise.dlt:
            composed = advanced_sigma(promise.eps, promise.dlt, hits)
            if composed is not None and composed < sigma:
                sigma, kept = composed, promise
        return NoiseScales(sigma, ways * sigma, True, kept)


@dataclass(frozen=True, slots=True)
class _Improved:
    """Lyu, Su & Li 2017: one noisy threshold for all hits, ε₁ : ε₂ = 1 : (ways·c)^(2/3), query noise Lap(ways·c/ε₂)."""

    name: str = "IMPROVED"
    accepts: tuple[type[Guarantee], ...] = (PureDP,)

    def scales(self, promise: Guarantee, hits: int, ways: int) -> NoiseScales:
        assert isinstance(promise, PureDP)
        ratio = Fraction(float(ways * hits) ** (2 / 3)).limit_denominator(10**6)  # any ratio is proved
        first = promise.eps / (1 + ratio)
        return NoiseScales(1 / first, ways * hits / (promise.eps - first), False, promise)


BOOK: Split = _Book()
IMPROVED: Split = _Improved()


def advanced_sigma(epsilon: Fraction, delta: Fraction, hits: int) -> Fraction | None:
    """√(32c·ln(1/δ))/ε, rounded up, where it is proved and no noisier than 2c/ε; else None."""
    least_log = Fraction(ln_down(decimal_down(1 / delta)))
    if hits < 8 * least_log or epsilon > Fraction(16, 5) * least_log:
        return None
    return Fraction(sqrt_up(UP.multiply(decimal_up(Fraction(32 * hits)), ln_up(decimal_up(1 / delta))))) / epsilon


def read_split(split: Split) -> Split:
    """One of the splits that are proved."""
    if split not in (BOOK, IMPROVED):
        raise InvalidParameter("split", given=split, allowed="tacit.BOOK or tacit.IMPROVED")
    return split
