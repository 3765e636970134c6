"""Count-mean sketch: categories hashed into few cells by public hash functions, for lists too long for the server."""

from __future__ import annotations

from fractions import Fraction
from hashlib import blake2b
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.local.categories.estimates import Support
from tacit.local.categories.frequency import FrequencyRandomizer, Places, pure_promise, ratio_up
from tacit.local.categories.gf2 import parity, walsh
from tacit.local.categories.hadamard import rows_beside
from tacit.local.protocol import Reports
from tacit.local.random_words import random_words
from tacit.local.wire import Whole
from tacit.mechanisms.shared.promise import PriceLike
from tacit.noise.entropy import BitSource
from tacit.noise.truths import OddsTruth, Truth
from tacit.privacy import Guarantee

__all__ = ["CountMeanSketch", "PublicHashes"]


class PublicHashes:
    """H = 2^h hash functions from 64-bit words to 2^b cells, fixed by a public seed: random matrices over GF(2).

    Over the choice of the seed, two words collide under a function with chance exactly 2^-b, and whether two others
    collide with the first is independent.
    """

    __slots__ = ("_matrices", "bits", "cell_bits", "seed")

    def __init__(self, bits: int, cell_bits: int, seed: int) -> None:
        self.bits, self.cell_bits, self.seed = bits, cell_bits, seed
        count = (1 << bits) * cell_bits
        words = (blake2b(f"tacit.local.sketch:{seed}:{i}".encode(), digest_size=8).digest() for i in range(count))
        self._matrices = np.array([int.from_bytes(word, "little") for word in words], dtype=np.uint64)

    def cells(self, functions: npt.NDArray[np.int64], words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """The cell of each word under the function of each."""
        out = np.zeros(words.size, dtype=np.int64)
        for row in range(self.cell_bits):
            overlap = self._matrices[functions * self.cell_bits + row] & words
            out |= parity(overlap).astype(np.int64) << row
        return out


class CountMeanSketch(FrequencyRandomizer):
    """One of H public hash functions, at random, and a Hadamard response on the hashed category.

    The server keeps H·2M sums however many categories there are. Unbiased over the choice of the public ``seed``; for
    one seed, categories that share cells are confused, which the standard errors count in (Apple 2017).
    Proof: docs/proofs/local_frequencies.md.

    >>> r = CountMeanSketch(epsilon=1, categories=range(100_000), hashes=16, buckets=256)
    >>> r.analyser()._tally.size, r.report_bytes
    (8192, 6)
    """

    __slots__ = ("_even", "_hashes")

    proof: ClassVar[str] = "proofs/local_frequencies.md"

    def __init__(
        self,
        *,
        categories: object,
        hashes: int = 64,
        buckets: int = 1024,
        seed: int = 0,
        unknown: Any = None,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
    ) -> None:
        asked = pure_promise("CountMeanSketch", epsilon, delta, rho, mu, promise)
        self._set(asked, categories, unknown)
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise InvalidParameter("seed", given=seed, allowed="a whole number that everybody knows")
        self._hashes = PublicHashes(power(hashes, "hashes", 1), power(buckets, "buckets", 2), seed)
        self._even: Truth = OddsTruth(asked.eps, 1)

    @property
    def buckets(self) -> int:
        """M, the cells of each hash function."""
        return 1 << self._hashes.cell_bits

    @property
    def hashes(self) -> int:
        """H, how many hash functions there are."""
        return 1 << self._hashes.bits

    @property
    def shape(self) -> Whole:
        return Whole(self._hashes.bits + self._hashes.cell_bits + 1)

    @property
    def support(self) -> Support:
        own = self._even.probability
        return Support(own, own / self.buckets + (1 - 1 / self.buckets) / 2)

    def _pair(self) -> tuple[list[Fraction], list[Fraction]]:
        one, ratio = Fraction(1), ratio_up(self.epsilon)
        return [ratio, ratio, one, one], [ratio, one, ratio, one]

    def _draw(self, places: Places, bits: BitSource) -> Reports:
        width = self._hashes.cell_bits + 1
        functions = random_words(self._hashes.bits, places.size, np.dtype(np.uint32), bits).astype(np.int64)
        cells = self._hashes.cells(functions, places.astype(np.uint64))
        rows = rows_beside(cells + 1, width, self._even, np.dtype(np.uint32), bits)
        return functions << width | rows

    def _valid(self, reports: Reports) -> npt.NDArray[np.bool_]:
        return reports <= (1 << self.shape.bits) - 1

    def _empty(self) -> npt.NDArray[np.int64]:
        return np.zeros(1 << self.shape.bits, dtype=np.int64)

    def _tally(self, reports: Reports) -> npt.NDArray[np.int64]:
        return np.bincount(reports, minlength=1 << self.shape.bits)

    def _supports(self, tally: npt.NDArray[Any], count: int) -> npt.NDArray[np.int64]:
        words = np.arange(len(self._answers), dtype=np.uint64)
        total = np.zeros(words.size, dtype=np.int64)
        for function, row in enumerate(tally.reshape(self.hashes, -1)):
            cells = self._hashes.cells(np.full(words.size, function), words)
            total += walsh(row)[cells + 1] + int(row.sum())
        return total >> 1

    def _collisions(self, values: npt.NDArray[np.float64], count: int) -> float:
        """The sum of all squared shares, spread over H·(M-1): at most what a category gathers from the others.

        Squared estimates exceed squared shares by their variance, of coins and of collisions: both are taken off.
        """
        spread = self.hashes * (self.buckets - 1)
        noise = self.support.variance(np.clip(values, 0.0, 1.0), count)
        squares = float((values**2 - noise).sum()) / (1 + values.size / spread)
        return min(1.0, max(0.0, squares)) / spread

    def _details(self) -> str:
        return f", hashes={self.hashes}, buckets={self.buckets}, seed={self._hashes.seed}"


def power(value: object, name: str, least: int) -> int:
    """The b of a power of two 2^b, at most 2^16."""
    allowed = f"a power of two from {least} to {1 << 16}"
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= 1 << 16 or value & (value - 1):
        raise InvalidParameter(name, given=value, allowed=allowed)
    return value.bit_length() - 1
