"""The exponential mechanism over all falling lists of counts, drawn exactly, for small numbers of people."""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.games.frequency_list import sorted_counts
from tacit.mechanisms.selection.scores import read_count
from tacit.mechanisms.selection.selecting import float_above
from tacit.mechanisms.shared.base import bits_from, meaning
from tacit.mechanisms.shared.lazy_losses import loss_distribution
from tacit.mechanisms.shared.promise import PriceLike, read_promise
from tacit.noise.entropy import BitSource
from tacit.noise.exact import LazyUniform, flint, rational, working_precision
from tacit.privacy import ADD_REMOVE, ZCDP, Guarantee, PureDP

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["PartitionList"]

Integers = npt.NDArray[np.int64]

_MOST_PEOPLE = 1000


class PartitionList:
    """ε-DP (or ε²/8-zCDP) list of counts for at most ``people`` people: P[list] ∝ e^(-ε/2·L1 distance).

    The candidates are all falling lists whose j-th count is at most people/j, which all lists of so many people are.
    Larger counts are cut, silently. A person with one value is added or removed. Proof: docs/proofs/frequency_lists.md.

    >>> m = PartitionList(people=10, epsilon=100)
    >>> m.release([3, 5]).tolist()
    [5, 3, 0, 0, 0, 0, 0, 0, 0, 0]
    """

    __slots__ = ("_guarantee", "_people")

    proof: ClassVar[str] = "proofs/frequency_lists.md"

    def __init__(
        self,
        *,
        people: int,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
    ) -> None:
        if read_count(people, "people") > _MOST_PEOPLE:
            hint = "FrequencyList takes any number."
            raise InvalidParameter("people", given=people, allowed=f"at most {_MOST_PEOPLE}", hint=hint)
        self._people = int(people)
        self._guarantee = read_promise("PartitionList", (PureDP, ZCDP), ADD_REMOVE, epsilon, delta, rho, mu, promise)

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to each person."""
        return self._guarantee

    @property
    def people(self) -> int:
        """The public limit, and the length of the list."""
        return self._people

    @property
    def loss(self) -> LossDistribution:
        """Of bounded range, as that of the exponential mechanism."""
        return loss_distribution().bounded_range(float_above(self._guarantee.range_of_each()), ADD_REMOVE)

    def release(self, counts: Any, *, entropy: BitSource | None = None) -> Integers:
        """The list, for counts in any order."""
        row: Integers = self._releases(counts, 1, bits_from(entropy))[0]
        return row

    def _releases(self, counts: Any, times: int, entropy: BitSource) -> Integers:
        """Many independent lists of the same counts, a row each: what an audit draws."""
        limits = self._people // np.arange(1, self._people + 1)
        table = _Table(
            np.minimum(sorted_counts(counts, self._people), limits), limits, self._guarantee.range_of_each() / 2
        )
        return np.array([table.draw(entropy) for _ in range(times)])

    def explain(self) -> str:
        """Two sentences for someone who has to decide."""
        return (
            f"Adding or removing one person changes the chance of any list {meaning(self._guarantee)}."
            " Each list is the less likely the further it is from the true one, by a factor per person."
        )

    def __repr__(self) -> str:
        return f"PartitionList(people={self._people}, promise={self._guarantee!r})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and repr(other) == repr(self)

    def __hash__(self) -> int:
        return hash(repr(self))


class _Table:
    """For each place, the masses of all ways to go on with at most v there, v from 0 up to its limit: running sums."""

    def __init__(self, counts: Integers, limits: Integers, factor: Fraction) -> None:
        self._counts, self._limits, self._factor = counts.tolist(), limits.tolist(), factor
        self._bits = 0
        self._sums: list[list[Any]] = []
        self._refined(256)

    def _refined(self, bits: int) -> None:
        """All sums in ball arithmetic of so many bits."""
        arb = flint().arb
        with working_precision(bits):
            powers = [arb(rational(-self._factor * k)).exp() for k in range(max(self._limits) + 1)]
            later: list[Any] = [arb(1)]
            sums = []
            for count, limit in zip(reversed(self._counts), reversed(self._limits), strict=True):
                total, here = arb(0), []
                for value in range(limit + 1):
                    total += powers[abs(value - count)] * later[min(value, len(later) - 1)]
                    here.append(total)
                sums.append(here)
                later = here
        self._sums, self._bits = sums[::-1], bits

    def draw(self, entropy: BitSource) -> list[int]:
        """A list with exactly its chance: place by place, each given the ones before it."""
        drawn, most = [], self._limits[0]
        for place, limit in enumerate(self._limits):
            most = min(most, limit)
            if not most:
                break  # only zeros can follow
            most = self._value(place, most, LazyUniform(entropy.word(), 64, entropy))
            drawn.append(most)
        return drawn + [0] * (len(self._limits) - len(drawn))

    def _value(self, place: int, most: int, coin: LazyUniform) -> int:
        """The count at this place, at most ``most``: where the coin's share of the sums falls."""
        while True:
            with working_precision(self._bits):
                sums = self._sums[place]
                target = coin.ball() * sums[most]
                found = bisect_left(range(most), True, key=lambda value: not bool(sums[value] < target))
                settled = found == most or bool(sums[found] > target)
            if settled:
                return found
            coin.refine()
            if self._bits < coin.known + 128:
                self._refined(2 * self._bits)
