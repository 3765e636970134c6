"""SUM(x): rows clamped to bounds and chosen up to the limit, or each unit's total in a group clamped (Google's way)."""

from __future__ import annotations

import math
from fractions import Fraction

from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.mechanisms.shared.estimate import BETA, Estimate
from tacit.tables.engines.contract import Measure, Quantised
from tacit.tables.estimators.base import Estimator, Noisy, Setting, Weighted, Weights
from tacit.tables.estimators.quantising import argument, centred, granule_for, uncentred
from tacit.tables.query.tree import Aggregate

__all__ = ["SUM"]

_WIDE = 1 << 50  # a row clamped here and then its unit's total clamped to the group's bounds: nothing else moves


class Sum(Estimator):
    """Σ x of the rows that count."""

    def parts(self, aggregate: Aggregate, setting: Setting) -> tuple[Weighted, ...]:
        return (Weighted(_measure(aggregate, setting), Fraction(1)),)

    def finish(self, aggregate: Aggregate, setting: Setting, noisy: tuple[Noisy, ...], beta: Fraction) -> Estimate:
        (total,) = noisy
        if setting.reading is not None:
            weights = self.weights(aggregate, setting)
            made, off = total.read(weights), total.furthest(weights, beta)
            return Estimate(made, made - off, made + off, whole=False)
        step = float(_granule(aggregate, setting))
        low, high = total.interval(beta)
        return Estimate(total.values * step, low * step, high * step, whole=False)

    def error(
        self, aggregate: Aggregate, setting: Setting, mechanisms: tuple[AdditiveMechanism, ...], rows: int | None
    ) -> float | None:
        return self.off(aggregate, setting, mechanisms[0], BETA)

    def weights(self, aggregate: Aggregate, setting: Setting) -> Weights:
        """A granule for each step; of a column's parts, the lowest value for each known one and the width for Σt."""
        if setting.reading is None:
            return (_granule(aggregate, setting),)
        row, reading = centred(aggregate, setting), setting.reading
        lowest, wide = row.centre + row.lowest * row.granule, (row.highest - row.lowest) * row.granule
        return tuple(lowest * known + wide * total for known, total in zip(reading.known, reading.total, strict=True))


SUM = Sum()


def _measure(aggregate: Aggregate, setting: Setting) -> Measure:
    if aggregate.group_bounds is not None:
        low, high = aggregate.group_bounds
        step = _granule(aggregate, setting)
        row = Quantised(argument(aggregate), -_WIDE * step, _WIDE * step, Fraction(0), step)
        return Measure(row, math.ceil(low / step), math.floor(high / step), chosen=False)
    row = uncentred(aggregate, setting)
    least, most = setting.rows * min(row.lowest, 0), setting.rows * max(row.highest, 0)
    return Measure(row, least, most, chosen=setting.chosen)


def _granule(aggregate: Aggregate, setting: Setting) -> Fraction:
    if aggregate.group_bounds is not None:
        return granule_for(*aggregate.group_bounds, setting)
    return uncentred(aggregate, setting).granule
