"""Reading δ at an ε, or ε at a δ, off the distribution of a total loss: an upper and a lower reading.

δ(ε) = E[(1 - e^(ε-S))₊] + P[S = ∞] is the exact promise of a pair (Balle & Wang 2018; Sommer et al. 2019).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.privacy.losses.fourier import Total
from tacit.privacy.losses.pair import Floats

_GAIN_ERROR = 2.0**-44  # the relative error of 1 - e^-x, and of the sums


@dataclass(frozen=True, slots=True)
class Reading:
    """Masses at evenly spaced losses, and ``constant`` beyond all of them.

    ``gains`` are 1 - e^(-i·step). At loss[j], δ = Σ_i mass[j+i]·gains[i]; between grid points it is linear in e^ε: no
    difference of near numbers is ever taken. ``fold`` is what may have been folded into the masses and comes off δ:
    (log of it at loss 0, how fast its logarithm falls with ε).
    """

    losses: Floats
    masses: Floats
    gains: Floats
    constant: float
    fold: tuple[float, float] | None = None

    @property
    def step(self) -> float:
        return float(self.losses[1] - self.losses[0])

    def delta(self, epsilon: float) -> float:
        """δ at ``epsilon``, never outside [0, 1]."""
        j = int(np.searchsorted(self.losses, epsilon, side="left"))
        if j == self.losses.size:
            return min(self.constant, 1.0)
        at, slope = self._at(j)
        over = float(self.losses[j]) - epsilon
        return self._finish(at - slope * math.expm1(-over), epsilon, over if over > 0 else self.step)

    def _at(self, j: int) -> tuple[float, float]:
        """Σ mass·(1 - e^(loss[j]-loss)) and Σ mass·e^(loss[j]-loss) over losses from loss[j] on."""
        tail = self.masses[j:]
        at = float((tail * self.gains[: tail.size]).sum())
        return at, max(float(tail.sum()) - at, 0.0)

    def _finish(self, finite: float, epsilon: float, over: float) -> float:
        """δ from its finite part; ``over`` is the distance from ε to the next grid point above it."""
        if self.fold is not None and self.fold[0] > -math.inf:
            log_fold, tilt = self.fold
            far = max(over, math.log1p(1 / tilt))  # where e^(-tilt·s)·(1 - e^-s) peaks, or the first point after it
            finite -= math.exp(min(log_fold - tilt * (epsilon + far), 700.0)) * -math.expm1(-far)
        return min(max(finite, 0.0) + self.constant, 1.0)

    def _at_point(self, j: int) -> float:
        return self._finish(self._at(j)[0], float(self.losses[j]), self.step)

    def crossing(self, goal: float, start: float = math.inf) -> tuple[float, float]:
        """(a, b) with δ(a) > goal ≥ δ(b), a as near below b as floats allow; ∓∞ where there is no such point.

        Looks down from ``start`` first: a lower reading is good near the tilted middle only.
        """
        low, high = -1, self.losses.size  # δ(losses[low]) > goal ≥ δ(losses[high]), the ends by convention
        if start < math.inf:
            high, stride = min(int(np.searchsorted(self.losses, start, side="right")) + 1, high), 1
            while high - stride >= 0:
                if self._at_point(high - stride) > goal:
                    low = high - stride
                    break
                high, stride = high - stride, 2 * stride
        while high - low > 1:
            middle = (low + high) // 2
            if self._at_point(middle) > goal:
                low = middle
            else:
                high = middle
        if low < 0:
            return -math.inf, float(self.losses[0])
        if high == self.losses.size:
            return float(self.losses[-1]), float(self.losses[-1]) if self.constant <= goal else math.inf
        left, right = float(self.losses[low]), float(self.losses[high])
        at, slope = self._at(high)
        needed = (goal - self.constant - at) / slope if slope > 0 else 0.0
        root = right + math.log1p(-needed) if needed < 1 else left
        nudge = 1e-13 * (1 + abs(root))
        return self._step_down(goal, left, root - nudge), self._step_up(goal, right, root + nudge)

    def _step_up(self, goal: float, right: float, start: float) -> float:
        """The first of ever larger steps up from ``start`` at which δ is at most ``goal``; ``right`` is one."""
        step = 1e-13 * (1 + abs(start))
        while start < right and self.delta(start) > goal:
            start, step = start + step, 8 * step
        return min(start, right)

    def _step_down(self, goal: float, left: float, start: float) -> float:
        """The first of ever larger steps down from ``start`` at which δ exceeds ``goal``; ``left`` is one."""
        step = 1e-13 * (1 + abs(start))
        while start > left and not self.delta(start) > goal:
            start, step = start - step, 8 * step
        return max(start, left)


def read_above(total: Total) -> Reading:
    """Upper bounds on δ(epsilon + blur), for a total of dear parts."""
    exponents = total.log_scale - total.tilt * total.losses + (total.relative + _GAIN_ERROR)
    masses = (np.maximum(total.weights, 0.0) + total.noise) * np.exp(np.minimum(exponents, 700.0))
    constant = total.above + total.infinite * (1 + 2.0**-40) + 1e-300
    return Reading(total.losses, masses, _gains(total), constant)


def read_below(total: Total) -> Reading:
    """Lower bounds on δ(epsilon - blur), for a total of cheap parts."""
    exponents = total.log_scale - total.tilt * total.losses - (total.relative + _GAIN_ERROR)
    masses = np.maximum(total.weights - total.noise, 0.0) * np.exp(np.minimum(exponents, 700.0))
    fold = (total.log_folded + total.log_scale + total.relative, total.tilt)
    return Reading(total.losses, masses, _gains(total), total.infinite * (1 - 2.0**-40), fold)


def _gains(total: Total) -> Floats:
    """1 - e^(-i·step), by expm1 only where it matters."""
    steps = total.step * np.arange(total.losses.size)
    gains: Floats = 1 - np.exp(-steps)
    near = int(np.searchsorted(steps, 1 / 64))  # from here on the difference keeps all but 7 bits
    gains[:near] = -np.expm1(-steps[:near])
    return gains
