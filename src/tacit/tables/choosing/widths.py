"""One choice of how wide an interval around a released cell is, so that it holds a quantile but for a probability β.

Widths grow by an eighth, from none to the whole line. The margin of a width is by how many rows its ends are on their
sides of the quantile, the lesser of both; a lower end that must not be drawn, or lies beyond its bound, always is. A
width is as far from the margin aimed at as that is from [the margin of the next smaller width, its own], and its
score is minus that distance. Proof: docs/proofs/choices.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt

from tacit.noise.entropy import BitSource
from tacit.noise.lottery import Tickets, draw
from tacit.noise.race import EXPONENTIAL, ScoreArray, race
from tacit.tables.choosing.draws import GroupDraw

__all__ = ["WidthDraw"]

Places = npt.NDArray[np.int64]

_LARGE = 1 << 62
"""Whole numbers up to here are left to int64. Ranks are far below it: a level has at most six decimals."""


@dataclass(frozen=True, slots=True)
class WidthDraw(GroupDraw):
    """Draws widths by how far their margins are from the one aimed at."""

    @property
    def widths(self) -> Places:
        """How many cells to either side: public, and the last reaches beyond both bounds from everywhere."""
        return _widths(self.points)

    def margin(self, beta: Fraction) -> int:
        """What to aim at, for the margin that is drawn to be at least 1 row, but for a probability β."""
        return math.ceil(self.distance(beta, len(self.widths) - 1)) + 1

    def drawn(
        self,
        cells: Places,
        counts: Places,
        level: Fraction,
        around: int,
        aim: int,
        entropy: BitSource,
    ) -> tuple[int, int]:
        """The ends of an interval around a cell; 0 and points + 1 are beyond the bounds."""
        lows, highs = around - self.widths, around + self.widths
        if not level:
            lows[:] = 0
        if level == 1:
            highs[:] = self.points + 1
        open_low, open_high = lows < 1, highs > self.points
        last = int(np.argmax(open_low & open_high))  # the whole line; what is wider is no candidate
        unit = level.denominator
        upto = np.concatenate(([0], np.cumsum(counts)))
        rank = level.numerator * int(upto[-1])
        below = upto[np.searchsorted(cells, lows[:last], side="left")] * unit
        within = upto[np.searchsorted(cells, highs[:last], side="right")] * unit
        far = np.iinfo(np.int64).max
        margins = np.minimum(
            np.where(open_low[:last], far, rank - below), np.where(open_high[:last], far, within - rank)
        )
        aimed = aim * unit
        if aimed >= _LARGE:  # a price next to nothing: int64 would wrap round
            margins = margins.astype(np.object_)
        distances = np.zeros(last + 1, dtype=margins.dtype)
        distances[:-1] = np.maximum(aimed - margins, 0)
        distances[1:] = np.maximum(distances[1:], margins - aimed)
        scores = -distances if aimed < _LARGE else [Fraction(-one) for one in distances]
        chosen = self._index(scores, self.factor / unit, entropy)
        return max(int(lows[chosen]), 0), min(int(highs[chosen]), self.points + 1)

    def _index(self, scores: ScoreArray, factor: Fraction, entropy: BitSource) -> int:
        return race(scores, factor, EXPONENTIAL, entropy) if self.flips else draw(Tickets(scores, factor), entropy)


@cache
def _widths(points: int) -> Places:
    made = [0]
    while made[-1] < points:
        made.append(made[-1] + 1 + made[-1] // 8)
    return np.array(made, dtype=np.int64)
