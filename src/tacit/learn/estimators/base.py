"""What every private estimator shares: the price, the columns, the promise, the disclosure, files."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.learn.opened.fitting import LearningPlan, fit_table, is_table, plan_for_table, release_words
from tacit.learn.reading.columns import Category, Codes, Number
from tacit.learn.reading.frames import Cells, read_cells, read_vector
from tacit.learn.reading.rows import Rows, bounded_rows
from tacit.learn.reading.schema import Schema, read_classes, read_columns, read_target
from tacit.learn.saving import write_model
from tacit.learn.scikit import (
    BaseEstimator,
    ClassifierMixin,
    DataConversionWarning,
    NotFittedError,
    RegressorMixin,
    one_thread,
)
from tacit.learn.spending.budget import Budget, read_budget
from tacit.learn.spending.spending import Spending
from tacit.mechanisms.shared.base import bits_from
from tacit.noise.entropy import BitSource
from tacit.privacy import Guarantee
from tacit.report.markup import preformatted
from tacit.version import VERSION

__all__ = ["PrivateClassifier", "PrivateEstimator", "PrivateRegressor"]


class PrivateEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator with a promise under add-remove: the constructor takes public parameters, `fit` spends them once.

    A subclass writes its parameters out (scikit-learn reads them from the signature) and says in `_learn` what it does
    with encoded rows. Every `fit` draws anew and costs the whole promise again.
    """

    kind: ClassVar[str]
    """Its name in the registry, and in files."""

    learns: ClassVar[type | None] = None
    """What is to be learned: `Category` for one of a list, `Number`; None if there is no such column."""

    proof: ClassVar[str]
    """The page that proves the promise, below docs/."""

    unknown: ClassVar[str] = "contribute nothing to their column"
    """What becomes of cells that are unknown, for the disclosure."""

    epsilon: Any
    delta: Any
    rho: Any
    mu: Any
    promise: Any
    bounds: Any
    categories: Any
    rows_per_unit: Any

    promise_: Guarantee
    """What seeing the model costs, if it was chosen among others."""

    schema_: Schema
    n_features_in_: int
    disclosure_: dict[str, Any]

    def _take(self, given: dict[str, Any]) -> None:
        """Keep what a constructor was given, its ``locals()``, as it is: scikit-learn copies estimators that way."""
        for name, value in given.items():
            if name != "self":
                setattr(self, name, value)

    # The price.

    @property
    def guarantee(self) -> Guarantee:
        """What one fit promises to each unit, whatever the data; of a model that was chosen, what the choice does."""
        chosen: Guarantee | None = getattr(self, "promise_", None)
        return self._budget().promise if chosen is None else chosen

    def _chosen_by(self, promise: Guarantee, how: str) -> None:
        """Say that this model was chosen among others: seeing it costs more than its fit alone."""
        self.promise_ = promise
        self.disclosure_ = self.disclosure_ | {"promise": promise.to_dict(), "chosen": how}

    def _budget(self) -> Budget:
        return read_budget(
            type(self).__name__,
            epsilon=self.epsilon,
            delta=self.delta,
            rho=self.rho,
            mu=self.mu,
            promise=self.promise,
        )

    # Fitting.

    def fit(
        self,
        X: Any,  # noqa: N803
        y: Any = None,
        *,
        units: Any = None,
        target: str | None = None,
        columns: Sequence[str] | None = None,
        fresh: bool = False,
        entropy: BitSource | None = None,
    ) -> Any:
        """Learn from a table in memory; ``units`` says whose each row is, if a person may have several.

        Or from an open table: ``fit(people, target="income")`` learns that column from all others, or from ``columns``.
        That is one request, paid like any question; its stored answer is the model, so that fitting again is free,
        unless ``fresh``. Bounds, lists and units are the policy's.

        What cannot be used is refused for its type, shape or parameters, before anything is drawn or paid.
        """
        if is_table(X):
            _only_a_table(y, units)
            return fit_table(self, X, target, columns, fresh=fresh, entropy=entropy)
        _no_table(target, columns, fresh)
        self._check()
        cells = read_cells(X)
        labels = self._labels(y, cells)
        schema = Schema(read_columns(cells, self.bounds, self.categories), self._target(labels), cells.named)
        owners = None if units is None else read_vector(units, cells.rows, "units")
        bits = bits_from(entropy)
        known = None if schema.target is None else schema.target.encode(labels)
        return self.fit_rows(schema, bounded_rows(schema.encode(cells), known, owners, self.rows_per_unit, bits), bits)

    def plan(self, table: Any, *, target: str | None = None, columns: Sequence[str] | None = None) -> LearningPlan:
        """What a fit on an open table reads, costs and releases; free. Refuses what `fit` would refuse."""
        if not is_table(table):
            raise InvalidParameter("table", given=type(table).__name__, allowed="an open table: tacit.open(...)")
        return plan_for_table(self, table, target, columns, releases=True)

    def fit_rows(self, schema: Schema, rows: Rows, bits: BitSource) -> Any:
        """Learn from encoded rows, wherever they are: what a table that pays calls, inside the draw."""
        self._check()
        if hasattr(self, "promise_"):
            del self.promise_
        spending = Spending(self._budget(), bits)
        with one_thread():
            self._learn(schema, rows, spending)
        self.schema_ = schema
        self.n_features_in_ = len(schema.columns)
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.disclosure_ = self._disclosure(schema, rows, spending)
        return self

    def _check(self) -> None:
        """Refuse parameters that cannot be used."""
        self._budget()

    @abstractmethod
    def _learn(self, schema: Schema, rows: Rows, spending: Spending) -> None:
        """Set what is learned, from what `spending` releases alone."""

    def _labels(self, y: Any, cells: Cells) -> npt.NDArray[Any]:
        """What is to be learned, as an array: nothing, here."""
        return np.empty(0)

    def _target(self, labels: npt.NDArray[Any]) -> Number | Category | None:
        return None

    # What was learned.

    def _codes(self, X: Any) -> Codes:  # noqa: N803
        """The codes of new rows, which must have the columns that were fitted."""
        if not hasattr(self, "schema_"):
            name = type(self).__name__
            raise NotFittedError(
                f"This {name} instance is not fitted yet. Call 'fit' with appropriate arguments first."
            )
        cells = read_cells(X)
        _same_columns(type(self).__name__, self.schema_, cells)
        return self.schema_.encode(cells)

    def _disclosure(self, schema: Schema, rows: Rows, spending: Spending) -> dict[str, Any]:
        """Everything a reader needs to judge the model, all of it public."""
        return {
            "estimator": self.kind,
            "tacit": VERSION,
            "promise": self.guarantee.to_dict(),
            "protects": "a row" if rows.limit == 1 else f"a unit of at most {rows.limit} rows",
            "proof": self.proof,
            "columns": [column.to_dict() for column in schema.columns],
            "target": None if schema.target is None else schema.target.to_dict(),
            "releases": [one.to_dict() for one in spending.purchases],
            "unknown": "Numbers beyond their bounds count as the bound. NaN, nulls and unknown categories"
            f" {self.unknown}; rows with an unknown target are left out.",
        }

    def save(self, path: str | Path) -> None:
        """Write parameters, what was learned and the disclosure to one file, which `tacit.learn.load` reads."""
        fitted = {name: value for name, value in vars(self).items() if name.endswith("_") and not name.startswith("_")}
        if not fitted:
            raise NotFittedError(f"This {type(self).__name__} has learned nothing yet: fit first.")
        write_model(path, self.kind, self.get_params(deep=False), fitted)

    def _told(self) -> str:
        """What a fitted model promises and was made from, for people."""
        told = self.disclosure_
        chosen = f", as {told['chosen']}" if "chosen" in told else ""
        lines = [f"promises {self.guarantee!r} to {told['protects']}{chosen} (docs/{told['proof']})", "released:"]
        return "\n".join([*lines, *(f"  {release_words(one)}" for one in told["releases"])])

    def _repr_mimebundle_(self, **asked: Any) -> dict[str, str]:
        """In a notebook: scikit-learn's view of the parameters and, of a fitted model, what it promises below it."""
        shown: dict[str, str] = super()._repr_mimebundle_(**asked)
        if "text/html" in shown and hasattr(self, "disclosure_"):
            shown["text/html"] += preformatted(self._told())
        return shown

    # What scikit-learn asks.

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.non_deterministic = True
        return tags

    def _more_tags(self) -> dict[str, Any]:
        """The same for scikit-learn before 1.6."""
        return {"allow_nan": True, "non_deterministic": True}


class PrivateClassifier(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """One that learns a label out of a public list: ``classes=``, or 0 and 1, or False and True."""

    learns = Category

    classes: Any
    classes_: npt.NDArray[Any]

    def _labels(self, y: Any, cells: Cells) -> npt.NDArray[Any]:
        return _one_label_each(y, cells.rows)

    def _target(self, labels: npt.NDArray[Any]) -> Category:
        return read_classes(self.classes, labels)

    def fit_rows(self, schema: Schema, rows: Rows, bits: BitSource) -> Any:
        if not isinstance(schema.target, Category):
            raise InvalidParameter("target", given=schema.target, allowed="a public list of classes")
        self.classes_ = np.array(schema.target.values)
        return super().fit_rows(schema, rows, bits)


class PrivateRegressor(RegressorMixin, PrivateEstimator):  # type: ignore[misc]
    """One that learns a number between public bounds: ``target_bounds=``."""

    learns = Number

    target_bounds: Any

    def _labels(self, y: Any, cells: Cells) -> npt.NDArray[Any]:
        return _one_label_each(y, cells.rows)

    def _target(self, labels: npt.NDArray[Any]) -> Number:
        return read_target(self.target_bounds)

    def fit_rows(self, schema: Schema, rows: Rows, bits: BitSource) -> Any:
        if not isinstance(schema.target, Number):
            raise InvalidParameter("target", given=schema.target, allowed="a number with bounds")
        return super().fit_rows(schema, rows, bits)


def _only_a_table(y: Any, units: Any) -> None:
    for name, given, instead in (("y", y, 'target="income"'), ("units", units, "nothing: the policy names the unit")):
        if given is not None:
            raise InvalidParameter(name, given="values", allowed=f"for an open table, {instead}", hint=_UNSPENT)


def _no_table(target: Any, columns: Any, fresh: bool) -> None:
    for name, given in (("target", target), ("columns", columns), ("fresh", fresh or None)):
        if given is not None:
            raise InvalidParameter(name, given=given, allowed="only for a table that tacit.open opened")


_UNSPENT = "Nothing was spent."


def _one_label_each(y: Any, rows: int) -> npt.NDArray[Any]:
    if getattr(y, "ndim", 1) == 2:
        warnings.warn("A column-vector y was passed when a 1d array was expected.", DataConversionWarning, stacklevel=4)
    return read_vector(y, rows)


def _same_columns(estimator: str, schema: Schema, cells: Cells) -> None:
    if len(cells.names) != len(schema.columns):
        had, has = len(schema.columns), len(cells.names)
        hint = f"X has {has} features, but {estimator} is expecting {had} features as input."
        raise InvalidParameter("X", given=f"{has} columns", allowed=f"the {had} columns that were fitted", hint=hint)
    if cells.named and schema.named and cells.names != schema.names:
        hint = "The feature names should match those that were passed during fit."
        raise InvalidParameter(
            "X", given=list(cells.names), allowed=f"columns {list(schema.names)}, in order", hint=hint
        )
