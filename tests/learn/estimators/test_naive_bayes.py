"""Naive Bayes: exact counts, neighbours with injected noise, planted faults, what it learns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit.learn.estimators.naive_bayes as naive_bayes
from tacit.errors import InvalidParameter
from tacit.learn import NaiveBayes
from tacit.learn.estimators.naive_bayes import class_counts, evidence_of
from tacit.learn.reading.columns import MISSING, Category, Number
from tacit.learn.reading.rows import Chunk, InMemoryRows
from tacit.learn.reading.schema import Schema
from tacit.learn.trees.splits import splits_of
from tacit.testing import seeded

SCHEMA = Schema((Number("age", 0, 100), Category("city", ("Rome", "Oslo"))), Category("target", (0, 1, 2)))
CODES = np.array([[0, 0], [1 << 14, 1], [MISSING, MISSING], [8000, 1], [5, 0]], dtype=np.int16)
TARGET = np.array([0, 2, 1, MISSING, 0], dtype=np.int16)


def counted(codes: Any, target: Any) -> Any:
    return class_counts(splits_of(SCHEMA, 8), InMemoryRows(Chunk(codes, target)), 3)


def moved_by(codes: Any, target: Any) -> Any:
    before = counted(CODES, TARGET)
    return counted(np.vstack([CODES, codes]), np.append(TARGET, target).astype(np.int16)) - before


def test_counts_are_those_of_the_rows() -> None:
    counts = counted(CODES, TARGET)
    assert counts[0].tolist() == [2, 1, 1]
    assert counts[1:10].sum(axis=0).tolist() == [2, 1, 1]  # eight bins and what is unknown
    assert counts[1].tolist() == [0, 1, 0]
    assert counts[8 + 1].tolist() == [0, 0, 1]  # the upper bound is in the last bin
    assert counts[10:].tolist() == [[0, 1, 0], [2, 0, 0], [0, 0, 1]]


@pytest.mark.parametrize("label", [0, 1, 2, MISSING])
@pytest.mark.parametrize("age", [0, 1 << 14, 8192, MISSING])
@pytest.mark.parametrize("city", [0, 1, MISSING])
def test_a_row_touches_one_cell_of_each_column(age: int, city: int, label: int) -> None:
    moved = moved_by(np.array([[age, city]], dtype=np.int16), [label])
    assert np.abs(moved).sum() == (0 if label == MISSING else 3)
    assert (moved**2).sum() == np.abs(moved).sum()
    several = moved_by(np.array([[age, city]] * 4, dtype=np.int16), [label] * 4)
    assert np.abs(several).sum() <= 4 * 3
    assert (several**2).sum() <= 4**2 * 3


def test_planted_fault_a_column_counted_twice_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = class_counts
    monkeypatch.setitem(globals(), "class_counts", lambda *given: 2 * right(*given))
    with pytest.raises(AssertionError):
        test_a_row_touches_one_cell_of_each_column(0, 0, 0)


def test_the_model_is_a_function_of_what_was_released(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def recorded(*given: Any) -> Any:
        seen.append(given)
        return evidence_of(*given)

    monkeypatch.setattr(naive_bayes, "evidence_of", recorded)
    X = np.arange(50).reshape(-1, 1) % 10
    y = X[:, 0] > 5
    one = NaiveBayes(epsilon=1, bounds=(0, 10)).fit(X, y, entropy=seeded(3))
    two = NaiveBayes(epsilon=1, bounds=(0, 10)).fit(X[1:], y[1:], entropy=seeded(3))
    difference = seen[0][0] - seen[1][0]  # the same noise: what is left is the row
    assert np.abs(difference).sum() == 1
    assert seen[0][2:] == seen[1][2:]
    assert one.disclosure_ == two.disclosure_
    assert np.array_equal(one.evidence_, evidence_of(*seen[0]))
    paid = [(release["what"], release["share"]) for release in one.disclosure_["releases"]]
    assert paid == [("counts of classes", 0.1), ("counts of bins and classes", 0.9)]


def test_noise_by_itself_says_nothing() -> None:
    """Columns that tell nothing, drowned in noise: the majority is predicted; a column that tells is heard."""
    rng = np.random.default_rng(5)
    sizes = (33,) * 40
    nothing = rng.normal(0, 500, size=(33 * 40, 2))
    shares = np.array([0.7, 0.3])
    said = evidence_of(nothing, shares, 500.0, sizes)
    assert (np.abs(said).sum(axis=1).reshape(40, 33).sum(axis=1) > 0).sum() <= 5
    assert np.abs(said).max() < 0.5
    clear = nothing.copy()
    clear[5] += [20_000, 0]
    assert evidence_of(clear, shares, 500.0, sizes)[5, 0] > 0.2
    X = rng.normal(size=(400, 30))
    y = rng.random(400) < 0.1
    model = NaiveBayes(epsilon=0.5, bounds=(-4, 4)).fit(X, y, entropy=seeded(3))
    assert (model.predict(X) == y).mean() >= 0.85


def test_it_learns_what_is_there() -> None:
    rng = np.random.default_rng(3)
    age, city = rng.integers(0, 100, 4000), rng.choice(["Rome", "Oslo"], 4000)
    rich = (age > 60) | (city == "Oslo")
    X = np.column_stack([age.astype(object), city.astype(object)])
    model = NaiveBayes(epsilon=1, bounds={0: (0, 100)}, categories={1: ["Rome", "Oslo"]})
    model.fit(X, rich, entropy=seeded(5))
    assert (model.predict(X) == rich).mean() > 0.9
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(4000))
    for wrong in ({"bins": 1}, {"bins": True}, {"weight": -1}, {"weight": "much"}):
        with pytest.raises(InvalidParameter):
            NaiveBayes(epsilon=1, bounds=(0, 100), **wrong).fit(age.reshape(-1, 1), rich)
