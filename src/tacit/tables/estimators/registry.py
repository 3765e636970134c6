"""Every statistic that can be asked for, by the name that `query.Aggregate` uses."""

from __future__ import annotations

from tacit.tables.estimators.base import Estimator
from tacit.tables.estimators.counts import COUNT, COUNT_ROWS, COUNT_UNITS
from tacit.tables.estimators.means import MEAN
from tacit.tables.estimators.sums import SUM
from tacit.tables.estimators.variances import STDDEV, STDDEV_POP, VARIANCE, VARIANCE_POP

__all__ = ["ESTIMATORS"]

ESTIMATORS: dict[str, Estimator] = {
    "count_rows": COUNT_ROWS,
    "count": COUNT,
    "count_units": COUNT_UNITS,
    "sum": SUM,
    "mean": MEAN,
    "variance": VARIANCE,
    "variance_pop": VARIANCE_POP,
    "stddev": STDDEV,
    "stddev_pop": STDDEV_POP,
}
