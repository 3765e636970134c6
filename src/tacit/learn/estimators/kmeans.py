"""Private k-means."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.learn.estimators.base import PrivateEstimator
from tacit.learn.reading.columns import Number
from tacit.learn.reading.rows import Rows
from tacit.learn.reading.schema import Schema
from tacit.learn.scikit import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from tacit.learn.spending.spending import Spending
from tacit.learn.trees.splits import splits_of
from tacit.learn.vectors.assigning import nearest_of, sums_of_clusters
from tacit.learn.vectors.moments import buy_moments, constant_of
from tacit.learn.vectors.starting import starting_points
from tacit.learn.vectors.vectors import HEIGHT, Vectors, vectors_of
from tacit.noise.entropy import BitSource

__all__ = ["KMeans"]

Reals = npt.NDArray[np.float64]

_FOR_MOMENTS = Fraction(1, 10)
_FOR_MARGINS = Fraction(1, 10)
_BINS = 64


class KMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, PrivateEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Centres that rows lie near to: Lloyd's rounds with noisy sums, from a start that released numbers make up.

    Distances are Euclid's in the columns' own units, categories count as indicators. No labels of the rows that were
    learned from are kept: `predict` gives those of any rows you hold. Proof: docs/proofs/vectors.md.

    >>> import numpy as np
    >>> X = np.repeat([[10.0], [90.0]], 1000, axis=0)
    >>> model = KMeans(n_clusters=2, epsilon=1, delta=1e-6, bounds=(0, 100)).fit(X)
    >>> sorted(model.cluster_centers_.round(-1).ravel().tolist()), model.guarantee
    ([10.0, 90.0], ApproxDP(1, 1e-06))
    """

    kind: ClassVar[str] = "k means"
    proof: ClassVar[str] = "proofs/vectors.md"
    unknown: ClassVar[str] = "lie in the middle of their bounds, or are no category"

    centres_: Reals
    cluster_centers_: Reals
    n_iter_: int

    def __init__(
        self,
        n_clusters: Any = 8,
        *,
        epsilon: Any = None,
        delta: Any = None,
        rho: Any = None,
        mu: Any = None,
        promise: Any = None,
        bounds: Any = None,
        categories: Any = None,
        rows_per_unit: int = 1,
        max_iter: Any = 5,
    ) -> None:
        self._take(locals())

    def _check(self) -> None:
        super()._check()
        for name, most in (("n_clusters", 10_000), ("max_iter", 1_000)):
            given = getattr(self, name)
            if isinstance(given, bool) or not isinstance(given, int | np.integer) or not 1 <= given <= most:
                raise InvalidParameter(name, given=given, allowed=f"a whole number from 1 to {most}")

    def _learn(self, schema: Schema, rows: Rows, spending: Spending) -> None:
        vectors, clusters = vectors_of(schema), int(self.n_clusters)
        moments = buy_moments(vectors, rows, spending, _FOR_MOMENTS, "second moments")
        margins = _margins(schema, rows, spending)
        centres = starting_points(vectors, moments, margins, clusters, spending.bits)
        constant = constant_of(vectors)
        first, second, _ = vectors.most
        noise = spending.buy(
            "counts and sums of clusters",
            spending.left,
            l1=rows.limit * (first + constant),
            l2_squared=rows.limit**2 * (second + constant**2),
            times=int(self.max_iter),
        )
        for _ in range(int(self.max_iter)):
            nearest = nearest_of(vectors, centres)
            total = sums_of_clusters(vectors, rows, nearest, clusters, constant)
            released = noise.release_floats(total, entropy=spending.bits)
            centres = _moved(vectors, centres, released, constant, noise.scale)
        self.n_iter_ = int(self.max_iter)
        self.centres_ = centres
        self.cluster_centers_ = centres * vectors.steps + vectors.origins

    def predict(self, X: Any) -> npt.NDArray[np.intp]:  # noqa: N803
        """The nearest centre of each row."""
        codes = self._codes(X)
        vectors = vectors_of(self.schema_)
        return nearest_of(vectors, self.centres_).labels(vectors.matrix(codes))

    def fit_predict(self, X: Any, y: Any = None, *, units: Any = None, entropy: BitSource | None = None) -> Any:  # noqa: N803
        """The nearest centre of each row, after learning the centres from the same rows."""
        return self.fit(X, units=units, entropy=entropy).predict(X)

    def transform(self, X: Any) -> Reals:  # noqa: N803
        """The distance of each row to each centre."""
        values = vectors_of(self.schema_).values(self._codes(X)) if hasattr(self, "schema_") else self._codes(X)
        squares = [((values - centre) ** 2).sum(axis=1) for centre in self.cluster_centers_]
        found: Reals = np.sqrt(np.stack(squares, axis=1))
        return found

    def score(self, X: Any, y: Any = None) -> float:  # noqa: N803
        """Minus the sum of squared distances to the nearest centres: of rows you hold, and not private."""
        return -float((self.transform(X).min(axis=1) ** 2).sum())

    @property
    def _n_features_out(self) -> int:
        return int(self.cluster_centers_.shape[0])


def _margins(schema: Schema, rows: Rows, spending: Spending) -> list[Reals]:
    """How the values of each number are spread over 64 bins, what drowns in noise left out."""
    places = [place for place, column in enumerate(schema.columns) if isinstance(column, Number)]
    if not places:
        return []
    cells = splits_of(schema, _BINS)
    counts = np.zeros((len(places), _BINS + 1), dtype=np.int64)
    for chunk in rows.chunks():
        for at, place in enumerate(places):
            counts[at] += np.bincount(cells.cells(place, chunk.codes[:, place]), minlength=_BINS + 1)
    noise = spending.buy("margins", _FOR_MARGINS, l1=rows.limit * len(places), l2_squared=rows.limit**2 * len(places))
    noisy = noise.release_floats(counts[:, 1:], entropy=spending.bits)
    return list(np.where(noisy > 2 * noise.scale, noisy, 0.0))


def _moved(vectors: Vectors, centres: Reals, released: Reals, constant: int, scale: float) -> Reals:
    """The noisy means of the clusters, drawn towards where they were as far as noise is large."""
    counts = np.maximum(released[:, 0] / constant, 1.0)[:, None]
    lowest = np.where(np.repeat([isinstance(c, Number) for c in vectors.columns], vectors.sizes), -HEIGHT, 0)
    means = np.clip(released[:, 1:] / counts, lowest, HEIGHT)
    weight = counts / (counts + 2 * scale / constant)
    found: Reals = centres + weight * (means - centres)
    return found
