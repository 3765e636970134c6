"""One choice of a cell by rank, exact, cell by cell: permute-and-flip at ε, the exponential mechanism at ρ.

Cells are 1..points. A cell with L rows below it and H rows up to it is as far from a rank r as r is from [L, H], and
its score is minus that distance. The empty cells between two full ones share a score: they are one ticket of a lottery,
weighted by their number, or one crowd of a race. Proof: docs/proofs/choices.md.
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
from tacit.tables.choosing.draws import GroupDraw

__all__ = ["RankDraw"]

Places = npt.NDArray[np.int64]


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
