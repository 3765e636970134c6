"""The estimators by name, as where they live: the contract suite and the audits run on them, and files name them.

Texts, so that looking one up loads nothing: scikit-learn is loaded by the first one that is used.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["ESTIMATORS"]

ESTIMATORS: Mapping[str, str] = {
    "decision tree": "tacit.learn.estimators.tree.DecisionTreeClassifier",
    "random forest": "tacit.learn.estimators.forest.RandomForestClassifier",
    "logistic regression": "tacit.learn.estimators.logistic.LogisticRegression",
}
