"""Private logistic regression."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.learn.estimators.base import PrivateClassifier
from tacit.learn.linear.descent import Settings, descend
from tacit.learn.linear.design import UNIT, design_of
from tacit.learn.linear.losses import Logistic
from tacit.learn.rows import Rows
from tacit.learn.schema import Schema
from tacit.learn.spending import Spending

__all__ = ["LogisticRegression"]

Reals = npt.NDArray[np.float64]


class LogisticRegression(PrivateClassifier):
    """Logistic regression by noisy second-order descent, in whole numbers up to the noise.

    Proof: docs/proofs/linear_models.md.

    >>> import numpy as np
    >>> hours = np.arange(2000).reshape(-1, 1) % 100
    >>> model = LogisticRegression(epsilon=1, delta=1e-6, bounds=(0, 100)).fit(hours, hours[:, 0] >= 50)
    >>> model.predict([[5], [95]]).tolist(), model.guarantee
    ([False, True], ApproxDP(1, 1e-06))
    """

    kind: ClassVar[str] = "logistic regression"
    proof: ClassVar[str] = "proofs/linear_models.md"

    weights_: Reals

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
        steps: Any = 24,
        clip: Any = 1.5,
        ridge: Any = 1,
        moments: Any = 0.1,
        bins: Any = (),
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
        self.steps = steps
        self.clip = clip
        self.ridge = ridge
        self.moments = moments
        self.bins = bins

    def _learn(self, schema: Schema, rows: Rows, spending: Spending) -> None:
        design = design_of(schema, self.bins)
        settings = Settings(self.steps, self.clip, self.ridge, Fraction(str(self.moments)))
        self.weights_ = descend(design, rows, spending, Logistic(), settings).weights

    def decision_function(self, X: Any) -> Reals:  # noqa: N803
        """The margin of each row: the logarithm of the odds of the second class."""
        codes = self._codes(X)
        design = design_of(self.schema_, self.bins)
        found: Reals = design.prepare(codes).margins(design, self.weights_[0]) / UNIT
        return found

    def predict_proba(self, X: Any) -> Reals:  # noqa: N803
        """The probability of each class, a row for each row."""
        margins = self.decision_function(X)
        second = 0.5 * (1 + np.tanh(0.5 * margins))
        return np.column_stack([1 - second, second])

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: N803
        """The likelier class of each row."""
        found: npt.NDArray[Any] = self.classes_[(self.decision_function(X) > 0).astype(np.intp)]
        return found
