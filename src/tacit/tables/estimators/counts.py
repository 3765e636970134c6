"""COUNT(*), COUNT(x) and COUNT(DISTINCT unit)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.mechanisms.shared.estimate import BETA, Estimate
from tacit.tables.engines.contract import Measure, One, Present, RowValue
from tacit.tables.estimators.base import Estimator, Noisy, Setting, Weighted, Weights
from tacit.tables.estimators.quantising import argument
from tacit.tables.expressions.tree import Case, Literal
from tacit.tables.query.tree import Aggregate

__all__ = ["COUNT", "COUNT_ROWS", "COUNT_UNITS", "OneCount"]


class OneCount(Estimator):
    """What estimators of one count share: the noisy count is the answer."""

    __slots__ = ()

    def finish(self, aggregate: Aggregate, setting: Setting, noisy: tuple[Noisy, ...], beta: Fraction) -> Estimate:
        (count,) = noisy
        if setting.reading is not None:
            return _read(count, self.weights(aggregate, setting), beta)
        low, high = count.interval(beta)
        return Estimate(count.values, low, high, whole=count.whole)

    def error(
        self, aggregate: Aggregate, setting: Setting, mechanisms: tuple[AdditiveMechanism, ...], rows: int | None
    ) -> float | None:
        return float(math.floor(self.off(aggregate, setting, mechanisms[0], BETA) + 0.5))  # a rounded number is whole

    def weights(self, aggregate: Aggregate, setting: Setting) -> Weights:
        """The count itself; or where it is read from parts of a column, known values or all rows."""
        if setting.reading is None:
            return (Fraction(1),)
        return setting.reading.rows if aggregate.estimator == "count_rows" else setting.reading.known


def _read(parts: Noisy, weights: Weights, beta: Fraction) -> Estimate:
    """The whole number next to what the parts add up to, and those that are within its error."""
    made, off = parts.read(weights), parts.furthest(weights, beta)
    value, room = np.rint(made), off * (1 + 1e-9) + 1e-9
    low, high = np.ceil(made - room), np.floor(made + room)
    return Estimate(value, np.minimum(low, value), np.maximum(high, value), whole=True)


@dataclass(frozen=True, slots=True)
class Count(OneCount):
    """A number of rows, at most ``setting.rows`` of one unit in a group; or of units.

    Rows need not be chosen: however they are, a unit with k rows counts min(k, limit). Bounds of the group clamp that.
    """

    value: Callable[[Aggregate], RowValue]
    units: bool = False

    def parts(self, aggregate: Aggregate, setting: Setting) -> tuple[Weighted, ...]:
        most = 1 if self.units else setting.rows
        low, high = (0, most) if aggregate.group_bounds is None else aggregate.group_bounds
        high = min(int(high), most)
        return (Weighted(Measure(self.value(aggregate), min(int(low), high), high, chosen=False), Fraction(1)),)


def _unit(aggregate: Aggregate) -> RowValue:
    """1 for every row, or with FILTER for every row that counts: a unit is there if one of its rows is."""
    if not isinstance(aggregate.argument, Case):
        return One()
    ((condition, _),) = aggregate.argument.branches  # the unit of a row is never null
    return Present(Case(((condition, Literal(1)),)))


COUNT_ROWS = Count(lambda aggregate: One())
COUNT = Count(lambda aggregate: Present(argument(aggregate)))
COUNT_UNITS = Count(_unit, units=True)
