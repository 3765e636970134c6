"""VAR_SAMP, VAR_POP, STDDEV_SAMP, STDDEV_POP: squares and products of distances to both ends, noised together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.mechanisms.shared.estimate import Estimate
from tacit.tables.estimators.base import Estimator, Noisy, Setting, Weighted
from tacit.tables.estimators.blends import squares, width
from tacit.tables.estimators.quantising import centred_for_squares
from tacit.tables.query.tree import Aggregate

__all__ = ["STDDEV", "STDDEV_POP", "VARIANCE", "VARIANCE_POP"]

Floats = npt.NDArray[np.float64]
Ends = tuple[Floats, Floats]


@dataclass(frozen=True, slots=True)
class Variance(Estimator):
    """Of the rows that count and where x is known; ``lost`` is 1 for the sample's n-1.

    With a = Σ(h - q)², b = 2Σ(h - q)(q - l), c = Σ(q - l)² and w = h - l the rows are (a + b + c)/w², and the variance
    is w²(ac - b²/4)/(a + b + c)². The interval takes all three within their errors at once: it covers at least as often
    as it says.
    """

    lost: int
    root: bool

    def parts(self, aggregate: Aggregate, setting: Setting) -> tuple[Weighted, ...]:
        return (Weighted(squares(aggregate, centred_for_squares(aggregate, setting), setting), Fraction(1)),)

    def finish(self, aggregate: Aggregate, setting: Setting, noisy: tuple[Noisy, ...], beta: Fraction) -> Estimate:
        (sums,) = noisy
        row = centred_for_squares(aggregate, setting)
        square = float(max(width(row), 1) ** 2)
        largest = width(row) ** 2 / 4
        a, b, c = sums.values / square  # in rows
        n = np.maximum(a + b + c, 1.0)
        value = self._corrected(np.clip((a * c - b**2 / 4) / n**2, 0.0, 0.25), n) * square
        off = float(sums.mechanism.accuracy(beta / 3)) / square
        low, high = (part * square for part in self._box(*((one - off, one + off) for one in (a, b, c))))
        value, low, high = (self._in_units(np.minimum(part, 2 * largest), row.granule) for part in (value, low, high))
        return Estimate(value, np.minimum(low, value), np.maximum(high, value), whole=False)

    def _box(self, first: Ends, second: Ends, third: Ends) -> Ends:
        """The least and the most the variance can be, over w², with each sum within its interval and none below 0."""
        (a, a_most), (b, b_most), (c, c_most) = (
            (np.maximum(x, 0.0), np.maximum(y, 0.0)) for x, y in (first, second, third)
        )
        low = np.minimum.reduce([_variance(x, b_most, z) for x in (a, a_most) for z in (c, c_most)])
        tried = [_variance(x, b, np.clip(_best(x, b), c, c_most)) for x in (a, a_most)]
        tried += [_variance(np.clip(_best(z, b), a, a_most), b, z) for z in (c, c_most)]
        few, many = np.maximum(a + b + c, 1.0), np.maximum(a_most + b_most + c_most, 1.0)
        blind = a + b + c <= 0  # perhaps of no row
        low, high = np.where(blind, 0.0, low), np.where(blind, 0.25, np.maximum.reduce(tried))
        return self._corrected(np.clip(low, 0.0, 0.25), many), self._corrected(np.clip(high, 0.0, 0.25), few)

    def _corrected(self, population: Floats, n: Floats) -> Floats:
        """With n/(n-1) for a sample. It falls with n, from 2: a sample of fewer than two has no variance."""
        rows = np.maximum(n, 1.0 + self.lost)
        corrected: Floats = population * (rows / (rows - self.lost))
        return corrected

    def _in_units(self, squared: Floats, granule: Fraction) -> Floats:
        scaled: Floats = squared * float(granule) ** 2
        return np.sqrt(scaled) if self.root else scaled

    def error(
        self, aggregate: Aggregate, setting: Setting, mechanisms: tuple[AdditiveMechanism, ...], rows: int | None
    ) -> float | None:
        """The variance moves by at most the largest of the three noises, over n."""
        if rows is None:
            return None
        row = centred_for_squares(aggregate, setting)
        square = max(width(row), 1) ** 2
        off = float(mechanisms[0].accuracy(Fraction(1, 60)))
        most = off / max(rows - 3 * off / square, 1.0)
        worst = min(most, square / 4) * float(row.granule) ** 2
        return math.sqrt(worst) if self.root else worst


def _variance(a: Floats, b: Floats, c: Floats) -> Floats:
    total = np.maximum(a + b + c, 1e-300)
    made: Floats = (a / total) * (c / total) - (b / total) ** 2 / 4
    return made


def _best(c: Floats, b: Floats) -> Floats:
    """The a for which the variance is largest, given the other two: c + b + b²/2c."""
    with np.errstate(over="ignore"):
        made: Floats = c + b + b**2 / (2 * np.maximum(c, 1e-300))
    return made


VARIANCE = Variance(lost=1, root=False)
VARIANCE_POP = Variance(lost=0, root=False)
STDDEV = Variance(lost=1, root=True)
STDDEV_POP = Variance(lost=0, root=True)
