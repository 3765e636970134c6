"""Draws: many fits on tiny tables, and one fit with canaries, against the promise and planted faults."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tacit import PureDP, audit
from tacit.auditing.canaries import audit_canaries
from tacit.learn import PCA, DecisionTreeClassifier, KMeans, NaiveBayes, StandardScaler
from tacit.learn.spending.spending import Spending
from tacit.testing import seeded

CLAIM = PureDP(1)
SURE = 1 - 1e-7

ROWS = [[0.0, 1.0], [1.0, 0.0]]
WORST = [1.0, 1.0]
"""A row at the corner that moves every sum the most."""


def fitted(kind: Any, rows: Any, labels: Any, **params: Any) -> Any:
    units = None if params.get("rows_per_unit", 1) == 1 else [f"u{i}" for i in range(2)] + ["one"] * (len(rows) - 2)
    return kind(promise=CLAIM, bounds=(0, 1), **params).fit(np.array(rows), np.array(labels), units=units)


def splits_and_shares(rows: Any, labels: Any, **params: Any) -> Any:
    model = fitted(DecisionTreeClassifier, rows, labels, max_depth=1, **params)
    return int(model.splits_[0, 0]), int(model.splits_[0, 1] > 128), *model.shares_[:, 1].round(3).tolist()


def evidence(rows: Any, labels: Any, **params: Any) -> Any:
    model = fitted(NaiveBayes, rows, labels, bins=2, **params)
    return tuple(model.evidence_[:, 1].round(3).tolist())


def centres(rows: Any, labels: Any, **params: Any) -> Any:
    return tuple(fitted(KMeans, rows, labels, n_clusters=1, max_iter=1, **params).cluster_centers_.ravel().tolist())


def variances(rows: Any, labels: Any, **params: Any) -> Any:
    model = fitted(PCA, rows, labels, **params)
    return *model.explained_variance_.tolist(), *model.mean_.tolist()


def scales(rows: Any, labels: Any, **params: Any) -> Any:
    model = fitted(StandardScaler, rows, labels, **params)
    return *model.mean_.tolist(), *model.scale_.tolist()


EACH = {
    "decision tree": splits_and_shares,
    "naive bayes": evidence,
    "k means": centres,
    "principal components": variances,
    "standard scaler": scales,
}


def neighbours(more: int = 1) -> Any:
    return [((ROWS, [0, 0]), (ROWS + [WORST] * more, [0, 0] + [1] * more))]


def audited(outcome: Any, samples: int, more: int = 1, **params: Any) -> Any:
    def run(data: Any) -> Any:
        return outcome(*data, **params)

    return audit(run, neighbours=neighbours(more), claim=CLAIM, samples=samples, confidence=SURE)


@pytest.mark.parametrize("name", ["decision tree", "naive bayes", "standard scaler"])
def test_many_fits_of_a_tiny_table_keep_the_promise(name: str) -> None:
    assert not audited(EACH[name], 250).violated


@pytest.mark.slow
@pytest.mark.parametrize("more", [1, 3])
@pytest.mark.parametrize("name", EACH)
def test_ten_thousand_fits_of_a_tiny_table_keep_the_promise(name: str, more: int) -> None:
    found = audited(EACH[name], 10_000, more, rows_per_unit=more)
    assert not found.violated, found.verdict


def fault(monkeypatch: pytest.MonkeyPatch, divisor: int) -> None:
    """Every release, and every choice, as if a row moved it so many times less."""
    buy, choice = Spending.buy, Spending.choice

    def bought(self: Any, what: str, share: Any, *, l1: int, l2_squared: int, times: int = 1) -> Any:
        l1, l2_squared = -(-l1 // divisor), -(-l2_squared // divisor**2)
        return buy(self, what, share, l1=l1, l2_squared=l2_squared, times=times)

    def chosen(self: Any, what: str, share: Any, *, sensitivity: int, **named: Any) -> Any:
        return choice(self, what, share, sensitivity=-(-sensitivity // divisor), **named)

    monkeypatch.setattr(Spending, "buy", bought)
    monkeypatch.setattr(Spending, "choice", chosen)


@pytest.mark.parametrize("name", ["standard scaler"])
def test_planted_fault_too_little_noise_is_seen_in_draws(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not audited(EACH[name], 250, 6, rows_per_unit=6).violated
    fault(monkeypatch, 60)
    assert audited(EACH[name], 250, 6, rows_per_unit=6).violated


@pytest.mark.slow
@pytest.mark.parametrize("name", EACH)
def test_planted_fault_a_units_rows_priced_as_one_are_seen_in_draws(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch, 8)
    assert audited(EACH[name], 10_000, 8, rows_per_unit=8).violated


CANARIES = 600


def canary_run(seed: int) -> Any:
    """Naive Bayes over one column with a category for each canary, a unit of five rows of the second class.

    Beside them are as many others, of the first class and of no known category.
    """

    def run(included: Any) -> Any:
        ids = np.repeat(np.flatnonzero(included), 5)
        others = np.repeat(np.arange(CANARIES, 2 * CANARIES), 5)
        model = NaiveBayes(promise=CLAIM, categories={0: list(range(CANARIES))}, rows_per_unit=5)
        rows = np.concatenate([ids, others]).reshape(-1, 1).astype(object)
        return model.fit(rows, rows[:, 0] < CANARIES, units=rows[:, 0], entropy=seeded(seed))

    return run


def likelier(model: Any) -> Any:
    return model.evidence_[1:, 1]


def test_one_fit_with_canaries_keeps_the_promise() -> None:
    for seed in range(3):
        found = audit_canaries(canary_run(seed), likelier, canaries=CANARIES, claim=CLAIM, entropy=seeded(seed))
        assert not found.violated


def test_planted_fault_is_seen_in_one_fit_with_canaries(monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch, 10)
    found = audit_canaries(canary_run(1), likelier, canaries=CANARIES, claim=CLAIM, entropy=seeded(1))
    assert found.violated
