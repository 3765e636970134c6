"""Private naive Bayes over bins and categories."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.learn.estimators.base import PrivateClassifier
from tacit.learn.rows import Rows
from tacit.learn.schema import Schema
from tacit.learn.spending import Spending
from tacit.learn.trees.splits import Splits, splits_of

__all__ = ["NaiveBayes"]

Reals = npt.NDArray[np.float64]


class NaiveBayes(PrivateClassifier):
    """Classes by what each column says on its own: noisy counts of every bin or category with every class.

    Numbers are cut into ``bins`` equal parts of their bounds. Columns mostly tell some of the same, which naive Bayes
    takes for more evidence than it is: the evidence is multiplied by ``weight``, 1/⁴√d for d columns unless another one
    is given (1 for the textbook's). Proof: docs/proofs/naive_bayes.md.

    >>> import numpy as np
    >>> hours = np.arange(2000).reshape(-1, 1) % 100
    >>> model = NaiveBayes(epsilon=1, bounds=(0, 100)).fit(hours, hours[:, 0] >= 50)
    >>> model.predict([[5], [95]]).tolist(), model.guarantee
    ([False, True], PureDP(1))
    """

    kind: ClassVar[str] = "naive bayes"
    proof: ClassVar[str] = "proofs/naive_bayes.md"

    class_shares_: Reals
    evidence_: Reals
    """For every cell of every column, column after column, the logarithm of how much likelier it makes each class."""

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
        classes: Any = None,
        rows_per_unit: int = 1,
        bins: Any = 32,
        weight: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.rho = rho
        self.mu = mu
        self.promise = promise
        self.bounds = bounds
        self.categories = categories
        self.classes = classes
        self.rows_per_unit = rows_per_unit
        self.bins = bins
        self.weight = weight

    def _check(self) -> None:
        super()._check()
        if isinstance(self.bins, bool) or not isinstance(self.bins, int | np.integer) or not 2 <= self.bins <= 4096:
            raise InvalidParameter("bins", given=self.bins, allowed="a whole number from 2 to 4096")
        if self.weight is not None and not (isinstance(self.weight, int | float) and 0 <= self.weight <= 10):
            raise InvalidParameter("weight", given=self.weight, allowed="a number from 0 to 10")

    def _learn(self, schema: Schema, rows: Rows, spending: Spending) -> None:
        cells = splits_of(schema, int(self.bins))
        counts = class_counts(cells, rows, len(self.classes_))
        touched = len(cells.sizes) + 1
        noise = spending.buy(
            "counts of bins and classes",
            Fraction(1),
            l1=rows.limit * touched,
            l2_squared=rows.limit**2 * touched,
        )
        noisy = noise.release_floats(counts, entropy=spending.bits)
        self.class_shares_, self.evidence_ = evidence_of(noisy, noise.scale)

    def _log_odds(self, X: Any) -> Reals:  # noqa: N803
        codes = self._codes(X)
        cells = splits_of(self.schema_, int(self.bins))
        weight = len(cells.sizes) ** -0.25 if self.weight is None else float(self.weight)
        total = np.tile(np.log(self.class_shares_), (len(codes), 1))
        start = 0
        for place, size in enumerate(cells.sizes):
            total += weight * self.evidence_[start + cells.cells(place, codes[:, place])]
            start += size
        return total

    def predict_proba(self, X: Any) -> Reals:  # noqa: N803
        """The probability of each class, a row for each row."""
        logs = self._log_odds(X)
        odds = np.exp(logs - logs.max(axis=1, keepdims=True))
        found: Reals = odds / odds.sum(axis=1, keepdims=True)
        return found

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: N803
        """The likeliest class of each row."""
        likeliest = self._log_odds(X).argmax(axis=1)
        found: npt.NDArray[Any] = self.classes_[likeliest]
        return found


def class_counts(cells: Splits, rows: Rows, classes: int) -> npt.NDArray[np.int64]:
    """How many rows have each class, then each cell of each column with each class: one row touches d + 1 of them."""
    total = np.zeros((1 + sum(cells.sizes), classes), dtype=np.int64)
    for chunk in rows.chunks():
        assert chunk.target is not None
        known = chunk.target >= 0
        target = chunk.target[known].astype(np.intp)
        total[0] += np.bincount(target, minlength=classes)
        start = 1
        for place, size in enumerate(cells.sizes):
            at = cells.cells(place, chunk.codes[known, place]) * classes + target
            total[start : start + size] += np.bincount(at, minlength=size * classes).reshape(size, classes)
            start += size
    return total


def evidence_of(noisy: Reals, scale: float) -> tuple[Reals, Reals]:
    """The shares of the classes, and what each cell says for each class; cells that drown in noise say nothing."""
    totals = np.maximum(noisy[0], 1.0)
    shares = totals / totals.sum()
    counts = np.maximum(noisy[1:], 0)
    weight = scale + 1.0
    within = (counts + weight * shares) / (counts.sum(axis=1, keepdims=True) + weight)
    return shares, np.log(within / shares)
