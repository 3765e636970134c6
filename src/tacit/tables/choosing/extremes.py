"""A minimum or maximum with the end of its interval, chosen at once: that end is the value, or the far bound.

A minimum aims t = min(c, n/2) ranks inside, c public. A candidate is a cell and whether the interval ends there; if
not, it ends at the upper bound. The cell is e ranks from t, as in `ranks`. Where the interval ends at the cell, y is
how many of c rows are not up to it; where it does not, how many more than c half of the rows are. The score is
-max(e, y). In groups of 2c rows and more a cell c ranks inside is best, and the interval ends there; in smaller ones
the middle is, and the interval is the whole range. A maximum is a minimum from above. Proof: docs/proofs/choices.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.noise.coins import uniform_below
from tacit.noise.entropy import BitSource
from tacit.noise.lottery import Tickets, draw
from tacit.noise.race import Crowds, race
from tacit.tables.choosing.ranks import GroupDraw

__all__ = ["ExtremeDraw"]

Places = npt.NDArray[np.int64]

_LARGE = 1 << 60


@dataclass(frozen=True, slots=True)
class ExtremeDraw(GroupDraw):
    """Draws a cell, and whether the interval ends at it."""

    @property
    def name(self) -> str:
        """The mechanism."""
        return "permute-and-flip" if self.flips else "exponential mechanism"

    def off(self, beta: Fraction) -> float:
        """How many ranks a cell is off from the one aimed at, but for a probability β."""
        return self.distance(beta, 2 * self.points)

    def inside(self, beta: Fraction) -> int:
        """c: an end that falls beyond all rows is so many ranks off, and that is rarer than β.

        At a price next to nothing that is more than any table has, and more than floats have: all such c are alike.
        """
        return int(min(self.off(beta), float(_LARGE))) + 1

    def scores(self, upto: Places, inside: int) -> Places:
        """Of the runs of a line, in half ranks: of those where the interval ends, and then of all where it does not.

        ``upto`` is how many rows there are up to each full cell, from 0 on.
        """
        most, rows = 2 * inside, int(upto[-1])
        aim = min(most, rows)
        below, within = np.empty((2, 2 * upto.size - 1), dtype=np.int64)
        below[0::2] = within[0::2] = 2 * upto
        below[1::2], within[1::2] = 2 * upto[:-1], 2 * upto[1:]
        e = np.maximum(np.maximum(below - aim, aim - within), 0)
        there = np.maximum(e, most - within) if most < _LARGE else np.full_like(e, _LARGE)
        found: Places = np.concatenate((there, np.maximum(e, max(rows - most, 0))))
        return found

    def drawn(self, cells: Places, counts: Places, inside: int, *, lowest: bool, entropy: BitSource) -> tuple[int, ...]:
        """The cell and the ends around it; 0 and points + 1 are the bounds."""
        if not lowest:
            value, low, high = self._lowest(self.points + 1 - cells[::-1], counts[::-1], inside, entropy)
            return self.points + 1 - value, self.points + 1 - high, self.points + 1 - low
        return self._lowest(cells, counts, inside, entropy)

    def _lowest(self, cells: Places, counts: Places, inside: int, entropy: BitSource) -> tuple[int, int, int]:
        starts = np.empty(2 * cells.size + 1, dtype=np.int64)
        starts[0], starts[1::2], starts[2::2] = 1, cells, cells + 1
        sizes = np.diff(starts, append=self.points + 1)
        scores = -self.scores(np.concatenate(([0], np.cumsum(counts))), inside)
        weights = np.tile(sizes, 2)
        if 2 * inside >= _LARGE:  # a price next to nothing: no interval ends at a cell
            weights[: sizes.size] = 0
        if self.flips:
            crowds = np.flatnonzero(weights)
            chosen = int(crowds[race(scores[crowds], self.factor / 2, Crowds(weights[crowds]), entropy)])
        else:
            chosen = draw(Tickets(scores, self.factor / 2, weights), entropy)
        ends, run = chosen < sizes.size, chosen % sizes.size
        size = int(sizes[run])
        value = int(starts[run]) + (int(uniform_below(size, 1, entropy)[0]) if size > 1 else 0)
        return value, 0, value if ends else self.points + 1
