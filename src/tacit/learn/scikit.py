"""What scikit-learn gives to our estimators: the one place that loads it, and says how to get it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from tacit.errors import MissingPackage

try:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        ClusterMixin,
        OneToOneFeatureMixin,
        RegressorMixin,
        TransformerMixin,
    )
    from sklearn.exceptions import DataConversionWarning, NotFittedError
    from threadpoolctl import ThreadpoolController
except ModuleNotFoundError:
    raise MissingPackage("scikit-learn", extra="learn") from None

__all__ = [
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "ClassifierMixin",
    "ClusterMixin",
    "DataConversionWarning",
    "NotFittedError",
    "OneToOneFeatureMixin",
    "RegressorMixin",
    "TransformerMixin",
    "one_thread",
]


def one_thread() -> AbstractContextManager[Any]:
    """Matrices are multiplied by one thread inside: ours are small, and a second one mostly waits, at full price."""
    limited: AbstractContextManager[Any] = _threads().limit(limits=1, user_api="blas")
    return limited


@cache
def _threads() -> Any:
    return ThreadpoolController()
