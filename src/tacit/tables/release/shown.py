"""Counts that are seen only because they are large enough, and intervals that hold for those that are seen.

Where a released count decides whether its group is shown, noise that raised it is seen more often than noise that
lowered it. The lower end of the interval is therefore that of a test given that the count was shown. Proof:
docs/proofs/released_counts.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.tables.estimators.base import Noisy

__all__ = ["Shown"]

Floats = npt.NDArray[np.float64]
Survival = Callable[[float], float]

_ASIDE = Fraction(1, 100_000)
"""Of β, for what is not computed anew far above the threshold."""
_CERTAIN = Fraction(1, 1_000_000)
_SLACK = 1e-4
"""More than floats lose in a logarithm here."""
_FINEST = 512
"""So many places above the threshold are looked at; between them the lower end of the one below holds."""


@dataclass(frozen=True, slots=True)
class Shown(Noisy):
    """Counts with noise that reached a threshold; those that did not are not there."""

    threshold: int

    def interval(self, beta: Fraction) -> tuple[Floats, Floats]:
        """Where the count without noise lies, all but β of the time that a count is shown."""
        off = float(self.mechanism.accuracy(beta))
        far = float(self.mechanism.accuracy(beta * (1 - _ASIDE)))
        steps, lows = _low_ends(_law(self.mechanism), self.threshold, far, float(beta))
        above = np.maximum(self.values - self.threshold, 0.0)
        at = np.searchsorted(steps, above, side="right") - 1
        low: Floats = np.where(above > steps[-1], self.values - far, lows[at])
        return np.minimum(low, self.values), self.values + off


@dataclass(frozen=True, slots=True)
class _Laplace:
    scale: float

    def log_beyond(self, least: float) -> float:
        """ln P[X ≥ least] for discrete Laplace noise, at whole numbers."""
        q = math.exp(-1 / self.scale)
        if least >= 1:
            return -least / self.scale - math.log1p(q)
        return math.log1p(-math.exp((least - 1) / self.scale) / (1 + q))

    def off(self, level: Fraction) -> int:
        return math.ceil(self.scale * math.log(2 / level)) + 1


@dataclass(frozen=True, slots=True)
class _Gaussian:
    scale: float

    def log_beyond(self, least: float) -> float:
        """ln P[σZ ≥ least - ½]: of rounded noise; the quotients of two are at most these for discrete noise."""
        x = (least - 0.5) / self.scale
        if x < _FAR:
            return math.log(math.erfc(x / math.sqrt(2)) / 2)
        return -x * x / 2 - math.log(x * math.sqrt(2 * math.pi)) + math.log1p(-1 / x**2 + 3 / x**4)

    def off(self, level: Fraction) -> int:
        return math.ceil(self.scale * math.sqrt(2 * math.log(2 / level))) + 1


_FAR = 25.0
Law = _Laplace | _Gaussian


def _law(mechanism: AdditiveMechanism) -> Law:
    kind = _Laplace if isinstance(mechanism, DiscreteLaplace) else _Gaussian
    return kind(mechanism.scale)


@lru_cache(maxsize=64)
def _low_ends(law: Law, threshold: int, far: float, beta: float) -> tuple[Floats, Floats]:
    """Distances above the threshold, and for each the lower end of the interval of a count seen there."""
    last = math.ceil(far) + law.off(_CERTAIN)
    steps = np.unique(np.floor(np.linspace(0.0, float(last), min(last, _FINEST) + 1)))
    lows = [_low_end(law, threshold, int(step), math.log(beta / 2)) for step in steps]
    return steps, np.array([float(low) for low in lows])


def _low_end(law: Law, threshold: int, above: int, level: float) -> int:
    """The smallest count, from 1 on, of which this or more is not too rarely seen among those that are shown.

    P[c + X ≥ y | c + X ≥ T] grows with c.
    """
    seen = threshold + above

    def likely(count: int) -> bool:
        return law.log_beyond(seen - count) - law.log_beyond(threshold - count) + _SLACK > level

    low, high = 0, seen
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if likely(middle) else (middle, high)
    return high
