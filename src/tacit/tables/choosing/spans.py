"""A value and the interval around it, chosen at once: one price for both, by the exponential mechanism, exact.

A candidate is a cell v and a width w. The cell is e ranks off, as in `ranks`; the margin of [v - w, v + w] is off by y
from the one aimed at, as the margin of a width is there. One unit moves e and y by so many ranks at most, each of them,
and so it moves the score, minus

    N(e, y) = max(y, e - lift, min(e, y + height)), but at most ``cap``,

which nothing moves further than the larger of both. Near the quantile a value pays the whole price for each rank that
it is off, and so does a width; a width that would not cover is at least ``lift`` worse than one that does, whatever the
value. Proof: docs/proofs/choices.md.
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
from tacit.noise.coins import bernoulli_exp, uniform_below, uniform_places
from tacit.noise.entropy import BitSource
from tacit.noise.lottery import Tickets, draws
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP

__all__ = ["SpanDraw", "SpanTerms"]

Places = npt.NDArray[np.int64]

_FOLDS = 8
"""How many times e a value is less likely, before it is no less likely further out, up to ``lift`` ranks more."""
_CAP = 40
"""No candidate is less likely than by so many times e: what is further out is alike, and need not be looked at."""
_OF_FAR = Fraction(1, 10)
"""The share of β for values so far off that their widths are no longer told apart."""
_PROPOSED = 32
_LARGE = 1 << 60
_MOST_FOLDS = 10_000
"""More than all terms together are in multiples of 1/factor, for any β that is used."""
_OPEN = 1 << 62


@dataclass(frozen=True, slots=True)
class SpanTerms:
    """The public numbers of a choice, in parts of a rank: so many as the level's denominator says."""

    lift: int
    height: int
    aim: int
    cap: int

    @property
    def far(self) -> int:
        """Rows that are further than this from the quantile, by rank, need not be looked at."""
        return self.cap + self.aim + self.lift

    def off(self, e: Places, y: Places | int) -> Places:
        """N(e, y)."""
        found: Places = np.maximum(np.maximum(y, e - self.lift), np.minimum(e, y + self.height))
        return np.minimum(found, self.cap)


@dataclass(frozen=True, slots=True)
class SpanDraw:
    """Draws cells and widths together, by e^(-factor·N)."""

    factor: Fraction
    points: int

    @classmethod
    def at(cls, price: PureDP | ZCDP, furthest: Fraction, points: int) -> Self:
        """At a price for one group, in which a unit moves ranks and margins by at most ``furthest``."""
        return cls(price.range_of_each() / (2 * furthest), points)

    @property
    def widths(self) -> Places:
        """How many cells to either side: public, each two fifths (and one cell) more than the one before."""
        return _widths(self.points)

    def terms(self, beta: Fraction, unit: int) -> SpanTerms:
        """For intervals that miss with probability at most β. ``unit``: so many parts a rank has."""
        others = len(self.widths) - 1
        lift = self._upto(regret(self.factor, beta * (1 - _OF_FAR), Fraction(others)), unit)
        whole = self._upto(regret(self.factor, beta * _OF_FAR, Fraction(others * self.points)), unit)
        height = max(math.ceil(_FOLDS / self.factor * unit), -(-max(whole - lift, 0) // 2))
        cap = max(math.ceil(_CAP / self.factor * unit), lift + 2 * height)
        return SpanTerms(lift, height, lift + height + unit - 1, cap)

    @staticmethod
    def _upto(ranks: float, unit: int) -> int:
        return math.ceil(Fraction(ranks) * unit)

    def fits(self, unit: int) -> bool:
        """Whether all of this is far from the end of 64 bits: so it is but at a price next to nothing."""
        return self.factor * _LARGE > _MOST_FOLDS * unit

    def off(self, beta: Fraction) -> float:
        """How many ranks a value is off at most, but for a probability β."""
        found = regret(self.factor, beta, Fraction(self.points * len(self.widths)))
        terms = self.terms(Fraction(1, 20), 1)
        return found if found < terms.height else found + terms.lift

    def drawn(
        self, cells: Places, counts: Places, level: Fraction, terms: SpanTerms, entropy: BitSource
    ) -> tuple[int, int, int]:
        """A value and the ends around it; 0 and points + 1 are beyond the bounds.

        Values are proposed by e^(-factor·N(e, 0)) and widths evenly; coins decide which pair it is.
        """
        line = _Line.of(cells, counts, level, self, terms)
        starts, weights, scores = line.tickets()
        tickets = Tickets(-scores, self.factor / line.unit, weights)
        tried = min(_PROPOSED, len(self.widths))
        while True:
            won = draws(tickets, tried, entropy)
            inside = [int(uniform_below(size, 1, entropy)[0]) for size in weights[won].tolist()]
            values = starts[won] + np.array(inside, dtype=np.int64)
            picked = uniform_places(len(self.widths), tried, entropy)
            worse, known = line.worse(values, picked)
            for at in np.flatnonzero(known).tolist():
                if bernoulli_exp(self.factor * int(worse[at]) / line.unit, 1, entropy)[0]:
                    value, width = int(values[at]), int(self.widths[picked[at]])
                    return value, max(value - width, 0), min(value + width, self.points + 1)


@dataclass(frozen=True, slots=True)
class _Line:
    """The cells of one group that are near the quantile, and how many rows are up to each; ranks in parts."""

    cells: Places
    upto: Places
    rank: int
    unit: int
    draw: SpanDraw
    terms: SpanTerms

    @classmethod
    def of(cls, cells: Places, counts: Places, level: Fraction, draw: SpanDraw, terms: SpanTerms) -> _Line:
        unit = level.denominator
        upto = np.concatenate(([0], np.cumsum(counts))) * unit
        rank = level.numerator * int(upto[-1]) // unit
        first = int(np.searchsorted(upto[1:], rank - terms.far, side="right"))
        last = max(int(np.searchsorted(upto, rank + terms.far, side="left")), first)
        return cls(cells[first:last], upto[first : last + 1], rank, unit, draw, terms)

    def tickets(self) -> tuple[Places, Places, Places]:
        """Runs of cells that are equally far off: where they start, how many cells, and N(e, 0)."""
        starts = np.empty(2 * self.cells.size + 1, dtype=np.int64)
        starts[0], starts[1::2], starts[2::2] = 1, self.cells, self.cells + 1
        weights = np.diff(starts, append=self.draw.points + 1)
        kept = weights > 0
        return starts[kept], weights[kept], self.terms.off(self._off(starts[kept]), 0)

    def worse(self, values: Places, picked: Places) -> tuple[Places, npt.NDArray[np.bool_]]:
        """N(e, y) - N(e, 0) of values and the places of widths, and which pairs are candidates."""
        widths, e = self.draw.widths, self._off(values)
        margins, _ = self._margins(values, widths[picked])
        before, whole = self._margins(values, widths[np.maximum(picked - 1, 0)])
        first = picked == 0
        y = np.maximum(self.terms.aim - margins, np.where(first, 0, before - self.terms.aim))
        y = np.maximum(y, 0)
        return self.terms.off(e, y) - self.terms.off(e, 0), first | ~whole

    def _off(self, values: Places) -> Places:
        """How far the ranks of cells are from the one aimed at."""
        below = self.upto[np.searchsorted(self.cells, values, side="left")]
        within = self.upto[np.searchsorted(self.cells, values, side="right")]
        found: Places = np.maximum(np.maximum(below - self.rank, self.rank - within), 0)
        return found

    def _margins(self, values: Places, widths: Places) -> tuple[Places, npt.NDArray[np.bool_]]:
        """By how many rows the ends are on their sides of the quantile, and whether both are the bounds."""
        lows, highs = values - widths, values + widths
        open_low, open_high = lows < 1, highs > self.draw.points
        below = np.where(open_low, _OPEN, self.rank - self.upto[np.searchsorted(self.cells, lows, side="left")])
        above = np.where(open_high, _OPEN, self.upto[np.searchsorted(self.cells, highs, side="right")] - self.rank)
        return np.minimum(below, above), open_low & open_high


@cache
def _widths(points: int) -> Places:
    made = [0]
    while made[-1] < points:
        made.append(made[-1] + 1 + made[-1] * 2 // 5)
    return np.array(made, dtype=np.int64)
