"""Very many coins of one probability, packed 64 to a word: bit by bit for all of them at once, and still exact.

A coin shows True where a uniform number lies below the probability. Bit by bit of both, most significant first: where
they differ the coin is decided, where they agree it stays open. After eight bits one coin in 256 is open, and only the
words that hold one go on, until none is.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.noise.entropy import BitSource
from tacit.noise.truths import Truth

__all__ = ["packed_coins"]

Words = npt.NDArray[np.uint64]

_CHUNK = 1 << 14
_LEVELS = 8
_ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


def packed_coins(truth: Truth, words: int, entropy: BitSource) -> Words:
    """64·``words`` coins, each True with exactly the probability of ``truth``.

    >>> from fractions import Fraction
    >>> from tacit.noise.truths import ExactTruth
    >>> from tacit.testing import seeded
    >>> int(np.bitwise_count(packed_coins(ExactTruth(Fraction(0)), 5, seeded(1))).sum())
    0
    """
    out = np.zeros(words, dtype=np.uint64)
    for start in range(0, words, _CHUNK):
        part = out[start : start + _CHUNK]
        _decide(part, np.full(part.size, _ALL), truth, 0, entropy)
    return out


def _decide(coins: Words, still: Words, truth: Truth, level: int, entropy: BitSource) -> None:
    """Set the coins that are True among those ``still`` open, whose first ``level`` bits are the probability's."""
    digits = truth.prefix(level + _LEVELS) & ((1 << _LEVELS) - 1)
    for place in range(_LEVELS - 1, -1, -1):
        if truth.ends(level):
            return  # no digit is left: what is still open is not below
        level += 1
        bits = entropy.words(coins.size)
        if digits >> place & 1:
            coins |= still & ~bits
            still &= bits
        else:
            still &= ~bits
    unsettled = np.flatnonzero(still)
    if unsettled.size:
        part = coins[unsettled]
        _decide(part, still[unsettled], truth, level, entropy)
        coins[unsettled] = part
