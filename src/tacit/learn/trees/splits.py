"""The splits that a tree can choose from, known without the data: thresholds of numbers, single categories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.learn.reading.columns import MISSING, Category, Codes, Number
from tacit.learn.reading.schema import Schema

__all__ = ["BINS", "Splits", "column_words", "splits_of"]

BINS = 256
"""Into how many equal bins the range of a number is cut: thresholds lie between them."""

_WEIGHT = 1 << 40  # of all splits of a column together, so that no column is favoured for having more of them

Places = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Splits:
    """For each column, how its codes are cut into cells, 0 for what is missing, and how its splits are named.

    Split t of a number sends cells above t to the right, split t of a category the cell t alone.
    """

    columns: tuple[Number | Category, ...]
    sizes: tuple[int, ...]
    """How many cells each column has, that of the missing included."""

    @property
    def counts(self) -> tuple[int, ...]:
        """How many splits each column has."""
        return tuple(size if self.by_category(i) else size - 1 for i, size in enumerate(self.sizes))

    @property
    def weights(self) -> npt.NDArray[np.int64]:
        """The base measure of a choice: the same for every column in all, and within a column for every split."""
        return np.concatenate([np.full(count, _WEIGHT // count) for count in self.counts])

    def by_category(self, place: int) -> bool:
        """Whether a column's splits single out one category."""
        return isinstance(self.columns[place], Category)

    def cells(self, place: int, codes: Codes) -> Places:
        """The cell of each code of a column."""
        column = self.columns[place]
        wide = codes.astype(np.intp)
        if isinstance(column, Category):
            found = 1 + wide
        else:
            count = self.sizes[place] - 1
            found = 1 + np.minimum((wide - column.lowest) * count // (column.highest - column.lowest), count - 1)
        found[wide == MISSING] = 0
        return found

    def right(self, place: int, split: int | Places, cells: Places) -> npt.NDArray[np.bool_]:
        """Which cells go to the right, by one split or each by its own."""
        return cells == split if self.by_category(place) else cells > split


def splits_of(schema: Schema, bins: int = BINS) -> Splits:
    """All splits of a schema's columns, numbers in so many bins."""
    sizes = [
        1 + (column.highest + 1 if isinstance(column, Category) else min(bins, column.highest - column.lowest))
        for column in schema.columns
    ]
    return Splits(schema.columns, tuple(sizes))


def column_words(splits: Splits, place: int, split: int) -> str:
    """What goes to the right, for people.

    >>> splits = splits_of(Schema((Number("age", 0, 128), Category("city", ("Rome", "Oslo")))))
    >>> column_words(splits, 0, 64), column_words(splits, 1, 2), column_words(splits, 1, 0)
    ('age ≥ 32', "city = 'Oslo'", 'city is unknown')
    """
    column = splits.columns[place]
    if isinstance(column, Category):
        return f"{column.name} = {column.values[split - 1]!r}" if split else f"{column.name} is unknown"
    if not split:
        return f"{column.name} is known"
    code = column.lowest - (-split * (column.highest - column.lowest) // (splits.sizes[place] - 1))
    return f"{column.name} ≥ {column.value(code):.6g}"
