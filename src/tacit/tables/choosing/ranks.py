"""Choices from a group's cells by rank, exact: of a cell near a rank, and of how wide an interval around it must be.

Permute-and-flip at ε, the exponential mechanism at ρ. Proof: docs/proofs/choices.md.

Cells are 1..points. A cell with L rows below it and H rows up to it is as far from a rank r as r is from [L, H], and
its score is minus that distance. The empty cells between two full ones share a score: they are one ticket of a lottery,
weighted by their number, or one crowd of a race.

Widths grow by an eighth, from none to the whole line. The margin of a width is by how many rows its ends are on their
sides of the quantile, the lesser of both; a lower end that must not be drawn, or lies beyond its bound, always is. A
width is as far from the margin aimed at as that is from [the margin of the next smaller width, its own], and its
score is minus that distance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Self

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.selection.selecting import regret
from tacit.noise.coins import uniform_below
from tacit.noise.entropy import BitSource
from tacit.noise.lottery import Tickets, draw
from tacit.noise.race import EXPONENTIAL, Crowds, ScoreArray, race
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP

__all__ = ["GroupDraw", "RankDraw", "WidthDraw"]

Places = npt.NDArray[np.int64]

_LARGE = 1 << 62
"""Whole numbers up to here are left to int64. Ranks are far below it: a level has at most six decimals."""


@dataclass(frozen=True, slots=True)
class GroupDraw:
    """Draws candidates, the likelier the nearer they are to what is aimed at, by e^(-factor·distance).

    As probabilities up to a constant in the exponential mechanism; as the coins of permute-and-flip if ``flips``.
    """

    factor: Fraction
    points: int
    """How many cells the line has."""
    flips: bool

    @classmethod
    def at(cls, price: PureDP | ZCDP, furthest: Fraction, points: int) -> Self:
        """At a price for one group, in which a unit moves a score by at most ``furthest``, some up and some down."""
        return cls(price.range_of_each() / (2 * furthest), points, isinstance(price, PureDP))

    def distance(self, beta: Fraction, others: int) -> float:
        """What the distance exceeds with probability at most β, if one candidate is at 0, among so many others."""
        return regret(self.factor, beta, Fraction(others, 2) if self.flips else Fraction(others))


@dataclass(frozen=True, slots=True)
class RankDraw(GroupDraw):
    """Draws cells by how far their ranks are from the one aimed at."""

    @property
    def name(self) -> str:
        """The mechanism."""
        return "permute-and-flip" if self.flips else "exponential mechanism"

    def off(self, beta: Fraction) -> float:
        """How many ranks the cell is off at most, but for a probability β."""
        return self.distance(beta, self.points)

    def near(self, cells: Places, counts: Places, rank: Fraction, entropy: BitSource) -> int:
        """A cell near the rank, which is between 0 and the number of rows."""
        starts = np.empty(2 * cells.size + 1, dtype=np.int64)
        starts[0], starts[1::2], starts[2::2] = 1, cells, cells + 1
        weights = np.diff(starts, append=self.points + 1)
        unit = rank.denominator
        upto = np.concatenate(([0], np.cumsum(counts))) * unit
        # Ticket 2j is the gap before full cell j, L = H = upto[j]; ticket 2j+1 that cell, L = upto[j], H = upto[j+1].
        scores = np.empty(starts.size, dtype=np.int64)
        scores[0::2] = np.abs(upto - rank.numerator)
        scores[1::2] = np.maximum(np.maximum(upto[:-1] - rank.numerator, rank.numerator - upto[1:]), 0)
        if self.flips:
            crowds = np.flatnonzero(weights)
            chosen = int(crowds[race(-scores[crowds], self.factor / unit, Crowds(weights[crowds]), entropy)])
        else:
            chosen = draw(Tickets(-scores, self.factor / unit, weights), entropy)
        inside = int(weights[chosen])
        return int(starts[chosen]) + (int(uniform_below(inside, 1, entropy)[0]) if inside > 1 else 0)


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
