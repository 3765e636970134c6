"""How often the commonest value occurs, the next, and so on: a list of counts that names no value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.games.isotonic import falling
from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.selection.scores import kind_of, read_count
from tacit.mechanisms.shared.base import bits_from, meaning
from tacit.mechanisms.shared.inputs import whole_numbers
from tacit.mechanisms.shared.promise import PriceLike
from tacit.noise.entropy import BitSource
from tacit.privacy import Guarantee
from tacit.privacy.prices import Price

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["FrequencyList", "counts_of", "sorted_counts"]

Integers = npt.NDArray[np.int64]


class FrequencyList:
    """ε-DP list of counts in falling order, of a public length, a person with one value added or removed.

    Counts are sorted and padded with zeros to the length, or cut to it, silently. That list moves by 1 in one place, so
    discrete Laplace noise of scale 1/ε will do; then the nearest falling list is taken, at least 0, in whole numbers.
    Proof: docs/proofs/frequency_lists.md.

    >>> m = FrequencyList(length=4, epsilon=100)
    >>> m.release(counts_of(["qwerty", "123456", "qwerty"])).tolist(), m.guarantee
    ([2, 1, 0, 0], PureDP(100))
    """

    __slots__ = ("_length", "_noise")

    proof: ClassVar[str] = "proofs/frequency_lists.md"

    def __init__(
        self,
        *,
        length: int,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
    ) -> None:
        self._length = read_count(length, "length", most=10**8)
        self._noise = DiscreteLaplace(sensitivity=1, epsilon=epsilon, delta=delta, rho=rho, mu=mu, promise=promise)

    @property
    def length(self) -> int:
        """How many counts are released: public, and more than there are different values, to lose none."""
        return self._length

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to each person."""
        return self._noise.guarantee

    @property
    def scale(self) -> float:
        """The spread of the noise on each count, before the falling list is taken."""
        return self._noise.scale

    @property
    def loss(self) -> LossDistribution:
        """That of discrete Laplace noise."""
        return self._noise.loss

    def release(self, counts: Any, *, entropy: BitSource | None = None) -> Integers:
        """The list, for counts in any order."""
        noisy = self._noise.release(sorted_counts(counts, self._length), entropy=bits_from(entropy))
        return _whole(noisy)

    def _releases(self, counts: Any, times: int, entropy: BitSource) -> Integers:
        """Many independent lists of the same counts, a row each: what an audit draws."""
        row = sorted_counts(counts, self._length)
        noisy = self._noise.release(np.tile(row, (times, 1)), entropy=entropy)
        return np.array([_whole(one) for one in noisy])

    def accuracy(self, beta: Price) -> float:
        """No count is off by more than this, but for a probability β: the falling list is no further off than noise."""
        return self._noise.accuracy(beta, size=self._length)

    def explain(self) -> str:
        """Two sentences for someone who has to decide."""
        return (
            f"Adding or removing one person changes the chance of any list {meaning(self.guarantee)}."
            f" No count is off by more than {self.accuracy('0.05'):.4g} in nineteen of twenty lists."
        )

    def __repr__(self) -> str:
        return f"FrequencyList(length={self._length}, promise={self.guarantee!r})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and repr(other) == repr(self)

    def __hash__(self) -> int:
        return hash(repr(self))


def counts_of(values: Iterable[Hashable]) -> Integers:
    """How often each different value occurs."""
    return np.array(list(Counter(values).values()), dtype=np.int64)


def sorted_counts(counts: Any, length: int) -> Integers:
    """The largest counts in falling order, padded with zeros to the length; below 0 counts as 0."""
    read = whole_numbers(
        list(counts) if isinstance(counts, Iterable) and not isinstance(counts, np.ndarray) else counts
    )
    if not isinstance(read, np.ndarray):
        raise InvalidParameter("counts", given=kind_of(counts), allowed="a list or an array of whole numbers")
    falls = np.sort(np.maximum(read.reshape(-1), 0))[::-1][:length]
    padded: Integers = np.zeros(length, dtype=np.int64)
    padded[: falls.size] = falls
    return padded


def _whole(noisy: Integers) -> Integers:
    """The falling list nearest to the noisy one, at least 0, rounded to whole numbers."""
    nearest: Integers = np.floor(np.clip(falling(noisy), 0, 2.0**62) + 0.5).astype(np.int64)
    return nearest
