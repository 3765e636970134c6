"""Estimators as scikit-learn's checks call them: with the bounds and the classes that a caller would declare.

scikit-learn's checks make their own rows and expect an estimator to learn its classes from them. Here a subclass
declares them, as whoever owns the rows would: the labels that the check uses, and bounds that hold its numbers.
"""

from __future__ import annotations

import inspect
from typing import Any
from unittest import SkipTest

import numpy as np

from tacit.testing import seeded
from tests.learn.made import kind_of

EXPECTED_TO_FAIL = {
    "check_estimators_nan_inf": "NaN and infinity are read, not refused: an error would tell of a row",
    "check_estimators_empty_data_messages": "no rows are learned from like many: how many there are is private",
    "check_fit2d_1sample": "one row is learned from like many: how many there are is private",
    "check_dtype_object": "a cell that is no number is unknown, not an error: an error would tell of a row",
    "check_classifiers_one_label": "one class only is learned from; the classes are declared, at least two",
    "check_classifiers_regression_target": "labels are looked up in the declared classes, whatever they are",
    "check_supervised_y_no_nan": "a row with an unknown target is left out: an error would tell of a row",
}
"""Checks that an estimator which is private cannot pass, with the reason; all others pass."""

EXPECTED_OF = {
    "k means": {
        "check_clustering": "no labels of the rows that were learned from are kept: they are private",
        "check_clusterer_compute_labels_predict": "no labels of the rows that were learned from are kept",
        "check_transformer_general": "before 1.6: expects fit_transform of a clusterer to give the same as labels_",
    },
    "standard scaler": {
        "check_estimator_sparse_array": "the check sets with_mean on whatever is called StandardScaler",
        "check_estimator_sparse_matrix": "the check sets with_mean on whatever is called StandardScaler",
        "check_estimators_sparse_data": "before 1.6: the check sets with_mean on whatever is called StandardScaler",
        "check_estimator_sparse_data": "before 1.6: the check sets with_mean on whatever is called StandardScaler",
    },
}
"""Checks that a single estimator cannot pass, with the reason."""


def failed_checks(estimator: Any, expected: dict[str, str]) -> list[str]:
    """scikit-learn's checks that fail though they are not expected to; on every version from 1.5 on."""
    from sklearn.utils import estimator_checks

    if "on_fail" in inspect.signature(estimator_checks.check_estimator).parameters:
        ran = estimator_checks.check_estimator(estimator, on_fail=None, on_skip=None, expected_failed_checks=expected)
        assert len(ran) > 40
        return [f"{one['check_name']}: {one['exception']!r}" for one in ran if one["status"] == "failed"]
    found, count = [], 0
    for one, check in estimator_checks.check_estimator(estimator, generate_only=True):
        name = check.func.__name__
        count += 1
        try:
            check(one)
        except SkipTest:
            continue
        except Exception as fault:
            if name not in expected:
                found.append(f"{name}: {fault!r}")
    assert count > 30
    return found


def declared(name: str) -> Any:
    """The estimator, declaring what the rows it is given need."""
    kind = kind_of(name)
    known = inspect.signature(kind).parameters

    class Declared(kind):  # type: ignore[misc, valid-type]
        def fit(self, X: Any, y: Any = None, *, units: Any = None, entropy: Any = None) -> Any:  # noqa: N803
            given = self.get_params()
            try:
                self.bounds = (-100, 100) if _wide(X) else (-10, 10)
                if "classes" in known and y is not None and self.classes is None:
                    self.classes = _labels(y)
                if "target_bounds" in known and y is not None:
                    self.target_bounds = _around(y)
                return super().fit(X, y, units=units, entropy=seeded(7))  # the checks compare one fit with another
            finally:
                self.set_params(**given)

    Declared.__name__ = Declared.__qualname__ = kind.__name__
    globals()[kind.__name__] = Declared  # where pickle looks for it
    usual: dict[str, Any] = {"epsilon": 50, "delta": 1e-5, "bounds": (-10, 10)}
    if "target_bounds" in known:
        usual["target_bounds"] = (-10, 10)
    return Declared(**usual)


def _wide(table: Any) -> bool:
    try:
        return bool(np.nanmax(np.abs(np.asarray(table, dtype=float))) > 10)
    except (TypeError, ValueError):
        return False


def _around(y: Any) -> Any:
    try:
        most = float(np.nanmax(np.abs(np.asarray(y, dtype=float))))
    except (TypeError, ValueError):
        return (-10, 10)
    return (-1.5 * most - 1, 1.5 * most + 1) if np.isfinite(most) else (-10, 10)


def _labels(y: Any) -> Any:
    try:
        found = np.unique(np.asarray(y).ravel()).tolist()
    except TypeError:
        return None
    return found if len(found) > 1 else [*found, "another"]
