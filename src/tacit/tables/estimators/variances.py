"""VAR_SAMP, VAR_POP, STDDEV_SAMP, STDDEV_POP: centred sums of x and x² and a count, noised jointly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.base import AdditiveMechanism
from tacit.tables.bounded import Measure, Square
from tacit.tables.estimators.base import Noisy, Part, Setting
from tacit.tables.estimators.means import chosen_count, chosen_sum
from tacit.tables.estimators.quantising import centred_for_squares
from tacit.tables.query import Aggregate
from tacit.tables.released import Estimate

__all__ = ["STDDEV", "STDDEV_POP", "VARIANCE", "VARIANCE_POP"]

Floats = npt.NDArray[np.float64]

_WEIGHTS = (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))


@dataclass(frozen=True, slots=True)
class Variance:
    """Σ(x-c)²/n - (Σ(x-c)/n)², over the rows that count and where x is known; ``lost`` is 1 for the sample's n-1.

    The interval takes all three sums within their errors at once: it covers at least as often as it says.
    """

    lost: int
    root: bool

    def parts(self, aggregate: Aggregate, setting: Setting) -> tuple[Part, ...]:
        row = centred_for_squares(aggregate, setting)
        most = setting.rows * max(row.lowest**2, row.highest**2)
        measures = (
            chosen_sum(row, setting),
            Measure(Square(row), 0, most, chosen=setting.chosen),
            chosen_count(aggregate, setting),
        )
        return tuple(Part(measure, weight) for measure, weight in zip(measures, _WEIGHTS, strict=True))

    def finish(self, aggregate: Aggregate, setting: Setting, noisy: tuple[Noisy, ...], beta: Fraction) -> Estimate:
        total, squares, count = noisy
        row = centred_for_squares(aggregate, setting)
        largest = float(max(row.lowest**2, row.highest**2))
        third = beta / 3
        low, high = self._box(total.interval(third), squares.interval(third), count.interval(third), largest)
        n = np.maximum(count.values, 1.0)
        value = self._corrected(np.clip(squares.values / n - (total.values / n) ** 2, 0.0, largest), n)
        value, low, high = (self._in_units(part, row.granule) for part in (value, low, high))
        return Estimate(value, np.minimum(low, value), np.maximum(high, value), whole=False)

    def _box(
        self,
        total: tuple[Floats, Floats],
        squares: tuple[Floats, Floats],
        count: tuple[Floats, Floats],
        largest: float,
    ) -> tuple[Floats, Floats]:
        """The least and the most the variance can be with each sum within its interval."""
        few, many = np.maximum(count[0], 1.0), np.maximum(count[1], 1.0)
        spans_zero = (total[0] <= 0) & (total[1] >= 0)
        near = np.where(spans_zero, 0.0, np.minimum(np.abs(total[0]), np.abs(total[1])) / many)
        far = np.maximum(np.abs(total[0]), np.abs(total[1])) / few
        low = np.clip(np.maximum(squares[0], 0.0) / many - far**2, 0.0, largest)
        high = np.clip(np.maximum(squares[1], 0.0) / few - near**2, 0.0, largest)
        return self._corrected(low, many), self._corrected(high, few)

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
        if rows is None:
            return None
        row = centred_for_squares(aggregate, setting)
        largest = float(max(row.lowest**2, row.highest**2))
        total, squares, count = (float(mechanism.accuracy(Fraction(1, 60))) for mechanism in mechanisms)
        n = max(rows - count, 1.0)
        most = (squares + 2 * math.sqrt(largest) * total + 2 * largest * count) / n
        worst = min(most, largest) * float(row.granule) ** 2
        return math.sqrt(worst) if self.root else worst


VARIANCE = Variance(lost=1, root=False)
VARIANCE_POP = Variance(lost=0, root=False)
STDDEV = Variance(lost=1, root=True)
STDDEV_POP = Variance(lost=0, root=True)
