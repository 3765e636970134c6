"""Cross-validation and search: who is in which part, what a unit moves, what it all costs."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit import ZCDP, ApproxDP, PureDP
from tacit.errors import InvalidParameter, MissingBounds
from tacit.learn import (
    PCA,
    DecisionTreeClassifier,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    PrivateSearch,
    cross_val_score,
    load,
)
from tacit.learn.reading.columns import MISSING, Number
from tacit.learn.reading.rows import _numbered
from tacit.learn.tuning.parts import Scoring, divide
from tacit.testing import seeded


def made(count: int = 3000) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    X = rng.uniform(0, 100, size=(count, 2))
    return X, X[:, 0] + X[:, 1] > 100


def test_all_rows_of_a_unit_are_in_one_part() -> None:
    X, y = made(600)
    units = np.array([f"u{i % 150}" for i in range(600)], dtype=object)
    units[:3] = None
    found = divide(X, y, units, 5, seeded(7))
    parts = {unit: {int(p) for p in found.part[units == unit]} for unit in set(units[3:])}
    assert all(len(one) == 1 for one in parts.values())
    assert len({next(iter(one)) for one in parts.values()}) == 5
    alone = divide(X, y, None, 2, seeded(7))
    assert 200 < alone.part.sum() < 400
    frame = pd.DataFrame(X, columns=["a", "b"])
    for table in (frame, X, X.tolist()):
        taken, labels, owners = divide(table, y, None, 2, seeded(7)).take(alone.part == 1)
        assert len(taken) == len(labels) == alone.part.sum()
        assert owners is None
        assert np.asarray(taken, dtype=float)[0].tolist() == X[alone.part == 1][0].tolist()


TARGET = Number("target", 0, 100)


@pytest.mark.parametrize("scoring", [Scoring(1), Scoring(256**2, TARGET)], ids=["labels", "numbers"])
@pytest.mark.parametrize("limit", [1, 3])
def test_a_unit_moves_a_score_by_no_more_than_is_said(scoring: Scoring, limit: int) -> None:
    rng = np.random.default_rng(4)
    true = rng.integers(0, 2, 50) if scoring.target is None else rng.uniform(0, 100, 50)
    owner = rng.integers(0, 30, 50)
    worth = scoring.of(true, true)
    assert worth.max() <= scoring.most
    before = scoring.total(worth, owner, limit)
    most = 0
    for rows in (1, 2, 5):
        more = np.append(worth, np.full(rows, scoring.most)), np.append(owner, np.full(rows, 30))
        moved = scoring.total(*more, limit) - before
        assert 0 <= moved[0] <= limit * scoring.most
        assert 0 <= moved[1] <= limit
        most = max(most, moved[0])
    assert most == limit * scoring.most
    nobody = np.append(worth, 1), np.append(owner, -1)
    assert (scoring.total(*nobody, limit) == before).all()


def test_planted_fault_units_that_count_in_full_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Scoring, worth: Any, owner: Any, limit: int) -> Any:
        return np.array([worth[owner >= 0].sum(), (owner >= 0).sum()])

    monkeypatch.setattr(Scoring, "total", full)
    with pytest.raises(AssertionError):
        test_a_unit_moves_a_score_by_no_more_than_is_said(Scoring(1), 1)


def test_what_a_prediction_is_worth() -> None:
    labels = np.array([1, "x", None, float("nan"), 1], dtype=object)
    assert Scoring(1).of(np.array([1, "x", 3, 4, 0], dtype=object), labels).tolist() == [1, 1, 0, 0, 0]
    numbers = Scoring(256**2, TARGET)
    worth = numbers.of(np.array([0.0, 100, 50, 1e300, 3]), np.array([0.0, 0, 0, 100, np.nan]))
    assert worth.tolist() == [256**2, 0, 256**2 - 128**2, 256**2, 0]
    assert TARGET.encode(np.array([np.nan]))[0] == MISSING


@pytest.mark.parametrize("promise", [ApproxDP(2, 1e-6), ZCDP("0.1"), PureDP(2)])
def test_fits_and_scores_add_up_to_the_price(promise: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = made(400)
    fitted: list[Any] = []
    fit = NaiveBayes.fit

    def watched(self: Any, *given: Any, **named: Any) -> Any:
        fitted.append(self.guarantee)
        return fit(self, *given, **named)

    monkeypatch.setattr(NaiveBayes, "fit", watched)
    found = cross_val_score(NaiveBayes(promise=promise, bounds=(0, 100)), X, y, cv=4, entropy=seeded(7))
    assert found.guarantee == promise
    assert len(fitted) == len(found.scores) == 4
    delta = 0 if isinstance(promise, PureDP) else 1e-6
    tenth = NaiveBayes(promise=promise, bounds=(0, 100))._budget().part(tacit.learn.tuning.cross_validation._FOR_SCORES)
    spent = tacit.compose([*fitted[:3], tenth]).epsilon(delta)  # a unit is in three fits and one score
    assert spent == pytest.approx(promise.epsilon(delta), rel=1e-6)
    assert spent <= promise.epsilon(delta) * (1 + 1e-9)


def test_scores_tell_good_from_bad_and_are_shares() -> None:
    X, y = made()
    good = cross_val_score(LogisticRegression(rho=1, bounds=(0, 100)), X, y, entropy=seeded(7))
    poor = cross_val_score(DecisionTreeClassifier(rho=1, bounds=(0, 100), max_depth=0), X, y, entropy=seeded(7))
    assert good.mean > 0.9 > 0.6 > poor.mean
    assert ((good.scores >= 0) & (good.scores <= 1)).all()
    for few in (0, 1, 3):
        assert len(cross_val_score(NaiveBayes(rho=1, bounds=(0, 100)), X[:few], y[:few], cv=3).scores) == 3
    with pytest.raises(InvalidParameter, match="cv"):
        cross_val_score(NaiveBayes(rho=1, bounds=(0, 100)), X, y, cv=1)
    with pytest.raises(InvalidParameter, match="classifiers"):
        cross_val_score(PCA(rho=1, bounds=(0, 100)), X, y)


def test_a_search_prices_every_run_by_the_selection(tmp_path: Path) -> None:
    X, y = made()
    trees = [DecisionTreeClassifier(epsilon=1, bounds=(0, 100), max_depth=d) for d in (0, 4)]
    search = PrivateSearch(trees, epsilon=3, delta=1e-6, runs=10)
    assert search.guarantee == ApproxDP(3, 1e-6)
    assert search.each == tacit.PrivateSelection(epsilon=3, delta=1e-6, runs=10).each
    assert {candidate.guarantee for candidate in search._candidates} == {search.each}
    assert isinstance(search.each, ZCDP)
    picked = [search.fit(X, y, entropy=seeded(seed)).best_index_ for seed in range(6)]
    assert sum(picked) >= 4
    model = search.best_estimator_
    assert model.guarantee == search.guarantee  # not the price of one fit: it is the best of several
    assert model.disclosure_["promise"] == search.guarantee.to_dict()
    assert "best of" in model.disclosure_["chosen"]
    model.save(tmp_path / "best.model")
    assert load(tmp_path / "best.model").guarantee == search.guarantee
    again = model.fit(X, y, entropy=seeded(7))  # a fit of its own costs its own price
    assert again.guarantee == search.each
    assert again.disclosure_["promise"] == search.each.to_dict()
    assert "chosen" not in again.disclosure_
    assert search.predict(X).shape == (3000,)
    assert isinstance(PrivateSearch(trees, epsilon=3, runs=10).each, PureDP)
    assert search._noise().guarantee == search.each


def test_a_search_refuses_what_it_cannot_compare() -> None:
    tree = DecisionTreeClassifier(epsilon=1, bounds=(0, 100))
    for wrong in ([], [PCA(epsilon=1)], [tree, DecisionTreeClassifier(epsilon=1, rows_per_unit=2)], "trees"):
        with pytest.raises(InvalidParameter):
            PrivateSearch(wrong, epsilon=1, runs=5)
    with pytest.raises(InvalidParameter, match="max_depth"):
        PrivateSearch([DecisionTreeClassifier(epsilon=1, max_depth=99)], epsilon=1, runs=5)


class Unequal:
    """A cell that cannot even be compared with itself."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise ArithmeticError


@pytest.mark.parametrize("odd", [Unequal(), Decimal("sNaN"), np.arange(3), [1], None, float("nan")])
def test_a_unit_that_cannot_be_read_names_nobody_and_raises_nothing(odd: Any) -> None:
    X, y = made()
    units = np.empty(20, dtype=object)
    units[:] = range(20)
    units[4] = odd
    assert (_numbered(units) == -1).sum() == 1
    divided = divide(X[:20], y[:20], units, 3, seeded(7))
    assert (divided.owner == -1).sum() == 1


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("kind", [list, np.array, pd.DataFrame])
def test_parts_without_a_row_are_learned_from_and_scored(rows: int, kind: Any) -> None:
    """With few rows some part has none: an error then would say how many there are."""
    X, y = kind([[1.0, 2.0]] * rows), [True] * rows
    tree = NaiveBayes(epsilon=1, bounds=(0, 100), classes=[False, True])
    for seed in range(4):
        assert cross_val_score(tree, X, y, cv=4, entropy=seeded(seed)).guarantee == PureDP(1)
        PrivateSearch([tree], epsilon=1, runs=2).fit(X, y, entropy=seeded(seed))


@pytest.mark.parametrize("pair", [None, 5, (1,), (2, 1)])
def test_a_regression_without_bounds_of_its_target_is_refused(pair: Any) -> None:
    line = LinearRegression(epsilon=1, bounds=(0, 100), target_bounds=pair)
    for refused in (lambda: cross_val_score(line, *made(20)), lambda: PrivateSearch([line], epsilon=1, runs=2)):
        with pytest.raises((InvalidParameter, MissingBounds)):
            refused()
