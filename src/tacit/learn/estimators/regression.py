"""Private regression of a number: least squares, ridge and Huber's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.learn.estimators.base import PrivateRegressor
from tacit.learn.estimators.linear_model import LinearModel
from tacit.learn.linear.descent import Fitted
from tacit.learn.linear.design import UNIT, Design
from tacit.learn.linear.losses import Squares
from tacit.learn.linear.passes import Passes
from tacit.learn.linear.settings import usual_norm
from tacit.learn.linear.spread import cut_normal, unexplained
from tacit.learn.reading.columns import LEVELS, Number
from tacit.learn.reading.rows import Rows
from tacit.learn.reading.schema import Schema
from tacit.learn.spending.spending import Spending
from tacit.privacy.prices import non_negative, positive, price

__all__ = ["HuberRegressor", "LinearRegression", "NumberModel", "Ridge"]

Reals = npt.NDArray[np.float64]

_SPREAD = Fraction(3, 100)  # the share that buys how many targets there are, their mean and their spread
_MARGIN = 1.25  # on the variance: rows are of different lengths, and no residuals quite normal; measured in the tests
_FURTHEST = 1 << 20  # a corner that no residual reaches


@dataclass(frozen=True, slots=True)
class Targets:
    """About how many targets there are, their mean from the middle of their bounds, and their standard deviation."""

    rows: float
    mean: float
    spread: float
    widest: float
    """The most that the spread is likely to be, by the noise in it."""


class NumberModel(PrivateRegressor, LinearModel):
    """A linear model of a number between public bounds; the noise follows how far the targets are spread."""

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
        target_bounds: Any = None,
        rows_per_unit: Any = 1,
        expected_rows: Any = None,
        steps: Any = None,
        clip: Any = None,
        sampling: Any = None,
    ) -> None:
        self._take(locals())

    def _penalty(self) -> float:
        return 0.0

    def _corner(self, targets: Targets) -> int:
        """From which residual on the loss is straight, in codes."""
        return _FURTHEST

    def _learn(self, schema: Schema, rows: Rows, spending: Spending) -> None:
        assert isinstance(schema.target, Number)
        middle = (schema.target.lowest + schema.target.highest) // 2
        design = self._design(schema)
        passes = Passes(design, rows, pure=spending.budget.pure)
        targets = _buy_targets(passes, middle, rows.limit, spending)
        start = np.zeros((1, design.width))
        start[0, 0] = targets.mean
        loss = Squares(middle, self._corner(targets))
        fitted = self._descend(
            schema,
            rows,
            spending,
            loss,
            passes,
            spread=targets.spread,
            counted=targets.rows,
            start=start,
            penalty=self._penalty(),
        )
        self._keep(fitted, targets, design)

    def _keep(self, fitted: Fitted, targets: Targets, design: Design) -> None:
        """Keep what else was learned."""

    def predict(self, X: Any) -> Reals:  # noqa: N803
        """The expected number for each row, within the bounds of the target."""
        margins = self._margins(X)[0]
        column = self.schema_.target
        assert isinstance(column, Number)
        codes = margins * LEVELS + (column.lowest + column.highest) // 2
        return np.asarray(np.clip(column.value(codes), column.low, column.high))


class StraightModel(NumberModel):
    """One whose coefficients are those of its columns, with intervals."""

    variance_: Reals

    def _keep(self, fitted: Fitted, targets: Targets, design: Design) -> None:
        """Variances of the weights: of the rows as a sample, and of the noise."""
        left = unexplained(fitted, targets.widest)
        reach = min(fitted.clip / usual_norm(design), self._corner(targets) / LEVELS)
        whole, square = cut_normal(reach / left)
        values, vectors = np.linalg.eigh(fitted.moments.matrix)
        known = np.maximum(values, fitted.moments.blur)
        sampled = (vectors * (left**2 * square / known)) @ vectors.T
        self.variance_ = _MARGIN * np.maximum(np.diag(sampled) + np.diag(fitted.covariance), 0) / whole**2

    @property
    def coef_(self) -> Reals:
        """A coefficient for each of ``terms_``, in units of the target by those of the column."""
        return np.asarray(self._scaled()[1][0])

    @property
    def intercept_(self) -> float:
        """The prediction for a row whose numbers are 0 and whose categories are unknown."""
        column = self.schema_.target
        assert isinstance(column, Number)
        return float(self._scaled()[0][0] + column.value((column.lowest + column.highest) // 2))

    def _scaled(self) -> tuple[Reals, Reals]:
        column = self.schema_.target
        assert isinstance(column, Number)
        intercept, coefficients = self._in_units(self.weights_)
        unit = LEVELS / column.codes_per_unit()
        return intercept * unit, coefficients * unit

    def coef_interval(self, beta: Any = 0.05) -> tuple[Reals, Reals]:
        """Where each coefficient lies but for a chance of about β: sampling and noise together, as if normal.

        Sampling is reckoned from what the columns leave of the spread of the target, by what was released, and from how
        many residuals are cut, as if they were normal. The ridge that follows the noise is not in it: it draws
        coefficients toward zero.
        """
        level = float(positive(beta, "beta"))
        width = NormalDist().inv_cdf(1 - level / 2) if level < 1 else 0.0
        spread = np.sqrt(self.variance_)[None, :]
        column = self.schema_.target
        assert isinstance(column, Number)
        half = width * np.abs(self._in_units(spread)[1][0]) * LEVELS / column.codes_per_unit()
        return self.coef_ - half, self.coef_ + half


class LinearRegression(StraightModel):
    """Least squares by noisy second-order descent, in whole numbers up to the noise.

    Residuals are clipped at about half the released spread of the target. Proof: docs/proofs/linear_models.md.

    >>> x = np.arange(5000).reshape(-1, 1) % 100
    >>> model = LinearRegression(epsilon=1, delta=1e-6, bounds=(0, 100), target_bounds=(0, 300))
    >>> bool(abs(model.fit(x, 2 * x[:, 0] + 50).predict([[50]])[0] - 150) < 15)
    True
    """

    kind: ClassVar[str] = "linear regression"
    proof: ClassVar[str] = "proofs/linear_models.md"


class Ridge(StraightModel):
    """Least squares with a penalty of ``alpha``/2 times the squared weights, in the units of the codes.

    A weight is what the whole range of a number changes, in the whole range of the target. Proof:
    docs/proofs/linear_models.md.
    """

    kind: ClassVar[str] = "ridge regression"
    proof: ClassVar[str] = "proofs/linear_models.md"

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
        target_bounds: Any = None,
        alpha: Any = 1,
        rows_per_unit: Any = 1,
        expected_rows: Any = None,
        steps: Any = None,
        clip: Any = None,
        sampling: Any = None,
    ) -> None:
        self._take(locals())

    def _check(self) -> None:
        super()._check()
        self._penalty()

    def _penalty(self) -> float:
        return float(non_negative(self.alpha, "alpha"))


class HuberRegressor(StraightModel):
    """Huber's regression: squares up to ``threshold`` times the released spread of the target, straight beyond.

    Proof: docs/proofs/linear_models.md.
    """

    kind: ClassVar[str] = "huber regression"
    proof: ClassVar[str] = "proofs/linear_models.md"

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
        target_bounds: Any = None,
        threshold: Any = 1.35,
        rows_per_unit: Any = 1,
        expected_rows: Any = None,
        steps: Any = None,
        clip: Any = None,
        sampling: Any = None,
    ) -> None:
        self._take(locals())

    def _check(self) -> None:
        super()._check()
        positive(self.threshold, "threshold")

    def _corner(self, targets: Targets) -> int:
        return max(1, min(_FURTHEST, int(price(self.threshold) * int(targets.spread * LEVELS))))


def _buy_targets(passes: Passes, middle: int, unit_rows: int, spending: Spending) -> Targets:
    """The number of targets, their mean and their spread, with noise.

    A row moves the three by at most 1, 2¹³ and 2¹³: counted from the middle of 2¹⁴ steps, the square by 2¹³.
    """
    half = LEVELS // 2 + 1
    weight = half  # the count is multiplied, so that the three have noise of one size
    mechanism = spending.buy(
        "number, mean and spread of the target",
        _SPREAD,
        l1=unit_rows * 3 * half,
        l2_squared=unit_rows**2 * 3 * half**2,
    )
    total = passes.targets(middle) * np.array([weight, 1, 1], dtype=object)
    released = mechanism.release_floats(total, entropy=spending.bits)
    rows = max(released[0] / weight, 1.0)
    mean = min(max(released[1] / rows, -half), half)
    square = released[2] * (1 << 13) / rows - mean**2
    doubt = (1 + spending.budget.pure) * mechanism.scale * (1 << 13) / rows  # a deviation; Laplace's tails are longer
    spread, widest = (math.sqrt(min(max(one, (LEVELS / 64) ** 2), half**2)) for one in (square, square + doubt))
    return Targets(rows, mean / UNIT, spread / LEVELS, widest / LEVELS)
