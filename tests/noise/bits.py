"""Bit sources for tests: words from a script, and a tape whose arrays and single words come from different places."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from tacit.noise.entropy import BitSource

__all__ = ["ONES", "Scripted", "Tape", "binary_words"]

Words = npt.NDArray[np.uint64]

ONES = (1 << 64) - 1
FILLER = 0x5555_5555_5555_5555


def binary_words(fraction_times_2_to_the_known: int, known: int, *, first: int = 64) -> list[int]:
    """A binary fraction of ``known`` bits as a first piece of ``first`` bits and words of 64."""
    value, words = fraction_times_2_to_the_known, []
    for _ in range((known - first) // 64):
        words.append(value & ONES)
        value >>= 64
    assert value < 1 << first
    return [value, *reversed(words)]


class Scripted:
    """Hands out the given words, in whatever portions they are asked for, and then the filler."""

    secret = False

    def __init__(self, words: Iterable[int], filler: int = FILLER) -> None:
        self._words = iter(words)
        self._filler = filler
        self.taken = 0

    def word(self) -> int:
        self.taken += 1
        return next(self._words, self._filler)

    def words(self, count: int) -> Words:
        return np.array([self.word() for _ in range(count)], dtype=np.uint64)

    def bits(self, count: int) -> int:
        size = (count + 63) // 64
        value = 0
        for _ in range(size):
            value = (value << 64) | self.word()
        return value >> (64 * size - count)


class Tape:
    """Arrays of words from one source, single words from another: all the same unless scripted.

    Samplers ask for arrays first and for single words to extend them. With extensions that do not depend on the
    order of asking, the fast path and the exact path must give the same samples, all of them.
    """

    secret = False

    def __init__(self, arrays: BitSource, singles: Iterable[int] = ()) -> None:
        self._arrays = arrays
        self._singles = Scripted(singles)

    def words(self, count: int) -> Words:
        return self._arrays.words(count)

    def word(self) -> int:
        return self._singles.word()

    def bits(self, count: int) -> int:
        return self._singles.bits(count)

    @property
    def extensions(self) -> int:
        """How many single words were asked for."""
        return self._singles.taken
