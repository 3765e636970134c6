"""Every statistic that can be asked for, by the name that `query.Aggregate` uses: joining runs the contract suite."""

from __future__ import annotations

from collections.abc import Mapping

from tacit.tables.estimators.base import Estimator
from tacit.tables.estimators.counts import COUNT, COUNT_ROWS, COUNT_UNITS
from tacit.tables.estimators.covariances import CORRELATION, COVARIANCE, COVARIANCE_POP
from tacit.tables.estimators.distinct import COUNT_DISTINCT
from tacit.tables.estimators.means import MEAN
from tacit.tables.estimators.modes import MODE
from tacit.tables.estimators.quantiles import QUANTILE
from tacit.tables.estimators.sums import SUM
from tacit.tables.estimators.tops import TOP
from tacit.tables.estimators.variances import STDDEV, STDDEV_POP, VARIANCE, VARIANCE_POP

__all__ = ["ESTIMATORS"]

ESTIMATORS: Mapping[str, Estimator] = {
    "count_rows": COUNT_ROWS,
    "count": COUNT,
    "count_units": COUNT_UNITS,
    "sum": SUM,
    "mean": MEAN,
    "variance": VARIANCE,
    "variance_pop": VARIANCE_POP,
    "stddev": STDDEV,
    "stddev_pop": STDDEV_POP,
    "covariance": COVARIANCE,
    "covariance_pop": COVARIANCE_POP,
    "correlation": CORRELATION,
    "count_distinct": COUNT_DISTINCT,
    "quantile": QUANTILE,
    "mode": MODE,
    "top": TOP,
}
