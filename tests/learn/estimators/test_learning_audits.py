"""Draws: many fits of every estimator to tiny tables, against the promise and planted faults.

Rows are given as codes, so that a fit takes a millisecond or two; one fit with canaries is in `test_canaries`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tacit import PureDP, audit
from tacit.learn.estimators.registry import ESTIMATORS
from tacit.learn.reading.columns import LEVELS, Category, Number
from tacit.learn.reading.rows import Chunk, InMemoryRows
from tacit.learn.reading.schema import Schema
from tacit.learn.vectors import starting
from tacit.testing import seeded
from tests.learn.faults import too_little_noise
from tests.learn.made import kind_of

CLAIM = PureDP(1)
SURE = 1 - 1e-7
COLUMNS = (Number("a", 0, 1),)

LINEAR: dict[str, Any] = {"steps": 1, "expected_rows": 10}
PARAMS: dict[str, dict[str, Any]] = {
    "decision tree": {"max_depth": 1},
    "random forest": {"max_depth": 1, "n_estimators": 1},
    "naive bayes": {"bins": 2},
    "k means": {"n_clusters": 1, "max_iter": 1},
    "principal components": {},
    "standard scaler": {},
}


def learned(name: str) -> Callable[[Any], Any]:
    """A few numbers of a model, at which a unit more shows."""
    if name in ("decision tree", "random forest"):
        return lambda model: tuple(model.shares_.reshape(-1, 2)[:, 1].round(3).tolist())
    if name == "naive bayes":
        return lambda model: tuple(model.evidence_[:, 1].round(3).tolist())
    if name == "k means":
        return lambda model: tuple(model.cluster_centers_.ravel().tolist())
    if name in ("principal components", "standard scaler"):
        return lambda model: tuple(model.mean_.tolist())
    return lambda model: (float(model.weights_[0, 0]), float(model.weights_[0, -1]))


def rows_of(name: str, more: int) -> tuple[Schema, InMemoryRows, InMemoryRows]:
    """Two rows of others; and with them a unit of so many, at the corner that moves every sum the most."""
    wanted = kind_of(name).learns
    target = None if wanted is None else Category("t", (0, 1)) if wanted is Category else Number("t", -1, 1)
    low, high = (0, 0) if target is None else (target.lowest, target.highest)
    codes = np.array([[0], [LEVELS // 2], *[[LEVELS]] * more], dtype=np.int16)
    labels = np.array([low, low, *[high] * more], dtype=np.int16)
    units = np.array([0, 1, *[2] * more], dtype=np.int64)

    def first(count: int) -> InMemoryRows:
        known = None if target is None else labels[:count]
        return InMemoryRows(Chunk(np.asfortranarray(codes[:count]), known, units[:count]), more)

    return Schema(COLUMNS, target), first(2), first(2 + more)


def audited(name: str, samples: int, more: int = 1) -> Any:
    schema, one, other = rows_of(name, more)
    model = kind_of(name)(promise=CLAIM, rows_per_unit=more, **PARAMS.get(name, LINEAR))
    if name.startswith("additive"):
        model.bins_ = (2, 2)
    of, bits = learned(name), seeded(7)

    def run(rows: Any) -> Any:
        return of(model.fit_rows(schema, rows, bits))

    return audit(run, neighbours=(one, other), claim=CLAIM, samples=samples, confidence=SURE, entropy=seeded(8))


@pytest.fixture(autouse=True)
def few_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where clusters start is made up from released numbers alone: fewer tries change nothing that is audited."""
    monkeypatch.setattr(starting, "_ROWS", 20)
    monkeypatch.setattr(starting, "_TRIES", 1)
    monkeypatch.setattr(starting, "_ROUNDS", 1)


QUICK = ("additive classifier", "decision tree", "logistic regression", "standard scaler")
EACH = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in ESTIMATORS]
"""All estimators; those after the quick ones in `make slow`."""


@pytest.mark.parametrize("name", EACH)
def test_many_fits_of_a_tiny_table_keep_the_promise(name: str) -> None:
    found = audited(name, 100, 3)
    assert not found.violated, found.verdict


def test_planted_fault_too_little_noise_is_seen_in_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    too_little_noise(monkeypatch, 60)
    assert audited("additive classifier", 100, 3).violated


@pytest.mark.slow
@pytest.mark.parametrize("more", [1, 3])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_thousands_of_fits_of_a_tiny_table_keep_the_promise(name: str, more: int) -> None:
    found = audited(name, 2_000, more)
    assert not found.violated, found.verdict


LARGER = {"decision tree": 60, "random forest": 60, "ridge regression": 200}
"""How many rows of a unit it takes for a fault to show where little is said of them: two leaves, a penalty beside."""


@pytest.mark.slow
@pytest.mark.parametrize("name", ESTIMATORS)
def test_planted_fault_a_units_rows_priced_as_one_are_seen_in_draws(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = LARGER.get(name, 8)
    too_little_noise(monkeypatch, rows)
    assert audited(name, 2_000, rows).violated
