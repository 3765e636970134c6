"""Private learning.

Estimators in the manner of scikit-learn, which the extra ``learn`` brings: docs/guides/learning.md.
Over finite classes, by the exponential mechanism and by local reports: docs/guides/learnability.md.
"""

from __future__ import annotations

from importlib import import_module

from tacit.learn.estimators.registry import ESTIMATORS
from tacit.learn.finite.finite_class import FiniteClassLearner
from tacit.learn.finite.hypotheses import Conjunction, Conjunctions, Interval, Intervals, Listed, Threshold, Thresholds
from tacit.learn.finite.local_queries import LocalConjunctions, LocalThresholds, StatisticalQueries
from tacit.learn.finite.sample_sizes import SampleSize, agnostic_sample, realisable_sample, textbook_sample
from tacit.learn.noisy_sgd import NoisySGD
from tacit.learn.saving import load

__all__ = [
    "Conjunction",
    "Conjunctions",
    "FiniteClassLearner",
    "Interval",
    "Intervals",
    "Listed",
    "LocalConjunctions",
    "LocalThresholds",
    "NoisySGD",
    "SampleSize",
    "StatisticalQueries",
    "Threshold",
    "Thresholds",
    "agnostic_sample",
    "load",
    "realisable_sample",
    "textbook_sample",
]

_HOME_OF = {path.rpartition(".")[2]: path.rpartition(".")[0] for path in ESTIMATORS.values()}
_HOME_OF |= {
    "CrossValidated": "tacit.learn.tuning.cross_validation",
    "PrivateSearch": "tacit.learn.tuning.search",
    "cross_val_score": "tacit.learn.tuning.cross_validation",
}
_HOME_OF["OneHotEncoder"] = "tacit.learn.estimators.encoder"  # learns nothing, so that it has no price


def __getattr__(name: str) -> object:
    """The estimators, loaded when first used: they bring scikit-learn with them."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'tacit.learn' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_HOME_OF})
