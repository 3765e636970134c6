"""The distribution of a number: a window around its bucket, and the most likely shares by expectation-maximisation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.local.categories.frequency import pure_promise
from tacit.local.numeric.numbers import Bounds, NumberRandomizer, Reals
from tacit.local.numeric.window import Window
from tacit.local.protocol import Reports
from tacit.local.wire import Whole
from tacit.mechanisms.shared.promise import PriceLike
from tacit.noise.entropy import BitSource
from tacit.privacy import Guarantee

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["DistributionEstimate", "SquareWave"]

_MOST_ROUNDS = 2000


@dataclass(frozen=True, slots=True)
class DistributionEstimate:
    """Shares of equal buckets of the range: a proper distribution, and biased: towards smooth ones.

    The most likely shares given the reports, smoothed a little in every round; no standard errors are claimed.
    """

    edges: Reals
    values: Reals
    count: int

    @property
    def mean(self) -> float:
        """Of the estimated distribution, buckets counted at their middles."""
        return float((self.values * (self.edges[1:] + self.edges[:-1]) / 2).sum())

    def quantile(self, q: float) -> float:
        """Where this share of the estimated distribution lies below; linear within a bucket."""
        if not 0 <= q <= 1:
            raise InvalidParameter("q", given=q, allowed="a number from 0 to 1")
        return float(np.interp(q, np.concatenate([[0.0], np.cumsum(self.values)]), self.edges))


class SquareWave(NumberRandomizer):
    """A cell near the bucket of the number, e^ε times likelier than one far away (Li et al. 2020).

    The window is as wide as tells most about the bucket. Proof: docs/proofs/local_numbers.md.

    >>> r = SquareWave(epsilon=2, bounds=(0, 100), buckets=32)
    >>> e = r.estimate(r.randomize(np.linspace(0, 100, 20_000)))
    >>> abs(e.mean - 50) < 3
    True
    """

    __slots__ = ("_buckets", "_window")

    proof: ClassVar[str] = "proofs/local_numbers.md"

    def __init__(
        self,
        *,
        bounds: object,
        buckets: int = 64,
        unknown: Any = None,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
    ) -> None:
        asked = pure_promise("SquareWave", epsilon, delta, rho, mu, promise)
        self._guarantee = asked
        self._bounds = Bounds.read(bounds, unknown)
        if isinstance(buckets, bool) or not isinstance(buckets, int) or not 2 <= buckets <= 4096:
            raise InvalidParameter("buckets", given=buckets, allowed="a whole number from 2 to 4096")
        self._buckets = buckets
        width = 2 * math.floor(_reach(float(asked.eps)) * buckets) + 1
        self._window = Window(asked.eps, buckets + width - 1, width)

    @property
    def buckets(self) -> int:
        """Into how many parts the range is divided."""
        return self._buckets

    @property
    def shape(self) -> Whole:
        return Whole((self._window.cells - 1).bit_length())

    @property
    def loss(self) -> LossDistribution:
        return self._window.loss

    def _draw(self, units: Reals, bits: BitSource) -> Reports:
        places = np.minimum((units * self._buckets).astype(np.int64), self._buckets - 1)
        return self._window.draw(places, bits)

    def _valid(self, reports: Reports) -> npt.NDArray[np.bool_]:
        return reports <= self._window.cells - 1

    def _empty(self) -> npt.NDArray[np.int64]:
        return np.zeros(self._window.cells, dtype=np.int64)

    def _tally(self, reports: Reports) -> npt.NDArray[np.int64]:
        return np.bincount(reports, minlength=self._window.cells)

    def _finish(self, tally: npt.NDArray[Any], count: int) -> DistributionEstimate:
        edges = np.linspace(float(self._bounds.low), float(self._bounds.high), self._buckets + 1)
        return DistributionEstimate(edges, _most_likely(tally / count, self._law(), count), count)

    def _law(self) -> Reals:
        """The chance of each cell, by bucket."""
        law = np.full((self._window.cells, self._buckets), self._window.low)
        for bucket in range(self._buckets):
            law[bucket : bucket + self._window.width, bucket] = self._window.high
        return law

    def _details(self) -> str:
        return f", buckets={self._buckets}"


def _most_likely(seen: Reals, law: Reals, count: int) -> Reals:
    """Expectation-maximisation, each round followed by a little smoothing, until the likelihood stops growing."""
    shares = np.full(law.shape[1], 1 / law.shape[1])
    before, told = -math.inf, seen > 0
    seen, law = seen[told], law[told]  # cells that nobody named say nothing, and may have no chance left at all
    for _ in range(_MOST_ROUNDS):
        expected = law @ shares
        shares = shares * (law.T @ (seen / expected))
        padded = np.concatenate([shares[:1], shares, shares[-1:]])
        shares = (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4
        shares /= shares.sum()
        likelihood = float((seen * np.log(law @ shares)).sum())
        if likelihood - before < 1e-3 / count:
            break
        before = likelihood
    return shares


def _reach(epsilon: float) -> float:
    """Half the width of the window as a part of the range: where a report tells most about the number."""
    if epsilon < 1e-3:
        return 0.5
    if epsilon > 500:
        return 0.0
    grown = math.exp(epsilon)
    return (epsilon * grown - grown + 1) / (2 * grown * (grown - 1 - epsilon))
