"""Many releases of several quantiles side by side: what an audit draws.

Points near a rank are found for many runs at once, each with its own values on its own part of a line.

The tickets are those of `line`, in the same order, with weight 0 for what a run has not; the lottery is that of
`tacit.noise.lottery`, with its slack and its exact path.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.ranks.line import SortedReals
from tacit.mechanisms.ranks.quantile import sorted_values
from tacit.mechanisms.ranks.quantiles import Quantiles
from tacit.noise.coins import _one_below
from tacit.noise.entropy import BitSource
from tacit.noise.exact import LazyUniform
from tacit.noise.lottery import _SLACK, _SLACK_PER_TICKET, _settle

__all__ = ["quantiles_releases"]

Integers = npt.NDArray[np.int64]

_NEAR = 60
"""Up to this many values times the factor a run is looked at whole, as `line` does too."""

_TOGETHER = 1 << 13  # runs side by side: what they need stays in the cache


def quantiles_releases(m: Quantiles, values: Any, count: int, entropy: BitSource) -> npt.NDArray[np.float64]:
    """Many independent releases of the same values, a row for each."""
    ordered = sorted_values(values)
    if m._each * ordered.size > _NEAR:
        return np.array([m.release(values, entropy=entropy) for _ in range(count)])
    points = SortedReals(ordered, m._lattice, m._line).part(0, ordered.size)
    sizes = [min(_TOGETHER, count - start) for start in range(0, count, _TOGETHER)]
    return np.concatenate([_together(m, points, size, entropy) for size in sizes])


def _together(m: Quantiles, points: Integers, count: int, entropy: BitSource) -> npt.NDArray[np.float64]:
    fine = np.sort(m._scattered(np.tile(points, count), entropy).reshape(count, points.size), axis=1)
    fine = np.ascontiguousarray(fine.T)
    low = np.full(count, m._line.low << m._spread)
    high = np.full(count, ((m._line.high + 1) << m._spread) - 1)
    rows = Rows(fine, np.zeros(count, dtype=np.int64), np.full(count, points.size), low, high)
    found: dict[int, npt.NDArray[np.int64]] = {}
    _split_rows(m, rows, (Fraction(0), Fraction(1)), range(len(m._quantiles)), found, entropy)
    return np.stack([m._lattice.values(found[i] >> m._spread) for i in sorted(found)], axis=1)


def _split_rows(
    m: Quantiles,
    rows: Rows,
    between: tuple[Fraction, Fraction],
    wanted: range,
    found: dict[int, npt.NDArray[np.int64]],
    entropy: BitSource,
) -> None:
    """`_split` for many rows."""
    if not wanted:
        return
    at = len(wanted) // 2
    middle = wanted[at]
    share, factor = m._choice(middle, between)
    found[middle] = rows.near(share, factor, entropy)
    below, above = rows.cut(found[middle])
    quantile = m._quantiles[middle]
    _split_rows(m, below, (between[0], quantile), wanted[:at], found, entropy)
    _split_rows(m, above, (quantile, between[1]), wanted[at + 1 :], found, entropy)


@dataclass(frozen=True, slots=True)
class Rows:
    """Sorted values, a column for each run; of each those from ``start`` up to ``stop``, on the points low..high."""

    values: Integers
    start: Integers
    stop: Integers
    low: Integers
    high: Integers

    def near(self, share: Fraction, factor: Fraction, entropy: BitSource) -> Integers:
        """What `point_near_rank` gives for each run at the rank share·(number of its values)."""
        starts, weights, below, upto = self._tickets()
        unit = share.denominator
        rank = share.numerator * (self.stop - self.start)
        scores = -np.maximum(np.maximum(rank - unit * upto, unit * below - rank), 0)
        chosen = _winners(scores, weights, factor / unit, entropy)
        run = np.arange(chosen.size)
        return starts[chosen, run] + _below(weights[chosen, run], entropy)

    def _tickets(self) -> tuple[Integers, Integers, Integers, Integers]:
        """Where each ticket starts, its number of points, and the values below and up to them: gap, value, gap, …"""
        width, count = self.values.shape
        place = np.arange(width + 1)[:, None]
        after_first, before_last = place > self.start, place < self.stop
        starts = np.empty((2 * width + 1, count), dtype=np.int64)
        weights, below, upto = np.empty_like(starts), np.empty_like(starts), np.empty_like(starts)
        left = np.where(after_first, np.concatenate((self.low[None], self.values + 1)), self.low)
        right = np.where(before_last, np.concatenate((self.values - 1, self.high[None])), self.high)
        starts[::2] = left
        weights[::2] = np.maximum(right - left + 1, 0) * ((place >= self.start) & (place <= self.stop))
        below[::2] = upto[::2] = place - self.start
        # A run of equal values is one ticket: that of its first.
        fresh = ~(after_first & before_last)
        fresh[1:-1] |= self.values[1:] != self.values[:-1]
        begins = fresh * place
        ends = np.where(fresh, place, width)
        for j in range(width):  # accumulate goes run by run instead, and is many times slower
            np.maximum(begins[j + 1], begins[j], out=begins[j + 1])
            np.minimum(ends[-2 - j], ends[-1 - j], out=ends[-2 - j])
        starts[1::2] = self.values
        weights[1::2] = (fresh & (place >= self.start) & before_last)[:-1]
        below[1::2] = begins[:-1] - self.start
        upto[1::2] = ends[1:] - self.start
        return starts, weights, below, upto

    def cut(self, points: Integers) -> tuple[Rows, Rows]:
        """The values up to the point of each run, and those above it."""
        at = np.clip((self.values <= points).sum(axis=0), self.start, self.stop)
        lower = Rows(self.values, self.start, at, self.low, points)
        return lower, Rows(self.values, at, self.stop, points, self.high)


def _winners(scores: Integers, weights: Integers, factor: Fraction, entropy: BitSource) -> npt.NDArray[np.intp]:
    """A lottery in each column; in each, some ticket of score 0 has points."""
    tickets, count = scores.shape
    coins = entropy.words(count)
    places = weights * np.exp(scores * float(factor))
    for j in range(1, tickets):
        places[j] += places[j - 1]
    total = places[-1]
    slack = total * (_SLACK + tickets * _SLACK_PER_TICKET)
    target = (coins.astype(np.float64) + 0.5) * 2.0**-64 * total
    found = (places <= target - slack).sum(axis=0)
    winners: npt.NDArray[np.intp] = np.minimum(found, tickets - 1)
    settled = (found < tickets) & (places[winners, np.arange(count)] > target + slack)
    for i in np.flatnonzero(~settled).tolist():
        parts = [(s * factor, Fraction(w)) for s, w in zip(scores[:, i].tolist(), weights[:, i].tolist(), strict=True)]
        winners[i] = _settle(parts, LazyUniform(int(coins[i]), 64, entropy))
    return winners


def _below(bounds: Integers, entropy: BitSource) -> Integers:
    """What `uniform_below` gives, once for each bound."""
    words = entropy.words(bounds.size)
    divisors = bounds.view(np.uint64)
    rests = words % divisors
    out = rests.view(np.int64)
    # words of the last, incomplete stretch of the bound's length would favour the small values
    for i in np.flatnonzero(words - rests > np.uint64(0) - divisors).tolist():
        out[i] = _one_below(int(bounds[i]), entropy)
    return out
