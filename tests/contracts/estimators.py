"""What the contract suite has to know of an estimator: a question, and its exact statistic. One line each.

An estimator that joins `tacit.tables.estimators.registry.ESTIMATORS` without a line here fails the suite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["EXAMPLES", "Example"]

Rows = list[tuple[float, int, str]]


@dataclass(frozen=True)
class Example:
    """``truth`` takes the rows of one group (x, y, c), all known and within the limits."""

    sql: str
    truth: Callable[[Rows], Any]


def _x(rows: Rows) -> Any:
    return np.array([row[0] for row in rows])


def _y(rows: Rows) -> Any:
    return np.array([row[1] for row in rows])


def _correlation(rows: Rows) -> float:
    return float(np.corrcoef(_x(rows), _y(rows))[0, 1])


EXAMPLES: dict[str, Example] = {
    "count_rows": Example("COUNT(*)", len),
    "count": Example("COUNT(x)", len),
    "count_units": Example("COUNT(DISTINCT who)", lambda rows: len(rows) // 2),
    "count_distinct": Example("COUNT(DISTINCT x)", lambda rows: len(set(_x(rows).tolist()))),
    "sum": Example("SUM(x)", lambda rows: _x(rows).sum()),
    "mean": Example("AVG(x)", lambda rows: _x(rows).mean()),
    "variance": Example("VAR_SAMP(x)", lambda rows: _x(rows).var(ddof=1)),
    "variance_pop": Example("VAR_POP(x)", lambda rows: _x(rows).var()),
    "stddev": Example("STDDEV_SAMP(x)", lambda rows: _x(rows).std(ddof=1)),
    "stddev_pop": Example("STDDEV_POP(x)", lambda rows: _x(rows).std()),
    "covariance": Example("COVAR_SAMP(x, y)", lambda rows: np.cov(_x(rows), _y(rows))[0, 1]),
    "covariance_pop": Example("COVAR_POP(x, y)", lambda rows: np.cov(_x(rows), _y(rows), ddof=0)[0, 1]),
    "correlation": Example("CORR(x, y)", _correlation),
    "quantile": Example("MEDIAN(x)", lambda rows: float(np.median(_x(rows)))),
    "mode": Example("MODE(c)", lambda rows: max(sorted({r[2] for r in rows}), key=[r[2] for r in rows].count)),
    "top": Example(
        "TOP_K(c, 2)[OFFSET(0)]", lambda rows: max(sorted({r[2] for r in rows}), key=[r[2] for r in rows].count)
    ),
}
