"""One fit of every estimator with canaries: made-up units in or out by secret coins, guessed from the model alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tacit import PureDP
from tacit.auditing.canaries import audit_canaries
from tacit.learn.estimators.registry import ESTIMATORS
from tacit.learn.reading.columns import LEVELS, MISSING, Category, Number
from tacit.learn.reading.rows import Chunk, InMemoryRows
from tacit.learn.reading.schema import Schema
from tacit.learn.vectors import starting
from tacit.testing import seeded
from tests.learn.faults import too_little_noise
from tests.learn.made import kind_of

CLAIM = PureDP(1)
CANARIES = 100
ROWS_EACH = 3
"""A unit's rows, all alike: as many as are allowed."""

PARAMS: dict[str, dict[str, Any]] = {
    "decision tree": {"max_depth": 2},
    "random forest": {"max_depth": 2, "n_estimators": 1},
    "k means": {"n_clusters": 1, "max_iter": 1},
    "naive bayes": {},
    "principal components": {},
    "standard scaler": {},
}
LINEAR = {"steps": 2}  # whoever says how many is not given the constant alone, for which a few hundred rows would do


def columns(name: str) -> tuple[Number | Category, ...]:
    """A coordinate for every canary: a category of one column, or where there are none a number of its own."""
    if name == "standard scaler":
        return tuple(Number(f"x{i}", 0, 1) for i in range(CANARIES))
    return (Category("who", tuple(range(CANARIES))),)


def schema_of(name: str) -> Schema:
    wanted = kind_of(name).learns
    target = None if wanted is None else Category("t", (0, 1)) if wanted is Category else Number("t", -1, 1)
    return Schema(columns(name), target)


def rows_of(name: str, schema: Schema, included: Any) -> InMemoryRows:
    """The canaries that are in, of the second class or at the upper bound; and as many others, who are nobody's."""
    here = np.repeat(np.flatnonzero(included), ROWS_EACH)
    count = ROWS_EACH * CANARIES
    width = len(schema.columns)
    codes = np.full((here.size + count, width), MISSING if width == 1 else 0, dtype=np.int16)
    codes[np.arange(here.size), 0 if width == 1 else here] = here if width == 1 else LEVELS
    highest = 0 if schema.target is None else schema.target.highest
    lowest = 0 if schema.target is None else schema.target.lowest
    target = np.concatenate([np.full(here.size, highest), np.full(count, lowest)]).astype(np.int16)
    units = np.concatenate([here, CANARIES + np.repeat(np.arange(CANARIES), ROWS_EACH)]).astype(np.int64)
    chunk = Chunk(np.asfortranarray(codes), None if schema.target is None else target, units)
    return InMemoryRows(chunk, ROWS_EACH)


def scores_of(name: str) -> Callable[[Any], Any]:
    """What a model says of each canary, more where it looks as if it were in."""
    if name in ("decision tree", "random forest"):
        return lambda model: model.predict_proba(np.arange(CANARIES, dtype=object).reshape(-1, 1))[:, 1]
    if name == "naive bayes":
        return lambda model: model.evidence_[1:, 1]
    if name == "k means":
        return lambda model: model.centres_[0]
    if name in ("principal components", "standard scaler"):
        return lambda model: model.mean_
    return lambda model: model.weights_[0, 1:]


def one_run(name: str, seed: int) -> Any:
    schema = schema_of(name)
    model = kind_of(name)(promise=CLAIM, rows_per_unit=ROWS_EACH, **PARAMS.get(name, LINEAR))

    def run(included: Any) -> Any:
        return model.fit_rows(schema, rows_of(name, schema, included), seeded(seed))

    return audit_canaries(run, scores_of(name), canaries=CANARIES, claim=CLAIM, entropy=seeded(seed))


@pytest.fixture(autouse=True)
def few_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where clusters start is made up from released numbers alone: fewer tries change nothing that is audited."""
    monkeypatch.setattr(starting, "_ROWS", 20)
    monkeypatch.setattr(starting, "_TRIES", 1)
    monkeypatch.setattr(starting, "_ROUNDS", 1)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_one_fit_with_canaries_keeps_the_promise(name: str) -> None:
    found = one_run(name, 1)
    assert not found.violated, found.verdict


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name not in ("decision tree", "random forest")])
def test_planted_fault_too_little_noise_is_seen_in_one_fit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in trees: they have four leaves, in which a hundred canaries cannot be told from each other."""
    too_little_noise(monkeypatch, 10_000)
    assert one_run(name, 1).violated
