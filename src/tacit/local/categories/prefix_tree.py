"""Heavy hitters of a domain too large to list: everyone reports on a prefix, the server grows the frequent ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.local.categories.estimates import Support, two_sided
from tacit.local.categories.frequency import pure_promise
from tacit.local.categories.gf2 import walsh
from tacit.local.categories.hadamard import rows_beside
from tacit.local.categories.sketch import PublicHashes, power
from tacit.local.protocol import Randomizer, Reports
from tacit.local.random_words import random_words
from tacit.local.wire import Whole
from tacit.mechanisms.responses.answers import several
from tacit.mechanisms.selection.selecting import float_above
from tacit.mechanisms.shared.base import bits_from
from tacit.mechanisms.shared.promise import PriceLike
from tacit.noise.coins import uniform_places
from tacit.noise.entropy import BitSource
from tacit.noise.truths import OddsTruth, Truth
from tacit.privacy import REPLACE, Guarantee

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["HeavyHitter", "HeavyHitters", "PrefixTree", "read_words"]

_BITS = 64
_FALSE_ALARM = Fraction(1, 1000)  # that any prefix nobody has goes on, at each length
_CHUNK = 1 << 13
_MOST_CANDIDATES = 1 << 16


@dataclass(frozen=True, slots=True)
class HeavyHitter:
    """A word that came out frequent, the estimated share of people who have it, and its standard error."""

    word: int
    share: float
    standard_error: float


@dataclass(frozen=True, slots=True)
class HeavyHitters:
    """Words found frequent, the most frequent first.

    Not unbiased: a word is listed because it looked frequent, so its share is on average too high, and a word that
    looked rare at any prefix is missing. Words of at least ``detectable`` are found with good chance.
    """

    found: tuple[HeavyHitter, ...]
    detectable: float
    count: int


class PrefixTree(Randomizer[HeavyHitters]):
    """The first 8, 16, … or all 64 bits of a word, how many at random, into a count-mean sketch of that length.

    The server keeps one sketch for each length, whatever n is: it tries all continuations of the prefixes that look
    frequent. A value that is no whole number of 64 bits becomes a uniform word.
    Proof: docs/proofs/local_frequencies.md.

    >>> r = PrefixTree(epsilon=4)
    >>> words = np.concatenate([np.full(30_000, 2**63 + 5, dtype=np.uint64), np.arange(10_000, dtype=np.uint64) << 40])
    >>> [hitter.word == 2**63 + 5 for hitter in r.estimate(r.randomize(words)).found][:1]
    [True]
    """

    __slots__ = ("_even", "_sketches", "_step")

    proof: ClassVar[str] = "proofs/local_frequencies.md"

    def __init__(
        self,
        *,
        step: int = 8,
        hashes: int = 32,
        buckets: int = 1024,
        seed: int = 0,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
    ) -> None:
        asked = pure_promise("PrefixTree", epsilon, delta, rho, mu, promise)
        self._guarantee = asked
        if isinstance(step, bool) or step not in (2, 4, 8):
            raise InvalidParameter("step", given=step, allowed="2, 4 or 8 bits more at each length")
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise InvalidParameter("seed", given=seed, allowed="a whole number that everybody knows")
        bits, cells = power(hashes, "hashes", 1), power(buckets, "buckets", 2)
        self._step = step
        self._sketches = tuple(PublicHashes(bits, cells, seed * _BITS + level) for level in range(_BITS // step))
        self._even: Truth = OddsTruth(asked.eps, 1)

    @property
    def lengths(self) -> int:
        """How many lengths of prefixes there are."""
        return len(self._sketches)

    @property
    def shape(self) -> Whole:
        return Whole((self.lengths - 1).bit_length() + self._sketches[0].bits + self._width)

    @property
    def _width(self) -> int:
        return self._sketches[0].cell_bits + 1

    @property
    def support(self) -> Support:
        """How often a report on its length supports the own prefix, and any other."""
        cells = 1 << self._sketches[0].cell_bits
        own = self._even.probability
        return Support(own, own / cells + (1 - 1 / cells) / 2)

    @property
    def loss(self) -> LossDistribution:
        from tacit.privacy.loss_distribution import LossDistribution

        return LossDistribution.randomized_response(float_above(self._guarantee.main), 2, REPLACE)

    def randomize(self, values: Any, *, entropy: BitSource | None = None) -> Any:
        bits = bits_from(entropy)
        words, known, shape = read_words(values)
        out = self.shape.new(words.size)
        for start in range(0, words.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            chance = bits.words(words[part].size)
            out[part] = self._draw(np.where(known[part], words[part], chance), bits)
        return out[0] if shape is None else out.reshape(shape)

    def _draw(self, words: npt.NDArray[np.uint64], bits: BitSource) -> Reports:
        levels = uniform_places(self.lengths, words.size, bits)
        functions = random_words(self._sketches[0].bits, words.size, np.dtype(np.uint32), bits).astype(np.int64)
        cells = np.zeros(words.size, dtype=np.int64)
        for level, sketch in enumerate(self._sketches):
            cells = np.where(levels == level, sketch.cells(functions, self._prefix(words, level)), cells)
        rows = rows_beside(cells + 1, self._width, self._even, np.dtype(np.uint32), bits)
        return (levels << self._sketches[0].bits | functions) << self._width | rows

    def _prefix(self, words: npt.NDArray[np.uint64], level: int) -> npt.NDArray[np.uint64]:
        """The first so many bits of each word, as a word."""
        return words >> np.uint64(_BITS - self._step * (level + 1))

    def _valid(self, reports: Reports) -> npt.NDArray[np.bool_]:
        return reports < self._empty().size

    def _empty(self) -> npt.NDArray[np.int64]:
        return np.zeros(self.lengths << (self._sketches[0].bits + self._width), dtype=np.int64)

    def _tally(self, reports: Reports) -> npt.NDArray[np.int64]:
        return np.bincount(reports, minlength=self._empty().size)

    def _finish(self, tally: npt.NDArray[Any], count: int) -> HeavyHitters:
        levels = tally.reshape(self.lengths, 1 << self._sketches[0].bits, -1)
        prefixes = np.zeros(1, dtype=np.uint64)
        least = math.inf
        shares = errors = np.zeros(1)
        for level in range(self.lengths):
            told = int(levels[level].sum())
            if not told or not prefixes.size:
                return HeavyHitters((), math.inf, count)
            grown = np.arange(1 << self._step, dtype=np.uint64)
            candidates = ((prefixes[:, None] << np.uint64(self._step)) | grown).reshape(-1)
            shares, errors = self._shares(levels[level], candidates, told, level)
            least = two_sided(_FALSE_ALARM / candidates.size) * float(errors.min())
            kept = np.argsort(shares)[::-1][: _MOST_CANDIDATES >> self._step]
            kept = kept[shares[kept] > least]
            prefixes, shares, errors = candidates[kept], shares[kept], errors[kept]
        found = zip(prefixes.tolist(), shares.tolist(), errors.tolist(), strict=True)
        return HeavyHitters(tuple(HeavyHitter(*one) for one in found), 2 * least, count)

    def _shares(
        self, sums: npt.NDArray[np.int64], candidates: npt.NDArray[np.uint64], told: int, level: int
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        sketch = self._sketches[level]
        total = np.zeros(candidates.size, dtype=np.int64)
        for function, row in enumerate(sums):
            cells = sketch.cells(np.full(candidates.size, function), candidates)
            total += walsh(row)[cells + 1] + int(row.sum())
        values = ((total >> 1) / told - self.support.other) / self.support.gain
        coins = self.support.variance(np.clip(values, 0.0, 1.0), told)
        shared = float((values[values > 5 * np.sqrt(coins)] ** 2).sum()) / (len(sums) * ((1 << sketch.cell_bits) - 1))
        return values, np.sqrt(coins + min(shared, 1.0))

    def __repr__(self) -> str:
        first = self._sketches[0]
        sizes = f"step={self._step}, hashes={1 << first.bits}, buckets={1 << first.cell_bits}"
        return f"PrefixTree(promise={self._guarantee!r}, {sizes}, seed={first.seed // _BITS})"


def read_words(values: Any) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_], tuple[int, ...] | None]:
    """Values as 64-bit words, which of them are such words, and their shape; None for one value."""
    try:
        array = several(values)
    except Exception:  # a device reports whatever it is given
        array = None
    if array is not None and array.dtype.kind in "iu":
        return array.astype(np.uint64).reshape(-1), (array >= 0).reshape(-1), array.shape
    items = [values] if array is None else array.reshape(-1).tolist()
    known = np.array([_is_word(item) for item in items], dtype=np.bool_)
    words = np.array([int(item) if _is_word(item) else 0 for item in items], dtype=np.uint64)
    return words, known, None if array is None else array.shape


def _is_word(item: Any) -> bool:
    return isinstance(item, int | np.integer) and not isinstance(item, bool) and 0 <= int(item) < 1 << _BITS
