"""One quantile of raw values with public bounds: median, minimum, maximum, or anything between."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.mechanisms.ranks.line import SortedReals, point_near_rank, points_near_rank
from tacit.mechanisms.ranks.rank_mechanism import RankMechanism
from tacit.mechanisms.selection.scores import kind_of, read_scores
from tacit.mechanisms.selection.selecting import cheapest, float_above, regret
from tacit.mechanisms.shared.base import bits_from, meaning
from tacit.mechanisms.shared.promise import PriceLike, read_promise
from tacit.mechanisms.shared.quantised import Range
from tacit.noise.entropy import BitSource
from tacit.noise.lattice import LARGEST
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.neighbours import ADD_REMOVE, Neighbours, relation
from tacit.privacy.prices import Price, price

__all__ = ["Quantile", "read_level", "sorted_values"]

_MOST_DIGITS = 10**9
_FLOATS = (float, np.float16, np.float32)


class Quantile(RankMechanism):
    """ε-DP (or ε²/8-zCDP) quantile: the exponential mechanism on a lattice between public bounds.

    A point's score is minus the distance of its rank from q·n; adding a value moves it by at most max(q, 1-q),
    replacing one by at most 1. Values are rounded to the lattice and clamped to the bounds, NaN is left out; an empty
    data set gives a uniform point. Proof: docs/proofs/quantiles.md.

    >>> m = Quantile(0.5, bounds=(0, 100), epsilon=1)
    >>> abs(m.release(range(101)) - 50) < 30, m.guarantee
    (True, PureDP(1))
    """

    __slots__ = ("_factor", "_level")

    def __init__(
        self,
        q: Price,
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
        self._level = read_level(q)
        self._read_line(bounds, granule)
        asked = read_promise("Quantile", (PureDP, ZCDP), relation(neighbours), epsilon, delta, rho, mu, promise)
        self._guarantee = asked
        loss_range = asked.range_of_each()
        if not loss_range:
            raise InvalidParameter("price", given=asked, allowed="a price above 0: at 0 nothing may be learned")
        self._factor = loss_range / (2 * self.sensitivity)

    @classmethod
    def for_accuracy(
        cls,
        q: Price,
        error: Price,
        beta: Price,
        *,
        bounds: Range,
        neighbours: Neighbours = ADD_REMOVE,
        granule: Price | None = None,
    ) -> Quantile:
        """The most private quantile that is more than ``error`` ranks off with probability at most β."""
        return cheapest(
            lambda promise: cls(q, bounds=bounds, promise=promise, neighbours=neighbours, granule=granule),
            lambda made: made.accuracy(beta),
            error,
            relation(neighbours),
        )

    @property
    def q(self) -> float:
        """The quantile: 0 the minimum, 0.5 the median, 1 the maximum."""
        return float(self._level)

    @property
    def sensitivity(self) -> Fraction:
        """How far one unit, of one value, moves the score of a point."""
        return max(self._level, 1 - self._level) if self._guarantee.neighbours is ADD_REMOVE else Fraction(1)

    @property
    def scale(self) -> float:
        """Ranks per e-fold of probability."""
        return float(1 / self._factor)

    @property
    def loss(self) -> LossDistribution:
        """That of the exponential mechanism: of bounded range."""
        return LossDistribution.bounded_range(float_above(self._guarantee.range_of_each()), self._guarantee.neighbours)

    def release(self, values: Any, *, entropy: BitSource | None = None) -> float:
        """A multiple of the granule between the bounds, for any numbers: NaN takes no part, infinity is a bound."""
        ordered = sorted_values(values)
        points = SortedReals(ordered, self._lattice, self._line)
        rank = self._level * ordered.size
        return self._lattice.value(point_near_rank(points, rank, self._line, self._factor, bits_from(entropy)))

    def _releases(self, values: Any, count: int, entropy: BitSource) -> npt.NDArray[np.float64]:
        """Many independent releases of the same values: what an audit draws."""
        ordered = sorted_values(values)
        points = SortedReals(ordered, self._lattice, self._line)
        rank = self._level * ordered.size
        return self._lattice.values(points_near_rank(points, rank, self._line, self._factor, count, entropy))

    def accuracy(self, beta: Price) -> float:
        """How many ranks the released point is off, but for a probability β: ln(points/β)·2Δ/ε.

        >>> round(Quantile(0.5, bounds=(0, 127), epsilon=1, granule=1).accuracy(0.05), 3)
        7.848
        """
        return regret(self._factor, beta, Fraction(self._line.points))

    def explain(self) -> str:
        """Two sentences for someone who has to decide."""
        who = "Adding or removing one value" if self._guarantee.neighbours is ADD_REMOVE else "Replacing one value"
        return (
            f"{who} changes the chance of any outcome {meaning(self._guarantee)}."
            f" The answer is more than {self.accuracy('0.05'):.4g} ranks off at most once in twenty times."
        )

    def __repr__(self) -> str:
        return f"Quantile({self.q!r}, {self._shown()})"


def read_level(q: object) -> Fraction:
    """A quantile from 0 to 1, as it was typed."""
    allowed = "a number from 0 (the minimum) to 1 (the maximum), of at most nine digits"
    exact = price(q, "q", allowed=allowed)
    if not 0 <= exact <= 1 or exact.denominator > _MOST_DIGITS:
        raise InvalidParameter("q", given=q, allowed=allowed)
    return exact


def sorted_values(values: object) -> npt.NDArray[Any]:
    """The values in order, as an array of numbers; NaN is a missing value and left out, infinity the largest float.

    No value is an error, and how one is read does not depend on the others: neighbours differ in one value only.
    """
    array = _listed(values) if isinstance(values, list | tuple) else _array(values)
    if array is None or array.ndim != 1:
        raise InvalidParameter("values", given=kind_of(values), allowed="a list or a one-dimensional array of numbers")
    if not array.size:
        return np.empty(0)
    ordered = np.sort(array)
    return _finite(ordered) if ordered.dtype.kind == "f" else ordered


def _array(values: object) -> npt.NDArray[Any] | None:
    """An array of integers, of float64, or of Python's exact numbers; None for anything else."""
    if hasattr(values, "mask") or not (isinstance(values, range) or hasattr(values, "__array__")):
        return None
    array = np.asarray(values)
    if array.dtype.kind == "f":
        return array.astype(np.float64, copy=False) if array.dtype.itemsize <= 8 else None
    if array.dtype == object and array.ndim == 1:
        return _listed(array.tolist())
    if array.dtype.kind == "b":
        return array.astype(np.int64)
    return array if array.dtype.kind in "iu" else None


def _listed(values: Sequence[Any]) -> npt.NDArray[Any]:
    """A list as an array: numpy alone would round large integers if a float stands beside them."""
    there = [_largest(item) for item in values if not (isinstance(item, _FLOATS) and item != item)]
    if not there:
        return np.empty(0)
    read = read_scores(there, name="values")
    return read if isinstance(read, np.ndarray) else np.array(read, dtype=object)


def _largest(item: Any) -> Any:
    """Infinity as the largest float, everything else as it is."""
    return math.copysign(LARGEST, item) if isinstance(item, _FLOATS) and math.isinf(item) else item


def _finite(ordered: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Sorted floats without NaN, which sorts last, and with the largest float for infinity."""
    if not math.isfinite(ordered[0]) or not math.isfinite(ordered[-1]):
        ordered = ordered[: np.searchsorted(ordered, math.nan)]
        np.clip(ordered, -LARGEST, LARGEST, out=ordered)
    return ordered
