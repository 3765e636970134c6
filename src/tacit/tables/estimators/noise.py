"""The two kinds of noise a statement can get, and how one price is shared by its measures.

All measures of a statement get noise of one law. A unit moves measure j by at most ``reach`` in each of p groups, so by
p·reach in L1 and √p·reach in L2, and the shares of the measures add up to the whole: docs/proofs/statements.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.additive.gaussian_noise import variance_for
from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.mechanisms.shared.tails import gaussian_quantile
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.gaussian import GaussianDP
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.rounding import decimal_down
from tacit.privacy.sensitivity import L1, L2
from tacit.tables.engines.contract import Counted

__all__ = ["GaussianNoise", "LaplaceNoise", "Noise", "noises_for"]

Floats = npt.NDArray[np.float64]

_ROUNDING = 1e-9
"""More than what doubles lose here, relative to the numbers added."""


class Noise(Protocol):
    """Noise of one law, to be shared by the measures of one statement."""

    @property
    def name(self) -> str:
        """The law, for plans and reports."""

    @property
    def guarantee(self) -> Guarantee:
        """What all shares together promise."""

    def mechanism(self, share: Fraction, measure: Counted, groups: int) -> AdditiveMechanism:
        """The mechanism that releases one measure, for all groups at once."""

    def unlikely(self, gap: Floats, scales: tuple[float, float], weight: Floats, beta: float) -> npt.NDArray[np.bool_]:
        """Whether |X - weight·Y| > gap has a probability below β, for independent noises of these scales, in steps."""


@dataclass(frozen=True, slots=True)
class LaplaceNoise:
    """Discrete Laplace noise at a pure price."""

    promise: PureDP

    @property
    def name(self) -> str:
        return "discrete Laplace"

    @property
    def guarantee(self) -> Guarantee:
        return self.promise

    def mechanism(self, share: Fraction, measure: Counted, groups: int) -> AdditiveMechanism:
        price = PureDP(self.promise.eps * share)
        return DiscreteLaplace(promise=price, sensitivity=L1(groups * max(measure.reach, 1)))

    def unlikely(self, gap: Floats, scales: tuple[float, float], weight: Floats, beta: float) -> npt.NDArray[np.bool_]:
        """P[|X+Y| > t] = (a²e^(-t/a) - b²e^(-t/b))/(a²-b²) for Laplace scales a and b; whole steps are near those."""
        slack = _off_from_laplace(scales[0]) + np.abs(weight) * _off_from_laplace(scales[1])
        left = np.maximum(gap - slack, 0.0)
        first, second = np.full_like(weight, scales[0]), np.abs(weight) * scales[1]
        small = np.maximum(np.minimum(first, second), 1e-300)
        large = np.maximum(np.maximum(first, second), small * (1 + 1e-6))  # equal scales are a removable singularity
        ratio = (small / large) ** 2
        with np.errstate(under="ignore", over="ignore"):
            tail = (np.exp(-left / large) - ratio * np.exp(-left / small)) / (1 - ratio)
        return tail < beta


@dataclass(frozen=True, slots=True)
class GaussianNoise:
    """Gaussian noise on integers: the discrete law at a price in ρ, the rounded continuous law at (ε, δ)."""

    promise: ApproxDP | ZCDP | GaussianDP

    @property
    def name(self) -> str:
        return "discrete Gaussian" if isinstance(self.promise, ZCDP) else "rounded Gaussian"

    @property
    def guarantee(self) -> Guarantee:
        return self.promise

    def mechanism(self, share: Fraction, measure: Counted, groups: int) -> AdditiveMechanism:
        sensitivity = L2.sqrt(groups * max(measure.reach, 1) ** 2)
        if isinstance(self.promise, ZCDP):
            return DiscreteGaussian(rho=self.promise.rho * share, sensitivity=sensitivity)
        whole = 1 / variance_for(self.promise, L2(1))  # the μ² that means (ε, δ); squares add up
        return DiscreteGaussian(promise=GaussianDP.of_square(whole * share), sensitivity=sensitivity)

    def unlikely(self, gap: Floats, scales: tuple[float, float], weight: Floats, beta: float) -> npt.NDArray[np.bool_]:
        """Rounded noise is within half a step of Gaussian noise; the discrete law has bounds of its own."""
        quantile = float(gaussian_quantile(decimal_down(Fraction(beta)))) * (1 + _ROUNDING)
        scale, width = np.sqrt(scales[0] ** 2 + (weight * scales[1]) ** 2), 1 + np.abs(weight)
        most: Floats = quantile * scale + width / 2
        if isinstance(self.promise, ZCDP):
            most = math.sqrt(2 * math.log(2 / beta)) * scale
            if min(scales) >= 2:
                most = np.minimum(most, quantile * scale + 1.5 * width)
        beyond: npt.NDArray[np.bool_] = gap > most * (1 + _ROUNDING)
        return beyond


def _off_from_laplace(scale: float) -> float:
    """How far discrete Laplace noise is from continuous noise of its scale at most, where both are made of one draw."""
    return min(0.5 + 0.125 / scale, 1.0)


def noises_for(price: Guarantee) -> tuple[Noise, ...]:
    """The noises that a price can buy: Laplace at ε, Gaussian as well where there is a δ, Gaussian at ρ."""
    if isinstance(price, ZCDP):
        return (GaussianNoise(ZCDP(price.rho)),)
    if isinstance(price, ApproxDP) and price.dlt:
        return (LaplaceNoise(PureDP(price.eps)), GaussianNoise(price))
    epsilon = price.eps if isinstance(price, PureDP | ApproxDP) else None
    assert epsilon is not None  # pricing reads nothing else
    return (LaplaceNoise(PureDP(epsilon)),)


def spread(mechanism: AdditiveMechanism) -> float:
    """The standard deviation of a mechanism's noise, in integer steps."""
    return mechanism.scale * (math.sqrt(2) if isinstance(mechanism, DiscreteLaplace) else 1.0)
