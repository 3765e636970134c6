"""The discrete Gaussian by table: for many draws at a moderate σ, one word and one look-up each, and still exact.

Let S(m) = P[|X| ≥ m] and U be uniform; then |X| is the number of m ≥ 1 with U < S(m), and a fair sign makes X.
The table holds A(m) = floor(2⁶³·S(m)), computed by ball arithmetic. A 63-bit word w with w < A(m) has U < S(m)
whatever bits follow, one with w > A(m) has not; w = A(m) for some m leaves the sample open, and further bits
decide it. Proof: ``docs/proofs/exact_sampling.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.noise.entropy import BitSource
from tacit.noise.exact import LazyUniform, decide_sign, flint, rational, working_precision
from tacit.noise.floors import Integers, collect

__all__ = ["LARGEST_VARIANCE", "TabulatedGaussianSampler"]

LARGEST_VARIANCE = 1 << 16
"""σ up to 256: the table has about 9σ entries, the guide stays in the cache."""

_GUIDE_BITS = 14
_BITS = 63
_PRECISION = 128


class TabulatedGaussianSampler:
    """P[X = k] ∝ e^(-k²/2·variance) on the integers, for a rational variance in (0, LARGEST_VARIANCE].

    >>> from tacit.testing import seeded
    >>> TabulatedGaussianSampler(Fraction(4)).array(5, seeded(1)).dtype
    dtype('int64')
    """

    __slots__ = ("_guide", "_rising", "variance")

    def __init__(self, variance: Fraction) -> None:
        self.variance = variance
        falling = _thresholds(variance)
        self._rising = np.array(falling[::-1], dtype=np.uint64)
        self._guide = _guide(self._rising)

    def array(self, count: int, entropy: BitSource) -> Integers | npt.NDArray[np.object_]:
        return collect(count, lambda size, _: self._chunk(size, entropy))

    def _chunk(self, size: int, entropy: BitSource) -> tuple[Integers, dict[int, int]]:
        words = entropy.words(size)
        signs = (words & np.uint64(1)).view(np.int64)
        np.negative(signs, out=signs)  # 0 or -1: (x ^ s) - s flips the sign where s = -1
        words = words >> np.uint64(1)
        samples = self._guide[(words >> np.uint64(_BITS - _GUIDE_BITS)).view(np.int64)]
        settled: dict[int, int] = {}
        if bool(samples.min() < 0):
            unsure = np.flatnonzero(samples < 0)
            close = words[unsure]
            below = np.searchsorted(self._rising, close, side="right")  # how many thresholds are ≤ the word
            samples[unsure] = self._rising.size - below
            for i in unsure[self._rising[np.maximum(below, 1) - 1] == close].tolist():
                magnitude = self._settle(int(words[i]), entropy)
                settled[i] = -magnitude if signs[i] else magnitude
        samples ^= signs
        samples -= signs
        return samples, settled

    def _settle(self, word: int, entropy: BitSource) -> int:
        """The number of m with U < S(m), for a uniform number that begins with this word."""
        uniform = LazyUniform(word, _BITS, entropy)
        magnitude = int(self._rising.size - np.searchsorted(self._rising, np.uint64(word), side="right"))
        while decide_sign(lambda u, m=magnitude + 1: _survival(self.variance, m) - u, [uniform]):
            magnitude += 1
        return magnitude


def _guide(rising: npt.NDArray[np.uint64]) -> Integers:
    """For each value of the leading bits, how many thresholds exceed every word that begins so; -1 where it depends."""
    starts = np.arange(1 << _GUIDE_BITS, dtype=np.uint64) << np.uint64(_BITS - _GUIDE_BITS)
    ends = starts | np.uint64((1 << (_BITS - _GUIDE_BITS)) - 1)
    from_start = np.searchsorted(rising, starts, side="left")  # thresholds below the cell
    to_end = np.searchsorted(rising, ends, side="right")  # and those up to its end
    return np.where(from_start == to_end, rising.size - to_end, -1).astype(np.int64)


@lru_cache(maxsize=64)
def _thresholds(variance: Fraction) -> tuple[int, ...]:
    """floor(2⁶³·S(m)) for m = 1, 2, … down to the first that is 0."""
    precision = _PRECISION
    while (found := _thresholds_at(precision, variance)) is None:
        precision *= 2
    return found


def _thresholds_at(precision: int, variance: Fraction) -> tuple[int, ...] | None:
    """The same if this many bits, and terms to match, leave no floor in doubt; otherwise None."""
    found: list[int] = []
    with working_precision(precision):
        terms = _terms(variance, _reach(precision, variance))
        tails = [_beyond(variance, len(terms))]
        for term in reversed(terms):
            tails.append(tails[-1] + term)
        tails.reverse()  # tails[k] = Σ_{j ≥ k} e^(-j²/2σ²)
        total = 2 * tails[1] + 1
        for tail in tails[1:]:
            threshold = (tail * (1 << (_BITS + 1)) / total).floor().unique_fmpz()
            if threshold is None:
                return None
            found.append(int(threshold))
            if not threshold:
                return tuple(found)
    return None


def _reach(precision: int, variance: Fraction) -> int:
    """How many terms leave less than 2^(-precision) of the sum: e^(-k²/2σ²) is below e^(-precision) beyond."""
    return math.isqrt(2 * precision * math.ceil(variance)) + 12


def _terms(variance: Fraction, count: int) -> list[Any]:
    """e^(-k²/2σ²) for k below ``count``, as balls."""
    arb = flint().arb
    steep = arb(rational(-1 / (2 * variance)))
    return [(steep * (k * k)).exp() for k in range(count)]


def _beyond(variance: Fraction, start: int) -> Any:
    """A ball that contains Σ_{k ≥ start} e^(-k²/2σ²): at most a geometric series with ratio e^(-start/σ²)."""
    arb = flint().arb
    first = (-arb(rational(Fraction(start * start) / (2 * variance)))).exp()
    bound = first / (1 - (-arb(rational(start / variance))).exp())
    return (bound / 2).union(arb(0)).union(bound)


def _survival(variance: Fraction, least: int) -> Any:
    """S(least) as a ball at the working precision."""
    needed = _reach(flint().ctx.prec, variance) + least
    terms = _terms(variance, needed)
    beyond = _beyond(variance, needed)
    arb = flint().arb
    tail = sum(terms[least:], arb(0)) + beyond
    total = 2 * (sum(terms[1:], arb(0)) + beyond) + 1
    return 2 * tail / total
