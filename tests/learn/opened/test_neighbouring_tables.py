"""Every estimator on open tables that are neighbours, by one script of answers: whatever differs is a leak.

Plans, prices, charges, disclosures and models are the same, nothing fails, and the whole numbers that meet the noise
move by no more than it is for: also with no rows, one row, one class, and a unit whose cells are beyond their bounds,
unknown, or too many.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.learn.estimators import base
from tacit.learn.estimators.logistic import LogisticRegression
from tacit.learn.estimators.registry import ESTIMATORS
from tacit.learn.opened import fitting
from tacit.learn.opened.fitting import TableRows
from tacit.learn.reading.columns import Category, Number
from tacit.testing import seeded
from tests.learn.made import kind_of
from tests.learn.scripted import Asked, Scripted, distances, exactly
from tests.tables.visits import POLICY

HEAD = "user_id,city,plan,spend,age,day,notes"
ROWS = 3  # of a unit, as the policy says
TABLES = {
    "no rows": [],
    "one row": ["a,x,pro,50,40,,"],
    "one class": [f"u{i},x,pro,{20 * i},{10 + i},," for i in range(5)],
    "many": [f"u{i // 2},x,{('free', 'pro', 'odd')[i % 3]},{7 * i % 200},{11 * i % 120},," for i in range(30)],
}
UNITS = {
    "beyond bounds": ["w,x,pro,1e999,900,,", "w,x,free,-1e999,-7,,"],
    "unknown": ["w,,huge,nan,abc,,", "w,x,,,,,", "w,x,pro,,,,"],
    "too many": ["w,x,pro,200,120,,"] * 7,
    "corners": ["w,x,free,0,0,,", "w,x,free,200,120,,", "w,x,free,200,0,,"],
}
PURE_TOO = ("logistic regression", "linear regression", "decision tree", "naive bayes")


@dataclass
class Told:
    """What can be seen of a fit, and the values that met the noise."""

    seen: dict[str, Any]
    asked: list[Asked]


class Fitter:
    """Fits to tables of lines in folders of their own, by one script."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder, self._count = folder, 0
        self._spent: list[Scripted] = []

        def spending(budget: Any, bits: Any) -> Scripted:
            class Narrow(Scripted):
                wide = False

            self._spent.append(Narrow(budget, bits))
            return self._spent[-1]

        monkeypatch.setattr(base, "Spending", spending)
        monkeypatch.setattr(fitting, "bits_from", lambda entropy: seeded(7))

    def told(self, model: Any, lines: list[str]) -> Told:
        self._count += 1
        folder = self._folder / f"{self._count}"
        folder.mkdir()
        (folder / "visits.csv").write_text("\n".join([HEAD, *lines]) + "\n", encoding="utf-8")
        (folder / "visits.toml").write_text(POLICY, encoding="utf-8")
        target = {None: None, Category: "plan", Number: "spend"}[model.learns]
        numbers = model.kind in ("k means", "principal components", "standard scaler")
        columns = [name for name in ("age", "spend", "plan") if name != target and not (numbers and name == "plan")]
        with tacit.open(folder / "visits.toml", analyst="ada") as table:
            plan = model.plan(table, target=target, columns=columns)
            model.fit(table, target=target, columns=columns)
            charged = table.ledger.budget().charged
        fitted = {name: exactly(value) for name, value in vars(model).items() if name.endswith("_")}
        seen = {"plan": str(plan), "question": plan.question, "cost": plan.cost, "charged": charged, **fitted}
        return Told(seen, self._spent[-1].asked)


def made(kind: str, **more: Any) -> Any:
    few = {"n_clusters": 2, "n_components": 1, "steps": 4}
    known = inspect.signature(kind_of(kind)).parameters
    chosen = {name: value for name, value in few.items() if name in known}
    return kind_of(kind)(**{"epsilon": 1, "delta": 1e-8, "rows_per_unit": ROWS, **chosen, **more})


def wrong(one: Told, other: Told, *, pure: bool) -> str:
    """The first thing that neighbours show, or nothing."""
    for name, value in one.seen.items():
        if other.seen[name] != value:
            return f"{name} depends on the rows"
    if [a.public for a in one.asked] != [a.public for a in other.asked]:
        return "what was bought depends on the rows"
    for bought, l1, square in distances(one.asked, other.asked):
        if bought.l2_squared is not None and (l1 > (bought.l1 or l1) if pure else square > bought.l2_squared):
            return f"{bought.public[0]} moved by more than the noise is for"
    for a, b in zip(one.asked, other.asked, strict=True):
        if a.l2_squared is None and _largest(a, b) > a.public[2]:
            return f"{a.public[0]} moved by more than the choice is for"
    return ""


def _largest(a: Asked, b: Asked) -> int:
    """How far the scores of a level moved: in every node one way, by as much as the farthest; all nodes together."""
    total = 0
    for x, y in zip(a.values, b.values, strict=True):
        moved = (y - x).tolist()
        assert max(moved) <= 0 or min(moved) >= 0
        total += max(map(abs, moved))
    return total


KINDS = [
    kind if kind in ("linear regression", "decision tree") else pytest.param(kind, marks=pytest.mark.thorough)
    for kind in ESTIMATORS
]


@pytest.mark.parametrize("kind", KINDS)
def test_neighbouring_tables_show_nothing_but_what_the_noise_hides(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitter = Fitter(tmp_path, monkeypatch)
    prices: list[dict[str, Any]] = [{}, {"delta": None}] if kind in PURE_TOO else [{}]
    for price in prices:
        for name, unit in zip(TABLES, UNITS.values(), strict=True):
            lines = TABLES[name]
            before, after = fitter.told(made(kind, **price), lines), fitter.told(made(kind, **price), lines + unit)
            assert wrong(before, after, pure=bool(price)) == ""
    for unit in UNITS.values():
        assert wrong(before, fitter.told(made(kind, **price), lines + unit), pure=bool(price)) == ""


def test_a_sample_of_units_shows_nothing_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.learn.linear.passes.bernoulli", lambda rate, count, bits: np.arange(count) % 3 != 1)
    fitter = Fitter(tmp_path, monkeypatch)
    lines = TABLES["many"]
    before = fitter.told(made("logistic regression", sampling=0.5), lines)
    for unit in UNITS.values():  # units are numbered in order: w is the last
        after = fitter.told(made("logistic regression", sampling=0.5), lines + unit)
        assert wrong(before, after, pure=False) == ""


# Planted faults.


def test_planted_fault_what_is_counted_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learn = LogisticRegression._learn

    def counting(self: Any, schema: Any, rows: Any, spending: Any) -> None:
        learn(self, schema, rows, spending)
        self.weights_ = self.weights_ + 1e-12 * sum(chunk.size for chunk in rows.chunks())

    monkeypatch.setattr(LogisticRegression, "_learn", counting)
    fitter = Fitter(tmp_path, monkeypatch)
    told = [fitter.told(made("logistic regression"), TABLES["many"] + more) for more in ([], UNITS["corners"])]
    assert wrong(*told, pure=False) == "weights_ depends on the rows"


@pytest.mark.parametrize("kind", ["linear regression", "decision tree", "naive bayes", "k means"])
def test_planted_fault_units_of_one_row_are_seen(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TableRows, "limit", 1)
    fitter = Fitter(tmp_path, monkeypatch)
    told = [fitter.told(made(kind), TABLES["many"] + more) for more in ([], UNITS["corners"])]
    assert "moved by more" in wrong(*told, pure=False)
