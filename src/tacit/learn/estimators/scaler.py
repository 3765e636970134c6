"""Private standardising of numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.learn.estimators.base import PrivateEstimator
from tacit.learn.reading.columns import MISSING, Category, Number
from tacit.learn.reading.rows import Rows
from tacit.learn.reading.schema import Schema
from tacit.learn.scikit import OneToOneFeatureMixin, TransformerMixin
from tacit.learn.spending.spending import Spending
from tacit.learn.vectors.vectors import HEIGHT, vectors_of

__all__ = ["StandardScaler"]

Reals = npt.NDArray[np.float64]


class StandardScaler(OneToOneFeatureMixin, TransformerMixin, PrivateEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Numbers less their noisy mean, over their noisy deviation; unknown ones stay unknown (NaN).

    ``output_bounds_`` says between which numbers each column lies afterwards: the bounds for what comes next.
    Proof: docs/proofs/vectors.md.

    >>> import numpy as np
    >>> X = np.arange(4000).reshape(-1, 1) % 100
    >>> scaled = StandardScaler(epsilon=1, bounds=(0, 100)).fit(X).transform(X)
    >>> bool(abs(scaled.mean()) < 0.1 and abs(scaled.std() - 1) < 0.1)
    True
    """

    kind: ClassVar[str] = "standard scaler"
    proof: ClassVar[str] = "proofs/vectors.md"

    mean_: Reals
    scale_: Reals
    output_bounds_: list[tuple[float, float]]

    def __init__(
        self,
        *,
        epsilon: Any = None,
        delta: Any = None,
        rho: Any = None,
        mu: Any = None,
        promise: Any = None,
        bounds: Any = None,
        categories: Any = None,
        rows_per_unit: int = 1,
    ) -> None:
        self._take(locals())

    def _learn(self, schema: Schema, rows: Rows, spending: Spending) -> None:
        numbers = [column for column in schema.columns if isinstance(column, Number)]
        if len(numbers) != len(schema.columns):
            named = next(column.name for column in schema.columns if isinstance(column, Category))
            raise InvalidParameter(named, given="categories", allowed="numbers: pass bounds, or encode it elsewhere")
        vectors = vectors_of(schema)
        middles = np.array(vectors.middles)
        total = np.zeros((3, len(numbers)), dtype=object)
        for chunk in rows.chunks():
            known = chunk.codes != MISSING
            steps = np.where(known, chunk.codes - middles, 0)
            sums = [HEIGHT * HEIGHT * known.sum(axis=0), HEIGHT * steps.sum(axis=0), (steps * steps).sum(axis=0)]
            total += np.array(sums, dtype=object)
        reach = (HEIGHT + 1) ** 2  # of each of the three: a step is at most HEIGHT + 1
        released = spending.release(
            "counts, sums and sums of squares",
            Fraction(1),
            total,
            l1=rows.limit * 3 * len(numbers) * reach,
            l2_squared=rows.limit**2 * 3 * len(numbers) * reach**2,
        )
        count = np.maximum(released[0] / HEIGHT**2, 1.0)
        mean = np.clip(released[1] / (HEIGHT * count), -HEIGHT, HEIGHT)
        variance = released[2] / count - mean**2
        self.mean_ = mean * vectors.steps + vectors.origins
        self.scale_ = np.sqrt(np.clip(variance, 1.0, float(HEIGHT**2))) * vectors.steps
        self.output_bounds_ = [
            ((column.low - m) / s, (column.high - m) / s)
            for column, m, s in zip(numbers, self.mean_.tolist(), self.scale_.tolist(), strict=True)
        ]

    def transform(self, X: Any) -> Reals:  # noqa: N803
        """The rows, standardised; numbers beyond their bounds count as the bound."""
        codes = self._codes(X)
        found: Reals = (vectors_of(self.schema_).values(codes) - self.mean_) / self.scale_
        found[codes == MISSING] = np.nan
        return found
