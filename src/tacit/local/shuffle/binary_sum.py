"""Counting a yes in the shuffle model: two bits from each person, the second of them noise."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.local.categories.estimates import two_sided
from tacit.local.shuffle.absent import honest_of
from tacit.local.shuffle.binomials import least_chance, one_count_delta, two_counts_delta
from tacit.local.shuffle.messages import MessageProtocol, read_messages
from tacit.mechanisms.responses.answers import UNKNOWN, Answers, several
from tacit.mechanisms.shared.base import bits_from, meaning
from tacit.mechanisms.shared.estimate import BETA
from tacit.mechanisms.shared.promise import PriceLike, read_promise
from tacit.mechanisms.shared.tails import read_beta
from tacit.noise.entropy import BitSource
from tacit.noise.truths import ExactTruth
from tacit.privacy import REPLACE, ApproxDP, Guarantee
from tacit.privacy.losses.numbers import whole
from tacit.privacy.prices import Price, round_up

__all__ = ["BinarySum", "CountEstimate", "ShuffledHistogram"]


@dataclass(frozen=True, slots=True)
class CountEstimate:
    """Counted people: ``value`` as the protocol prints it, ``unbiased`` before that, and their standard error.

    The protocol prints 0 unless there are more ones than people, so that nothing is never told as something: counts
    below about the expected zeros come out as 0. ``unbiased`` may be negative.
    """

    value: npt.NDArray[np.float64]
    unbiased: npt.NDArray[np.float64]
    standard_error: float
    refused: int = 0
    """Messages that nobody who follows the protocol sends; left out."""

    def intervals(self, beta: Price = BETA) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """For each count on its own: misses with probability about β; from the unbiased values."""
        z = two_sided(read_beta(beta))
        return self.unbiased - z * self.standard_error, self.unbiased + z * self.standard_error


class _NoisyBits(MessageProtocol):
    """What both protocols share: a noise bit that is 0 with a chance solved for the promise."""

    __slots__ = ("_absent", "_guarantee", "_n", "_zero")

    proof: ClassVar[str] = "proofs/shuffling.md"

    def _set(self, n: int, absent: Price, asked: Guarantee) -> None:
        assert isinstance(asked, ApproxDP)
        self._n, self._absent = whole("n", n, least=1), Fraction(str(absent)) if absent else Fraction(0)
        self._guarantee = asked
        honest = honest_of(self._n, absent)
        self._zero = least_chance(
            lambda chance: self._delta(honest, chance, float(asked.eps)), float(asked.dlt) * (1 - 1e-12), n=n
        )

    @abstractmethod
    def _delta(self, honest: int, chance: float, epsilon: float) -> float:
        """The δ at ε that so many honest people's noise bits, each 0 with this chance, give."""

    @property
    def n(self) -> int:
        """How many people take part, which is public."""
        return self._n

    @property
    def guarantee(self) -> ApproxDP:
        """What is promised about the shuffled messages, to each person, if no more than the stated share is absent."""
        return self._guarantee

    @property
    def zero_chance(self) -> Fraction:
        """The chance that a noise bit is 0; everything the promise rests on."""
        return self._zero

    @property
    def expected_zeros(self) -> float:
        """How many noise bits of one count are 0, on average."""
        return float(self._n * self._zero)

    @property
    def standard_error(self) -> float:
        """Of each count."""
        return math.sqrt(self._n * self._zero * (1 - self._zero))

    def remaining(self, absent: Price) -> ApproxDP:
        """What the same messages still promise if this share of people is silent, or sends what it likes."""
        found = self._delta(honest_of(self._n, absent), float(self._zero), float(self._guarantee.eps))
        return ApproxDP(self._guarantee.eps, round_up(Fraction(found)), neighbours=REPLACE)

    def bias(self, absent: Price) -> tuple[float, float]:
        """How far the expected unbiased count can be off if this share of people is silent, or sends what it likes.

        Such a person is counted as having sent none to two ones, where an honest one sends her bit and noise.
        """
        some, noise = self._n - honest_of(self._n, absent), float(1 - self._zero)
        return -some * (1 + noise), some * (2 - noise)

    def explain(self) -> str:
        """Two sentences for someone who has to decide."""
        return (
            f"Whatever a person's value, it changes the chance of any shuffled view {meaning(self._guarantee)}."
            f" Each count is off by {self.standard_error:.3g} (one standard error)."
        )

    def _bits(self, truths: npt.NDArray[np.bool_], bits: BitSource) -> npt.NDArray[np.uint8]:
        """Each bit, and beside it a noise bit."""
        noise = ~ExactTruth(self._zero).draw(truths.size, bits).reshape(truths.shape)
        return np.stack([truths, noise], axis=-1).astype(np.uint8)

    def _counted(self, ones: npt.NDArray[np.int64], refused: int) -> CountEstimate:
        unbiased = np.asarray(ones - float(self._n * (1 - self._zero)), dtype=np.float64)
        return CountEstimate(np.where(ones <= self._n, 0.0, unbiased), unbiased, self.standard_error, refused)

    def __repr__(self) -> str:
        absent = f", absent={str(self._absent)!r}" if self._absent else ""
        return f"{type(self).__name__}(n={self._n}, promise={self._guarantee!r}{absent}{self._details()})"

    def _details(self) -> str:
        return ""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and repr(other) == repr(self)

    def __hash__(self) -> int:
        return hash(repr(self))


class BinarySum(_NoisyBits):
    """Everybody sends her bit and a noise bit; shuffled, the number of ones is all there is to see (Cheu et al. 2019).

    The noise bits are 0 with the smallest chance that keeps (ε, δ), solved exactly from the binomial. The answer is 0
    if there are at most n ones, else the ones less their noise. Proof: docs/proofs/shuffling.md.

    >>> s = BinarySum(n=10_000, epsilon=1, delta=1e-6)
    >>> round(s.expected_zeros, 1), round(s.standard_error, 2)
    (34.1, 5.83)
    >>> s.estimate(s.messages([False] * 10_000)).value.tolist()
    0.0
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        n: int,
        absent: Price = 0,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        promise: Guarantee | None = None,
    ) -> None:
        asked = read_promise("BinarySum", (ApproxDP,), REPLACE, epsilon, delta, None, None, promise)
        self._set(n, absent, asked)

    def _delta(self, honest: int, chance: float, epsilon: float) -> float:
        return one_count_delta(honest, chance, epsilon)

    def messages(self, values: Any, *, entropy: BitSource | None = None) -> npt.NDArray[np.uint8]:
        """Two bits for each person. What is not true counts as no, whatever it is."""
        places = _places(values, Answers([False, True]))
        return self._bits(places == 1, bits_from(entropy))

    def estimate(self, messages: Any) -> CountEstimate:
        """From all messages, in any order; what is neither 0 nor 1 is counted, and left out."""
        found, refused = read_messages(messages, 2)
        return self._counted(np.array(int(found.sum())), refused)


class ShuffledHistogram(_NoisyBits):
    """A count for each category: two bits for each person and cell, each sent with the name of the cell.

    A message is 2·cell + bit, so that all of them can be shuffled together: what is left is the ones of each cell.
    Replacing a value moves two cells at once, and their noise is priced jointly. Proof: docs/proofs/shuffling.md.

    >>> h = ShuffledHistogram(n=10_000, categories=["a", "b", "c"], epsilon=1, delta=1e-6)
    >>> round(h.expected_zeros, 1), round(h.standard_error, 2)
    (42.7, 6.52)
    >>> h.messages(["a", "b"]).shape                      # a row for each person: two messages for each of three cells
    (2, 6)
    """

    __slots__ = ("_answers", "_unknown")

    def __init__(
        self,
        *,
        n: int,
        categories: object,
        unknown: Any = None,
        absent: Price = 0,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        promise: Guarantee | None = None,
    ) -> None:
        self._answers = Answers(categories)
        self._unknown = self._answers.listed[0] if unknown is None else unknown
        if self._answers.place(self._unknown) == UNKNOWN:
            raise InvalidParameter("unknown", given=unknown, allowed=f"one of the categories, {self.categories!r}")
        asked = read_promise("ShuffledHistogram", (ApproxDP,), REPLACE, epsilon, delta, None, None, promise)
        self._set(n, absent, asked)

    @property
    def categories(self) -> tuple[Any, ...]:
        """The cells."""
        return self._answers.listed

    @property
    def unknown(self) -> Any:
        """The category that anything else is counted as: stated to everybody, the first unless another is."""
        return self._unknown

    def _delta(self, honest: int, chance: float, epsilon: float) -> float:
        return two_counts_delta(honest, chance, epsilon)

    def messages(self, values: Any, *, entropy: BitSource | None = None) -> npt.NDArray[np.int64]:
        """For each person and cell two messages 2·cell + bit: whether it is hers, and noise."""
        places = _places(values, self._answers)
        places = np.where(places == UNKNOWN, self._answers.place(self._unknown), places)
        cells = np.arange(len(self._answers))
        sent = self._bits(places[:, None] == cells, bits_from(entropy)) + 2 * cells[:, None]
        return sent.reshape(places.size, -1)

    def estimate(self, messages: Any) -> CountEstimate:
        """From all messages, in any order; what is no bit of a cell is counted, and left out."""
        found, refused = read_messages(messages, 2 * len(self._answers))
        ones = np.bincount(found.astype(np.int64), minlength=2 * len(self._answers))[1::2]
        return self._counted(ones, refused)

    def _details(self) -> str:
        return f", categories={list(self.categories)!r}, unknown={self._unknown!r}"


def _places(values: Any, answers: Answers) -> npt.NDArray[np.int64]:
    try:
        array = several(values)
    except Exception:  # a device reports whatever it is given
        array = None
    if array is None:
        array = np.empty(1, dtype=object)
        array[0] = values
    return answers.places(array.reshape(-1))
