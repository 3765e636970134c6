"""VAR_SAMP, VAR_POP, STDDEV_SAMP, STDDEV_POP: squares and products of distances to both ends, noised together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.mechanisms.shared.estimate import BETA, Estimate
from tacit.tables.estimators.base import Estimator, Noisy, Reading, Setting, Weighted
from tacit.tables.estimators.blends import of_column, width
from tacit.tables.estimators.noise import furthest, norm
from tacit.tables.estimators.quantising import centred_for_squares
from tacit.tables.estimators.ratios import Ends, no_row, rows_ends, variance_ends, variance_weights
from tacit.tables.query.tree import Aggregate

__all__ = ["STDDEV", "STDDEV_POP", "VARIANCE", "VARIANCE_POP"]

Floats = npt.NDArray[np.float64]

_FAR = 1e100
_OF_ROWS = Fraction(1, 20)
"""The share of β for how many rows there are, where a sample's variance is asked for."""
_PLACES = tuple((m, part * m * (1 - m)) for m in (0.0, 0.25, 0.5, 0.75, 1.0) for part in (0.0, 0.3, 1.0))
"""Means and variances, for what is said of the error beforehand."""


@dataclass(frozen=True, slots=True)
class Variance(Estimator):
    """Of the rows that count and where x is known; ``lost`` is 1 for the sample's n-1.

    With t from 0 to 1 between the ends, Σ(1-t)², 2Σt(1-t) and Σt² are released: they are the rows when added up, and
    the variance is Σt²/n - (Σt/n)². The interval holds all variances that make the sums plausible.
    """

    lost: int
    root: bool

    def parts(self, aggregate: Aggregate, setting: Setting) -> tuple[Weighted, ...]:
        row = centred_for_squares(aggregate, setting)
        return (Weighted(of_column(aggregate, row, setting, squares=True).blend, Fraction(1)),)

    def finish(self, aggregate: Aggregate, setting: Setting, noisy: tuple[Noisy, ...], beta: Fraction) -> Estimate:
        (sums,) = noisy
        reading, wide = _reading(aggregate, setting), self._width(aggregate, setting)
        n = np.maximum(sums.read(reading.known), 1.0)
        second = sums.read(reading.squares) / n
        first = np.clip(sums.read(reading.total) / n, -_FAR, _FAR)  # of noise alone; its square is a number
        value = self._corrected(np.clip(second - first**2, 0.0, 0.25), n)
        if not wide:
            low = high = value
        else:
            low, high = self._ends(sums, reading, beta)
        value, low, high = (self._in_units(np.minimum(part, 0.5), wide) for part in (value, low, high))
        return Estimate(value, np.minimum(low, value), np.maximum(high, value), whole=False)

    def _ends(self, sums: Noisy, reading: Reading, beta: Fraction) -> Ends:
        """Of a sample's variance with as few and as many rows as there may be: n/(n-1) falls with n."""
        if not self.lost:
            return variance_ends(sums, reading, beta)
        aside = beta * _OF_ROWS
        low, high = variance_ends(sums, reading, beta - aside)
        few, many = rows_ends(sums, reading, aside)
        low, high = self._corrected(np.clip(low, 0.0, 0.25), many), self._corrected(np.clip(high, 0.0, 0.25), few)
        return low, np.where(no_row(sums, reading, aside), 0.5, high)

    def _corrected(self, population: Floats, n: Floats) -> Floats:
        """With n/(n-1) for a sample. It falls with n, from 2: a sample of fewer than two has no variance."""
        rows = np.maximum(n, 1.0 + self.lost)
        corrected: Floats = population * (rows / (rows - self.lost))
        return corrected

    def _width(self, aggregate: Aggregate, setting: Setting) -> float:
        row = centred_for_squares(aggregate, setting)
        return float(width(row) * row.granule)

    def _in_units(self, part: Floats, wide: float) -> Floats:
        scaled: Floats = np.clip(part, 0.0, 0.5) * wide**2
        return np.sqrt(scaled) if self.root else scaled

    def error(
        self, aggregate: Aggregate, setting: Setting, mechanisms: tuple[AdditiveMechanism, ...], rows: int | None
    ) -> float | None:
        """What the noise of Σ(t - m)² - v·n comes to, over n, whatever the mean and the variance are."""
        if rows is None:
            return None
        (own,), reading, wide = mechanisms, _reading(aggregate, setting), self._width(aggregate, setting)
        off = max(furthest(own, variance_weights(reading, m, v), BETA) for m, v in _PLACES)
        fewer = max(rows - furthest(own, reading.known, BETA), 1.0)
        worst = min(off / fewer, 0.25) * wide**2
        return math.sqrt(worst) if self.root else worst

    def factors(self, aggregate: Aggregate, setting: Setting) -> tuple[float, ...]:
        return _factors(_reading(aggregate, setting))


@lru_cache(maxsize=256)
def _factors(reading: Reading) -> tuple[float, ...]:
    """Many plans of one statement are compared."""
    return tuple(norm(variance_weights(reading, m, v)) for m, v in _PLACES)


def _reading(aggregate: Aggregate, setting: Setting) -> Reading:
    own = setting.reading
    return own or of_column(aggregate, centred_for_squares(aggregate, setting), setting, squares=True).reading


VARIANCE = Variance(lost=1, root=False)
VARIANCE_POP = Variance(lost=0, root=False)
STDDEV = Variance(lost=1, root=True)
STDDEV_POP = Variance(lost=0, root=True)
