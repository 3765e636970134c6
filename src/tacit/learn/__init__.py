"""Private learning.

Over finite classes, by the exponential mechanism and by local reports: docs/guides/learnability.md.
"""

from __future__ import annotations

from tacit.learn.finite_class import FiniteClassLearner
from tacit.learn.hypotheses import Conjunction, Conjunctions, Interval, Intervals, Listed, Threshold, Thresholds
from tacit.learn.local_queries import LocalConjunctions, LocalThresholds, StatisticalQueries
from tacit.learn.sample_sizes import SampleSize, agnostic_sample, realisable_sample, textbook_sample

__all__ = [
    "Conjunction",
    "Conjunctions",
    "FiniteClassLearner",
    "Interval",
    "Intervals",
    "Listed",
    "LocalConjunctions",
    "LocalThresholds",
    "SampleSize",
    "StatisticalQueries",
    "Threshold",
    "Thresholds",
    "agnostic_sample",
    "realisable_sample",
    "textbook_sample",
]
