"""What an engine is asked for by a package that reads rows: the chosen rows of each unit, as integers.

The engine knows neither ε nor noise. Semantics, exactly (an engine is right if it returns these integers):

1. Rows: as steps 0 and 1 of `contract` say. Every row becomes one integer per column, by that row alone and totally:
   0 where a value is unknown, and of a `Category` also where it is not listed.
2. Of each unit at most ``rows`` rows: those with the smallest keyed hash of (secret, unit, content, ordinal among rows
   of equal content), where the content is the row's integers. Without a unit column each row is a unit.
3. They come in chunks of at most ``chunk`` rows. The rows of one unit lie side by side in one chunk; nothing else about
   the order of units, of rows, or about where a chunk ends means anything, and nothing computed may depend on it.

So a neighbouring table has the same units with the same rows, but for one that has come or gone: docs/proofs/rows.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.tables.engines.contract import Category, Present, Quantised
from tacit.tables.expressions.tree import Expression
from tacit.tables.query.relations import Relation

__all__ = ["CHUNK", "BoundedRows", "Chunk", "Coded", "ends", "narrowest"]

CHUNK = 1 << 16
"""Rows in a chunk, unless told: a few columns of it fit into a processor's cache."""

_WIDTHS = (np.int8, np.int16, np.int32, np.int64)

Coded = Quantised | Category | Present
"""What a row can be read as: one integer between public ends."""


def ends(column: Coded) -> tuple[int, int]:
    """The smallest and the largest integer that a row can have, 0 for what is unknown among them."""
    match column:
        case Quantised():
            return min(column.lowest, 0), max(column.highest, 0)
        case Category(_, listed):
            return 0, len(listed)
        case Present():
            return 0, 1


def narrowest(column: Coded) -> np.dtype[np.signedinteger]:
    """The narrowest signed integers that hold a column, by its public ends alone.

    >>> from tacit.tables.expressions.tree import Column
    >>> narrowest(Category(Column("city"), ("Bonn", "Rome")))
    dtype('int8')
    """
    low, high = ends(column)
    for width in _WIDTHS:
        if np.iinfo(width).min <= low and high <= np.iinfo(width).max:
            return np.dtype(width)
    raise InvalidParameter("granule", given=max(-low, high), allowed="at most 2^62 granules per row")


@dataclass(frozen=True, slots=True)
class BoundedRows:
    """See the module's docstring."""

    columns: tuple[Coded, ...]
    unit: str | None
    rows: int
    """Of one unit."""
    where: Expression | None = None
    relation: Relation | None = None
    chunk: int = CHUNK

    def __post_init__(self) -> None:
        """What can be answered, by public parameters alone."""
        if not self.columns:
            raise InvalidParameter("columns", given="none", allowed="at least one column to read")
        if self.rows < 1 or self.chunk < self.rows:
            raise InvalidParameter("rows", given=self.rows, allowed=f"from 1 to the {self.chunk:,} rows of a chunk")
        for column in self.columns:
            narrowest(column)

    @property
    def most(self) -> int:
        """How many rows one unit can have."""
        return 1 if self.unit is None else self.rows


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Some units with all their chosen rows. Private, as all that an engine returns.

    Row i has the integers ``columns[j][i]``; the rows of unit u lie from ``starts[u]`` to ``starts[u + 1]``.
    """

    columns: tuple[npt.NDArray[np.signedinteger], ...]
    starts: npt.NDArray[np.int64]

    @property
    def units(self) -> int:
        """How many units."""
        return len(self.starts) - 1

    @property
    def rows(self) -> int:
        """How many rows."""
        return int(self.starts[-1])

    def of_row(self) -> npt.NDArray[np.int64]:
        """The number of each row's unit within the chunk, from 0 on."""
        return np.repeat(np.arange(self.units), np.diff(self.starts))

    def __repr__(self) -> str:
        return "Chunk(private)"
