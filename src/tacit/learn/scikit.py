"""What scikit-learn gives to our estimators: the one place that loads it, and says how to get it."""

from __future__ import annotations

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
]
