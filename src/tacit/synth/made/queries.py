"""Counts from the model, and intervals from the noisy tables alone.

A condition on some columns holds for a row only if the row lies in bins that the condition touches (outer ones), and
surely if it lies in bins all of whose values satisfy it (inner ones); a cell that bounds cut is touched and not inner.
Noisy counts of both, in tables that were measured, bound the true count, with one share of β for each bound. Where a
table has not all columns of the condition, the condition on the others still bounds from above. Proof:
docs/proofs/synthesis.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.shared.tails import gaussian_quantile, read_beta
from tacit.privacy import ZCDP, Guarantee, PureDP
from tacit.privacy.prices import Price
from tacit.privacy.rounding import decimal_down
from tacit.synth.counts.purse import Measured
from tacit.synth.domain.conditions import Met, conditions

if TYPE_CHECKING:
    from tacit.synth.made.synthesis import Synthesis

__all__ = ["Count", "Reach", "counted_in", "share_in", "times_told"]

Booleans = npt.NDArray[np.bool_]
_LOWS, _HIGHS = 1, 2
"""How many bounds of each look are used."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many rows, by the model, and an interval for the true number."""

    value: float
    low: float
    high: float


def share_in(made: Synthesis, where: Mapping[str, object]) -> float:
    """The model's share of rows that satisfy conditions on columns."""
    chosen = conditions(made.domain, where)
    places = sorted(chosen)
    law = made.model.table(places)
    for at in reversed(places):
        one = made.binned[at]
        part = np.bincount(one.bins, one.within * chosen[at].part, minlength=one.size)
        law = law @ part
    return float(np.clip(law, 0.0, 1.0))


def counted_in(made: Synthesis, where: Mapping[str, object], beta: Price) -> Count:
    """The model's count, and an interval that covers the true one with probability 1 - β."""
    level = read_beta(beta)
    chosen = conditions(made.domain, where)
    lows, highs = _bounds(made, chosen)
    reach = Reach.in_model(made, Fraction(level) / _slots(made, len(chosen)))
    low = max([0.0, *(one.count - one.error(reach) for one in lows)])
    high = min([math.inf, *(max(0.0, one.count + one.error(reach)) for one in highs)])
    low = min(low, high)
    value = min(max(made.total * share_in(made, where), low), high)
    return Count(value, low, high)


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a sum of so many noisy cells may be off, at a level for each bound: a little wide, never too narrow."""

    guarantee: Guarantee
    level: Fraction
    discrete: bool = False
    """Whether Gaussian noise is of the discrete law, not the rounded one."""

    @classmethod
    def in_model(cls, made: Synthesis, level: Fraction) -> Reach:
        """For the tables of a model."""
        return cls(made.guarantee, level, isinstance(made.guarantee, ZCDP) or made.method == "AIM")

    def of(self, cells: int, scale: float, *, is_joined: bool = False) -> float:
        """Exceeded by the sum of so many cells with at most the level's probability.

        Half of the level for the Gaussian sum, half for what rounding adds, at most ½ in each cell (Hoeffding). Means
        of discrete noise are on no grid: for them, and for little noise, what holds of all sub-Gaussian sums.
        """
        if not cells:
            return 0.0
        if isinstance(self.guarantee, PureDP):
            return _laplace_sum(cells, scale / math.sqrt(2), float(self.level))
        rounded = self._quantile() * scale * math.sqrt(cells) + self._rounding() * math.sqrt(cells)
        if scale >= 2 and not (is_joined and self.discrete):
            return rounded
        return max(rounded, self._any() * math.sqrt(cells) * scale)

    def of_total(self, scale: float, least: float) -> float:
        """The same for the number of rows: a weighted sum of all cells, of spread ``scale``; no cell's below ``least``.

        Rounding adds at most ½ in each cell, so its spread is at most that of the sum divided by ``least``.
        """
        if isinstance(self.guarantee, PureDP):
            return _laplace_sum(1, scale / math.sqrt(2), float(self.level))
        if self.discrete:
            return self._any() * scale
        return max(self._quantile() * scale + self._rounding() * scale / least, self._any() * scale * (least < 2))

    def _quantile(self) -> float:
        return float(gaussian_quantile(decimal_down(self.level / 2)))

    def _rounding(self) -> float:
        return math.sqrt(math.log(4 / self.level) / 2)

    def _any(self) -> float:
        return math.sqrt(2 * math.log(2 / self.level))


def _laplace_sum(cells: int, scale: float, level: float) -> float:
    """t with P[|X₁ + … + X_m| > t] ≤ level, by Chernoff: E e^{sX} ≤ 1/(1 - s²b²) for discrete Laplace noise too."""
    wanted = math.log(2 / level)
    parts = np.linspace(0.001, 0.999, 999)
    return float(np.min((wanted - cells * np.log1p(-(parts**2))) / parts)) * scale + 1.0


@dataclass(frozen=True, slots=True)
class _Sum:
    """Noisy cells of one table, added up."""

    count: float
    cells: int
    table: Measured
    met: int
    """How many columns of the condition it has."""

    def error(self, reach: Reach) -> float:
        return reach.of(self.cells, self.table.scale, is_joined=self.table.is_joined)


def _bounds(made: Synthesis, chosen: Mapping[int, Met]) -> tuple[list[_Sum], list[_Sum]]:
    """Noisy counts that the true one is not below, and not above."""
    lows, highs = list[_Sum](), list[_Sum]()
    for table in (*made.ones, *made.tables):
        within = [at for at in table.columns if at in chosen]
        if not within:
            continue
        outer = [_touched(made, at, chosen, table, inner=False) for at in table.columns]
        highs.append(_summed(table, outer, len(within)))
        if set(chosen) <= set(table.columns):
            inner = [_touched(made, at, chosen, table, inner=True) for at in table.columns]
            lows.append(_summed(table, inner, len(within)))
    return _few(lows, _LOWS), _few(highs, _HIGHS)


def times_told(made: Synthesis) -> int:
    """In how many ways one-way counts may have come about: alone or joined, which the first of them decide."""
    return 2 if made.looks else 1


def _slots(made: Synthesis, columns: int) -> int:
    """How many bounds a condition on so many columns may rest on, known before any noise: β is shared by them."""
    highs = times_told(made) * min(columns, _HIGHS) + made.looks * _HIGHS
    lows = (times_told(made) if columns == 1 else 0) + made.looks * _LOWS
    return max(1, highs + lows)


def _few(bounds: list[_Sum], most: int) -> list[_Sum]:
    """Of each look, those of most columns of the condition and then of least noise.

    Which tables a look has, over which bins and with how much noise follows from looks before it: so the choice knows
    nothing of the noise that its bounds are judged by.
    """
    by_look: dict[int, list[_Sum]] = {}
    for one in sorted(bounds, key=lambda one: (-one.met, one.table.scale * math.sqrt(max(1, one.cells)))):
        by_look.setdefault(one.table.look, []).append(one)
    return [one for look in by_look.values() for one in look[:most]]


def _touched(made: Synthesis, at: int, chosen: Mapping[int, Met], table: Measured, *, inner: bool) -> Booleans:
    """The bins (values, in one-way counts) of a column that count towards a bound."""
    size = table.counts.shape[table.columns.index(at)]
    if at not in chosen:
        return np.ones(size, dtype=np.bool_)
    values = chosen[at].must if inner else chosen[at].may
    if len(table.columns) == 1:
        return values
    bins = made.binned[at].bins
    hit = np.bincount(bins, values, minlength=size)
    return hit == np.bincount(bins, minlength=size) if inner else hit > 0


def _summed(table: Measured, kept: list[Booleans], met: int) -> _Sum:
    counts = table.counts[np.ix_(*kept)]
    return _Sum(float(counts.sum()), int(counts.size), table, met)
