"""A rough picture of a plan's total loss, to choose tilt, step and window. Nothing here enters a bound."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tacit.privacy.losses.grid import Weight
from tacit.privacy.losses.pair import Floats, Pair

_SPREADS = np.array([0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 9.0, 12.0, 24.0])
_FEW_PARTS = 32
_FOURTEEN = np.linspace(0, 1, 14)


@dataclass(frozen=True, slots=True)
class Outline:
    """A few hundred merged outcomes per part: losses, log masses, where each part starts, how often it is used."""

    losses: Floats
    logs: Floats
    starts: NDArray[np.intp]
    counts: Floats
    windows: dict[tuple[float, float], Window] = field(default_factory=dict, repr=False, compare=False)
    known: dict[float, tuple[float, float, float]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, parts: tuple[tuple[Pair, int], ...], tail: float) -> tuple[Self, Self]:
        """The outlines of (P, Q) and of (Q, P)."""
        forward: list[tuple[Floats, Floats]] = []
        backward: list[tuple[Floats, Floats]] = []
        points = (48 if len(parts) < 64 else 24) + int(-math.log10(tail) / 4)  # tiny tails reach far
        for pair, _ in parts:
            losses, p, q = _merged(pair, tail, points)
            forward.append((losses, p))
            backward.append((-losses[::-1], q[::-1]))
        counts = np.array([count for _, count in parts], dtype=np.float64)
        one = cls._joined(forward, counts)
        return one, one if all(pair.symmetric for pair, _ in parts) else cls._joined(backward, counts)

    @classmethod
    def _joined(cls, tables: list[tuple[Floats, Floats]], counts: Floats) -> Self:
        starts = np.cumsum([0] + [losses.size for losses, _ in tables[:-1]]).astype(np.intp)
        with np.errstate(divide="ignore"):
            logs = np.log(np.concatenate([p for _, p in tables]))
        return cls(np.concatenate([losses for losses, _ in tables]), logs, starts, counts)

    def log_moments(self, tilts: Floats) -> Floats:
        """K(tilt) = ln E[e^(tilt·S)] of the total loss S, at many tilts at once."""
        if self.counts.size > _FEW_PARTS:
            return np.array([self._cumulants(float(tilt))[0] for tilt in tilts])
        moments: Floats = np.zeros(tilts.size)
        for part, count in enumerate(self.counts):
            losses, logs = self._part(part)
            exponents = tilts[:, None] * losses
            exponents += logs
            tops = exponents.max(axis=1)
            exponents -= tops[:, None]
            moments += count * (tops + np.log(np.exp(exponents, out=exponents).sum(axis=1)))
        return moments

    def _part(self, part: int) -> tuple[Floats, Floats]:
        """The losses and log masses of one part."""
        start = int(self.starts[part])
        stop = int(self.starts[part + 1]) if part + 1 < self.starts.size else self.losses.size
        return self.losses[start:stop], self.logs[start:stop]

    def cumulants(self, tilt: float) -> tuple[float, float, float]:
        """K(tilt), and the mean and variance of S under the tilt."""
        if tilt not in self.known:
            self.known[tilt] = self._cumulants(tilt)
        return self.known[tilt]

    def _cumulants(self, tilt: float) -> tuple[float, float, float]:
        exponents = self.logs + tilt * self.losses
        tops = np.maximum.reduceat(exponents, self.starts)
        sizes = np.diff(self.starts, append=self.losses.size)
        weights = np.exp(exponents - np.repeat(tops, sizes))
        norms = np.add.reduceat(weights, self.starts)
        means = np.add.reduceat(weights * self.losses, self.starts) / norms
        centred = self.losses - np.repeat(means, sizes)
        variances = np.add.reduceat(weights * centred * centred, self.starts) / norms
        k = self.counts
        return float(k @ (tops + np.log(norms))), float(k @ means), float(k @ variances)

    def weight(self, part: int, tilt: float, backward: bool) -> Weight | None:
        """How much depends on each loss of a part at this tilt, in the order of the pair itself."""
        losses, logs = self._part(part)
        if losses.size < 2:
            return None
        tilted = logs + tilt * losses
        masses = np.exp(tilted - tilted.max())
        masses = masses / masses.sum() + np.exp(logs)  # both tilted and not, so that a smaller tilt can be tried
        ends = (losses[:-1] + losses[1:]) / 2
        edges = np.concatenate([[2 * losses[0] - ends[0]], ends, [2 * losses[-1] - ends[-1]]])
        shares = np.concatenate([[0.0], np.cumsum(masses)]) / 2
        if backward:
            edges, shares = -edges[::-1], shares[-1] - shares[::-1]
        return Weight(edges, shares, 0.25 / (1 + tilt))

    def tilt_for_delta(self, delta: float) -> float:
        """The tilt that makes the Rényi bound on ε at this δ smallest."""
        goal = -math.log(delta)
        return _smallest(lambda t: (self.log_moments(t) + goal + _entropies(t)) / t)

    def tilt_for_epsilon(self, epsilon: float) -> float:
        """The tilt that makes the Rényi bound on δ at this ε smallest."""
        return _smallest(lambda t: self.log_moments(t) - t * epsilon + _entropies(t))

    def epsilon(self, tilt: float, delta: float) -> float:
        """The Rényi bound on ε at this δ."""
        return (self.cumulants(tilt)[0] - math.log(delta) + _entropy(tilt)) / tilt

    def delta(self, tilt: float, epsilon: float) -> float:
        """The Rényi bound on δ at this ε."""
        return math.exp(min(self.cumulants(tilt)[0] - tilt * epsilon + _entropy(tilt), 0.0))

    def spread(self, tilt: float) -> float:
        """The standard deviation of the tilted total."""
        return math.sqrt(self.cumulants(tilt)[2])

    def window(self, tilt: float, mass: float) -> Window:
        """A range that holds all but ``mass`` of the tilted total, with the tilts that prove it (Chernoff)."""
        if (tilt, mass) not in self.windows:
            self.windows[tilt, mass] = self._window(tilt, mass)
        return self.windows[tilt, mass]

    def _window(self, tilt: float, mass: float) -> Window:
        base, mean, variance = self.cumulants(tilt)
        reach = _SPREADS / math.sqrt(max(variance, 1e-18 * (1 + mean * mean)))
        goal = -math.log(mass)
        ups, downs = tilt + reach, tilt - reach
        tops = (self.log_moments(ups) - base + goal) / (ups - tilt)
        bottoms = (base - self.log_moments(downs) - goal) / (tilt - downs)
        top, bottom = int(np.argmin(tops)), int(np.argmax(bottoms))
        return Window(float(bottoms[bottom]), float(tops[top]), float(downs[bottom]), float(ups[top]))


@dataclass(frozen=True, slots=True)
class Window:
    """Losses from ``bottom`` to ``top``; ``down`` and ``up`` are the tilts that bound what lies outside."""

    bottom: float
    top: float
    down: float
    up: float


def _entropy(tilt: float) -> float:
    """ln of the largest value of e^(-tilt·s)·(1 - e^-s) over s > 0."""
    return tilt * math.log(tilt) - (1 + tilt) * math.log1p(tilt) if tilt > 0 else 0.0


def _entropies(tilts: Floats) -> Floats:
    """`_entropy` at many tilts, all above 0."""
    found: Floats = tilts * np.log(tilts) - (1 + tilts) * np.log1p(tilts)
    return found


def _smallest(f: Callable[[Floats], Floats]) -> float:
    """Where a function with one valley is smallest, on a logarithmic scale: finer and finer grids, then a parabola."""
    low, high = math.log(1e-3), math.log(1e13)
    while True:
        grid = low + (high - low) * _FOURTEEN
        values = f(np.exp(grid))
        best = int(np.argmin(values))
        if high - low <= 1.3:
            break
        low, high = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, 13)])
    found, spacing = float(grid[best]), float(grid[1] - grid[0])
    if 0 < best < 13:
        before, at, after = (float(v) for v in values[best - 1 : best + 2])
        bend = before - 2 * at + after
        found += spacing * (before - after) / (2 * bend) if bend > 0 else 0.0
    return math.exp(found)


def _merged(pair: Pair, tail: float, points: int) -> tuple[Floats, Floats, Floats]:
    """Outcomes merged by ranges of the loss, finer near zero and both ends; each keeps its mean ratio."""
    low, high = pair.reach(tail)
    far = max(abs(low), abs(high), 1e-12)
    around, within = _ranges(points)
    pad = 1e-9 * far
    ends = (high - low) * within
    inner = np.concatenate([far * around, low + ends, high - ends])
    inner = np.concatenate([[-np.inf, low - pad], np.sort(inner.clip(low, high)), [high + pad, np.inf]])
    cells = pair.cells(inner)
    p, q = cells.p[1:-1], cells.q[1:-1]
    kept = (p > 0) & (q > 0)
    p, q = p[kept], q[kept]
    return np.log(p / q), p, q


@lru_cache(maxsize=64)
def _ranges(points: int) -> tuple[Floats, Floats]:
    """Ends of ranges around 0, as shares of the largest loss, and near an end, as shares of the width."""
    sizes = np.geomspace(1e-6, 1, points)
    return np.concatenate([-sizes, sizes, np.linspace(-1, 1, points + 1)]), np.geomspace(1e-7, 1, points // 2)
