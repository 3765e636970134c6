"""A rough picture of a plan's total loss, to choose tilt, step and window. Nothing here enters a bound."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tacit.privacy.losses.pair import Floats, Pair

_SPREADS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0, 16.0, 24.0, 40.0)


@dataclass(frozen=True, slots=True)
class Outline:
    """A few hundred merged outcomes per part: losses, log masses, where each part starts, how often it is used."""

    losses: Floats
    logs: Floats
    starts: NDArray[np.intp]
    counts: Floats
    windows: dict[tuple[float, float], Window] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, parts: tuple[tuple[Pair, int], ...], tail: float) -> tuple[Self, Self]:
        """The outlines of (P, Q) and of (Q, P)."""
        forward: list[tuple[Floats, Floats]] = []
        backward: list[tuple[Floats, Floats]] = []
        points = 64 if len(parts) < 64 else 32
        for pair, _ in parts:
            losses, p, q = _merged(pair, tail, points)
            forward.append((losses, p))
            backward.append((-losses[::-1], q[::-1]))
        counts = np.array([count for _, count in parts], dtype=np.float64)
        return cls._joined(forward, counts), cls._joined(backward, counts)

    @classmethod
    def _joined(cls, tables: list[tuple[Floats, Floats]], counts: Floats) -> Self:
        starts = np.cumsum([0] + [losses.size for losses, _ in tables[:-1]]).astype(np.intp)
        with np.errstate(divide="ignore"):
            logs = np.log(np.concatenate([p for _, p in tables]))
        return cls(np.concatenate([losses for losses, _ in tables]), logs, starts, counts)

    def log_moments(self, tilts: Floats) -> Floats:
        """K(tilt) = ln E[e^(tilt·S)] of the total loss S, at many tilts at once."""
        if self.counts.size > 1:
            return np.array([self.cumulants(float(tilt))[0] for tilt in tilts])
        exponents = self.logs + np.outer(tilts, self.losses)
        tops = exponents.max(axis=1)
        exponents -= tops[:, None]
        moments: Floats = self.counts[0] * (tops + np.log(np.exp(exponents, out=exponents).sum(axis=1)))
        return moments

    def cumulants(self, tilt: float) -> tuple[float, float, float]:
        """K(tilt), and the mean and variance of S under the tilt."""
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
        reach = np.array(_SPREADS) / math.sqrt(max(variance, 1e-18 * (1 + mean * mean)))
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
    """Where a function with one valley is smallest, on a logarithmic scale: a grid, then finer ones around its best."""
    low, high = math.log(1e-3), math.log(1e13)
    while True:
        grid = np.linspace(low, high, 14)
        best = int(np.argmin(f(np.exp(grid))))
        if high - low <= 0.1:
            return math.exp(float(grid[best]))
        low, high = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, 13)])


def _merged(pair: Pair, tail: float, points: int) -> tuple[Floats, Floats, Floats]:
    """Outcomes merged by ranges of the loss, finer near zero and both ends; each keeps its mean ratio."""
    low, high = pair.reach(tail)
    far = max(abs(low), abs(high), 1e-12)
    sizes = far * np.geomspace(1e-6, 1, points)
    ends = (high - low) * np.geomspace(1e-7, 1, points // 2)
    inner = np.concatenate([-sizes, sizes, low + ends, high - ends, np.linspace(-far, far, points + 1)])
    pad = 1e-9 * far
    inner = np.unique(np.append(np.clip(inner, low, high), [low - pad, high + pad]))
    cells = pair.cells(np.concatenate([[-np.inf], inner, [np.inf]]))
    p, q = cells.p[1:-1], cells.q[1:-1]
    kept = (p > 0) & (q > 0)
    return np.log(p[kept] / q[kept]), p[kept], q[kept]
