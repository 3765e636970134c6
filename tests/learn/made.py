"""An example of every estimator in the registry, with rows for it: what the contract suites run on."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import numpy as np

from tacit.learn.estimators.registry import ESTIMATORS


def kind_of(name: str) -> Any:
    """The class of that name."""
    home, _, made = ESTIMATORS[name].rpartition(".")
    return getattr(import_module(home), made)


def make(name: str, **params: Any) -> Any:
    """One with a price and bounds, unless others are given."""
    kind = kind_of(name)
    known = inspect.signature(kind).parameters
    priced = {"epsilon", "rho", "mu", "promise"} & set(params)
    usual: dict[str, Any] = {} if priced else {"epsilon": 1, "delta": 1e-5}
    usual["bounds"] = (-10, 10)
    if "target_bounds" in known:
        usual["target_bounds"] = (-10, 10)
    return kind(**{**usual, **params})


def table(count: int = 60, width: int = 3, seed: int = 0) -> tuple[Any, Any]:
    """Rows and labels 0 and 1; public, made for tests."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, width))
    return X, (X[:, 0] > 0).astype(int)
