"""Tuning that pays: private scores by cross-validation, and the best of several estimators."""
