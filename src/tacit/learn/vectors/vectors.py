"""Rows as vectors of whole numbers: numbers in steps from the middle of their bounds, categories as indicators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tacit.learn.reading.columns import MISSING, Category, Codes, Number
from tacit.learn.reading.rows import Rows
from tacit.learn.reading.schema import Schema

__all__ = ["HEIGHT", "Vectors", "vectors_of"]

Reals = npt.NDArray[np.float64]

HEIGHT = 1 << 13
"""The whole number that an indicator has where its category is; about as large as half the range of a number."""

_CELLS = 1 << 20  # entries held at a time


@dataclass(frozen=True)
class Vectors:
    """The coordinates of a schema: one for each number, one for each category of the others.

    An unknown number lies in the middle of its bounds, an unknown category is none: both are zeros.
    """

    columns: tuple[Number | Category, ...]

    @cached_property
    def middles(self) -> tuple[int, ...]:
        """The code in the middle of each column's bounds; 0 for categories."""
        return tuple(0 if isinstance(c, Category) else (c.lowest + c.highest) // 2 for c in self.columns)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many coordinates each column has."""
        return tuple(len(column.values) if isinstance(column, Category) else 1 for column in self.columns)

    @property
    def width(self) -> int:
        """How many coordinates there are."""
        return sum(self.sizes)

    @cached_property
    def most(self) -> tuple[int, int, int]:
        """The most that a row's entries can be: the sum, the sum of squares, and the sum of fourth powers."""
        largest = [
            HEIGHT if isinstance(column, Category) else max(column.highest - middle, middle - column.lowest)
            for column, middle in zip(self.columns, self.middles, strict=True)
        ]
        first, second, fourth = (sum(size**power for size in largest) for power in (1, 2, 4))
        return first, second, fourth

    @cached_property
    def steps(self) -> Reals:
        """What one step is in the column's own units, for each coordinate."""
        return self._each(lambda column: 1 / HEIGHT if isinstance(column, Category) else 1 / column.codes_per_unit())

    @cached_property
    def origins(self) -> Reals:
        """Where zero lies, in the column's own units, for each coordinate."""
        values = [
            0.0 if isinstance(column, Category) else float(column.value(middle))
            for column, middle in zip(self.columns, self.middles, strict=True)
        ]
        return np.repeat(np.array(values), self.sizes)

    def matrix(self, codes: Codes) -> Reals:
        """The vectors of rows, a row for each: whole numbers below 2¹⁵ in size, held as doubles."""
        out = np.zeros((len(codes), self.width))
        at = 0
        for place, (column, size) in enumerate(zip(self.columns, self.sizes, strict=True)):
            code = codes[:, place].astype(np.int64)
            known = np.flatnonzero(code != MISSING)
            if isinstance(column, Category):
                out[known, at + code[known]] = HEIGHT
            else:
                out[known, at] = code[known] - self.middles[place]
            at += size
        return out

    def values(self, codes: Codes) -> Reals:
        """The vectors in the columns' own units; what is unknown is the middle, or no category."""
        found: Reals = self.matrix(codes) * self.steps + self.origins
        return found

    def parts(self, rows: Rows) -> Iterator[tuple[Reals, Codes]]:
        """All rows, some at a time: their vectors and their codes. How many at a time is public."""
        step = max(1, _CELLS // self.width)
        for chunk in rows.chunks():
            for start in range(0, chunk.size, step):
                codes = chunk.codes[start : start + step]
                yield self.matrix(codes), codes

    def _each(self, of: object) -> Reals:
        assert callable(of)
        return np.repeat(np.array([of(column) for column in self.columns]), self.sizes)


def vectors_of(schema: Schema) -> Vectors:
    """The coordinates of a schema's columns."""
    return Vectors(schema.columns)
