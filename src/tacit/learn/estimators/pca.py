"""Private principal components."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.learn.estimators.base import PrivateEstimator
from tacit.learn.reading.rows import Rows
from tacit.learn.reading.schema import Schema
from tacit.learn.scikit import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from tacit.learn.spending.spending import Spending
from tacit.learn.vectors.moments import buy_moments
from tacit.learn.vectors.vectors import vectors_of

__all__ = ["PCA"]

Reals = npt.NDArray[np.float64]


class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PrivateEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """The directions of the largest variance, from one noisy matrix of second moments.

    Numbers count in their own units, categories as indicators, as scikit-learn's would on one-hot columns.
    Proof: docs/proofs/vectors.md.

    >>> import numpy as np
    >>> X = np.column_stack([np.arange(2000) % 100, np.arange(2000) % 100, np.arange(2000) % 7])
    >>> model = PCA(n_components=1, epsilon=1, delta=1e-6, bounds=(0, 100)).fit(X)
    >>> model.transform(X).shape, bool(abs(model.components_[0, 2]) < 0.3)
    ((2000, 1), True)
    """

    kind: ClassVar[str] = "principal components"
    proof: ClassVar[str] = "proofs/vectors.md"
    unknown: ClassVar[str] = "lie in the middle of their bounds, or are no category"

    components_: Reals
    explained_variance_: Reals
    mean_: Reals

    def __init__(
        self,
        n_components: Any = None,
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

    def _check(self) -> None:
        super()._check()
        given = self.n_components
        if given is not None and (isinstance(given, bool) or not isinstance(given, int | np.integer) or given < 1):
            raise InvalidParameter("n_components", given=given, allowed="a whole number from 1, or None for all")

    def _learn(self, schema: Schema, rows: Rows, spending: Spending) -> None:
        vectors = vectors_of(schema)
        kept = vectors.width if self.n_components is None else int(self.n_components)
        if kept > vectors.width:
            allowed = f"at most {vectors.width}, the number of coordinates"
            raise InvalidParameter("n_components", given=self.n_components, allowed=allowed)
        moments = buy_moments(vectors, rows, spending, Fraction(1), "second moments")
        values, directions = np.linalg.eigh(moments.covariance * np.outer(vectors.steps, vectors.steps))
        largest = np.argsort(-values, kind="stable")[:kept]
        components = directions[:, largest].T
        signs = np.sign(components[np.arange(kept), np.abs(components).argmax(axis=1)])
        self.components_ = components * signs[:, None]
        self.explained_variance_ = np.maximum(values[largest], 0)
        self.mean_ = moments.mean * vectors.steps + vectors.origins

    def transform(self, X: Any) -> Reals:  # noqa: N803
        """The rows by the components, a column for each; what is unknown lies in the middle of its bounds."""
        codes = self._codes(X)
        found: Reals = (vectors_of(self.schema_).values(codes) - self.mean_) @ self.components_.T
        return found

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])
