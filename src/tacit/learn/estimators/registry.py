"""The estimators by name, as where they live: the contract suite and the audits run on them, and files name them.

Texts, so that looking one up loads nothing: scikit-learn is loaded by the first one that is used.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["ESTIMATORS"]

ESTIMATORS: Mapping[str, str] = {
    "decision tree": "tacit.learn.estimators.tree.DecisionTreeClassifier",
    "k means": "tacit.learn.estimators.kmeans.KMeans",
    "naive bayes": "tacit.learn.estimators.naive_bayes.NaiveBayes",
    "principal components": "tacit.learn.estimators.pca.PCA",
    "random forest": "tacit.learn.estimators.forest.RandomForestClassifier",
    "standard scaler": "tacit.learn.estimators.scaler.StandardScaler",
    "logistic regression": "tacit.learn.estimators.logistic.LogisticRegression",
}
