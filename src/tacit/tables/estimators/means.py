"""AVG(x): sums of the distances of x to both ends of its range, noised together; their ratio says where the mean is."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.mechanisms.shared.estimate import Estimate
from tacit.tables.engines.contract import Quantised
from tacit.tables.estimators.base import Estimator, Noisy, Setting, Weighted
from tacit.tables.estimators.blends import distances, width
from tacit.tables.estimators.quantising import centred, row_bounds
from tacit.tables.query.tree import Aggregate

__all__ = ["MEAN"]

Floats = npt.NDArray[np.float64]

_HALVINGS = 60


class Mean(Estimator):
    """Where between the ends the rows that count, and have a known x, lie on average.

    The interval is Fieller's (1954): all m for which the released sums would be plausible noise around rows whose mean
    is m. It is exact, not an approximation for large n, and clipped to the bounds, where every mean lies.
    """

    def parts(self, aggregate: Aggregate, setting: Setting) -> tuple[Weighted, ...]:
        return (Weighted(distances(aggregate, centred(aggregate, setting), setting), Fraction(1)),)

    def finish(self, aggregate: Aggregate, setting: Setting, noisy: tuple[Noisy, ...], beta: Fraction) -> Estimate:
        (sums,) = noisy
        row = centred(aggregate, setting)
        ratio = _ratio(sums, row)
        low, high = _ratio_interval(sums, row, ratio, beta) if width(row) else (ratio, ratio)
        step, centre = float(row.granule), float(row.centre)
        bottom, top = (float(bound) for bound in row_bounds(aggregate))
        value, low, high = (np.clip(centre + part * step, bottom, top) for part in (ratio, low, high))
        return Estimate(value, np.minimum(low, value), np.maximum(high, value), whole=False)

    def error(
        self, aggregate: Aggregate, setting: Setting, mechanisms: tuple[AdditiveMechanism, ...], rows: int | None
    ) -> float | None:
        """The mean moves by a weighted mean of both noises, over n."""
        if rows is None:
            return None
        row = centred(aggregate, setting)
        off = float(mechanisms[0].accuracy("0.025"))
        bottom, top = row_bounds(aggregate)
        worst = off / max(rows - 2 * off / max(width(row), 1), 1.0) * float(row.granule)
        return min(worst, float(top - bottom))


MEAN = Mean()


def _ratio(sums: Noisy, row: Quantised) -> Floats:
    """The mean in steps from the centre; of at least one row."""
    above, below = sums.values
    rows = np.maximum(above + below, max(width(row), 1))
    made: Floats = np.clip((row.highest * above + row.lowest * below) / rows, row.lowest, row.highest)
    return made


def _ratio_interval(sums: Noisy, row: Quantised, middle: Floats, beta: Fraction) -> tuple[Floats, Floats]:
    """The ends of {m : P[|(h - m)X - (m - l)Y| > |(h - m)A - (m - l)B|] ≥ β} for noises X, Y on the sums A, B."""
    bottom, top = np.full_like(middle, row.lowest), np.full_like(middle, row.highest)
    above, below = sums.values
    scales = (sums.mechanism.scale, sums.mechanism.scale)
    blind = ~sums.noise.unlikely(
        np.maximum(above + below, 0.0), scales, np.ones_like(middle), float(beta)
    )  # of no row?

    def outward(end: Floats) -> Floats:
        """The last plausible m from the middle to an end: that end, or found by halving."""
        inside, outside = middle.copy(), end.copy()
        for _ in range(_HALVINGS):
            between = (inside + outside) / 2
            out = _implausible(sums, row, between, float(beta))
            inside, outside = np.where(out, inside, between), np.where(out, between, outside)
        return np.where(_implausible(sums, row, end, float(beta)) & ~blind, outside, end)

    return outward(bottom), outward(top)


def _implausible(sums: Noisy, row: Quantised, m: Floats, beta: float) -> npt.NDArray[np.bool_]:
    """Whether, if m were the mean, the noise would have to be larger than it is but β of the time."""
    above, below = sums.values
    up, down = np.maximum(row.highest - m, 0.0), np.maximum(m - row.lowest, 0.0)
    larger, smaller = (
        np.maximum(up, down),
        np.minimum(up, down),
    )  # of noises of one law it does not matter whose is which
    gap = np.abs(up * above - down * below) / larger
    return sums.noise.unlikely(gap, (sums.mechanism.scale, sums.mechanism.scale), smaller / larger, beta)
