"""AVG(x): a centred sum and a count of the same rows, noised jointly, divided afterwards."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.base import AdditiveMechanism
from tacit.tables.bounded import Measure, Present, Quantised
from tacit.tables.estimators.base import Noisy, Part, Setting
from tacit.tables.estimators.quantising import argument, centred, row_bounds
from tacit.tables.query import Aggregate
from tacit.tables.released import Estimate

__all__ = ["MEAN", "chosen_count", "chosen_sum"]

Floats = npt.NDArray[np.float64]

_FOR_THE_SUM = Fraction(3, 4)  # near the best for means an eighth of the range off its middle, for both laws of noise
_HALVINGS = 60


class Mean:
    """(centre + Σ(x - centre)/n), over the rows that count and where x is known.

    The interval is Fieller's (1954): all m for which the released sum less m times the released count is plausible
    noise. It is exact, not an approximation for large n, and clipped to the bounds, where every mean lies.
    """

    def parts(self, aggregate: Aggregate, setting: Setting) -> tuple[Part, ...]:
        return (
            Part(chosen_sum(centred(aggregate, setting), setting), _FOR_THE_SUM),
            Part(chosen_count(aggregate, setting), 1 - _FOR_THE_SUM),
        )

    def finish(self, aggregate: Aggregate, setting: Setting, noisy: tuple[Noisy, ...], beta: Fraction) -> Estimate:
        total, count = noisy
        row = centred(aggregate, setting)
        low, high = _ratio_interval(total, count, row, beta)
        ratio = np.clip(total.values / np.maximum(count.values, 1.0), row.lowest, row.highest)
        step, centre = float(row.granule), float(row.centre)
        bottom, top = (float(bound) for bound in row_bounds(aggregate))
        value, low, high = (np.clip(centre + part * step, bottom, top) for part in (ratio, low, high))
        return Estimate(value, np.minimum(low, value), np.maximum(high, value), whole=False)

    def error(
        self, aggregate: Aggregate, setting: Setting, mechanisms: tuple[AdditiveMechanism, ...], rows: int | None
    ) -> float | None:
        if rows is None:
            return None
        row = centred(aggregate, setting)
        furthest = max(abs(row.lowest), abs(row.highest))
        total, count = (float(mechanism.accuracy("0.025")) for mechanism in mechanisms)
        bottom, top = row_bounds(aggregate)
        worst = (total + furthest * count) / max(rows - count, 1.0) * float(row.granule)
        return min(worst, float(top - bottom))


MEAN = Mean()


def chosen_sum(row: Quantised, setting: Setting) -> Measure:
    """Σ of a quantised value over the rows that count."""
    return Measure(row, setting.rows * min(row.lowest, 0), setting.rows * max(row.highest, 0), chosen=setting.chosen)


def chosen_count(aggregate: Aggregate, setting: Setting) -> Measure:
    """How many of the rows that count have a known value: the same rows as the sum's."""
    return Measure(Present(argument(aggregate)), 0, setting.rows, chosen=setting.chosen)


def _ratio_interval(total: Noisy, count: Noisy, row: Quantised, beta: Fraction) -> tuple[Floats, Floats]:
    """The ends of {m : P[|X - mY| > |S - mN|] ≥ β} between the bounds, for noises X and Y on the sum S and count N."""
    bottom, top = np.full_like(total.values, row.lowest), np.full_like(total.values, row.highest)
    middle = np.clip(total.values / np.maximum(count.values, 1.0), bottom, top)
    blind = count.interval(beta)[0] <= 0  # a count that may be nothing says nothing about the ratio

    def outward(end: Floats) -> Floats:
        """The last plausible m from the middle to an end: that end, or found by halving."""
        inside, outside = middle.copy(), end.copy()
        for _ in range(_HALVINGS):
            between = (inside + outside) / 2
            out = _implausible(total, count, between, float(beta))
            inside, outside = np.where(out, inside, between), np.where(out, between, outside)
        return np.where(_implausible(total, count, end, float(beta)) & ~blind, outside, end)

    return outward(bottom), outward(top)


def _implausible(total: Noisy, count: Noisy, m: Floats, beta: float) -> npt.NDArray[np.bool_]:
    """Whether, if m were the mean, the noise would have to be larger than it is but β of the time."""
    gap = np.abs(total.values - m * count.values)
    return total.noise.unlikely(gap, (total.mechanism.scale, count.mechanism.scale), m, beta)
