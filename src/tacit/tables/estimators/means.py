"""AVG(x): sums of the distances of x to both ends of its range, noised together; their ratio says where the mean is."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.mechanisms.shared.estimate import BETA, Estimate
from tacit.tables.estimators.base import Estimator, Noisy, Reading, Setting, Weighted, Weights
from tacit.tables.estimators.blends import of_column, width
from tacit.tables.estimators.noise import furthest, norm
from tacit.tables.estimators.quantising import centred, row_bounds
from tacit.tables.estimators.ratios import mean_ends, means
from tacit.tables.query.tree import Aggregate

__all__ = ["MEAN"]

_PLACES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Where between the ends a mean may lie, for what is said of its error beforehand."""


class Mean(Estimator):
    """Where between the ends the rows that count, and have a known x, lie on average.

    The interval is Fieller's (1954): all m for which the released sums would be plausible noise around rows whose mean
    is m. It is exact, not an approximation for large n, and clipped to the bounds, where every mean lies.
    """

    def parts(self, aggregate: Aggregate, setting: Setting) -> tuple[Weighted, ...]:
        return (Weighted(of_column(aggregate, centred(aggregate, setting), setting).blend, Fraction(1)),)

    def finish(self, aggregate: Aggregate, setting: Setting, noisy: tuple[Noisy, ...], beta: Fraction) -> Estimate:
        (sums,) = noisy
        row, reading = centred(aggregate, setting), _reading(aggregate, setting)
        middle = means(sums, reading)
        ends = mean_ends(sums, reading, middle, beta) if width(row) else (middle, middle)
        first, wide = float(row.centre + row.lowest * row.granule), float(width(row) * row.granule)
        bottom, top = (float(bound) for bound in row_bounds(aggregate))
        value, low, high = (np.clip(first + part * wide, bottom, top) for part in (middle, *ends))
        return Estimate(value, np.minimum(low, value), np.maximum(high, value), whole=False)

    def error(
        self, aggregate: Aggregate, setting: Setting, mechanisms: tuple[AdditiveMechanism, ...], rows: int | None
    ) -> float | None:
        """What the noise of Σ(t - m) comes to, over n, wherever the mean m is."""
        if rows is None:
            return None
        (own,), row, reading = mechanisms, centred(aggregate, setting), _reading(aggregate, setting)
        off = max(furthest(own, _around(reading, m), BETA) for m in _PLACES)
        fewer = max(rows - furthest(own, reading.known, BETA), 1.0)
        bottom, top = row_bounds(aggregate)
        return min(off / fewer * float(width(row) * row.granule), float(top - bottom))

    def factors(self, aggregate: Aggregate, setting: Setting) -> tuple[float, ...]:
        return _factors(_reading(aggregate, setting))


MEAN = Mean()


def _reading(aggregate: Aggregate, setting: Setting) -> Reading:
    return setting.reading or of_column(aggregate, centred(aggregate, setting), setting).reading


@lru_cache(maxsize=256)
def _factors(reading: Reading) -> tuple[float, ...]:
    """Many plans of one statement are compared."""
    return tuple(norm(_around(reading, m)) for m in _PLACES)


def _around(reading: Reading, mean: float) -> Weights:
    """Σ(t - m), as weights of the parts."""
    return tuple(first - Fraction(mean) * known for first, known in zip(reading.total, reading.known, strict=True))
