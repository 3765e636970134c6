"""MEDIAN, PERCENTILE, QUANTILE, MIN and MAX: the cell at a rank, chosen; the engine counts rows per cell."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.mechanisms.shared.estimate import BETA, Estimate
from tacit.tables.choosing.choice import Choice, Ranked
from tacit.tables.engines.contract import Cells, Quantised
from tacit.tables.estimators.base import Chooser, Setting
from tacit.tables.estimators.quantising import argument, row_bounds
from tacit.tables.expressions.kinds import Kind
from tacit.tables.query.tree import Aggregate

__all__ = ["QUANTILE", "grid"]

_POINTS = 17
"""The grid of reals has between half and all of 2¹⁷ steps."""


class Quantile(Chooser):
    """The value that a share of the known rows, clamped and rounded to a public grid, lies below.

    How wide the interval is is chosen too, for both ends to be beyond the true quantile but for a probability β: at
    once with the value, or after it for a share of the price. It covers PERCENTILE_CONT as well as PERCENTILE_DISC of
    the rows that count. Unlike the noise of a sum, a rank says nothing about how far off a value is.
    """

    def choice(self, aggregate: Aggregate, setting: Setting) -> Choice:
        if aggregate.level is None:
            raise InvalidParameter("quantile", given=None, allowed="a share of the rows between 0 and 1")
        cells = Cells(grid(aggregate, setting), setting.chosen)
        return Ranked(cells, aggregate.level, setting.rows, aggregate.interval_share, BETA / setting.together)

    def chosen(self, aggregate: Aggregate, setting: Setting, places: npt.NDArray[np.int64]) -> Estimate:
        row = grid(aggregate, setting)
        bottom, top = (float(bound) for bound in row_bounds(aggregate))
        numbers = np.array([float(row.centre + cell * row.granule) for cell in places.ravel().tolist()])
        value, low, high = np.clip(numbers.reshape(places.shape), bottom, top).T
        low = np.where(places[:, 1] < 1, bottom, low)
        high = np.where(places[:, 2] > row.highest, top, high)
        return Estimate(value, np.minimum(low, value), np.maximum(high, value), whole=False)


QUANTILE = Quantile()


def grid(aggregate: Aggregate, setting: Setting) -> Quantised:
    """The argument as a cell from 1 on; 0 is unknown. Whole numbers are their own cells where they are few."""
    low, high = row_bounds(aggregate)
    step = _step(high - low, setting)
    first = math.ceil(low / step)
    centre = (first - 1) * step if first * step <= high else low - step
    return Quantised(argument(aggregate), low, high, centre, step)


def _step(span: Fraction, setting: Setting) -> Fraction:
    if not span:
        return Fraction(1)
    power = math.ceil(math.log2(span.numerator) - math.log2(span.denominator)) - _POINTS
    finest = Fraction(2) ** power
    if setting.granule is not None:
        return max(setting.granule, finest)
    return max(finest, Fraction(1)) if setting.kind is Kind.INTEGER else finest
