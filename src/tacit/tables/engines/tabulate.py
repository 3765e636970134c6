"""Many tables of the same chosen rows, counted in one pass: one-way counts, pairs, triples, whatever is named.

A table counts rows by the bins of some columns. Which code lies in which bin is public by the time of counting: given
in advance, or found in noisy counts of the same draw. A row counts once in every table, so a unit moves each table by
at most its number of rows, all tables together by that many times their number: docs/proofs/rows.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.tables.engines.rows import BoundedRows, Chunk, Coded, ends

__all__ = ["MOST_CELLS", "Bins", "tabulated"]

MOST_CELLS = 1 << 26
"""Of one table."""
_VALUES = 1 << 20
"""Values of rows whose bins are held at a time: a few megabytes, of however many columns."""

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """For each code of a column, from its lowest on, the bin that it lies in, from 0 on. Public.

    >>> from tacit.tables.engines.contract import Category
    >>> from tacit.tables.expressions.tree import Column
    >>> plan = Category(Column("plan"), ("free", "pro", "team"))
    >>> Bins.single(plan).size, Bins.of(plan, [0, 1, 2, 2]).size
    (4, 3)
    """

    lowest: int
    places: npt.NDArray[np.intp]
    size: int

    @classmethod
    def single(cls, column: Coded) -> Bins:
        """Every code in a bin of its own."""
        low, high = ends(column)
        return cls.of(column, np.arange(min(high - low + 1, MOST_CELLS)))

    @classmethod
    def of(cls, column: Coded, places: npt.ArrayLike) -> Bins:
        """The bins of all codes of a column; refuses what leaves one out."""
        low, high = ends(column)
        if high - low >= MOST_CELLS:
            raise InvalidParameter("bins", given=high - low + 1, allowed=f"at most {MOST_CELLS:,} codes")
        made = np.array(places, dtype=np.intp)
        if len(made) != high - low + 1 or int(made.min()) < 0 or int(made.max()) >= MOST_CELLS:
            raise InvalidParameter(
                "bins", given=f"{len(made)} places", allowed=f"one for each of {high - low + 1} codes"
            )
        return cls(low, made, int(made.max()) + 1)

    def of_codes(self, codes: npt.NDArray[np.signedinteger]) -> npt.NDArray[np.intp]:
        """The bin of each row."""
        return self.places[codes.astype(np.intp) - self.lowest]

    def __len__(self) -> int:
        return self.size


def tabulated(
    asked: BoundedRows, rows: Iterable[Chunk], bins: Sequence[Bins], tables: Sequence[tuple[int, ...]]
) -> list[Counts]:
    """For each table, a tuple of places in ``asked.columns``, how many rows are in each of its cells.

    Entry [i, j, …] counts the rows whose first column lies in bin i, the second in bin j, and so on. Private.
    """
    _check(asked, bins, tables)
    sizes = [tuple(bins[at].size for at in table) for table in tables]
    found = [np.zeros(math.prod(size), dtype=np.int64) for size in sizes]
    used = sorted({at for table in tables for at in table})
    step = max(1, _VALUES // max(1, len(used)))
    for chunk, start in ((one, at) for one in rows for at in range(0, one.rows, step)):
        binned = {at: bins[at].of_codes(chunk.columns[at][start : start + step]) for at in used}
        for table, counts in zip(tables, found, strict=True):
            cells = binned[table[0]]
            for at in table[1:]:
                cells = cells * bins[at].size + binned[at]
            counts += np.bincount(cells, minlength=len(counts))
    return [counts.reshape(size) for counts, size in zip(found, sizes, strict=True)]


def _check(asked: BoundedRows, bins: Sequence[Bins], tables: Sequence[tuple[int, ...]]) -> None:
    """Refuse, by public parameters alone, what cannot be counted."""
    if len(bins) != len(asked.columns):
        raise InvalidParameter("bins", given=len(bins), allowed=f"one for each of {len(asked.columns)} columns")
    for table in tables:
        known = all(0 <= at < len(bins) for at in table)
        if not table or not known or len(set(table)) < len(table):
            raise InvalidParameter("tables", given=table, allowed="different places of columns")
        cells = math.prod(bins[at].size for at in table)
        if cells > MOST_CELLS:
            raise InvalidParameter(
                "tables", given=f"{cells:,} cells", allowed=f"at most {MOST_CELLS:,} cells in a table"
            )
