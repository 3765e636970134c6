"""Estimated shares of categories: unbiased, with standard errors, intervals, and a projection to a distribution."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.responses.randomized_response import ResponseEstimate
from tacit.mechanisms.shared.estimate import BETA
from tacit.mechanisms.shared.tails import read_beta
from tacit.privacy.prices import Price

__all__ = ["FrequencyEstimate", "Intervals", "Projection", "Support", "two_sided"]

Reals = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Support:
    """How often a report speaks for a category: with chance ``own`` if it is the person's, ``other`` if not."""

    own: float
    other: float

    @property
    def gain(self) -> float:
        """How much likelier the person's own category is."""
        return self.own - self.other

    def variance(self, share: Reals | float, count: int) -> Reals:
        """Of the estimated share, over the randomizers' coins, for a category that this share of people has."""
        mixed = share * self.own * (1 - self.own) + (1 - np.asarray(share)) * self.other * (1 - self.other)
        result: Reals = mixed / (count * self.gain**2)
        return result


@dataclass(frozen=True, slots=True)
class Intervals:
    """The two ends for each category, and how often they may miss: each on its own, or any of them."""

    low: Reals
    high: Reals
    beta: Fraction
    simultaneous: bool


@dataclass(frozen=True, slots=True)
class Projection:
    """Shares that are a proper distribution: none below 0, their sum 1; the nearest such to the unbiased ones.

    Projecting takes the noise out of the zeros and puts bias in: categories that nobody has come out above 0 on
    average, common ones a little below their share. The squared error over all categories never grows.
    """

    categories: tuple[object, ...]
    values: Reals
    count: int

    @property
    def counts(self) -> Reals:
        """People in each category."""
        return self.values * self.count


@dataclass(frozen=True, slots=True)
class FrequencyEstimate(ResponseEstimate):
    """Shares of categories among those who reported, unbiased, with what they are worth.

    Errors and intervals cover the randomizers' coins, not the choice of who was asked. An unbiased share may lie
    outside [0, 1].
    """

    support: Support
    collisions: float = field(default=0.0)
    """Variance from categories that share a cell of a sketch, beside that of the coins."""

    @property
    def counts(self) -> Reals:
        """The estimated number of people in each category."""
        return self.values * self.count

    def intervals(self, beta: Price = BETA) -> Intervals:
        """For each category on its own: misses the true share with probability about β."""
        exact = read_beta(beta)
        return self._intervals(two_sided(exact), exact, simultaneous=False)

    def simultaneous_intervals(self, beta: Price = BETA) -> Intervals:
        """For all categories at once: any of them misses with probability about β, at most (Bonferroni)."""
        exact = read_beta(beta)
        return self._intervals(two_sided(exact / len(self.categories)), exact, simultaneous=True)

    def projected(self) -> Projection:
        """The nearest proper distribution, in squared distance; biased, see `Projection`."""
        return Projection(self.categories, _on_simplex(self.values), self.count)

    def _intervals(self, z: float, beta: Fraction, *, simultaneous: bool) -> Intervals:
        """All shares s whose own standard error puts the estimate within z: |v - s|² ≤ z²·variance(s), solved for s."""
        at_zero = float(self.support.variance(0.0, self.count)) + self.collisions
        slope = float(self.support.variance(1.0, self.count)) - at_zero + self.collisions
        middle = self.values + z * z * slope / 2
        root = np.sqrt(np.maximum(middle**2 - self.values**2 + z * z * at_zero, 0.0))
        low, high = (np.clip(end, 0.0, 1.0) for end in (middle - root, middle + root))
        return Intervals(low, high, beta, simultaneous)


def two_sided(beta: Fraction) -> float:
    """z with P[|Z| > z] = β for a normal Z."""
    return -NormalDist().inv_cdf(float(beta) / 2)


def _on_simplex(values: Reals) -> Reals:
    """The point of the simplex nearest to ``values`` (Duchi et al. 2008): one number off each, cut at 0."""
    falling = np.sort(values)[::-1]
    over = (np.cumsum(falling) - 1) / np.arange(1, values.size + 1)
    shift = over[np.flatnonzero(falling > over)[-1]]
    result: Reals = np.maximum(values - shift, 0.0)
    return result
