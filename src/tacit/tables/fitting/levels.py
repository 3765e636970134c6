"""Levels: sums of the same finest cells, by some of their keys, or by runs of neighbours along a key."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Level", "by_keys", "in_runs"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Level:
    """Blocks of the cells of a product of keys with so many values: all values of a key that is not ``kept`` are one
    block, and ``width`` neighbouring values of one that is.

    >>> Level((2, 3), (0,)).added(np.arange(6)).tolist(), Level((5,), (0,), width=2).added(np.arange(5)).tolist()
    ([3, 12], [1, 5, 4])
    """

    sizes: tuple[int, ...]
    kept: tuple[int, ...]
    width: int = 1

    @property
    def steps(self) -> tuple[int, ...]:
        """How many values of each key are in a block."""
        return tuple(self.width if axis in self.kept else max(size, 1) for axis, size in enumerate(self.sizes))

    @property
    def shape(self) -> tuple[int, ...]:
        """How many blocks there are along each key."""
        return tuple(-(-size // self.width) if axis in self.kept else 1 for axis, size in enumerate(self.sizes))

    @property
    def size(self) -> int:
        """How many blocks there are."""
        return math.prod(self.shape)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return math.prod(self.sizes)

    @property
    def is_finest(self) -> bool:
        """Whether every cell is a block of its own."""
        return self.size == self.cells

    def added(self, cells: Integers) -> Integers:
        """The cells, in the order of the product, added up in each block: what `Sums.summed` wants."""
        found = cells.reshape(self.sizes)
        for axis, (size, step) in enumerate(zip(self.sizes, self.steps, strict=True)):
            whole = step >= size  # reduceat makes nothing of nothing
            found = (
                found.sum(axis=axis, keepdims=True) if whole else np.add.reduceat(found, np.arange(0, size, step), axis)
            )
        return found.reshape(-1)

    def sums(self) -> Floats:
        """A row per block: 1 for the cells in it."""
        places = self._places()
        return np.asarray(places[None, :] == np.arange(self.size)[:, None], dtype=np.float64)

    def _places(self) -> npt.NDArray[np.intp]:
        """The block of each cell."""
        found = np.zeros((), dtype=np.intp)
        for size, step, blocks in zip(self.sizes, self.steps, self.shape, strict=True):
            found = found[..., None] * blocks + np.arange(size) // step
        return found.reshape(-1)


def by_keys(sizes: Sequence[int], sets: Sequence[Sequence[int]]) -> tuple[Level, ...]:
    """A level for each set of keys, which are told by their places."""
    return tuple(Level(tuple(sizes), tuple(sorted(kept))) for kept in sets)


def in_runs(size: int, branching: int) -> tuple[Level, ...]:
    """Blocks of 1, b, b², … neighbouring cells of an ordered key, up to all of them."""
    levels = [Level((size,), (0,))]
    while levels[-1].size > 1:
        levels.append(Level((size,), (0,), levels[-1].width * branching))
    return tuple(levels)
