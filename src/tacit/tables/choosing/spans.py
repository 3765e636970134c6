"""A value and the interval around it, chosen at once: one price for both, by the exponential mechanism, exact.

A candidate is a cell v and a width w. The cell is e ranks off, as in `ranks`; the margin of [v - w, v + w] is off by y
from the one aimed at, as the margin of a width is there. One unit moves e and y by so many ranks at most, each of them,
and so it moves the score, minus

    N(e, y) = y + s(e - y), with s(e - y) = 0 where y is larger, but at most ``cap``.

s is a staircase: it rises with e by ``height``, stays for ``lift`` ranks, and rises again. Near the quantile a value
pays the whole price for each rank that it is off, and so does a width; a width that would not cover is at least
``lift`` worse than one that does, whatever the value. Steps are higher where rows are few, by a slow rule of their
number that is paid for, and wider widths are likelier by a public rule. Proof: docs/proofs/choices.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Self

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.mechanisms.selection.selecting import regret
from tacit.noise.coins import bernoulli_exp, uniform_below
from tacit.noise.entropy import BitSource
from tacit.noise.lottery import Tickets, draw
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.prices import text

__all__ = ["SpanDraw", "SpanScore", "SpanTerms"]

Places = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]

_STEP = Fraction(11, 2)
"""How many times e a value is less likely at the first step, where rows are many, for a median."""
_STEP_OF_TAILS = 3
"""How much more for a quantile at the very end: rows are sparser on one side of it."""
_FEW = 2500
"""From so many rows on, at ε = 1, steps are as high as that; they are a rank higher for ``_SLOWLY`` rows fewer."""
_SLOWLY = 600
_STEPS = 5
"""So many whole steps there are below the cap; each grows as fast."""
_CAP = 33
"""No candidate is less likely than by so many times e: what is further out is alike, and need not be looked at."""
_OF_FAR = Fraction(1, 10)
"""The share of β for values so far off that their widths are no longer told apart."""
_LEAST_BETA = Fraction(1, 100_000)
"""More outputs together than a statement can have would be needed for less."""
_LARGE = 1 << 60
_MOST_FOLDS = 10_000
"""More than all terms together are in multiples of 1/factor, for any β that is used."""
_OPEN = 1 << 61


@dataclass(frozen=True, slots=True)
class SpanScore:
    """How candidates of one group are scored, in parts of a rank."""

    lift: int
    height: int
    aim: int
    cap: int

    def stairs(self, e: Places) -> Places:
        """s(e)."""
        full, rest = np.divmod(e, self.lift + self.height)
        found: Places = full * self.height + np.minimum(rest, self.height)
        return found

    def off(self, e: Places, y: Places) -> Places:
        """N(e, y)."""
        below = np.minimum(y, self.cap)
        found: Places = np.minimum(below + self.stairs(np.maximum(e - below, 0)), self.cap)
        return found

    @property
    def far(self) -> int:
        """Rows that are further than this from the quantile, by rank, need not be looked at."""
        period = self.lift + self.height
        return max(self.cap + self.aim, period * -(-self.cap // self.height))


@dataclass(frozen=True, slots=True)
class SpanTerms:
    """The public numbers of a choice, in parts of a rank: so many as ``unit`` says, of which a row's share has some."""

    lift: int
    height: int
    """Of a step, where rows are many."""
    many: int
    """How many rows that is, in parts of a row as the level's denominator says."""
    cap: int
    denominator: int

    @property
    def unit(self) -> int:
        """So many parts a rank has."""
        return _SLOWLY * self.denominator

    def of(self, rows: int) -> SpanScore:
        """For a group of so many rows; one row more lowers the steps by a 600th of a rank at most."""
        height = self.height + max(self.many - rows * self.denominator, 0)
        return SpanScore(self.lift, height, self.lift + height + self.unit - _SLOWLY, self.cap)


@dataclass(frozen=True, slots=True)
class SpanDraw:
    """Draws cells and widths together, by a weight of the width times e^(-factor·N)."""

    factor: Fraction
    points: int
    level: Fraction

    @classmethod
    def at(cls, price: PureDP | ZCDP, level: Fraction, rows: int, points: int) -> Self:
        """At a price for one group, in which a unit has at most so many rows.

        Each of them moves ranks and margins by at most max(q, 1-q), and by its number the height of ``_STEPS`` steps
        and the aim.
        """
        furthest = (max(level, 1 - level) + Fraction(_STEPS + 1, _SLOWLY)) * rows
        return cls(price.range_of_each() / (2 * furthest), points, level)

    @property
    def widths(self) -> Places:
        """How many cells to either side: public, each three tenths (and one cell) more than the one before."""
        return _widths(self.points)[0]

    @property
    def weights(self) -> Places:
        """How much likelier a width is than the smallest: public, each about a tenth more than the one before."""
        return _widths(self.points)[1]

    def terms(self, beta: Fraction) -> SpanTerms:
        """For intervals that miss with probability at most β; refused where they could not be shown to.

        Plans state errors by these terms, and so whatever is refused is refused before it is paid for.
        """
        unit = _SLOWLY * self.level.denominator
        lift = self._upto(regret(self.factor, beta * (1 - _OF_FAR), _smaller(self.points)), unit)
        far = self._upto(self._whole(beta * _OF_FAR), unit)
        step = _STEP + _STEP_OF_TAILS * abs(self.level - Fraction(1, 2))
        many = math.floor(_FEW / self.factor / (2 * max(self.level, 1 - self.level)) * self.level.denominator)
        cap = math.ceil(_CAP / self.factor * unit)
        if beta < _LEAST_BETA or far > cap:
            allowed = (
                f"β of {text(_LEAST_BETA)} or more, and no more cells than a grid has: intervals would miss oftener"
            )
            raise InvalidParameter("beta", given=beta, allowed=allowed)
        return SpanTerms(lift, math.ceil(step / self.factor * unit), many, cap, self.level.denominator)

    def _whole(self, beta: Fraction) -> float:
        """What N exceeds with probability at most β."""
        weights = self.weights
        return regret(self.factor, beta, Fraction(self.points * int(weights.sum()), int(weights[0])))

    @staticmethod
    def _upto(ranks: float, unit: int) -> int:
        return math.ceil(Fraction(ranks) * unit)

    def fits(self) -> bool:
        """Whether all of this is far from the end of 64 bits: so it is but at a price next to nothing."""
        return self.factor * _LARGE > _MOST_FOLDS * _SLOWLY * self.level.denominator

    def off(self, beta: Fraction, held: Fraction) -> float:
        """How many ranks a value is off at most, but for a probability β, if intervals miss with ``held``.

        N is as large as s(e) at least, and s is ``lift`` behind e for each of its steps.
        """
        found, terms = self._whole(beta), self.terms(held)
        steps = math.floor(Fraction(found) * terms.unit / terms.height)
        return found + steps * terms.lift / terms.unit

    def drawn(self, cells: Places, counts: Places, terms: SpanTerms, entropy: BitSource) -> tuple[int, int, int]:
        """A value and the ends around it; 0 and points + 1 are beyond the bounds.

        Runs of cells are proposed with a width each, by the least N that one of them may have; a coin decides.
        """
        line = _Line.of(cells, counts, self, terms.of(int(counts.sum())), terms.unit)
        starts, sizes, least = line.runs()
        weights = sizes[:, None] * self.weights[None, :]
        weights[least < 0] = 0
        tickets = Tickets(-np.maximum(least, 0).ravel(), self.factor / terms.unit, weights.ravel())
        while True:
            run, at = divmod(draw(tickets, entropy), len(self.widths))
            size = int(sizes[run])
            value = int(starts[run]) + (int(uniform_below(size, 1, entropy)[0]) if size > 1 else 0)
            found = line.score(value, at)
            if found is None:
                continue
            worse = found - int(least[run, at])
            if not worse or bernoulli_exp(self.factor * worse / terms.unit, 1, entropy)[0]:
                width = int(self.widths[at])
                return value, max(value - width, 0), min(value + width, self.points + 1)


@dataclass(frozen=True, slots=True)
class _Line:
    """The cells of one group that are near the quantile, and how far above it the rows up to each reach, in parts."""

    cells: Places
    upto: Places
    draw: SpanDraw
    how: SpanScore

    @classmethod
    def of(cls, cells: Places, counts: Places, draw: SpanDraw, how: SpanScore, unit: int) -> _Line:
        upto = np.concatenate(([0], np.cumsum(counts)))
        base, rest = divmod(draw.level.numerator * int(upto[-1]), draw.level.denominator)
        far = how.far // unit + 2
        upto = upto - base
        first = int(np.searchsorted(upto[1:], -far, side="right"))
        last = max(int(np.searchsorted(upto, far, side="left")), first)
        near = np.clip(upto[first : last + 1], -far, far) * unit - rest * _SLOWLY
        return cls(cells[first:last], near, draw, how)

    def runs(self) -> tuple[Places, Places, Places]:
        """Runs of cells that are equally far off: where they start, how many cells, and at each width the least N.

        That is -1 where the next smaller width has both bounds for ends, from every cell: no candidate.
        """
        points, widths = self.draw.points, self.draw.widths
        starts = np.empty(2 * self.cells.size + 1, dtype=np.int64)
        starts[0], starts[1::2], starts[2::2] = 1, self.cells, self.cells + 1
        sizes = np.diff(starts, append=points + 1)
        starts, sizes = starts[sizes > 0], sizes[sizes > 0]
        ends = starts + sizes - 1
        lower, upper = self._below(starts[:, None] - widths), self._above(ends[:, None] + widths)
        most = np.minimum(lower, upper)
        lower, upper = self._below(ends[:, None] - widths), self._above(starts[:, None] + widths)
        y = np.maximum(self.how.aim - most, 0)
        before = np.minimum(lower, upper)[:, :-1]
        y[:, 1:] = np.maximum(y[:, 1:], before - self.how.aim)
        least = self.how.off(np.broadcast_to(self._off(starts)[:, None], y.shape), y)
        least[:, 1:][before == _OPEN] = -1
        return starts, sizes, least

    def score(self, value: int, at: int) -> int | None:
        """N of a cell and the place of a width; None for no candidate."""
        values, widths = np.array([value]), self.draw.widths[max(at - 1, 0) : at + 1]
        margins = np.minimum(self._below(values - widths), self._above(values + widths))
        y = np.maximum(self.how.aim - margins[-1:], 0)
        if at:
            if margins[0] == _OPEN:
                return None
            y = np.maximum(y, margins[:1] - self.how.aim)
        return int(self.how.off(self._off(values), y)[0])

    def _off(self, values: Places) -> Places:
        """How far the ranks of cells are from the one aimed at."""
        below = self.upto[np.searchsorted(self.cells, values, side="left")]
        within = self.upto[np.searchsorted(self.cells, values, side="right")]
        found: Places = np.maximum(np.maximum(below, -within), 0)
        return found

    def _below(self, ends: Places) -> Places:
        """By how many rows lower ends are below the quantile; those beyond the bound always are."""
        found: Places = np.where(ends < 1, _OPEN, -self.upto[np.searchsorted(self.cells, ends, side="left")])
        return found

    def _above(self, ends: Places) -> Places:
        """The same of upper ends."""
        beyond = ends > self.draw.points
        found: Places = np.where(beyond, _OPEN, self.upto[np.searchsorted(self.cells, ends, side="right")])
        return found


@cache
def _widths(points: int) -> tuple[Places, Places]:
    made, weights = [0], [4096]
    while made[-1] < points:
        made.append(made[-1] + 1 + made[-1] * 3 // 10)
        weights.append(weights[-1] * 11 // 10)
    return np.array(made, dtype=np.int64), np.array(weights, dtype=np.int64)


@cache
def _smaller(points: int) -> Fraction:
    """How much all widths that are smaller than one weigh at most, next to it."""
    weights = [int(one) for one in _widths(points)[1]]
    found, below = Fraction(0), 0
    for one in weights:
        found, below = max(found, Fraction(below, one)), below + one
    return found
