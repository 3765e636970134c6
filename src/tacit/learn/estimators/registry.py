"""The estimators by name, as where they live: the contract suite and the audits run on them, and files name them.

Texts, so that looking one up loads nothing: scikit-learn is loaded by the first one that is used.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["ESTIMATORS"]

ESTIMATORS: Mapping[str, str] = {
    "additive classifier": "tacit.learn.estimators.additive.AdditiveClassifier",
    "additive regressor": "tacit.learn.estimators.additive.AdditiveRegressor",
    "decision tree": "tacit.learn.estimators.tree.DecisionTreeClassifier",
    "huber regression": "tacit.learn.estimators.regression.HuberRegressor",
    "k means": "tacit.learn.estimators.kmeans.KMeans",
    "linear regression": "tacit.learn.estimators.regression.LinearRegression",
    "linear support vector machine": "tacit.learn.estimators.svm.LinearSVC",
    "logistic regression": "tacit.learn.estimators.logistic.LogisticRegression",
    "naive bayes": "tacit.learn.estimators.naive_bayes.NaiveBayes",
    "principal components": "tacit.learn.estimators.pca.PCA",
    "random forest": "tacit.learn.estimators.forest.RandomForestClassifier",
    "ridge regression": "tacit.learn.estimators.regression.Ridge",
    "standard scaler": "tacit.learn.estimators.scaler.StandardScaler",
}
