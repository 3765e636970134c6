"""The first stage of every fit: one-way counts with noise, the number of rows, and the bins that follow from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tacit.privacy import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP
from tacit.privacy.conversion import largest_gaussian
from tacit.synth.counts.coarsening import Coarse, coarse
from tacit.synth.counts.counting import Counting
from tacit.synth.counts.purse import Measured, Purse
from tacit.synth.counts.smoothing import Smooth, smoothed, total_of
from tacit.synth.domain.domain import Domain

__all__ = ["Stage", "first_stage", "identity", "joined", "one_way_share", "shares_of"]

Reals = npt.NDArray[np.float64]
_PARTS = 1 << 20
_POWER = 0.4
"""Of the size of a column, in the share of its counts. Found on other tables than those of the benches."""


@dataclass(frozen=True, eq=False)
class Stage:
    """What is known after the one-way counts. All of it is public but ``counting``."""

    domain: Domain
    counting: Counting
    purse: Purse
    ones: tuple[Measured, ...]
    total: float
    total_scale: float
    told: Callable[[float], None]
    longest: int = 2000
    """Values of a column that are all compared with all, where memory allows it."""

    @cached_property
    def smooth(self) -> list[Smooth]:
        """The counts of each column: smooth, nowhere negative, of one total."""
        return [
            smoothed(one.counts.astype(np.float64), one.scale, self.total, ordered=column.ordered, longest=self.longest)
            for one, column in zip(self.ones, self.domain.columns, strict=True)
        ]

    @property
    def shares(self) -> list[Reals]:
        """The share of each value of each column."""
        return [one.counts / self.total for one in self.smooth]

    def binned(self, most: int) -> tuple[Coarse, ...]:
        """All columns in at most so many bins."""
        return tuple(
            coarse(shares, most, ordered=column.ordered, rare=one.scale / self.total, missing=column.missing)
            for shares, one, column in zip(self.shares, self.ones, self.domain.columns, strict=True)
        )

    def one_way(self, columns: Sequence[Coarse]) -> list[tuple[Reals, Reals, Reals]]:
        """Of each column, over its bins: the smooth law, the measured shares, and their variances."""
        found = []
        for one, column in zip(self.ones, columns, strict=True):
            measured = np.bincount(column.bins, one.counts, minlength=column.size) / self.total
            members: Reals = np.bincount(column.bins, minlength=column.size).astype(np.float64)
            variance = members * (one.scale / self.total) ** 2
            found.append((column.of_bins, measured, variance))
        return found

    def more_ones(self, share: Fraction) -> Stage:
        """The one-way counts measured once more with what is left, both measurements joined."""
        weights = [size**_POWER for size in self.domain.sizes]
        again = _ones(self.domain, self.counting, self.purse, shares_of(weights, share))
        ones = tuple(joined(first, second) for first, second in zip(self.ones, again, strict=True))
        return _stage(self.domain, self.counting, self.purse, ones, self.told, self.longest)


def first_stage(
    domain: Domain,
    counting: Counting,
    purse: Purse,
    share: Fraction,
    told: Callable[[float], None],
    longest: int = 2000,
) -> Stage:
    """One-way counts at a share of the price, more of it for longer columns.

    Without smoothing the power would be 2/3; smoothing takes more of the noise away in long columns.
    """
    weights = [size**_POWER for size in domain.sizes]
    return _stage(domain, counting, purse, _ones(domain, counting, purse, shares_of(weights, share)), told, longest)


def one_way_share(price: Guarantee, columns: int) -> Fraction:
    """How much of a price goes to one-way counts: a third or so, more of a small price. Public parameters alone.

    >>> [float(one_way_share(ApproxDP(eps, "1e-9"), 14)) for eps in ("0.1", 1, 10)]
    [0.59, 0.3, 0.15]
    """
    if columns == 1:
        return Fraction(1)
    part = 0.3 - 0.3 * math.log10(_strength(price) / 0.18)
    return Fraction(round(100 * min(max(part, 0.15), 0.6)), 100)


def _strength(price: Guarantee) -> float:
    """About the μ that a price is worth."""
    if isinstance(price, PureDP):
        return max(1e-9, float(price.eps) / 4)
    if isinstance(price, ZCDP):
        return math.sqrt(2 * float(price.rho))
    if isinstance(price, GaussianDP):
        return math.sqrt(float(price.mu_squared))
    assert isinstance(price, ApproxDP)
    return math.sqrt(max(1e-18, float(largest_gaussian(price.eps, price.dlt))))


def shares_of(weights: Sequence[float], whole: Fraction) -> list[Fraction]:
    """Exact shares that are about in proportion to the weights, each above 0, together at most the whole.

    >>> shares = shares_of([1, 2], Fraction(1, 2))
    >>> [round(float(one), 4) for one in shares], sum(shares) <= Fraction(1, 2)
    ([0.1667, 0.3333], True)
    """
    parts, total = max(_PARTS, 16 * len(weights)), sum(weights)
    return [whole * (int(weight / total * (parts - len(weights))) + 1) / parts for weight in weights]


def identity(domain: Domain) -> list[npt.NDArray[np.int64]]:
    """Every code in a bin of its own."""
    return [np.arange(size) for size in domain.sizes]


def _ones(domain: Domain, counting: Counting, purse: Purse, shares: Sequence[Fraction]) -> tuple[Measured, ...]:
    tables = [(at,) for at in range(len(domain.sizes))]
    counted = counting.counted(tables, identity(domain))
    return tuple(
        purse.measure(table, counts, share) for table, counts, share in zip(tables, counted, shares, strict=True)
    )


def _stage(
    domain: Domain,
    counting: Counting,
    purse: Purse,
    ones: tuple[Measured, ...],
    told: Callable[[float], None],
    longest: int,
) -> Stage:
    total, scale = total_of([one.counts.astype(np.float64) for one in ones], [one.scale for one in ones])
    return Stage(domain, counting, purse, ones, total, scale, told, longest)


def joined(first: Measured, second: Measured) -> Measured:
    """Two measurements of one table as one, each with the weight of its precision; no whole numbers any more.

    They are not rounded: what rounding adds would not be in the spread that intervals rest on.
    """
    one, other = first.scale**-2, second.scale**-2
    mean = (first.counts * one + second.counts * other) / (one + other)
    return Measured(first.columns, mean, float((one + other) ** -0.5), second.look)
