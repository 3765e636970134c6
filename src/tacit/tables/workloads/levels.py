"""Levels of a workload: each sums the finest cells into blocks. Margins of keys, and a tree of ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.tables.expressions.tree import Value

__all__ = ["Level", "margin", "ranges"]

MOST = 3000
"""Released numbers of one workload: their fit is computed densely."""

Cells = Sequence[tuple[Value, ...]]


@dataclass(frozen=True, slots=True)
class Level:
    """A partition of the finest cells: the block of each cell, and columns that name the blocks."""

    name: str
    blocks: npt.NDArray[np.intp]
    columns: tuple[str, ...]
    labels: tuple[tuple[Value, ...], ...]
    """One per block, a value per column."""

    @property
    def is_finest(self) -> bool:
        """Whether every cell is a block of its own."""
        return len(self.labels) == len(self.blocks)

    def sums(self) -> npt.NDArray[np.float64]:
        """A row per block: 1 for the cells in it."""
        made = np.zeros((len(self.labels), len(self.blocks)))
        made[self.blocks, np.arange(len(self.blocks))] = 1.0
        return made


def margin(names: Sequence[str], cells: Cells, kept: Sequence[str]) -> Level:
    """The cells that agree in the keys ``kept``, summed."""
    places = [names.index(one) for one in kept]
    found: dict[tuple[tuple[type, Value], ...], int] = {}
    labels: list[tuple[Value, ...]] = []
    blocks = []
    for cell in cells:
        label = tuple(cell[at] for at in places)
        key = tuple((type(value), value) for value in label)
        if key not in found:
            found[key] = len(labels)
            labels.append(label)
        blocks.append(found[key])
    name = f"by {', '.join(kept)}" if kept else "in all"
    return Level(name, np.array(blocks, dtype=np.intp), tuple(kept), tuple(labels))


def ranges(name: str, cells: Cells, branching: int) -> tuple[Level, ...]:
    """Blocks of 1, b, b², … neighbouring cells of an ordered key, up to all of them."""
    if not isinstance(branching, int) or branching < 2:
        raise InvalidParameter("branching", given=branching, allowed="a whole number from 2 on")
    levels, size = [], 1
    while True:
        starts = range(0, len(cells), size)
        labels = tuple((cells[at][0], cells[min(at + size, len(cells)) - 1][0]) for at in starts)
        blocks = np.arange(len(cells), dtype=np.intp) // size
        levels.append(Level(f"{name}, {size} at a time", blocks, (f"{name}_from", f"{name}_to"), labels))
        if size >= len(cells):
            return tuple(levels)
        size *= branching
