"""Every statistic that can be asked for, by the name that `query.Aggregate` uses: joining runs the contract suite."""

from __future__ import annotations

from tacit.tables.estimators.base import Estimators

__all__ = ["ESTIMATORS"]

ESTIMATORS = Estimators(
    "tacit.tables.estimators",
    {
        "count_rows": "counts:COUNT_ROWS",
        "count": "counts:COUNT",
        "count_units": "counts:COUNT_UNITS",
        "sum": "sums:SUM",
        "mean": "means:MEAN",
        "variance": "variances:VARIANCE",
        "variance_pop": "variances:VARIANCE_POP",
        "stddev": "variances:STDDEV",
        "stddev_pop": "variances:STDDEV_POP",
        "covariance": "covariances:COVARIANCE",
        "covariance_pop": "covariances:COVARIANCE_POP",
        "correlation": "covariances:CORRELATION",
        "count_distinct": "distinct:COUNT_DISTINCT",
        "quantile": "quantiles:QUANTILE",
        "mode": "modes:MODE",
        "top": "tops:TOP",
    },
)
