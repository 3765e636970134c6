"""A private linear support vector machine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.learn.estimators.linear_model import TwoClasses
from tacit.learn.linear.descent import Moments
from tacit.learn.linear.design import Design
from tacit.learn.linear.losses import Hinge
from tacit.learn.linear.passes import Passes
from tacit.learn.linear.settings import Settings
from tacit.learn.reading.columns import Category
from tacit.learn.reading.rows import Rows
from tacit.learn.reading.schema import Schema
from tacit.learn.spending.spending import Spending

__all__ = ["LinearSVC"]


class LinearSVC(TwoClasses):
    """A linear support vector machine for two classes, by noisy second-order descent on a rounded hinge.

    Proof: docs/proofs/linear_models.md.

    >>> hours = np.arange(2000).reshape(-1, 1) % 100
    >>> model = LinearSVC(epsilon=1, delta=1e-6, bounds=(0, 100)).fit(hours, hours[:, 0] >= 50)
    >>> model.predict([[5], [95]]).tolist()
    [False, True]
    """

    kind: ClassVar[str] = "linear support vector machine"
    proof: ClassVar[str] = "proofs/linear_models.md"

    def _target(self, labels: npt.NDArray[Any]) -> Category:
        return _two(super()._target(labels))

    def _learn(self, schema: Schema, rows: Rows, spending: Spending) -> None:
        _two(schema.target)
        passes = Passes(self._design(schema), rows, pure=spending.budget.pure)
        self._descend(schema, rows, spending, Hinge(), passes)

    def _settings(self, design: Design, spending: Spending, moments: Moments, spread: float | None) -> Settings:
        usual = super()._settings(design, spending, moments, spread)
        return usual if usual.bend is None else replace(usual, bend=0.3 * usual.bend)  # only near the corner it bends

    @property
    def coef_(self) -> npt.NDArray[np.float64]:
        """A coefficient for each of ``terms_``, in the units of the columns."""
        return self._in_units(self.weights_)[1]

    @property
    def intercept_(self) -> npt.NDArray[np.float64]:
        """The margin of a row whose numbers are 0 and whose categories are unknown."""
        return self._in_units(self.weights_)[0]


def _two(column: Any) -> Category:
    """The classes, which must be two."""
    assert isinstance(column, Category)
    if len(column.values) != 2:
        hint = "Only binary classification is supported. For more classes use LogisticRegression."
        raise InvalidParameter("classes", given=len(column.values), allowed="two classes", hint=hint)
    return column
