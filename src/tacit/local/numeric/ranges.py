"""How many lie between two numbers: everyone reports on one level of a tree of halves of the range."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.local.categories.estimates import FrequencyEstimate, two_sided
from tacit.local.categories.frequency import pure_promise
from tacit.local.categories.hadamard import HadamardResponse
from tacit.local.numeric.numbers import Bounds, NumberRandomizer, Reals
from tacit.local.protocol import Reports
from tacit.local.wire import Whole
from tacit.mechanisms.shared.estimate import BETA
from tacit.mechanisms.shared.promise import PriceLike
from tacit.mechanisms.shared.tails import read_beta
from tacit.noise.coins import uniform_places
from tacit.noise.entropy import BitSource
from tacit.privacy import Guarantee
from tacit.privacy.prices import Price

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["RangeEstimate", "RangeShare", "RangeTree"]


@dataclass(frozen=True, slots=True)
class RangeShare:
    """The share of people between two edges, unbiased, and its standard error."""

    value: float
    standard_error: float

    def interval(self, beta: Price = BETA) -> tuple[float, float]:
        """Misses with probability about β."""
        z = two_sided(read_beta(beta))
        return self.value - z * self.standard_error, self.value + z * self.standard_error


@dataclass(frozen=True, slots=True)
class RangeEstimate:
    """Unbiased shares of every node of the tree, from which any range is put together."""

    edges: Reals
    levels: tuple[FrequencyEstimate | None, ...]
    """From halves down to leaves; None where nobody reported."""
    count: int

    def between(self, low: float, high: float) -> RangeShare:
        """The share from ``low`` up to ``high``, both taken to the nearest edge of a leaf."""
        first, last = (int(np.abs(self.edges - end).argmin()) for end in (low, high))
        value = variance = 0.0
        for level, node in _pieces(first, last, len(self.edges) - 1):
            if level == 0:
                return RangeShare(1.0, 0.0)
            found = self.levels[level - 1]
            if found is None:
                return RangeShare(math.nan, math.inf)
            value += float(found.values[node])
            variance += float(found.standard_errors[node]) ** 2
        return RangeShare(value, math.sqrt(variance))


class RangeTree(NumberRandomizer):
    """A level of a binary tree over the range, at random, and `HadamardResponse` about the node there.

    A range is a sum of at most two nodes of each level. Proof: docs/proofs/local_numbers.md.

    >>> r = RangeTree(epsilon=2, bounds=(0, 100), leaves=64)
    >>> e = r.estimate(r.randomize(np.linspace(0, 100, 40_000)))
    >>> abs(e.between(25, 75).value - 0.5) < 0.2
    True
    """

    __slots__ = ("_depth", "_levels")

    proof: ClassVar[str] = "proofs/local_numbers.md"

    def __init__(
        self,
        *,
        bounds: object,
        leaves: int = 256,
        unknown: Any = None,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
    ) -> None:
        asked = pure_promise("RangeTree", epsilon, delta, rho, mu, promise)
        self._guarantee = asked
        self._bounds = Bounds.read(bounds, unknown)
        sound = isinstance(leaves, int) and not isinstance(leaves, bool) and 2 <= leaves <= 1 << 16
        if not sound or leaves & (leaves - 1):
            raise InvalidParameter("leaves", given=leaves, allowed="a power of two from 2 to 65536")
        self._depth = leaves.bit_length() - 1
        each = (HadamardResponse(promise=asked, categories=range(1 << level)) for level in range(1, self._depth + 1))
        self._levels = tuple(each)

    @property
    def leaves(self) -> int:
        """Into how many parts the range is divided at the finest level."""
        return 1 << self._depth

    @property
    def shape(self) -> Whole:
        return Whole((self._depth - 1).bit_length() + self._depth + 1)

    @property
    def loss(self) -> LossDistribution:
        return self._levels[-1].loss

    def _draw(self, units: Reals, bits: BitSource) -> Reports:
        """A report of every level is drawn, and one of them, chosen without looking, is sent."""
        leaves = np.minimum((units * self.leaves).astype(np.int64), self.leaves - 1)
        levels = uniform_places(self._depth, units.size, bits)
        out = np.zeros(units.size, dtype=np.int64)
        for i, level in enumerate(self._levels):
            told = level._draw(leaves >> (self._depth - 1 - i), bits).astype(np.int64)
            out = np.where(levels == i, i << (self._depth + 1) | told, out)
        return out

    def _valid(self, reports: Reports) -> npt.NDArray[np.bool_]:
        levels = reports.astype(np.int64) >> (self._depth + 1)
        rows = reports.astype(np.int64) & ((1 << (self._depth + 1)) - 1)
        fits: npt.NDArray[np.bool_] = rows < np.int64(4) << np.minimum(levels, self._depth)
        return (levels < self._depth) & fits

    def _empty(self) -> npt.NDArray[np.int64]:
        return np.zeros(self._depth << (self._depth + 1), dtype=np.int64)

    def _tally(self, reports: Reports) -> npt.NDArray[np.int64]:
        return np.bincount(reports, minlength=self._empty().size)

    def _finish(self, tally: npt.NDArray[Any], count: int) -> RangeEstimate:
        found: list[FrequencyEstimate | None] = []
        for level, row in zip(self._levels, tally.reshape(self._depth, -1), strict=True):
            told = int(row.sum())
            found.append(level._finish(row[: level._empty().size], told) if told else None)
        edges = np.linspace(float(self._bounds.low), float(self._bounds.high), self.leaves + 1)
        return RangeEstimate(edges, tuple(found), count)

    def _details(self) -> str:
        return f", leaves={self.leaves}"


def _pieces(first: int, last: int, leaves: int) -> list[tuple[int, int]]:
    """(level, node) of the fewest nodes that make up the leaves from ``first`` up to ``last``; level 0 is the root."""
    found, level = [], leaves.bit_length() - 1
    while first < last:
        if first & 1:
            found.append((level, first))
            first += 1
        if last & 1:
            last -= 1
            found.append((level, last))
        first, last, level = first >> 1, last >> 1, level - 1
    return found
