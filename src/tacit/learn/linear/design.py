"""The terms of a linear model as whole numbers: a constant, numbers, and indicators of categories or bins.

Every entry of a row is a whole number whose largest size is public; ``UNIT`` stands for 1. A row is never written out:
numbers are multiplied as a matrix, indicators are looked up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tacit.learn.reading.columns import LEVELS, MISSING, Category, Codes
from tacit.learn.reading.schema import Schema

__all__ = ["CONSTANT", "UNIT", "Block", "Design", "Prepared", "design_of"]

Reals = npt.NDArray[np.float64]

UNIT = LEVELS
"""The whole number that stands for 1."""

_COMBINATIONS = 4096  # of the indicators that are looked up at once
_SLICE = 1 << 17  # numbers converted at a time: what a cache holds


@dataclass(frozen=True, slots=True)
class Block:
    """Indicators of one column: of its categories, or of equal bins of its codes. What is missing is in none."""

    place: int
    size: int
    lowest: int
    span: int

    def index(self, codes: Codes) -> npt.NDArray[np.intp]:
        """The indicator of each row, ``size`` for none."""
        wide = codes.astype(np.intp)
        found = (wide - self.lowest) * self.size // self.span
        np.minimum(found, self.size - 1, out=found)
        found[wide == MISSING] = self.size
        return found


@dataclass(frozen=True, slots=True)
class Group:
    """Some blocks looked up at once: a place for every combination of their indicators, none included."""

    blocks: tuple[int, ...]
    shape: tuple[int, ...]

    @property
    def cells(self) -> int:
        """How many combinations there are."""
        return math.prod(self.shape)

    def axis(self, at: int) -> npt.NDArray[np.intp]:
        """For every combination, the indicator of one of the blocks."""
        return np.unravel_index(np.arange(self.cells), self.shape)[at]


def grouped(blocks: tuple[Block, ...]) -> tuple[Group, ...]:
    """Blocks in order, as many together as have few combinations."""
    groups = list[Group]()
    taken, shape = list[int](), list[int]()
    for place, block in enumerate(blocks):
        if taken and math.prod(shape) * (block.size + 1) > _COMBINATIONS:
            groups.append(Group(tuple(taken), tuple(shape)))
            taken, shape = [], []
        taken.append(place)
        shape.append(block.size + 1)
    return (*groups, Group(tuple(taken), tuple(shape))) if taken else ()


@dataclass(frozen=True)
class Design:
    """A constant term (``UNIT``), then the numbers, then the blocks of indicators (``UNIT`` or 0)."""

    numbers: tuple[int, ...]
    largest: tuple[int, ...]
    """The largest size of each number's code; public."""

    blocks: tuple[Block, ...]

    @property
    def width(self) -> int:
        """How many coefficients there are."""
        return 1 + len(self.numbers) + sum(block.size for block in self.blocks)

    @cached_property
    def most(self) -> tuple[int, int, int]:
        """The most that a row's entries can be: the sum, the sum of squares, and the sum of fourth powers."""
        ones = 1 + len(self.blocks)
        first, second, fourth = (ones * UNIT**p + sum(most**p for most in self.largest) for p in (1, 2, 4))
        return first, second, fourth

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The blocks as they are looked up."""
        return grouped(self.blocks)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first coefficient of each block."""
        first = 1 + len(self.numbers)
        return tuple(first + sum(block.size for block in self.blocks[:place]) for place in range(len(self.blocks)))

    def prepare(self, codes: Codes) -> Prepared:
        """Rows in the form in which they are multiplied."""
        numbers = np.asfortranarray(codes[:, list(self.numbers)])
        numbers[numbers == MISSING] = 0
        indices = []
        for group in self.groups:
            combined = np.zeros(len(codes), dtype=np.intp)
            for place, size in zip(group.blocks, group.shape, strict=True):
                block = self.blocks[place]
                combined *= size
                combined += block.index(codes[:, block.place])
            indices.append(combined)
        return Prepared(numbers, tuple(indices))


CONSTANT = Design((), (), ())
"""A constant term and no other."""


def design_of(schema: Schema, bins: tuple[int, ...] = ()) -> Design:
    """The terms of a schema: numbers as they are or, with ``bins``, as indicators of so many equal bins each."""
    numbers, largest, blocks = [], [], []
    for place, column in enumerate(schema.columns):
        span = column.highest - column.lowest + 1
        if isinstance(column, Category):
            blocks.append(Block(place, span, 0, span))
        elif bins:
            blocks += [Block(place, size, column.lowest, span) for size in bins]
        else:
            numbers.append(place)
            largest.append(max(abs(column.lowest), abs(column.highest)))
    return Design(tuple(numbers), tuple(largest), tuple(blocks))


@dataclass(frozen=True, slots=True, repr=False)
class Prepared:
    """Rows of a design; private. All sums here are of whole numbers, and exact in any order (see `Design`)."""

    numbers: Codes
    indices: tuple[npt.NDArray[np.intp], ...]
    """For each group of blocks the combination of each row."""

    @property
    def size(self) -> int:
        return int(self.numbers.shape[0])

    def norms(self, design: Design) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The sum of sizes and the sum of squares of each row's entries."""
        first = np.full(self.size, UNIT, dtype=np.int64)
        second = np.full(self.size, UNIT**2, dtype=np.int64)
        for column in self.numbers.T:
            wide = column.astype(np.int64)
            first += np.abs(wide)
            second += wide * wide
        for group, index in zip(design.groups, self.indices, strict=True):
            known = sum(group.axis(at) < size - 1 for at, size in enumerate(group.shape))
            count = np.asarray(known, dtype=np.int64)[index]
            first += UNIT * count
            second += UNIT**2 * count
        return first, second

    def margins(self, design: Design, weights: Reals) -> Reals:
        """Entries times weights, summed over each row."""
        count = len(design.numbers)
        out = np.full(self.size, UNIT * weights[0])
        for rows in self._slices():
            out[rows] += self.numbers[rows].astype(np.float64) @ weights[1 : 1 + count]
        for group, index in zip(design.groups, self.indices, strict=True):
            table = np.zeros(1)
            for place, size in zip(group.blocks, group.shape, strict=True):
                start = design.starts[place]
                levels = np.append(UNIT * weights[start : start + size - 1], 0.0)
                table = np.add.outer(table, levels).reshape(-1)
            out += table[index]
        return out

    def sums(self, design: Design, factors: Reals) -> Reals:
        """Entries times a factor for each row, summed over the rows."""
        count = len(design.numbers)
        out = np.zeros(design.width)
        out[0] = UNIT * factors.sum()
        for rows in self._slices():
            out[1 : 1 + count] += factors[rows] @ self.numbers[rows].astype(np.float64)
        out[1 + count :] = self._sums_of_blocks(design, factors)
        return out

    def _sums_of_blocks(self, design: Design, factors: Reals) -> Reals:
        """The part of `sums` that belongs to indicators."""
        first = 1 + len(design.numbers)
        out = np.zeros(design.width - first)
        for group, index in zip(design.groups, self.indices, strict=True):
            counted = np.bincount(index, weights=factors, minlength=group.cells).reshape(group.shape)
            for at, (place, size) in enumerate(zip(group.blocks, group.shape, strict=True)):
                start = design.starts[place] - first
                others = tuple(axis for axis in range(len(group.shape)) if axis != at)
                out[start : start + size - 1] = UNIT * counted.sum(axis=others)[:-1]
        return out

    def diagonal_and_sums(self, design: Design) -> Reals:
        """The diagonal of `products`, then what its first row has for the numbers."""
        first = self.sums(design, np.full(self.size, float(UNIT)))
        count = len(design.numbers)
        diagonal = first.copy()  # an indicator times itself is itself times the constant
        for place, column in enumerate(self.numbers.T):
            wide = column.astype(np.float64)
            diagonal[1 + place] = (wide * wide).sum()
        return np.concatenate([diagonal, first[1 : 1 + count]])

    def products(self, design: Design) -> Reals:
        """Entries times entries, summed over the rows: the matrix of second moments, not divided by anything."""
        count = len(design.numbers)
        out = np.zeros((design.width, design.width))
        out[0] = self.sums(design, np.full(self.size, float(UNIT)))
        for rows in self._slices():
            part = self.numbers[rows].astype(np.float64)
            out[1 : 1 + count, 1 : 1 + count] += part.T @ part
        for number, column in enumerate(self.numbers.T):
            out[1 + number, 1 + count :] = self._sums_of_blocks(design, column.astype(np.float64))
        indicators = [
            group.axis(at)[index]
            for group, index in zip(design.groups, self.indices, strict=True)
            for at in range(len(group.shape))
        ]
        for place in range(len(design.blocks)):
            self._pairs(design, out, indicators, place)
        upper = np.triu_indices(design.width, 1)
        out.T[upper] = out[upper]
        return out

    def _pairs(self, design: Design, out: Reals, indicators: list[npt.NDArray[np.intp]], place: int) -> None:
        """The products of one block with itself and the later ones."""
        block, start = design.blocks[place], design.starts[place]
        for later in range(place, len(design.blocks)):
            other, at = design.blocks[later], design.starts[later]
            cells = (block.size + 1) * (other.size + 1)
            counted = np.bincount(indicators[place] * (other.size + 1) + indicators[later], minlength=cells)
            table = counted.reshape(block.size + 1, other.size + 1)[:-1, :-1]
            out[start : start + block.size, at : at + other.size] = UNIT**2 * table

    def _slices(self) -> list[slice]:
        width = self.numbers.shape[1]
        if not width:
            return []
        step = max(1, _SLICE // width)
        return [slice(start, start + step) for start in range(0, self.size, step)]
