"""Pólya noise, exactly: shares of a geometric number, so that the shares of all people add up to one.

X ~ Pólya(r, α) has P[X = k] = C(k+r-1, k)·(1-α)^r·α^k; n of them with r = 1/n sum to a geometric number, and the
difference of two such sums is discrete Laplace. Here α = e^-x. X is a Poisson number of clusters, of mean
-r·ln(1-α), each of logarithmic size; sizes by Kemp's (1981) inversion. Proof: ``docs/proofs/shuffling.md``.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.noise.entropy import BitSource
from tacit.noise.exact import LazyUniform, decide_floor, decide_sign, flint, rational, working_precision

__all__ = ["polya", "polya_differences"]


def polya_differences(shape: Fraction, exponent: Fraction, count: int, entropy: BitSource) -> npt.NDArray[np.object_]:
    """``count`` differences of two independent Pólya numbers, as Python integers."""
    plus, minus = (polya(shape, exponent, count, entropy) for _ in range(2))
    found: npt.NDArray[np.object_] = plus - minus
    return found


def polya(shape: Fraction, exponent: Fraction, count: int, entropy: BitSource) -> npt.NDArray[np.object_]:
    """``count`` Pólya numbers with r = ``shape`` > 0 and α = e^-``exponent``, as Python integers.

    >>> from tacit.testing import seeded
    >>> len(polya(Fraction(1, 100), Fraction(1, 10), 5, seeded(1)))
    5
    """
    out = np.zeros(count, dtype=object)
    clusters = _poisson(shape, exponent, count, entropy)
    for i in np.flatnonzero(clusters):
        out[i] = sum(_size(exponent, entropy) for _ in range(int(clusters[i])))
    return out


def _rest(exponent: Fraction) -> Any:
    """ln(1 - α) as a ball."""
    return (-(-flint().arb(rational(exponent))).expm1()).log()


def _distribution(shape: Fraction, exponent: Fraction, most: int) -> Any:
    """P[N ≤ most] for the number N of clusters, as a ball."""
    mean = -flint().arb(rational(shape)) * _rest(exponent)
    term, total = (-mean).exp(), flint().arb(0)
    for k in range(most + 1):
        total += term
        term = term * mean / (k + 1)
    return total


@lru_cache(maxsize=64)
def _thresholds(shape: Fraction, exponent: Fraction) -> tuple[int, ...]:
    """floor(2⁶⁴·P[N ≤ k]) for k = 0, 1, … up to the first that is 2⁶⁴ - 1."""
    found: list[int] = []
    while not found or found[-1] < (1 << 64) - 1:
        bits, whole = 128, None
        while whole is None:
            bits *= 2
            with working_precision(bits):
                scaled = _distribution(shape, exponent, len(found)) * flint().arb(2) ** 64
                whole = scaled.floor().unique_fmpz()
        found.append(int(whole))
    return tuple(found)


def _poisson(shape: Fraction, exponent: Fraction, count: int, entropy: BitSource) -> npt.NDArray[np.int64]:
    """N is the number of k with U ≥ P[N ≤ k]; a word equal to a threshold leaves that open, and further bits decide."""
    rising = np.array(_thresholds(shape, exponent), dtype=np.uint64)
    words = entropy.words(count)
    out = np.searchsorted(rising, words, side="left").astype(np.int64)
    equal = rising[np.minimum(out, rising.size - 1)] == words
    for i in np.flatnonzero(equal):
        uniform = LazyUniform(int(words[i]), 64, entropy)
        n = int(out[i])
        while not decide_sign(lambda u, k=n: _distribution(shape, exponent, k) - u, [uniform]):
            n += 1
        out[i] = n
    return out


def _size(exponent: Fraction, entropy: BitSource) -> int:
    """A logarithmic number: geometric with a random parameter 1 - (1-α)^U."""
    uniforms = [LazyUniform(entropy.word(), 64, entropy), LazyUniform(entropy.word(), 64, entropy)]

    def evaluate(u: Any, v: Any) -> Any:
        return v.log() / (-(u * _rest(exponent)).expm1()).log()

    return 1 + decide_floor(evaluate, uniforms)
