"""Many quantiles at once: the middle one first, then those on either side of it, each on its own part of the data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.mechanisms.ranks.line import Line, SortedPoints, SortedReals, point_near_rank
from tacit.mechanisms.ranks.quantile import read_level, sorted_values
from tacit.mechanisms.ranks.rank_mechanism import RankMechanism
from tacit.mechanisms.selection.selecting import float_above, regret
from tacit.mechanisms.shared.base import bits_from, meaning
from tacit.mechanisms.shared.promise import PriceLike, read_promise
from tacit.mechanisms.shared.quantised import Range
from tacit.mechanisms.shared.tails import read_beta
from tacit.noise.entropy import BitSource
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.neighbours import ADD_REMOVE, REPLACE, Neighbours, relation
from tacit.privacy.prices import Price

__all__ = ["Quantiles"]

_SPREAD_BITS = 10
_FINEST = 10**9


class Quantiles(RankMechanism):
    """ε-DP (or ρ-zCDP) for m quantiles together, ascending: ⌈log₂(m+1)⌉ levels, each paid once (Kaplan et al. 2022).

    At each level the values are split at the quantiles found so far, so that a value takes part in one choice only;
    equal values are first spread at random below the granule, so that they split as others do. Under the replace
    relation a value leaves one part and enters another, and each level is drawn at half the price.
    Proof: docs/proofs/quantiles.md.

    >>> m = Quantiles([0.25, 0.5, 0.75], bounds=(0, 100), epsilon=2)
    >>> m.levels, m.guarantee
    (2, PureDP(2))
    >>> low, middle, high = m.release(range(101))
    >>> low <= middle <= high
    np.True_
    """

    __slots__ = ("_each", "_quantiles", "_spread")

    def __init__(
        self,
        quantiles: Sequence[Price],
        *,
        bounds: Range,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
        neighbours: Neighbours = ADD_REMOVE,
        granule: Price | None = None,
    ) -> None:
        self._quantiles = _ascending(quantiles)
        self._read_line(bounds, granule)
        asked = read_promise("Quantiles", (PureDP, ZCDP), relation(neighbours), epsilon, delta, rho, mu, promise)
        self._guarantee = asked
        self._each = _share(asked, self.levels)
        if not self._each:
            raise InvalidParameter("price", given=asked, allowed="a price above 0: at 0 nothing may be learned")
        self._spread = _SPREAD_BITS

    @property
    def quantiles(self) -> tuple[float, ...]:
        """The quantiles asked for, ascending."""
        return tuple(float(q) for q in self._quantiles)

    @property
    def levels(self) -> int:
        """How many choices a value takes part in."""
        return len(self._quantiles).bit_length()

    @property
    def loss(self) -> LossDistribution:
        """One choice of bounded range per level; under replace, of a group of two."""
        added = self.levels * LossDistribution.bounded_range(float_above(self._each))
        return added if self._guarantee.neighbours is ADD_REMOVE else added.to_replace()

    def release(self, values: Any, *, entropy: BitSource | None = None) -> npt.NDArray[np.float64]:
        """One multiple of the granule per quantile, ascending: NaN takes no part, infinity is a bound."""
        ordered = sorted_values(values)
        bits = bits_from(entropy)
        points = SortedReals(ordered, self._lattice, self._line).part(0, ordered.size)
        fine = np.sort(self._scattered(points, bits))
        line = Line(self._line.low << self._spread, ((self._line.high + 1) << self._spread) - 1)
        found: dict[int, int] = {}
        self._split(fine, line, (Fraction(0), Fraction(1)), range(len(self._quantiles)), found, bits)
        return np.array([self._lattice.value(found[i] >> self._spread) for i in sorted(found)])

    def _choice(self, middle: int, between: tuple[Fraction, Fraction]) -> tuple[Fraction, Fraction]:
        """Which share of the values on this part lies below the quantile, and the factor of the choice."""
        low, high = between
        share = (self._quantiles[middle] - low) / (high - low)
        return share, self._each / (2 * max(share, 1 - share))

    def _scattered(self, points: npt.NDArray[np.int64], entropy: BitSource) -> npt.NDArray[np.int64]:
        """Each point moved by its own secret share of a granule: rounding down later undoes it."""
        if not self._spread:
            return points
        low = (entropy.words(points.size) >> np.uint64(64 - self._spread)).astype(np.int64)
        return (points << self._spread) | low

    def _split(
        self,
        values: npt.NDArray[np.int64],
        line: Line,
        between: tuple[Fraction, Fraction],
        wanted: range,
        found: dict[int, int],
        entropy: BitSource,
    ) -> None:
        """The wanted quantiles of ``values``, all that lie on this part of the line."""
        if not wanted:
            return
        middle = wanted[len(wanted) // 2]
        low, high = between
        share, factor = self._choice(middle, between)
        point = point_near_rank(SortedPoints(values), share * values.size, line, factor, entropy)
        found[middle] = point
        cut = int(np.searchsorted(values, point, side="right"))
        at = wanted.index(middle)
        quantile = self._quantiles[middle]
        self._split(values[:cut], Line(line.low, point), (low, quantile), wanted[:at], found, entropy)
        self._split(values[cut:], Line(point, line.high), (quantile, high), wanted[at + 1 :], found, entropy)

    def accuracy(self, beta: Price) -> float:
        """How many ranks each quantile is off at most, all at once, but for a probability β.

        A choice is off by ln(points·m/β)·2/η; the errors of the levels above it add to its own.
        """
        each = read_beta(beta) / len(self._quantiles)
        points = self._line.points << self._spread
        return self.levels * regret(self._each / 2, each, Fraction(points))

    def explain(self) -> str:
        """Two sentences for someone who has to decide."""
        who = "Adding or removing one value" if self._guarantee.neighbours is ADD_REMOVE else "Replacing one value"
        return (
            f"{who} changes the chance of any outcome {meaning(self._guarantee)}."
            f" All answers are within {self.accuracy('0.05'):.4g} ranks, nineteen times in twenty."
        )

    def __repr__(self) -> str:
        return f"Quantiles({list(self.quantiles)!r}, {self._shown()})"


def _ascending(quantiles: object) -> tuple[Fraction, ...]:
    allowed = "a list of at least one quantile, ascending and distinct, with a common denominator of at most 10^9"
    if not isinstance(quantiles, Sequence | np.ndarray) or isinstance(quantiles, str) or len(quantiles) == 0:
        raise InvalidParameter("quantiles", given=quantiles, allowed=allowed)
    read = tuple(read_level(q) for q in quantiles)
    if list(read) != sorted(set(read)) or math.lcm(*(q.denominator for q in read)) > _FINEST:
        raise InvalidParameter("quantiles", given=quantiles, allowed=allowed)
    return read


def _share(promise: Guarantee, levels: int) -> Fraction:
    """The range η of the choice at each level; a replaced value is one removed and one added, a group of two."""
    changes = 2 if promise.neighbours is REPLACE else 1
    return promise.range_of_each(levels) / changes
