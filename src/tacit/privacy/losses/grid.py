"""From the cells of a pair to masses on an even grid of losses: one that costs more, one that costs less.

Dear (pessimistic): every outcome of a cell is split between the cell's two ends so that both its P and its Q mass are
kept. The result can be post-processed back into the pair, so it dominates it; its profile connects the pair's dots
(Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022). Cheap (optimistic): neighbouring half-cells are merged, which is
post-processing of the pair, in shares chosen so that each merged outcome lies on, or just above, a grid point.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.privacy.losses.pair import MASS_ACCURACY, RATIO_ACCURACY, Cells, Floats, Pair

Places = NDArray[np.int64]

_TOO_SMALL = 1e-290  # masses near the smallest float have lost their digits; the dear grid counts them as 0


@dataclass(frozen=True, slots=True)
class GridLoss:
    """Masses of P on losses origin + places·step, and ``infinite`` on loss +∞.

    ``blur`` bounds how far any loss may be off for rounding, ``error`` the relative error of each mass.
    """

    masses: Floats
    places: Places
    origin: float
    step: float
    infinite: float
    blur: float
    error: float = 2 * MASS_ACCURACY

    def losses(self) -> Floats:
        found: Floats = self.origin + self.step * self.places.astype(np.float64)
        return found


@dataclass(frozen=True, slots=True)
class CellLoss:
    """A pair cut into cells between the grid points ``places``, not always consecutive ones, and two outer ranges."""

    inner: Cells
    below: tuple[float, float]
    above: tuple[float, float]
    infinite: tuple[float, float]
    places: Places
    origin: float
    step: float
    exact: bool = False

    def reversed(self) -> CellLoss:
        """The same for the pair (Q, P)."""
        return CellLoss(
            inner=self.inner.reversed(),
            below=(self.above[1], self.above[0]),
            above=(self.below[1], self.below[0]),
            infinite=(self.infinite[1], self.infinite[0]),
            places=-self.places[::-1],
            origin=-self.origin,
            step=self.step,
            exact=self.exact,
        )

    @property
    def blur(self) -> float:
        far = abs(self.origin) + self.step * max(abs(int(self.places[0])), abs(int(self.places[-1])))
        return 2.0**-49 * far if self.exact and not self._between().any() else 4 * RATIO_ACCURACY + 2.0**-47 * far

    def _between(self) -> NDArray[np.bool_]:
        """The cells that have mass, and not on one of their ends."""
        p, to_right, _ = self._split()
        found: NDArray[np.bool_] = (to_right != 0) & (to_right != p)
        return found

    def dear(self) -> GridLoss:
        """Masses that cost at least as much as the pair, once ``blur`` is added to every loss."""
        p, to_right, _ = self._split()
        masses = np.zeros(p.size + 1)
        masses[:-1] += p - to_right
        masses[1:] += to_right
        masses[0] += self.below[0]
        lost = self.infinite[0] + self.above[0]
        return GridLoss(masses, self.places, self.origin, self.step, lost * (1 + MASS_ACCURACY), self.blur)

    def cheap(self, tilt: float) -> GridLoss:
        """Masses that cost at most as much as the pair, once ``blur`` is taken off every loss.

        ``tilt`` says which losses matter most; any value is valid.
        """
        p, to_right, span = self._split()
        to_right = np.where(self.inner.q < _TOO_SMALL, 0.0, to_right)  # where the ratio is lost, the left end
        # Excess of cell i over its left end, and shortfall below its right end, in P mass times likelihood ratio.
        excess, shortfall = to_right * -np.expm1(-span), (p - to_right) * np.expm1(span)
        tilted = tilt * self.step * (self.places[:-1] - self.places[-1])
        stay = _shares(excess, shortfall, np.exp(np.maximum(tilted, -700.0)))
        masses = np.zeros(p.size + 1)
        masses[:-1] += stay * p
        masses[1:] += (1 - stay) * p
        masses[-1] += self.above[0]
        return GridLoss(masses, self.places, self.origin, self.step, self.infinite[0] * (1 - MASS_ACCURACY), self.blur)

    def _split(self) -> tuple[Floats, Floats, Floats]:
        """P masses, the part of each that goes to the right end of its cell, and the widths of the cells."""
        p, q = self.inner.p, self.inner.q
        left = self.origin + self.step * self.places[:-1]
        span = self.step * np.diff(self.places)
        whole = -np.expm1(-span)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            over = np.where(p > 0, 1 - np.exp(left) * np.where(q < _TOO_SMALL, 0.0, q) / p, 0.0)
        # What is within rounding of an end of the cell is on it: no dust may lie beyond the largest loss.
        over = np.where(over <= 2 * RATIO_ACCURACY, 0.0, np.where(over >= whole - 2 * RATIO_ACCURACY, whole, over))
        return p, p * (over / whole), span


def _shares(excess: Floats, shortfall: Floats, weights: Floats) -> Floats:
    """The share of each cell merged into its left grid point, so that no merged outcome lies below its point.

    Grid point i receives share[i] of cell i (above it) and 1-share[i-1] of cell i-1 (below it); it must hold that
    share[i]·excess[i] ≥ (1-share[i-1])·shortfall[i-1], and what is above equality is lost. Where masses rise,
    balancing from the left is stable; where they fall, from the right: both are done and joined at the best point.
    """
    if not excess.any():  # every outcome lies on a grid point
        return np.ones(excess.size)
    rising, lost_left = _balance_from_left(excess.tolist(), shortfall.tolist())
    falling, lost_right = _balance_from_right(excess.tolist(), shortfall.tolist())
    left, right = np.cumsum(np.array(lost_left) * weights), np.cumsum((np.array(lost_right) * weights)[::-1])[::-1]
    join = int(np.argmin(left[:-1] + right[1:])) + 1 if left.size > 1 else 0
    share = np.concatenate([rising[:join], falling[join:]])
    with np.errstate(divide="ignore", invalid="ignore"):
        enough = np.clip(1 - share[1:] * excess[1:] / shortfall[:-1], 0.0, 1.0)
    broken = share[1:] * excess[1:] < (1 - share[:-1]) * shortfall[:-1]
    share[:-1] = np.where(broken, np.maximum(enough, share[:-1]), share[:-1])
    still = share[1:] * excess[1:] < (1 - share[:-1]) * shortfall[:-1] * (1 - 2.0**-48)
    share[:-1][still] = 1.0
    return share


def _balance_from_left(excess: list[float], shortfall: list[float]) -> tuple[list[float], list[float]]:
    """Shares that balance each point with what its left neighbour passed on, and what each point wastes."""
    shares, lost = [1.0] * len(excess), [0.0] * len(excess)
    passed = 0.0
    for i, over in enumerate(excess):
        if passed <= over:
            share = passed / over if over > 0 else 1.0
        else:  # too much was passed on: the left neighbour keeps more, above its point
            lost[i - 1] += passed - over
            shares[i - 1] = 1 - over / shortfall[i - 1]
            share = 1.0
        shares[i] = share
        passed = shortfall[i] * (1 - share)
    return shares, lost


def _balance_from_right(excess: list[float], shortfall: list[float]) -> tuple[list[float], list[float]]:
    """Shares that pass on to each point what it can bear, from the right end, and what each point wastes."""
    shares, lost = [1.0] * len(excess), [0.0] * len(excess)
    bearable = 0.0
    for i in range(len(excess) - 1, -1, -1):
        under = shortfall[i]
        passed = min(bearable, under)
        if i + 1 < len(excess):
            lost[i + 1] = bearable - passed
        shares[i] = 1 - passed / under if under > 0 else 0.0
        bearable = shares[i] * excess[i]
    lost[0] += bearable
    if shares[-1] == 0.0:
        shares[-1] = 1.0
    return shares, lost


def cut(
    pair: Pair, step: float, origin: float, tail: float, weight: Callable[[], Weight | None] | None = None
) -> CellLoss:
    """``pair`` in cells with edges on origin + step·ℤ, out to where at most ``tail`` lies beyond.

    Every cell is one step wide, or wider where ``weight`` says that little depends on it.
    """
    low, high = pair.reach(tail)
    start = math.floor((low - origin) / step) - 1
    stop = math.ceil((high - origin) / step) + 1
    places: Places = np.arange(start, stop + 1)
    chosen = weight() if weight is not None and places.size > 2 * _GRADED_CELLS else None
    if chosen is not None:
        places = graded(start, stop, step, origin, chosen)
    edges = np.empty(places.size + 2)
    points = origin + step * places
    # An atom on a grid point must fall to one side of it: to the right, by a hair that ``blur`` covers.
    edges[1:-1] = points - (2.0**-46 + 2.0**-48 * np.abs(points))
    edges[0], edges[-1] = -np.inf, np.inf
    cells = pair.cells(edges)
    return CellLoss(
        inner=Cells(cells.p[1:-1], cells.q[1:-1]),
        below=(float(cells.p[0]), float(cells.q[0])),
        above=(float(cells.p[-1]), float(cells.q[-1])),
        infinite=pair.infinite,
        places=places,
        origin=origin,
        step=step,
        exact=_exact(pair, step, origin),
    )


def _exact(pair: Pair, step: float, origin: float) -> bool:
    """Whether the atoms are exact and the grid runs through them, and not merely near them."""
    lattice = pair.lattice
    if lattice is None or not lattice.exact or lattice.anchor != origin:
        return False
    steps = lattice.spacing / step
    return abs(steps - round(steps)) <= 2.0**-51 * steps


@dataclass(frozen=True, slots=True)
class Weight:
    """How much depends on a part's losses: the share of up to ``losses`` is ``shares``; no cell wider than ``widest``.

    It chooses cells and enters no bound.
    """

    losses: Floats
    shares: Floats
    widest: float

    def of_blocks(self, left: Floats, width: float) -> Floats:
        """The share that lies within ``width`` above each place."""
        found: Floats = np.interp(left + width, self.losses, self.shares) - np.interp(left, self.losses, self.shares)
        return found


_GRADED_CELLS = 1000
_GRADED_ERROR = 0.2


def graded(start: int, stop: int, step: float, origin: float, weight: Weight) -> Places:
    """Places from ``start`` to ``stop``, consecutive where the weight is, sparse where it is not.

    A cell of width w and share f moves ε by f·w²: blocks are halved until that is a small part of what single steps
    everywhere would do, or until they are single steps.
    """
    size = 1
    while 2 * size * step <= weight.widest and 2 * size <= stop - start:
        size *= 2
    marks = np.arange(start, stop + size, size)
    most = _GRADED_ERROR * step * step / _GRADED_CELLS
    kept = []
    while size > 1:
        heavy = weight.of_blocks(origin + step * marks.astype(np.float64), size * step) * (size * step) ** 2 > most
        kept.append(marks[~heavy])
        size //= 2
        marks = (marks[heavy, None] + np.array([0, size])).ravel()
        if not marks.size:
            break
    kept.append(marks)
    places = np.sort(np.concatenate(kept))
    return np.append(places[places < stop], stop)
