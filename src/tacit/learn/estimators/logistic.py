"""Private logistic regression, of two classes or of more."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.learn.estimators.linear_model import LinearClassifier
from tacit.learn.linear.losses import Logistic, Multinomial
from tacit.learn.linear.passes import Loss, Passes
from tacit.learn.reading.columns import Category
from tacit.learn.reading.rows import Rows
from tacit.learn.reading.schema import Schema
from tacit.learn.spending.spending import Spending

__all__ = ["LogisticModel", "LogisticRegression"]

Reals = npt.NDArray[np.float64]


class LogisticModel(LinearClassifier):
    """Classes by the exponentials of their margins; two classes share one margin."""

    def _learn(self, schema: Schema, rows: Rows, spending: Spending) -> None:
        assert isinstance(schema.target, Category)
        count = len(schema.target.values)
        loss: Loss = Logistic() if count == 2 else Multinomial(count)
        passes = Passes(self._design(schema), rows, pure=spending.budget.pure)
        self._descend(schema, rows, spending, loss, passes)

    def decision_function(self, X: Any) -> Reals:  # noqa: N803
        """The margin of each row, for two classes the logarithm of the odds of the second; for more, one for each."""
        margins = self._margins(X)
        return np.asarray(margins[0] if len(margins) == 1 else margins.T)

    def predict_proba(self, X: Any) -> Reals:  # noqa: N803
        """The probability of each class, a row for each row."""
        margins = self._margins(X)
        if len(margins) == 1:
            margins = np.concatenate([np.zeros_like(margins), margins])
        powers = np.exp(margins - margins.max(axis=0))
        return np.asarray((powers / powers.sum(axis=0)).T)

    def predict_log_proba(self, X: Any) -> Reals:  # noqa: N803
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: N803
        """The likeliest class of each row."""
        margins = self._margins(X)
        places = (margins[0] > 0).astype(np.intp) if len(margins) == 1 else margins.argmax(axis=0)
        found: npt.NDArray[Any] = self.classes_[places]
        return found


class LogisticRegression(LogisticModel):
    """Logistic regression by noisy second-order descent, in whole numbers up to the noise.

    Public: the promise, ``bounds`` and ``categories`` of the columns, the list of ``classes`` (0 and 1, or False and
    True, if none is given), ``rows_per_unit``, and what it otherwise chooses itself: ``expected_rows``, ``steps``,
    ``clip``, ``sampling``. Proof: docs/proofs/linear_models.md.

    >>> hours = np.arange(2000).reshape(-1, 1) % 100
    >>> model = LogisticRegression(epsilon=1, delta=1e-6, bounds=(0, 100)).fit(hours, hours[:, 0] >= 50)
    >>> model.predict([[5], [95]]).tolist(), model.guarantee
    ([False, True], ApproxDP(1, 1e-06))
    """

    kind: ClassVar[str] = "logistic regression"
    proof: ClassVar[str] = "proofs/linear_models.md"

    @property
    def coef_(self) -> Reals:
        """A coefficient for each of ``terms_``, in the units of the columns; a row for two classes, or one for each."""
        return self._in_units(self.weights_)[1]

    @property
    def intercept_(self) -> Reals:
        """The margin of a row whose numbers are 0 and whose categories are unknown."""
        return self._in_units(self.weights_)[0]
