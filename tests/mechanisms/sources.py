"""Bit sources for tests of mechanisms: one that counts what is drawn, one that always says the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from tacit.testing import seeded

__all__ = ["Constant", "Counting", "Wordwise", "nothing_drawn"]


class Counting:
    """Seeded bits that count how often they were asked for."""

    secret = False

    def __init__(self, seed: int = 1) -> None:
        self._bits = seeded(seed)
        self.drawn = 0

    def word(self) -> int:
        self.drawn += 1
        return self._bits.word()

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        self.drawn += 1
        return self._bits.words(count)

    def bits(self, count: int) -> int:
        self.drawn += 1
        return self._bits.bits(count)


class Wordwise:
    """Seeded bits that take a whole word for every draw, however few of its bits are asked for."""

    secret = False

    def __init__(self, seed: int) -> None:
        self._bits = seeded(seed)

    def word(self) -> int:
        return self._bits.word()

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        return self._bits.words(count)

    def bits(self, count: int) -> int:
        return self._bits.word() >> (64 - count) if count <= 64 else self._bits.bits(count)


class Constant:
    """The same 64 bits for ever: every sampler draws the same noise, whatever the value it is added to."""

    secret = False

    def __init__(self, word: int) -> None:
        self._word = word

    def word(self) -> int:
        return self._word

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        return np.full(count, self._word, dtype=np.uint64)

    def bits(self, count: int) -> int:
        repeated = int.from_bytes(self._word.to_bytes(8, "big") * (count // 64 + 1), "big")
        return repeated >> (64 * (count // 64 + 1) - count)


@contextmanager
def nothing_drawn() -> Iterator[Counting]:
    """A source that must still be untouched at the end."""
    source = Counting()
    yield source
    assert source.drawn == 0, "noise was drawn before the error"
