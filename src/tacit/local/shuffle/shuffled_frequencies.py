"""Frequencies over a domain too large to list, in the shuffle model: few short anonymous messages from each person."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.local.categories.gf2 import hashed
from tacit.local.categories.prefix_tree import read_words
from tacit.local.random_words import random_words
from tacit.local.shuffle.absent import honest_of
from tacit.local.shuffle.binomials import MOST_EPSILON
from tacit.local.shuffle.excess import mean_excess
from tacit.local.shuffle.messages import MessageProtocol, read_messages
from tacit.mechanisms.shared.base import bits_from, meaning
from tacit.mechanisms.shared.promise import PriceLike, read_promise
from tacit.noise.entropy import BitSource
from tacit.privacy import REPLACE, ApproxDP, Guarantee
from tacit.privacy.losses.numbers import whole
from tacit.privacy.prices import Price, round_up

__all__ = ["SharesOf", "ShuffledFrequencies", "hidden_among"]

_MOST_BITS, _MOST_ROWS = 32, 16


@dataclass(frozen=True, slots=True)
class SharesOf:
    """Estimated shares of the words that were asked about, unbiased, with the standard error of each."""

    words: tuple[int, ...]
    values: npt.NDArray[np.float64]
    standard_errors: npt.NDArray[np.float64]
    refused: int = 0
    """Messages that nobody who follows the protocol sends; left out."""


class ShuffledFrequencies(MessageProtocol):
    """Everybody sends her word hashed by a hash of its own, and ``noise`` messages that are pure chance.

    A message is a random Toeplitz matrix over GF(2) and a word of b bits: the product of matrix and value, or random
    bits. Shuffled, hers hides among all noise messages; b is the largest that keeps (ε, δ). Words have up to 32 bits,
    messages at most 8 bytes. Proof: docs/proofs/shuffling.md.

    >>> s = ShuffledFrequencies(n=100_000, noise=2, bits=32, epsilon=1, delta=1e-6)
    >>> s.buckets, s.message_bytes
    (4096, 7)
    """

    __slots__ = ("_absent", "_bits", "_guarantee", "_n", "_noise", "_rows")

    proof: ClassVar[str] = "proofs/shuffling.md"

    def __init__(
        self,
        *,
        n: int,
        noise: int,
        bits: int = _MOST_BITS,
        absent: Price = 0,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        promise: Guarantee | None = None,
    ) -> None:
        asked = read_promise("ShuffledFrequencies", (ApproxDP,), REPLACE, epsilon, delta, None, None, promise)
        assert isinstance(asked, ApproxDP)
        self._n, self._noise = whole("n", n, least=1), whole("noise", noise, least=1)
        self._bits = whole("bits", bits, least=1)
        if self._bits > _MOST_BITS:
            raise InvalidParameter("bits", given=bits, allowed=f"at most {_MOST_BITS}")
        self._absent = absent
        self._guarantee = asked
        hiding = honest_of(self._n, absent) * self._noise
        self._rows = _most_rows(hiding, float(asked.eps), float(asked.dlt))
        if not self._rows:
            allowed = "more people, more noise messages, or a larger ε or δ"
            raise InvalidParameter("noise", given=noise, allowed=allowed)

    @property
    def guarantee(self) -> ApproxDP:
        """What is promised about the shuffled messages."""
        return self._guarantee

    @property
    def buckets(self) -> int:
        """g, how many values a hash has."""
        return 1 << self._rows

    @property
    def message_bytes(self) -> int:
        """The length of each of the 1 + ``noise`` messages of a person."""
        return -(-(self._bits + 2 * self._rows - 1) // 8)

    @property
    def standard_error(self) -> float:
        """Of the share of a rare word."""
        spread = (1 + self._noise) * (1 - 1 / self.buckets) / self.buckets
        return math.sqrt(spread / self._n) / (1 - 1 / self.buckets)

    def remaining(self, absent: Price) -> ApproxDP:
        """What the same messages still promise if this share of people is silent, or sends what it likes."""
        found = hidden_among(honest_of(self._n, absent) * self._noise, self.buckets, float(self._guarantee.eps))
        return ApproxDP(self._guarantee.eps, round_up(Fraction(found)), neighbours=REPLACE)

    def bias(self, absent: Price) -> tuple[float, float]:
        """How far the expected share of a word can be off if this share of people is silent, or sends what it likes.

        Such a person is counted as having sent none to 1 + ``noise`` messages for the word.
        """
        part = 1 - honest_of(self._n, absent) / self._n
        most, even = 1 + self._noise, (1 + self._noise) / self.buckets
        return -part * (even / (1 - 1 / self.buckets) + 1), part * (most - even) / (1 - 1 / self.buckets)

    def messages(self, values: Any, *, entropy: BitSource | None = None) -> npt.NDArray[np.uint64]:
        """1 + ``noise`` messages for each person; what is no word of ``bits`` bits is replaced by a random word."""
        bits = bits_from(entropy)
        words, known, _ = read_words(values)
        known &= words < np.uint64(1 << self._bits)
        wide = np.dtype(np.uint64)
        words = np.where(known, words, random_words(self._bits, words.size, wide, bits))
        size = words.size * (1 + self._noise)
        matrices = random_words(self._bits + self._rows - 1, size, wide, bits).reshape(words.size, -1)
        told = random_words(self._rows, size, wide, bits).reshape(words.size, -1)
        told[:, 0] = hashed(matrices[:, 0], words, self._bits, self._rows)
        found: npt.NDArray[np.uint64] = matrices << np.uint64(self._rows) | told
        return found

    def estimate(self, messages: Any, words: Any) -> SharesOf:
        """The shares of some words, from all messages in any order."""
        array, refused = read_messages(messages, 1 << (self._bits + 2 * self._rows - 1))
        matrices, told = array >> np.uint64(self._rows), array & np.uint64(self.buckets - 1)
        asked = [whole("words", word, least=0) for word in words]
        if any(word >> self._bits for word in asked):
            raise InvalidParameter("words", given=max(asked), allowed=f"words of at most {self._bits} bits")
        hits = [
            int((hashed(matrices, np.full(array.size, word, dtype=np.uint64), self._bits, self._rows) == told).sum())
            for word in asked
        ]
        g = self.buckets
        values = (np.array(hits) - self._n * (1 + self._noise) / g) / (1 - 1 / g) / self._n
        others = np.maximum(0.0, 1 + self._noise - np.clip(values, 0.0, 1.0))
        errors = np.sqrt(others * (1 - 1 / g) / g / self._n) / (1 - 1 / g)
        return SharesOf(tuple(asked), values, errors, refused)

    def explain(self) -> str:
        """Two sentences for someone who has to decide."""
        return (
            f"Whatever a person's value, it changes the chance of any shuffled view {meaning(self._guarantee)}."
            f" Each person sends {1 + self._noise} messages of {self.message_bytes} bytes."
        )

    def __repr__(self) -> str:
        sizes = f"n={self._n}, noise={self._noise}, bits={self._bits}, absent={self._absent!r}"
        return f"ShuffledFrequencies({sizes}, promise={self._guarantee!r})"


def _most_rows(noise: int, epsilon: float, delta: float) -> int:
    """The largest b for which 2^b buckets keep (ε, δ), 0 if none does; more buckets hide less."""
    low, high = 0, _MOST_ROWS + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if hidden_among(noise, 1 << middle, epsilon) <= delta else (low, middle)
    return low


def hidden_among(noise: int, buckets: int, epsilon: float) -> float:
    """The δ at ε of one true message among ``noise`` random ones: a blanket whose own likelihood is 0 or g.

    Of random messages, 1/g² fit both of two values, 1/g - 1/g² one of them only.
    """
    both = 1 / buckets**2
    one = 1 / buckets - both
    at = min(epsilon, MOST_EPSILON)
    values = [0.0, 1.0, -math.exp(at), -math.expm1(at)]
    chances = [1 - 2 * one - both, one, one, both]
    return min(1.0, mean_excess(values, chances, noise + 1) * buckets / (noise + 1))
