"""Private additive models: a curve for every number, in two resolutions of public bins; a level for every category."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import UnknownColumn
from tacit.learn.estimators.linear_model import LinearModel
from tacit.learn.estimators.logistic import LogisticModel
from tacit.learn.estimators.regression import NumberModel
from tacit.learn.linear.descent import Moments
from tacit.learn.linear.design import Design, design_of
from tacit.learn.linear.settings import Settings, usual_for_bins
from tacit.learn.reading.columns import Category, Number
from tacit.learn.reading.rows import Rows
from tacit.learn.reading.schema import Schema
from tacit.learn.spending.budget import Budget
from tacit.learn.spending.spending import Spending
from tacit.noise.entropy import BitSource

__all__ = ["AdditiveClassifier", "AdditiveRegressor", "Shape"]

Reals = npt.NDArray[np.float64]

_COARSE = 8


@dataclass(frozen=True, slots=True)
class Shape:
    """What one column adds to the margin: a level for each bin or category, with the band that noise alone explains.

    ``edges`` are the ends of the bins of a number, one more than there are levels; for categories, the values.
    """

    column: str
    edges: tuple[Any, ...]
    levels: Reals
    low: Reals
    high: Reals


class AdditiveModel(LinearModel):
    """A linear model whose terms are indicators of bins, fine and coarse, and of categories."""

    bins_: tuple[int, int]
    """How many bins a number has, fine and coarse."""

    def fit_rows(self, schema: Schema, rows: Rows, bits: BitSource) -> Any:
        self.bins_ = _bins(self._budget())
        return super().fit_rows(schema, rows, bits)

    def _design(self, schema: Schema) -> Design:
        return design_of(schema, self.bins_)

    def shape(self, column: str, output: int = 0) -> Shape:
        """What a column adds to the margin of an output (for two classes, and for numbers, there is one)."""
        if column not in self.schema_.names:
            raise UnknownColumn(f"{column!r} is no column. The columns: {', '.join(self.schema_.names)}.")
        place = self.schema_.names.index(column)
        design = self._design(self.schema_)
        levels, variance, at = np.zeros(1), np.zeros(1), 1
        for block in design.blocks:
            if block.place == place:
                finer = max(block.size, levels.size)
                levels, variance = (np.repeat(one, finer // one.size) for one in (levels, variance))
                part = slice(at, at + block.size)
                levels = levels + np.repeat(self.weights_[output, part], finer // block.size)
                variance = variance + np.repeat(self.noise_[part] ** 2, finer // block.size)
            at += block.size
        half = 2 * np.sqrt(variance)
        return Shape(column, self._edges(place, levels.size), levels, levels - half, levels + half)

    def _edges(self, place: int, count: int) -> tuple[Any, ...]:
        column = self.schema_.columns[place]
        if isinstance(column, Category):
            return column.values
        assert isinstance(column, Number)
        span = column.highest - column.lowest + 1
        return tuple(float(column.value(column.lowest + span * i / count)) for i in range(count + 1))

    def plot(self, column: str, output: int = 0) -> Any:
        """The shape of a column as a matplotlib figure, with its band."""
        from tacit.plots.shapes import shape_figure

        found = self.shape(column, output)
        return shape_figure(found.column, found.edges, found.levels.tolist(), found.low.tolist(), found.high.tolist())


def _bins(budget: Budget) -> tuple[int, int]:
    """Fine and coarse; the promise alone says how fine."""
    strong = budget.spent_as.epsilon(0 if budget.pure else 1e-5) >= 0.5
    return (64 if strong else 32), _COARSE


class AdditiveClassifier(AdditiveModel, LogisticModel):
    """An additive logistic model: a curve for every number, a level for every category, all in one private fit.

    Every number is in two resolutions of equal bins of its public bounds, 8 and 32 (64 from ε = ½ on), whose levels add
    up. `shape` and `plot` show what each column adds. Proof: docs/proofs/linear_models.md.

    >>> age = np.arange(5000).reshape(-1, 1) % 100
    >>> middle = (age[:, 0] > 30) & (age[:, 0] < 60)
    >>> model = AdditiveClassifier(epsilon=1, delta=1e-6, bounds=(0, 100)).fit(age, middle)
    >>> model.predict([[10], [45], [90]]).tolist()
    [False, True, False]
    """

    kind: ClassVar[str] = "additive classifier"
    proof: ClassVar[str] = "proofs/linear_models.md"

    def _settings(self, design: Design, spending: Spending, moments: Moments, spread: float | None) -> Settings:
        return self._chosen(usual_for_bins(design, spending.budget, moments.rows))


class AdditiveRegressor(AdditiveModel, NumberModel):
    """An additive model of a number: a curve for every number, a level for every category, all in one private fit.

    Proof: docs/proofs/linear_models.md.
    """

    kind: ClassVar[str] = "additive regressor"
    proof: ClassVar[str] = "proofs/linear_models.md"
