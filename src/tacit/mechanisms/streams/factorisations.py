"""Prefix sums as a product B·C: noise goes between the two, on the integers C·x, and B turns them into sums.

The binary tree has 0/1 matrices: C holds the sums of dyadic stretches, B adds up those that make a prefix. The square
root has B = C, Toeplitz with coefficients binom(2j, j)/4^j, here in integers: scaled by 2⁶⁴ and rounded once, which
changes a sum by less than 2⁻⁶³·√horizon of itself and is part of the data's own scale, not of the noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["BINARY_TREE", "SQUARE_ROOT", "Factorisation", "PrefixState"]

_BITS = 64


class PrefixState(Protocol):
    """What a stream remembers: one number to be made noisy per step, and the sum that the noisy ones give."""

    def push(self, increment: int) -> int:
        """Take the next increment; the integer of C·x that belongs to this step."""

    def total(self, noisy: int) -> int:
        """Take that integer with noise; the estimate of the sum so far."""


class Factorisation(Protocol):
    """A way to write prefix sums as B·C."""

    @property
    def name(self) -> str: ...

    @property
    def longest(self) -> int:
        """The longest horizon that is practical."""

    def sum_of_column(self, horizon: int) -> int:
        """The largest L1 norm of a column of C."""

    def square_of_column(self, horizon: int) -> int:
        """The largest squared L2 norm of a column of C."""

    def square_of_row(self, step: int) -> float:
        """The squared L2 norm of the row of B at this step: the variance of the sum in units of the noise's."""

    def start(self, horizon: int) -> PrefixState: ...


@dataclass(frozen=True, slots=True)
class _BinaryTree:
    """Dwork, Naor, Pitassi & Rothblum 2010; Chan, Shi & Song 2011."""

    name: str = "BINARY_TREE"
    longest: int = 1 << 60

    def sum_of_column(self, horizon: int) -> int:
        return horizon.bit_length()

    def square_of_column(self, horizon: int) -> int:
        return horizon.bit_length()

    def square_of_row(self, step: int) -> float:
        return float(step.bit_count())

    def start(self, horizon: int) -> PrefixState:
        return _TreeState(horizon)


class _TreeState:
    """The sums of the stretches that make up the current prefix, one per set bit of the step."""

    __slots__ = ("_exact", "_level", "_noisy", "_step")

    def __init__(self, horizon: int) -> None:
        self._exact = [0] * horizon.bit_length()
        self._noisy = [0] * horizon.bit_length()
        self._step = 0
        self._level = 0

    def push(self, increment: int) -> int:
        self._step += 1
        level = (self._step & -self._step).bit_length() - 1
        node = increment + sum(self._exact[:level])
        self._exact[:level] = [0] * level
        self._noisy[:level] = [0] * level
        self._exact[level] = node
        self._level = level
        return node

    def total(self, noisy: int) -> int:
        self._noisy[self._level] = noisy
        return sum(self._noisy)


@dataclass(frozen=True, slots=True)
class _SquareRoot:
    """Fichtenberger, Henzinger & Upadhyay 2023; Bennett 1977."""

    name: str = "SQUARE_ROOT"
    longest: int = 100_000

    def sum_of_column(self, horizon: int) -> int:
        return int(_root(horizon).sum())

    def square_of_column(self, horizon: int) -> int:
        root = _root(horizon)
        return int((root * root).sum())

    def square_of_row(self, step: int) -> float:
        return self.square_of_column(step) / 4.0**_BITS

    def start(self, horizon: int) -> PrefixState:
        return _RootState(horizon)


class _RootState:
    """All increments and all noisy numbers so far."""

    __slots__ = ("_increments", "_noisy", "_root", "_step")

    def __init__(self, horizon: int) -> None:
        self._root = _root(horizon)[::-1]
        self._increments = np.zeros(horizon, dtype=object)
        self._noisy = np.zeros(horizon, dtype=object)
        self._step = 0

    def push(self, increment: int) -> int:
        self._increments[self._step] = increment
        self._step += 1
        return int(np.dot(self._root[-self._step :], self._increments[: self._step]))

    def total(self, noisy: int) -> int:
        self._noisy[self._step - 1] = noisy
        scaled = int(np.dot(self._root[-self._step :], self._noisy[: self._step]))
        return (scaled + (1 << (2 * _BITS - 1))) >> (2 * _BITS)


@lru_cache(maxsize=8)
def _root(horizon: int) -> npt.NDArray[np.object_]:
    """2⁶⁴·binom(2j, j)/4^j for j < horizon, rounded: each coefficient is the one before times (2j-1)/2j."""
    guard = 64  # bits kept beyond the 64, so that the rounding of all steps together stays below one half
    value = 1 << (_BITS + guard)
    out = np.empty(horizon, dtype=object)
    for j in range(horizon):
        if j:
            value = value * (2 * j - 1) // (2 * j)
        out[j] = (value + (1 << (guard - 1))) >> guard
    return out


BINARY_TREE: Factorisation = _BinaryTree()
SQUARE_ROOT: Factorisation = _SquareRoot()
