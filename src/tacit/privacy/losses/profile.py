"""Reading δ at an ε, or ε at a δ, off the distribution of a total loss: an upper and a lower reading.

δ(ε) = E[(1 - e^(ε-S))₊] + P[S = ∞] is the exact promise of a pair (Balle & Wang 2018; Sommer et al. 2019).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from tacit.privacy.losses.fourier import Total
from tacit.privacy.losses.tails import Tails, tails_of


@dataclass(frozen=True, slots=True)
class Reading:
    """Masses at bottom + step·(0 … size-1), seen through ``tails``, and ``constant`` beyond all of them.

    At a grid point δ is the first sum of ``tails``; between grid points it is linear in e^ε. ``fold`` is what may have
    been folded into the masses and comes off δ: (log of it at loss 0, how fast its logarithm falls with ε).
    """

    bottom: float
    step: float
    size: int
    tails: Tails
    constant: float
    fold: tuple[float, float] | None = None

    def loss(self, j: int) -> float:
        return self.bottom + self.step * j

    def _first_from(self, epsilon: float) -> int:
        """The first grid point at or above ``epsilon``; ``size`` if there is none."""
        if epsilon <= self.bottom:
            return 0
        if epsilon > self.loss(self.size - 1):
            return self.size
        j = min(max(math.ceil((epsilon - self.bottom) / self.step), 0), self.size - 1)
        while j > 0 and self.loss(j - 1) >= epsilon:
            j -= 1
        while self.loss(j) < epsilon:
            j += 1
        return j

    def delta(self, epsilon: float) -> float:
        """δ at ``epsilon``, never outside [0, 1]."""
        j = self._first_from(epsilon)
        if j == self.size:
            return min(self.constant, 1.0)
        at, slope = self.tails.at(j)
        over = self.loss(j) - epsilon
        return self._finish(at - slope * math.expm1(-over), epsilon, over if over > 0 else self.step)

    def _finish(self, finite: float, epsilon: float, over: float) -> float:
        """δ from its finite part; ``over`` is the distance from ε to the next grid point above it."""
        if self.fold is not None and self.fold[0] > -math.inf:
            log_fold, tilt = self.fold
            far = max(over, math.log1p(1 / tilt))  # where e^(-tilt·s)·(1 - e^-s) peaks, or the first point after it
            finite -= math.exp(min(log_fold - tilt * (epsilon + far), 700.0)) * -math.expm1(-far)
        return min(max(finite, 0.0) + self.constant, 1.0)

    def _at_point(self, j: int) -> float:
        return self._finish(self.tails.at(j)[0], self.loss(j), self.step)

    def crossing(self, goal: float, start: float = math.inf) -> tuple[float, float]:
        """(a, b) with δ(a) > goal ≥ δ(b), a as near below b as floats allow; ∓∞ where there is no such point.

        Looks down from ``start`` first: a lower reading is good near the tilted middle only.
        """
        low, high = -1, self.size  # δ(loss(low)) > goal ≥ δ(loss(high)), the ends by convention
        if start < math.inf:
            high, stride = min(self._first_from(start) + 1, high), 1
            while high - stride >= 0:
                if self._at_point(high - stride) > goal:
                    low = high - stride
                    break
                high, stride = high - stride, 2 * stride
        low, high = self._narrow(goal, low, high)
        if low < 0:
            return -math.inf, self.bottom
        if high == self.size:
            top = self.loss(self.size - 1)
            return top, top if self.constant <= goal else math.inf
        left, right = self.loss(low), self.loss(high)
        at, slope = self.tails.at(high)
        needed = (goal - self.constant - at) / slope if slope > 0 else 0.0
        root = right + math.log1p(-needed) if needed < 1 else left
        nudge = 1e-13 * (1 + abs(root))
        return self._step_down(goal, left, root - nudge), self._step_up(goal, right, root + nudge)

    def _narrow(self, goal: float, low: int, high: int) -> tuple[int, int]:
        """Neighbours with δ(loss(low)) > goal ≥ δ(loss(high)): by halves, and by secants of ln δ."""
        aim = math.log(goal)
        above = below = math.nan
        for turn in itertools.count():
            if high - low <= 1:
                return low, high
            middle = (low + high) // 2
            if turn % 3 and above > 0 > below:
                near = low + round((high - low) * above / (above - below))
                middle = min(max(near + turn % 3 - 1, low + 1), high - 1)
            value = self._at_point(middle)
            if value > goal:
                low, above = middle, math.log(value) - aim
            else:
                high, below = middle, math.log(value) - aim if value > 0 else math.nan
        raise AssertionError

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
    constant = total.above + total.infinite * (1 + 2.0**-40) + 1e-300
    return Reading(total.bottom, total.step, total.length, tails_of(total, 1), constant)


def read_below(total: Total) -> Reading:
    """Lower bounds on δ(epsilon - blur), for a total of cheap parts."""
    fold = (total.log_folded + total.log_scale + total.relative, total.tilt)
    constant = total.infinite * (1 - 2.0**-40)
    return Reading(total.bottom, total.step, total.length, tails_of(total, -1), constant, fold)
