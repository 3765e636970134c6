"""Private naive Bayes over bins and categories."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.learn.estimators.base import PrivateClassifier
from tacit.learn.reading.rows import Rows
from tacit.learn.reading.schema import Schema
from tacit.learn.spending.spending import Spending
from tacit.learn.trees.splits import Splits, splits_of

__all__ = ["NaiveBayes"]

Reals = npt.NDArray[np.float64]

_FOR_CLASSES = Fraction(1, 10)


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
    unknown: ClassVar[str] = "are a value of their own"

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
        self._take(locals())

    def _check(self) -> None:
        super()._check()
        if isinstance(self.bins, bool) or not isinstance(self.bins, int | np.integer) or not 2 <= self.bins <= 4096:
            raise InvalidParameter("bins", given=self.bins, allowed="a whole number from 2 to 4096")
        if self.weight is not None and not (isinstance(self.weight, int | float) and 0 <= self.weight <= 10):
            raise InvalidParameter("weight", given=self.weight, allowed="a number from 0 to 10")

    def _learn(self, schema: Schema, rows: Rows, spending: Spending) -> None:
        cells = splits_of(schema, int(self.bins))
        counts = class_counts(cells, rows, len(self.classes_))
        limit, columns = rows.limit, len(cells.sizes)
        totals = spending.release("counts of classes", _FOR_CLASSES, counts[0], l1=limit, l2_squared=limit**2)
        noise = spending.buy(
            "counts of bins and classes", spending.left, l1=limit * columns, l2_squared=limit**2 * columns
        )
        noisy = noise.release_floats(counts[1:], entropy=spending.bits)
        self.class_shares_ = np.maximum(totals, 1.0) / np.maximum(totals, 1.0).sum()
        self.evidence_ = evidence_of(noisy, self.class_shares_, noise.scale, cells.sizes)

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


def evidence_of(noisy: Reals, shares: Reals, scale: float, sizes: tuple[int, ...]) -> Reals:
    """What each cell says for each class: from noisy counts, less what noise alone would say.

    The excess of a count over its share of the cell is drawn towards zero by half the size of the noise; and all
    excesses of a column by as much of their energy as noise would have, but for two deviations.
    """
    size = noisy.sum(axis=1, keepdims=True)
    excess = noisy - size * shares
    excess = np.sign(excess) * np.maximum(np.abs(excess) - scale / 2, 0) * _signal(excess, scale, sizes)
    room = np.maximum(size, 3 * scale * math.sqrt(shares.size) + 1)
    within = np.maximum(shares + excess / room, shares / 50)
    found: Reals = np.log(within / within.sum(axis=1, keepdims=True) / shares)
    return found


def _signal(excess: Reals, scale: float, sizes: tuple[int, ...]) -> Reals:
    """For each cell, the part of its column's energy that is more than noise."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    energy = np.add.reduceat((excess * excess).sum(axis=1), starts)
    entries = np.array(sizes) * excess.shape[1]
    noise = (entries + 2 * np.sqrt(2 * entries)) * scale**2
    found: Reals = np.repeat(np.maximum(1 - noise / np.maximum(energy, 1e-300), 0), sizes)[:, None]
    return found
