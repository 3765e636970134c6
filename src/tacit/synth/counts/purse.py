"""What a price buys: exact noise for tables, exact choices, and the proof that all of it stays within the price.

Every table gets a share; the shares of one fit add up to at most 1. At (ε, δ) they are shares of μ², with the rounded
Gaussian law; at ρ of ρ, with the discrete one; at a pure ε of ε, with discrete Laplace noise. Choices are by the
exponential mechanism: under (ε, δ) their loss is composed with the Gaussian one before anything is drawn, and all
shares are scaled so that the whole stays within the price. Proof: docs/proofs/synthesis.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter, NotPrivate
from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.selection.exponential import Exponential
from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.mechanisms.shared.promise import read_promise
from tacit.noise.entropy import BitSource
from tacit.privacy import ADD_REMOVE, L1, L2, ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, compose
from tacit.privacy.conversion import largest_gaussian, largest_zcdp
from tacit.privacy.filters import Filter
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.prices import float_down

__all__ = ["Measured", "Noised", "Purse", "adaptive_purse", "check_noise", "purse_of", "read_price"]

Counts = npt.NDArray[np.int64]
_PARTS = 1 << 11
_MOST_NOISE = 1e60
"""If one table had the whole price. Shares of it for many, squared and added up, are far from what overflows."""


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """A noisy table: which columns, the noisy counts of their bins, and the spread of the noise. Public."""

    columns: tuple[int, ...]
    counts: Counts | npt.NDArray[np.float64]
    """Whole numbers; means of them where two measurements of one table are joined."""
    scale: float
    """The standard deviation of the noise in each cell."""
    look: int = 0
    """Tables of one look are fixed before the noise of any of them is drawn: 0 are the one-way counts."""

    @property
    def is_joined(self) -> bool:
        """Whether it is a mean of two measurements."""
        return self.counts.dtype.kind == "f"


class Noised(Protocol):
    """The noise and the choices of one promise."""

    def table(self, share: Fraction, reach: int) -> AdditiveMechanism:
        """The mechanism for one table at a share of the price."""

    def choice(self, share: Fraction, reach: int) -> Exponential:
        """The mechanism for one choice by scores that a unit moves by at most ``reach``."""


@dataclass(frozen=True, slots=True)
class _Gaussian:
    """Shares of μ², by the rounded law: (ε, δ) and μ. Choices get the range whose ρ their share would be."""

    mu_squared: Fraction

    def table(self, share: Fraction, reach: int) -> AdditiveMechanism:
        return DiscreteGaussian(promise=GaussianDP.of_square(self.mu_squared * share), sensitivity=L2(reach))

    def choice(self, share: Fraction, reach: int) -> Exponential:
        return Exponential(promise=ZCDP(self.mu_squared * share / 2), sensitivity=reach)


@dataclass(frozen=True, slots=True)
class _Discrete:
    """Shares of ρ, by the discrete law."""

    rho: Fraction

    def table(self, share: Fraction, reach: int) -> AdditiveMechanism:
        return DiscreteGaussian(promise=ZCDP(self.rho * share), sensitivity=L2(reach))

    def choice(self, share: Fraction, reach: int) -> Exponential:
        return Exponential(promise=ZCDP(self.rho * share), sensitivity=reach)


@dataclass(frozen=True, slots=True)
class _Laplace:
    """Shares of a pure ε, by the discrete Laplace law."""

    epsilon: Fraction

    def table(self, share: Fraction, reach: int) -> AdditiveMechanism:
        return DiscreteLaplace(promise=PureDP(self.epsilon * share), sensitivity=L1(reach))

    def choice(self, share: Fraction, reach: int) -> Exponential:
        return Exponential(promise=PureDP(self.epsilon * share), sensitivity=reach)


class Purse:
    """A price while it is spent: every table and every choice is charged before it is drawn, and none beyond the price.

    Where ``reserved`` is given, that share is for choices and no table may use it, nor choices more; without, both
    come from one sum, which is how a filter of ρ or of ε allows it.
    """

    def __init__(
        self,
        noised: Noised,
        reach: int,
        entropy: BitSource | None,
        reserved: Fraction | None = None,
        filter_: Filter | None = None,
    ) -> None:
        self._noised = noised
        self._reach = reach
        self._entropy = entropy
        self._left = Fraction(1) - (reserved or 0)
        self._reserved = reserved
        self._filter = filter_

    @property
    def left(self) -> Fraction:
        """The share of the price that tables may still use."""
        return self._left

    def measure(self, columns: tuple[int, ...], counts: Counts, share: Fraction, look: int = 0) -> Measured:
        """A table with noise, at a share of the price."""
        if not 0 < share <= self._left:
            raise _beyond()
        self._left -= share
        mechanism = self._noised.table(share, self._reach)
        self._charge(mechanism.guarantee)
        noisy = mechanism.release(counts, entropy=self._entropy)
        return Measured(columns, noisy, spread(mechanism), look)

    def choose(self, scores: Counts, share: Fraction, weight: int = 1) -> int:
        """The place of one of the largest scores: whole numbers, moved by at most ``weight`` by one row."""
        room = self._left if self._reserved is None else self._reserved
        if not 0 < share <= room:
            raise _beyond()
        if self._reserved is None:
            self._left -= share
        else:
            self._reserved -= share
        mechanism = self._noised.choice(share, weight * self._reach)
        self._charge(mechanism.guarantee)
        return int(mechanism.index(scores, entropy=self._entropy))

    def scale_at(self, share: Fraction) -> float:
        """The standard deviation of a table's noise at a share: free."""
        return spread(self._noised.table(share, self._reach))

    def _charge(self, cost: Guarantee) -> None:
        if self._filter is not None:
            self._filter.spend(cost)


def check_noise(price: Guarantee, purse: Purse) -> None:
    """Refuse a price whose noise cannot be reckoned with: by public parameters alone, so before any payment."""
    try:
        scale = purse.scale_at(purse.left)
    except InvalidParameter:
        scale = math.inf
    if scale > _MOST_NOISE:
        raise _too_small(price)


def _too_small(price: Guarantee) -> InvalidParameter:
    return InvalidParameter("price", given=price, allowed="a promise that noise below 1e60 can keep")


def _beyond() -> NotPrivate:
    return NotPrivate("A fit would pass its price: this share is not left.")


def spread(mechanism: AdditiveMechanism) -> float:
    """The standard deviation of a mechanism's noise."""
    return mechanism.scale * (math.sqrt(2) if isinstance(mechanism, DiscreteLaplace) else 1.0)


def read_price(
    epsilon: Any = None, delta: Any = None, rho: Any = None, mu: Any = None, promise: Guarantee | None = None
) -> Guarantee:
    """The one guarantee that the keywords ask for, for adding or removing a unit."""
    kinds: tuple[type[Guarantee], ...] = (PureDP, ApproxDP, ZCDP, GaussianDP)
    asked = read_promise("A synthetic table", kinds, ADD_REMOVE, epsilon, delta, rho, mu, promise)
    if isinstance(asked, ApproxDP) and not asked.dlt:
        return PureDP(asked.eps)
    return asked


def purse_of(price: Guarantee, reach: int, entropy: BitSource | None, choices: Sequence[Fraction] = ()) -> Purse:
    """The purse for a plan of choices at these shares, fixed in advance, and of tables with all the rest."""
    reserved = sum(choices, start=Fraction(0))
    if isinstance(price, PureDP):
        return Purse(_Laplace(price.eps), reach, entropy, reserved)
    if isinstance(price, ZCDP):
        return Purse(_Discrete(price.rho), reach, entropy, reserved)
    if isinstance(price, GaussianDP):
        if choices:
            raise NotPrivate("Choices keep no μ. Use a method without choices (Pairs), or a price in ρ or (ε, δ).")
        return Purse(_Gaussian(price.mu_squared), reach, entropy, reserved)
    assert isinstance(price, ApproxDP)
    return Purse(_Gaussian(within(price, tuple(choices))), reach, entropy, reserved)


@lru_cache(maxsize=256)
def within(price: ApproxDP, choices: tuple[Fraction, ...]) -> Fraction:
    """A μ² with which tables and choices at these shares keep (ε, δ) together: the largest one, to a thousandth.

    >>> price = ApproxDP(1, "1e-9")
    >>> float(within(price, (Fraction(1, 20),)) / within(price, ())) > 0.99
    True
    """
    most = largest_gaussian(price.eps, price.dlt)
    if not most:
        raise _too_small(price)
    if not choices:
        return most

    def keeps(part: int) -> bool:
        mu_squared = most * part / _PARTS
        tables = GaussianDP.of_square(mu_squared * (1 - sum(choices, start=Fraction(0))))
        made = _Gaussian(mu_squared)
        losses: list[LossDistribution] = [count * made.choice(one, 1).loss for one, count in Counter(choices).items()]
        losses += [LossDistribution.gaussian_dp(tables.mu)] if tables.mu_squared else []
        return Fraction(compose(losses).epsilon(float_down(price.dlt))) <= price.eps

    sure = 2 * largest_zcdp(price.eps, price.dlt)  # as ρ both add up: always valid, and nearly as good
    low, high = int(sure * _PARTS / most), _PARTS
    try:
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if keeps(middle) else (low, middle)
    except InvalidParameter:  # a price so large that losses are not composed on a grid, or too small for any
        if not sure:
            raise _too_small(price) from None
        return sure
    return max(sure, most * low / _PARTS)


def adaptive_purse(price: Guarantee, reach: int, entropy: BitSource | None) -> Purse:
    """The purse for a fit that picks prices from earlier answers: under a filter of ρ, with the discrete law.

    At a pure ε it is a filter of ε, with discrete Laplace noise.
    """
    if isinstance(price, PureDP):
        return Purse(_Laplace(price.eps), reach, entropy, filter_=Filter(price))
    if isinstance(price, ZCDP):
        rho = price.rho
    elif isinstance(price, ApproxDP):
        rho = largest_zcdp(price.eps, price.dlt)
    else:
        raise NotPrivate("Choices keep no μ: give a price in ρ or (ε, δ), or use Pairs.")
    if not rho:
        raise _too_small(price)
    return Purse(_Discrete(rho), reach, entropy, filter_=Filter(ZCDP(rho)))
