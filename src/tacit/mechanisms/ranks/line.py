"""The exponential mechanism on the points of a lattice, scored by their rank among sorted values.

A point has L values below it and H values at or below it; it is as far from a rank r as r is from [L, H], and its score
is minus that distance. Neighbouring points share an end of their intervals, so some point always scores 0, and a run of
equal values gives its own point the whole run. The points between two values share one score: they are one ticket of a
lottery, weighted by their number.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.shared.quantised import lattice_for, multiples
from tacit.noise.coins import uniform_below
from tacit.noise.entropy import BitSource
from tacit.noise.lattice import Lattice
from tacit.noise.lottery import Tickets, draw, draws
from tacit.privacy.prices import Price
from tacit.privacy.sensitivity import LInf

__all__ = ["Line", "SortedReals", "line_lattice", "point_near_rank", "points_near_rank"]

Integers = npt.NDArray[np.int64]

_FINENESS = 20
_FAR = 60.0
"""Values this many times 1/factor away from the rank are left to the exact path: their points weigh e⁻⁶⁰ each."""


def line_lattice(width: Fraction, granule: Price | None) -> Lattice:
    """The lattice of the stated granule, or one with at least 2²⁰ steps to the width."""
    if granule is None:
        return Lattice.finer_than(width, by=_FINENESS)
    return lattice_for(width, LInf(1), 1, granule)


@dataclass(frozen=True, slots=True)
class Line:
    """The points low..high of a lattice, as multiples of its granule."""

    low: int
    high: int

    @property
    def points(self) -> int:
        return self.high - self.low + 1

    def clamped(self, values: npt.NDArray[np.generic]) -> Integers:
        """The values, moved to the nearer end if they lie outside."""
        inside: Integers = np.clip(values, self.low, self.high).astype(np.int64)
        return inside


class SortedReals:
    """Sorted reals as points of a line: rounded to the lattice and clamped when looked at, which keeps the order."""

    def __init__(self, reals: npt.NDArray[np.generic], lattice: Lattice, line: Line) -> None:
        self._reals = reals
        self._lattice = lattice
        self._line = line

    def __len__(self) -> int:
        return self._reals.size

    def __getitem__(self, index: int) -> int:
        return int(self.part(index, index + 1)[0])

    def part(self, start: int, stop: int) -> Integers:
        """The points of the values from ``start`` up to ``stop``."""
        rounded = multiples(self._reals[start:stop], self._lattice)
        assert isinstance(rounded, np.ndarray)
        return self._line.clamped(rounded)


class SortedPoints:
    """Sorted points, as they are."""

    def __init__(self, points: Integers) -> None:
        self._points = points

    def __len__(self) -> int:
        return self._points.size

    def __getitem__(self, index: int) -> int:
        return int(self._points[index])

    def part(self, start: int, stop: int) -> Integers:
        return self._points[start:stop]


Sorted = SortedReals | SortedPoints


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Neighbouring points as tickets: where the points of each start, how many they are, their score."""

    starts: Integers
    weights: Integers
    scores: Integers

    @classmethod
    def of(cls, values: Integers, index: int, below: int, upto: int, rank: Fraction, line: Line) -> _Stretch:
        """The points of the line, given the sorted values on it, the first of which has this index in the whole.

        ``below`` and ``upto`` count the values below the first point and up to the last. Scores are in units of
        1/rank.denominator.
        """
        fresh = np.flatnonzero(values[1:] != values[:-1]) + 1
        first = np.concatenate((np.zeros(min(1, values.size), dtype=np.intp), fresh))
        points = values[first]
        counts = np.concatenate((index + first, [upto]))
        counts[0] = below
        starts = np.empty(2 * points.size + 1, dtype=np.int64)
        starts[0] = line.low
        starts[1::2] = points
        starts[2::2] = points + 1
        weights = np.diff(starts, append=line.high + 1)
        # Ticket 2j lies between values, L = H = counts[j]; ticket 2j+1 is value j, L = counts[j] and H = counts[j+1].
        ticket = np.arange(starts.size)
        unit, at = rank.denominator, rank.numerator
        short = at - unit * counts[(ticket + 1) // 2]
        over = unit * counts[ticket // 2] - at
        return cls(starts, weights, -np.maximum(np.maximum(short, over), 0))

    def inside(self, ticket: int, entropy: BitSource) -> int:
        """A uniform point of the ticket."""
        return int(self.starts[ticket]) + int(uniform_below(int(self.weights[ticket]), 1, entropy)[0])


def point_near_rank(values: Sorted, rank: Fraction, line: Line, factor: Fraction, entropy: BitSource) -> int:
    """A point of the line with probability ∝ e^(-factor·distance of its ranks from ``rank``), 0 ≤ rank ≤ n.

    Assumes sorted values on the line. Only the values around the rank are looked at, unless the lottery may have been
    won elsewhere; the probabilities are exact either way.
    """
    window = _Window(values, rank, line, factor)
    tickets = window.near
    chosen = draw(
        Tickets(tickets.scores, window.scale, tickets.weights), entropy, beyond=window.beyond, rest=window.rest
    )
    for stretch in (tickets, *window.far()) if chosen >= tickets.starts.size else (tickets,):
        if chosen < stretch.starts.size:
            return stretch.inside(chosen, entropy)
        chosen -= stretch.starts.size
    raise AssertionError("a ticket that was never sold")  # pragma: no cover


def points_near_rank(
    values: Sorted, rank: Fraction, line: Line, factor: Fraction, count: int, entropy: BitSource
) -> Integers:
    """Many independent points, each as `point_near_rank` gives it."""
    window = _Window(values, rank, line, factor)
    if window.rest is not None:
        return np.array([point_near_rank(values, rank, line, factor, entropy) for _ in range(count)], dtype=np.int64)
    near = window.near
    chosen = draws(Tickets(near.scores, window.scale, near.weights), count, entropy)
    points = near.starts[chosen]
    for ticket in np.flatnonzero(near.weights > 1):
        rows = np.flatnonzero(chosen == ticket)
        points[rows] += uniform_below(int(near.weights[ticket]), rows.size, entropy).astype(np.int64)
    return points


class _Window:
    """The line in three stretches: around the rank, below that, above that."""

    def __init__(self, values: Sorted, rank: Fraction, line: Line, factor: Fraction) -> None:
        self._values, self._rank, self._line = values, rank, line
        self.scale = factor / rank.denominator
        count = len(values)
        reach = math.ceil(min(_FAR / max(float(factor), 1e-300), 1e18)) + 1
        start, stop = max(0, math.floor(rank) - reach), min(count, math.ceil(rank) + reach)
        part = values.part(start, stop)
        # Runs of equal values may begin before the window and end after it: count them whole.
        self._below = bisect_left(values, int(part[0]), 0, start) if start else 0
        self._upto = bisect_right(values, int(part[-1]), stop, count) if stop < count else count
        low = line.low if self._below == 0 else int(part[0])
        high = line.high if self._upto == count else int(part[-1])
        self._middle = Line(low, high)
        self.near = _Stretch.of(part, start, self._below, self._upto, rank, self._middle)
        self.beyond = self._bound(factor)
        self.rest = self._rest if self.beyond else None

    def _bound(self, factor: Fraction) -> float:
        """An upper bound on the mass of the points outside the middle; the best point of the middle has mass 1."""
        below = self._middle.low - self._line.low
        above = self._line.high - self._middle.high
        mass = 0.0
        if below:
            mass += below * math.exp(-float(factor * (self._rank - self._below)) * (1 - 2.0**-40))
        if above:
            mass += above * math.exp(-float(factor * (self._upto - self._rank)) * (1 - 2.0**-40))
        return mass * (1 + 2.0**-40) + (5e-324 if below or above else 0.0)

    def far(self) -> Sequence[_Stretch]:
        """The stretches below and above the middle."""
        found = []
        if self._below:
            line = Line(self._line.low, self._middle.low - 1)
            part = self._values.part(0, self._below)
            found.append(_Stretch.of(part, 0, 0, self._below, self._rank, line))
        if self._upto < len(self._values):
            line = Line(self._middle.high + 1, self._line.high)
            part = self._values.part(self._upto, len(self._values))
            found.append(_Stretch.of(part, self._upto, self._upto, len(self._values), self._rank, line))
        return found

    def _rest(self) -> Tickets:
        parts = self.far()
        scores = np.concatenate([part.scores for part in parts])
        weights = np.concatenate([part.weights for part in parts])
        return Tickets(scores, self.scale, weights)
