"""What linear models share: their terms, their settings, their coefficients in the units of the columns."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.learn.estimators.base import PrivateClassifier, PrivateEstimator
from tacit.learn.linear.descent import Fitted, Moments, buy_moments, descend
from tacit.learn.linear.design import CONSTANT, UNIT, Design, design_of
from tacit.learn.linear.passes import Loss, Passes
from tacit.learn.linear.settings import TOO_LITTLE, Settings, signal_of, usual_for_numbers, usual_settings
from tacit.learn.reading.columns import Category
from tacit.learn.reading.rows import Rows
from tacit.learn.reading.schema import Schema
from tacit.learn.spending.spending import Spending
from tacit.privacy.prices import positive

__all__ = ["LinearClassifier", "LinearModel", "TwoClasses"]

Reals = npt.NDArray[np.float64]

MOMENTS = Fraction(1, 10)
"""The share that buys the second moments."""

STEPS_ON_SAMPLES = 64
"""How many steps are taken on samples of rows about whose number nothing was declared: those are priced in advance."""


class LinearModel(PrivateEstimator):
    """One whose prediction is a function of a sum of terms, each times a weight."""

    expected_rows: Any
    steps: Any
    clip: Any
    sampling: Any

    supposed_rows: ClassVar[float | None] = None
    """How many rows a plan supposes, about whose number nothing was declared; a fit to rows supposes nothing."""

    weights_: Reals
    """A weight for each term, a row for each output, in the units of the codes: 1 for the whole range of a number."""

    constant_alone_: bool
    """Whether there were too few rows, for the price, to learn more than how common the classes are."""

    noise_: Reals
    """The standard deviation that noise gives to each weight, by a linear reckoning (docs/proofs/linear_models.md)."""

    def _check(self) -> None:
        super()._check()
        self._chosen(Settings(1, 1.0, (1.0, 1.0), MOMENTS))
        if self.expected_rows is not None:
            positive(self.expected_rows, "expected_rows")

    def _chosen(self, settings: Settings) -> Settings:
        made = settings.chosen(steps=self.steps, clip=self.clip, sampling=self.sampling)
        if made.sampling < 1 and self.steps is None and self.expected_rows is None:
            return replace(made, steps=STEPS_ON_SAMPLES)  # never a number that follows from what was released
        return made

    def _design(self, schema: Schema) -> Design:
        return design_of(schema)

    def _declared_rows(self) -> float | None:
        return None if self.expected_rows is None else float(positive(self.expected_rows, "expected_rows"))

    def _descend(
        self,
        schema: Schema,
        rows: Rows,
        spending: Spending,
        loss: Loss,
        passes: Passes,
        *,
        spread: float | None = None,
        counted: float | None = None,
        start: Reals | None = None,
        penalty: float = 0.0,
    ) -> Fitted:
        """The weights, bought; ``counted`` is a number of rows that was released before."""
        design = self._design(schema)
        declared = self._declared_rows()
        moments = buy_moments(design, passes, rows.limit, spending, MOMENTS, counted if declared is None else declared)
        if self.supposed_rows is not None and declared is None:
            moments = replace(moments, rows=self.supposed_rows)
        self.constant_alone_ = spread is None and self._too_little(design, spending, moments)
        if self.constant_alone_:
            known, narrow = moments.of_constant(), Passes(CONSTANT, rows, pure=spending.budget.pure)
            settings = self._settings(CONSTANT, spending, known, spread)
            fitted = descend(CONSTANT, narrow, rows.limit, spending, loss, settings, known).among(design.width)
        else:
            settings = self._settings(design, spending, moments, spread)
            fitted = descend(
                design, passes, rows.limit, spending, loss, settings, moments, start=start, penalty=penalty
            )
        self.weights_ = fitted.weights
        self.noise_ = np.sqrt(np.maximum(np.diag(fitted.covariance), 0))
        return fitted

    def _too_little(self, design: Design, spending: Spending, moments: Moments) -> bool:
        """Whether all terms but the constant would drown in noise: by the promise and the released number of rows.

        Who says how many steps to take, or how long a gradient may be, has decided.
        """
        if self.steps is not None or self.clip is not None:
            return False
        return signal_of(design, spending.budget, moments.rows) < TOO_LITTLE

    def _settings(self, design: Design, spending: Spending, moments: Moments, spread: float | None) -> Settings:
        """For classes, or for a number of this spread."""
        if spread is None:
            return self._chosen(usual_settings(design, spending.budget, moments.rows))
        return self._chosen(usual_for_numbers(design, spending.budget, moments.rows, spread))

    def _margins(self, X: Any) -> Reals:  # noqa: N803
        """Each row's margins, a row for each output."""
        codes = self._codes(X)
        design = self._design(self.schema_)
        prepared = design.prepare(codes)
        return np.stack([prepared.margins(design, one) for one in self.weights_]) / UNIT

    @property
    def terms_(self) -> list[str]:
        """The names of the terms that ``coef_`` has a column for."""
        numbers = [column.name for column in self.schema_.columns if not isinstance(column, Category)]
        indicators = [
            f"{column.name}={value}"
            for column in self.schema_.columns
            if isinstance(column, Category)
            for value in column.values
        ]
        return numbers + indicators

    def _in_units(self, weights: Reals) -> tuple[Reals, Reals]:
        """Intercept and coefficients in the units of the columns, of weights in the units of the codes."""
        numbers = [column for column in self.schema_.columns if not isinstance(column, Category)]
        coefficients = weights[:, 1:].copy()
        intercept = weights[:, 0].copy()
        for place, column in enumerate(numbers):
            coefficients[:, place] *= column.codes_per_unit() / UNIT
            intercept -= coefficients[:, place] * column.origin
        return intercept, coefficients


class LinearClassifier(PrivateClassifier, LinearModel):
    """A linear model of classes out of a public list: what its constructors take."""

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
        rows_per_unit: Any = 1,
        expected_rows: Any = None,
        steps: Any = None,
        clip: Any = None,
        sampling: Any = None,
    ) -> None:
        self._take(locals())


class TwoClasses(LinearClassifier):
    """A linear model of two classes: positive margins are the second one's."""

    def decision_function(self, X: Any) -> Reals:  # noqa: N803
        """The margin of each row: above 0 for the second class."""
        return np.asarray(self._margins(X)[0])

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: N803
        """The class of each row."""
        places = (self.decision_function(X) > 0).astype(np.intp)
        found: npt.NDArray[Any] = self.classes_[places]
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _more_tags(self) -> dict[str, Any]:
        return {**super()._more_tags(), "binary_only": True}
