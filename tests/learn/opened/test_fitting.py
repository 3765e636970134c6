"""Estimators on open tables: one request, the model its stored answer; the same codes as in memory; refusals first."""

from __future__ import annotations

import csv
import math
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.errors import AnswerLost, BudgetExceeded, InvalidParameter, MissingBounds, NotPrivate, UnknownColumn
from tacit.learn import DecisionTreeClassifier, LogisticRegression, load
from tacit.learn.estimators.registry import ESTIMATORS
from tacit.learn.opened.fitting import TableRows, plan_for_table
from tacit.learn.opened.schema import coded, encoded
from tacit.learn.reading.columns import MISSING, Category, Number
from tacit.learn.reading.rows import Chunk, InMemoryRows
from tacit.privacy import ApproxDP
from tacit.tables.engines.contract import Engine
from tacit.tables.session.table import Table
from tacit.testing import seeded
from tests.tables.engines.bounding_oracle import added
from tests.tables.visits import POLICY, write_visits

COLUMNS = ["age", "spend"]
MIXED = [kind for kind in ESTIMATORS if kind not in ("k means", "principal components", "standard scaler")]
"""Those that learn from categories too."""


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return write_visits(tmp_path, users=60)


@pytest.fixture
def table(policy: Path) -> Table:
    return tacit.open(policy, analyst="ada")


def logistic(**more: Any) -> Any:
    return LogisticRegression(**({"epsilon": "0.5", "delta": 1e-8} | more))


def test_a_fit_is_one_request_and_its_answer_the_model(table: Table, policy: Path, tmp_path: Path, apart: None) -> None:
    model = logistic().fit(table, target="plan", columns=COLUMNS)
    assert table.ledger.budget().charged == ApproxDP("0.5", "1e-8")
    assert model.classes_.tolist() == ["free", "pro"]
    new = [[30, 20.0], [90, None]]
    with tacit.open(policy, analyst="ada") as again:
        same = logistic().fit(again, target="PLAN", columns=["Age", "spend"])
        assert np.array_equal(same.predict_proba(new), model.predict_proba(new))
        assert again.ledger.budget().charged == ApproxDP("0.5", "1e-8")
        other = logistic().fit(again, target="plan", columns=COLUMNS, fresh=True)
        assert not np.array_equal(other.predict_proba(new), model.predict_proba(new))
        assert again.ledger.budget().charged == ApproxDP(1, "2e-8")
    model.save(tmp_path / "model")
    assert np.array_equal(load(tmp_path / "model").predict_proba(new), model.predict_proba(new))
    told = model.disclosure_
    assert told["protects"] == "one user_id, who counts with at most one row"
    assert (told["table"], told["entry"]) == ("visits", 1)


def test_another_parameter_column_or_class_is_another_question(table: Table) -> None:
    def asked(model: Any, **how: Any) -> str:
        return plan_for_table(model, table, how.get("target", "plan"), how.get("columns", COLUMNS)).question

    base = asked(logistic())
    others = [
        asked(logistic(), columns=["age"]),
        asked(logistic(), columns=["spend", "age"]),
        asked(logistic(rows_per_unit=3)),
        asked(logistic(bounds={"age": (0, 100)})),
        asked(logistic(classes=["pro", "free"])),
        asked(DecisionTreeClassifier(epsilon=1)),
        asked(DecisionTreeClassifier(epsilon=1, max_depth=2)),
    ]
    assert len({base, *others}) == 1 + len(others)
    assert asked(logistic(epsilon=2, bounds={"AGE": (0, 120)})) == base  # said otherwise; the price is not in the text
    assert base.isprintable()


def rows_in(folder: Path) -> list[dict[str, Any]]:
    with open(folder / "visits.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


@pytest.mark.parametrize("make", [logistic, lambda: DecisionTreeClassifier(epsilon=1, delta=1e-8, expected_rows=100)])
def test_what_is_learned_is_what_the_same_rows_in_memory_teach(make: Any, table: Table, policy: Path) -> None:
    """With injected noise: the engine's rows, in its chunks, and the rows of the file read by hand."""
    model = make().set_params(rows_per_unit=3)
    plan = plan_for_table(model, table, "plan", COLUMNS)
    with table._engine_now().read(plan.asked) as chosen:
        chunks = list(TableRows(plan.schema, chosen).chunks())
        model.fit_rows(plan.schema, TableRows(plan.schema, chosen), seeded(7))
    codes = np.asfortranarray(np.concatenate([chunk.codes for chunk in chunks]))
    target = np.concatenate([chunk.target for chunk in chunks])  # type: ignore[arg-type]
    units = np.concatenate([chunk.units for chunk in chunks])  # type: ignore[arg-type]
    assert len(chunks) == 1
    order = np.lexsort((np.random.default_rng(1).random(len(units)), -units))  # units the other way round, rows by lot
    held = InMemoryRows(Chunk(np.asfortranarray(codes[order]), target[order], units[order]), 3)
    same = make().set_params(rows_per_unit=3).fit_rows(plan.schema, held, seeded(7))
    for name in (name for name in vars(model) if name.endswith("_") and name != "disclosure_"):
        assert np.array_equal(getattr(model, name), getattr(same, name)) or name == "schema_"
    everything = {
        tuple(
            int(column.encode(np.array([cell], dtype=object))[0])
            for column, cell in zip(plan.schema.columns, row, strict=True)
        )
        for one in rows_in(policy.parent)
        for row in [(number(one["age"]), number(one["spend"]))]
    }
    near = {(a + x, s + y) for a, s in everything for x in (0, 1) for y in (0, 1)}  # the engine rounds to the nearest
    assert {tuple(code) for code in codes.tolist()} <= near


@pytest.mark.parametrize(
    "column",
    [Number("x", 0, 1), Number("x", -1, 2), Number("x", 5, 7.5), Number("x", -9, -3), Number("i", -1000, 3)],
)
def test_codes_of_numbers_are_those_of_the_schema_within_a_step(column: Number) -> None:
    read = coded(column)
    for value in [*np.linspace(column.low - 1, column.high + 1, 41), 0.0, column.low, column.high, 1e300, -1e300]:
        (code,) = encoded(column, np.array([added(read, {"x": value, "i": value})], dtype=np.int16))
        (wanted,) = column.encode(np.array([value]))
        assert abs(int(code) - int(wanted)) <= 1
        assert column.lowest <= code <= column.highest
    assert encoded(column, np.array([added(read, {"x": None, "i": None})])).tolist() == [MISSING]
    at_zero = encoded(column, np.array([added(read, {"x": 0.0, "i": 0.0})]))
    if column.low <= 0 <= column.high:
        assert at_zero.tolist() == [0]  # zero stays zero


def test_codes_of_categories_are_places() -> None:
    column = Category("s", ("a", "b"))
    read = coded(column)
    codes = [added(read, {"s": cell}) for cell in ("a", "b", "c", None)]
    assert encoded(column, np.array(codes, dtype=np.int8)).tolist() == [0, 1, MISSING, MISSING]


@pytest.mark.parametrize(
    ("how", "error", "word"),
    [
        ({"target": "plan"}, MissingBounds, "city"),
        ({"target": None}, InvalidParameter, "target"),
        ({"target": "nope"}, UnknownColumn, "nope"),
        ({"target": "user_id"}, NotPrivate, "user_id"),
        ({"target": "age"}, InvalidParameter, "classes"),
        ({"target": "plan", "columns": ["day"]}, InvalidParameter, "columns"),
        ({"target": "plan", "columns": ["notes"]}, NotPrivate, "forbids"),
        ({"target": "plan", "columns": []}, InvalidParameter, "at least one"),
        ({"target": "plan", "columns": "age"}, InvalidParameter, "columns"),
        ({"target": "plan", "columns": ["age", "AGE"]}, InvalidParameter, "columns"),
        ({"target": "plan", "columns": ["plan"]}, InvalidParameter, "columns"),
        ({"target": "plan", "columns": COLUMNS, "y": [1]}, InvalidParameter, "target="),
        ({"target": "plan", "columns": COLUMNS, "units": [1]}, InvalidParameter, "policy"),
        ({"target": "plan", "columns": COLUMNS, "entropy": seeded(7)}, NotPrivate, "entropy"),
    ],
)
def test_what_cannot_be_fitted_is_refused_before_it_is_paid(
    table: Table, how: dict[str, Any], error: type[Exception], word: str
) -> None:
    with pytest.raises(error, match=word):
        logistic().fit(table, **how)
    assert table.entries == 0


@pytest.mark.parametrize(
    ("model", "error"),
    [
        (lambda: logistic(rows_per_unit=4), InvalidParameter),
        (lambda: LogisticRegression(mu=1), InvalidParameter),
        (lambda: LogisticRegression(rho=1), InvalidParameter),
        (lambda: LogisticRegression(), InvalidParameter),
        (lambda: logistic(epsilon=4), BudgetExceeded),
        (lambda: logistic(bounds=(0, 1)), InvalidParameter),
        (lambda: logistic(bounds={"nope": (0, 1)}), UnknownColumn),
        (lambda: logistic(classes=["free"]), InvalidParameter),
        (lambda: logistic(categories={"age": {1, 2}}), InvalidParameter),
        (lambda: logistic(bounds={"age": (0, 1j)}), InvalidParameter),
    ],
)
def test_parameters_that_a_table_cannot_take_are_refused_before_it_is_paid(
    table: Table, model: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        model().fit(table, target="plan", columns=COLUMNS)
    assert table.entries == 0


def test_prices_are_kept_as_they_were_written(table: Table) -> None:
    model = logistic(epsilon=Fraction(1, 3), delta=Decimal("1e-8")).fit(table, target="plan", columns=COLUMNS)
    assert model.guarantee == ApproxDP(Fraction(1, 3), "1e-8") == table.ledger.budget().charged


def test_arrays_have_no_target_column() -> None:
    for how in ({"target": "plan"}, {"columns": ["a"]}, {"fresh": True}):
        with pytest.raises(InvalidParameter, match=r"tacit\.open"):
            logistic(bounds=(0, 1)).fit([[0.5]], [1], **how)
    with pytest.raises(InvalidParameter, match="open table"):
        logistic().plan([[0.5]], target="plan")


def made(kind: str, **more: Any) -> Any:
    home, _, name = ESTIMATORS[kind].rpartition(".")
    return getattr(import_module(home), name)(epsilon=1, rows_per_unit=3, **more)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_every_estimator_learns_from_a_table_and_again_for_nothing(kind: str, table: Table, tmp_path: Path) -> None:
    model = made(kind, delta=1e-8)
    target = {None: None, Category: "plan", Number: "spend"}[model.learns]
    columns = [name for name in ("age", "spend", "plan") if name != target]
    if kind not in MIXED:
        columns = [name for name in columns if name != "plan"]
    plan = model.plan(table, target=target, columns=columns)
    assert plan.releases
    model.fit(table, target=target, columns=columns)
    same = made(kind, delta=1e-8).fit(table, target=target, columns=columns)
    assert table.ledger.budget().charged == ApproxDP(1, "1e-8")
    assert model.disclosure_ == same.disclosure_
    assert model.disclosure_["protects"] == "one user_id, who counts with at most 3 rows"
    model.save(tmp_path / "model")
    assert type(load(tmp_path / "model")) is type(model)


@pytest.mark.parametrize(
    ("model", "how"),
    [
        (lambda: made("standard scaler"), {"columns": ["age", "plan"]}),
        (lambda: made("principal components", n_components=3), {"columns": ["age", "spend"]}),
        (lambda: made("linear support vector machine", classes=[*"abc"]), {"target": "plan", "columns": ["age"]}),
    ],
)
def test_what_an_estimator_cannot_do_with_the_columns_is_refused_before_it_is_paid(
    table: Table, model: Any, how: dict[str, Any]
) -> None:
    with pytest.raises(InvalidParameter):
        model().fit(table, **how)
    assert table.entries == 0


def test_a_plan_is_free_and_the_same_whatever_the_rows(table: Table, policy: Path) -> None:
    def told() -> tuple[str, str]:
        with tacit.open(policy, analyst="ada") as opened:
            plan = logistic().plan(opened, target="plan", columns=COLUMNS)
            assert opened.entries == 0
            return plan.question, str(plan)

    before = told()
    shown = logistic().plan(table, target="plan", columns=COLUMNS)._repr_html_()
    assert shown.startswith("<pre")
    assert "&#x27;plan&#x27;" in shown  # names are escaped
    assert "gradients" in before[1]
    assert "ApproxDP(0.5, 1e-08)" in before[1]
    data = policy.parent / "visits.csv"
    data.write_text(data.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    assert told() == before


def test_empty_and_odd_tables_are_learned_from_at_the_same_price(tmp_path: Path) -> None:
    """No rows, one row, one class, nothing known: a model, and the same charge."""
    head = "user_id,city,plan,spend,age,day,notes\n"
    bodies = [
        "",
        "u,x,pro,1,2,2026-01-01,n\n",
        "u,x,pro,nan,,,\nv,x,pro,inf,1e999,,\n",
        ",x,pro,1,2,,\n",
        "u,,huge,,,,\n",
    ]
    for number_, body in enumerate(bodies):
        folder = tmp_path / str(number_)
        folder.mkdir()
        (folder / "visits.csv").write_text(head + body, encoding="utf-8")
        (folder / "visits.toml").write_text(POLICY, encoding="utf-8")
        with tacit.open(folder / "visits.toml", analyst="ada") as table:
            model = logistic().fit(table, target="plan", columns=COLUMNS)
            assert np.isfinite(model.predict_proba([[1, 2]])).all()
            DecisionTreeClassifier(epsilon=1).fit(table, target="plan", columns=COLUMNS)
            assert table.ledger.budget().charged == ApproxDP("1.5", "1e-8")


def test_a_fit_that_fails_is_lost_and_says_nothing(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    learn = LogisticRegression._learn

    def fail(self: Any, schema: Any, rows: Any, spending: Any) -> None:
        if isinstance(rows, TableRows):
            raise ValueError("Ada, 36")
        learn(self, schema, rows, spending)

    monkeypatch.setattr(LogisticRegression, "_learn", fail)
    with pytest.raises(AnswerLost) as caught:
        logistic().fit(table, target="plan", columns=COLUMNS)
    assert "Ada" not in repr(caught.value)
    assert table.ledger.budget().charged == ApproxDP("0.5", "1e-8")


def test_rows_of_a_table_show_nothing(table: Table) -> None:
    plan = plan_for_table(logistic(), table, "plan", COLUMNS)
    engine: Engine = table._engine_now()
    with engine.read(plan.asked) as chosen:
        assert repr(TableRows(plan.schema, chosen)) == "TableRows(private)"
