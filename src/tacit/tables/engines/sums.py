"""Whole numbers of any size that a table can sum up to, one per group; how they are held never depends on them.

Each is high·2⁶² + low in two arrays of int64, so that no number of any group is held, added or compared in another way
because it, or another group's, is large. How wide the noise is added in follows from a public bound: `Sums.within`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["NARROW", "Sums", "bounded"]

Integers = npt.NDArray[np.int64]

NARROW = 1 << 62
"""Integers bounded by this much are int64 when noise is added: the sum of two of them still fits."""

_BITS = 62
_LOW = (1 << _BITS) - 1
_WIDEST = 1 << 124
_HALF_BITS = 31
_HALF = (1 << _HALF_BITS) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """high·2⁶² + low, 0 ≤ low < 2⁶². Private, as all that an engine returns.

    >>> found = Sums.of([7, -1, 2**70])
    >>> found.tolist(), found.within(100).tolist(), found.within(2**80).tolist() == found.tolist()
    ([7, -1, 1180591620717411303424], [7, -1, 100], True)
    """

    high: Integers
    low: Integers

    @classmethod
    def of(cls, values: Iterable[int]) -> Sums:
        """From Python integers; clamped to ±2¹²⁴, which moves two of them no further apart."""
        whole = [min(max(int(value), -_WIDEST), _WIDEST) for value in values]
        high, low = ([value >> _BITS for value in whole], [value & _LOW for value in whole])
        return cls(np.array(high, dtype=np.int64), np.array(low, dtype=np.int64))

    @classmethod
    def of_pieces(cls, high: npt.ArrayLike, low: npt.ArrayLike) -> Sums:
        """From quotient and remainder by 2⁶², whichever way an engine rounds quotients of negative numbers."""
        rest = np.asarray(low, dtype=np.int64)
        return cls(np.asarray(high, dtype=np.int64) + (rest >> _BITS), rest & _LOW)

    def __len__(self) -> int:
        """How many groups."""
        return len(self.high)

    def __getitem__(self, group: int) -> int:
        return (int(self.high[group]) << _BITS) + int(self.low[group])

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def tolist(self) -> list[int]:
        """As Python integers."""
        return [(high << _BITS) + low for high, low in zip(self.high.tolist(), self.low.tolist(), strict=True)]

    def taken(self, at: npt.NDArray[np.intp]) -> Sums:
        """Of these groups, in this order."""
        return Sums(self.high[at], self.low[at])

    def placed(self, at: npt.NDArray[np.intp], size: int) -> Sums:
        """Of ``size`` groups, all 0 but those at these places."""
        high, low = np.zeros((2, size), dtype=np.int64)
        high[at], low[at] = self.high, self.low
        return Sums(high, low)

    def summed(self, add: Callable[[Integers], Integers]) -> Sums:
        """What ``add``, which adds up groups and nothing else, makes of them; of fewer than 2³¹ groups."""
        first, second, third = add(self.low & _HALF), add(self.low >> _HALF_BITS), add(self.high)
        second = second + (first >> _HALF_BITS)
        return Sums(third + (second >> _HALF_BITS), (second & _HALF) << _HALF_BITS | first & _HALF)

    def within(self, most: int) -> npt.NDArray[Any]:
        """Clamped to ±most: as int64 if ``most`` is at most `NARROW`, otherwise as Python integers (objects).

        The clamp moves two sums no further apart.
        """
        if most > NARROW:
            return bounded(self.tolist(), most)
        near = np.clip(self.high, -2, 1)
        whole: Integers = (near << _BITS) + self.low
        whole[self.high > 1], whole[self.high < -2] = most, -most
        return np.clip(whole, -most, most, out=whole)

    def __repr__(self) -> str:
        return "Sums(private)"


def bounded(values: Sequence[int], most: int) -> npt.NDArray[Any]:
    """Python integers, clamped and made narrow as `Sums.within` does it."""
    clamped = [most if value > most else -most if value < -most else value for value in values]
    return np.array(clamped, dtype=np.int64 if most <= NARROW else object)
