"""Estimators as scikit-learn has them, each with a promise: one file each; they need the extra ``learn``."""
