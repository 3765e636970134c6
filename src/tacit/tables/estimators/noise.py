"""The two kinds of noise a statement can get, and how one price is shared by its measures.

All measures of a statement get noise of one law. A unit moves measure j by at most ``reach`` in each of p groups, so by
p·reach in L1 and √p·reach in L2, and the shares of the measures add up to the whole: docs/proofs/statements.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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
from tacit.tables.estimators.tails import LEAST, gaussian_sum_errors, laplace_furthest, laplace_tail

__all__ = ["GaussianNoise", "LaplaceNoise", "Noise", "furthest", "noises_for", "norm", "spread"]

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

    def unlikely(self, gap: Floats, weights: Floats, scale: float | Floats, beta: float) -> npt.NDArray[np.bool_]:
        """Whether |Σ w_k X_k| > gap has a probability below β, for independent noises X_k, in steps.

        One row of weights per noise, one column per gap; one scale for all, or a column of them.
        """

    def furthest(self, weights: Floats, scale: float | Floats, beta: float) -> Floats:
        """t with P[|Σ w_k X_k| > t] ≤ β, one for each column of weights; noises of one scale, or a row of scales."""


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

    def unlikely(self, gap: Floats, weights: Floats, scale: float | Floats, beta: float) -> npt.NDArray[np.bool_]:
        """By the tail of continuous noise, which whole steps are near to."""
        sizes = np.abs(weights)
        left = np.maximum(gap - (sizes * _off_from_laplace(scale)).sum(axis=0), 0.0)
        found: npt.NDArray[np.bool_] = laplace_tail(left, sizes * scale) < beta
        return found

    def furthest(self, weights: Floats, scale: float | Floats, beta: float) -> Floats:
        sizes = np.abs(weights)
        found: Floats = laplace_furthest(sizes * scale, beta) + (sizes * _off_from_laplace(scale)).sum(axis=0)
        return found


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
        sensitivity = L2.sqrt(groups * max(measure.squared, 1))
        if isinstance(self.promise, ZCDP):
            return DiscreteGaussian(rho=self.promise.rho * share, sensitivity=sensitivity)
        whole = 1 / variance_for(self.promise, L2(1))  # the μ² that means (ε, δ); squares add up
        return DiscreteGaussian(promise=GaussianDP.of_square(whole * share), sensitivity=sensitivity)

    def unlikely(self, gap: Floats, weights: Floats, scale: float | Floats, beta: float) -> npt.NDArray[np.bool_]:
        """Further out than is likely."""
        beyond: npt.NDArray[np.bool_] = gap > self.furthest(weights, scale, beta)
        return beyond

    def furthest(self, weights: Floats, scale: float | Floats, beta: float) -> Floats:
        """Rounded noise is within half a step of Gaussian noise, discrete noise sub-Gaussian; wide noise is nearer."""
        quantile = float(gaussian_quantile(decimal_down(Fraction(beta)))) * (1 + _ROUNDING)
        width: Floats = np.abs(weights).sum(axis=0)
        largest = float(np.max(scale))  # the unit, so that no square leaves the doubles
        deviation: Floats = np.sqrt(((weights * (scale / largest)) ** 2).sum(axis=0)) * largest
        most: Floats = quantile * deviation + width / 2
        if isinstance(self.promise, ZCDP):
            most = math.sqrt(2 * math.log(2 / beta)) * deviation
        narrowest = float(np.min(scale))
        if narrowest >= LEAST:
            size: Floats = np.sqrt((weights**2).sum(axis=0))
            most = np.minimum(most, gaussian_sum_errors(deviation, size, width, narrowest, beta))
        return most * (1 + _ROUNDING)


def _off_from_laplace(scale: float | Floats) -> Floats:
    """How far discrete Laplace noise is from continuous noise of its scale at most, where both are made of one draw."""
    return np.minimum(0.5 + 0.125 / np.asarray(scale), 1.0)


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


def norm(weights: Sequence[Fraction]) -> float:
    """√Σw²: what independent noises of one law become when they are added up."""
    return math.hypot(*map(float, weights))


def furthest(mechanism: AdditiveMechanism, weights: Sequence[Fraction], beta: Fraction) -> float:
    """How far a weighted sum of a mechanism's noises is off at most, all but β of the time."""
    column = np.array(weights, dtype=np.float64)[:, None]
    return float(_law_of(mechanism).furthest(column, mechanism.scale, float(beta))[0])


def _law_of(mechanism: AdditiveMechanism) -> Noise:
    """Noise of the law of a mechanism."""
    if not isinstance(mechanism, DiscreteGaussian):
        return LaplaceNoise(PureDP(1))
    return GaussianNoise(ZCDP(1) if mechanism.law == "discrete" else GaussianDP(1))
