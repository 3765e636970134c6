"""Coins and dice, exactly: Bernoulli of a rational or of e^(-x), and uniform integers below n."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tacit.noise.entropy import BitSource
from tacit.noise.exact import LazyUniform, decide_sign, flint, rational, working_precision

__all__ = ["bernoulli", "bernoulli_exp", "uniform_below", "uniform_places"]

Booleans = npt.NDArray[np.bool_]


def bernoulli(probability: Fraction, count: int, entropy: BitSource) -> Booleans:
    """``count`` coins that are True with exactly the rational ``probability`` in [0, 1].

    >>> from tacit.testing import seeded
    >>> bool(bernoulli(Fraction(1), 3, seeded(1)).all())
    True
    """
    if probability >= 1:
        return np.ones(count, dtype=np.bool_)
    scaled = probability.numerator << 64
    threshold, rest = divmod(scaled, probability.denominator)
    words = entropy.words(count)
    coins: Booleans = words < np.uint64(threshold)
    if rest:
        for i in np.flatnonzero(words == np.uint64(threshold)):
            coins[i] = _below(Fraction(rest, probability.denominator), entropy)
    return coins


def _below(fraction: Fraction, entropy: BitSource) -> bool:
    """Whether a uniform number lies below the rational, word by word."""
    while fraction:
        whole, rest = divmod(fraction.numerator << 64, fraction.denominator)
        word = entropy.word()
        if word != whole:
            return word < whole
        fraction = Fraction(rest, fraction.denominator)
    return False


def bernoulli_exp(exponent: Fraction, count: int, entropy: BitSource) -> Booleans:
    """``count`` coins that are True with probability exactly e^(-exponent), exponent ≥ 0 rational."""
    if exponent == 0:
        return np.ones(count, dtype=np.bool_)
    threshold = _exp_threshold(exponent)
    words = entropy.words(count)
    coins: Booleans = words < np.uint64(threshold)
    for i in np.flatnonzero(words == np.uint64(threshold)):
        coin = LazyUniform(int(words[i]), 64, entropy)
        coins[i] = decide_sign(lambda u: (-flint().arb(rational(exponent))).exp() - u, [coin])
    return coins


@lru_cache(maxsize=256)
def _exp_threshold(exponent: Fraction) -> int:
    """floor(2⁶⁴·e^(-exponent)); e^(-x) is irrational for rational x > 0, so that the floor is soon decided."""
    bits = 128
    while True:
        with working_precision(bits):
            whole = ((-flint().arb(rational(exponent))).exp() * flint().arb(2) ** 64).floor().unique_fmpz()
        if whole is not None:
            return int(whole)
        bits *= 2


def uniform_below(bound: int, count: int, entropy: BitSource) -> npt.NDArray[np.int64] | npt.NDArray[np.object_]:
    """``count`` uniform integers in [0, bound): int64 where they fit, Python integers beyond.

    >>> from tacit.testing import seeded
    >>> sorted(set(uniform_below(3, 100, seeded(1)).tolist()))
    [0, 1, 2]
    """
    if bound > 1 << 62:
        return np.array([_one_below(bound, entropy) for _ in range(count)], dtype=object)
    divisor = np.uint64(bound)
    limit = (1 << 64) // bound * bound  # words from here on would favour the small values
    words = entropy.words(count)
    out = (words % divisor).view(np.int64)
    if limit < 1 << 64 and count and bool(words.max() >= np.uint64(limit)):
        for i in np.flatnonzero(words >= np.uint64(limit)):
            out[i] = _one_below(bound, entropy)
    return out


def uniform_places(bound: int, count: int, entropy: BitSource) -> npt.NDArray[np.int64]:
    """As `uniform_below`, from half the bits and without a division (Lemire 2019): for bounds up to 2³².

    >>> from tacit.testing import seeded
    >>> sorted(set(uniform_places(3, 100, seeded(1)).tolist()))
    [0, 1, 2]
    """
    words = entropy.words(-(-count // 2)).view(np.uint32)[:count]
    wide = np.multiply(words, np.uint64(bound), dtype=np.uint64)
    out = (wide >> np.uint64(32)).view(np.int64)
    uneven = (1 << 32) % bound  # so many products too many begin with some of the values
    if uneven:
        for i in np.flatnonzero(wide.astype(np.uint32) < np.uint32(uneven)):
            out[i] = _one_below(bound, entropy)
    return out


def _one_below(bound: int, entropy: BitSource) -> int:
    bits = (bound - 1).bit_length()
    while True:
        value = entropy.bits(bits) if bits else 0
        if value < bound:
            return value
