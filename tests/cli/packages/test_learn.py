"""`tacit learn`: a model for a price, plans for nothing, predictions for nothing; refusals before payment."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pandas
import pytest
from click.testing import CliRunner

import tacit
from tacit.cli.main import cli
from tacit.errors import BudgetExceeded, InvalidParameter, LedgerError, MissingBounds, NotPrivate, UnknownColumn
from tacit.learn import load
from tacit.privacy import ApproxDP
from tests.tables.visits import write_visits


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return write_visits(tmp_path, users=80)


def run(*words: object) -> Any:
    result = CliRunner().invoke(cli, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def charged(policy: Path) -> object:
    with tacit.open(policy) as table:
        return table.ledger.budget().charged if table.entries else None


def test_a_model_is_learned_paid_written_and_recalled(policy: Path, tmp_path: Path) -> None:
    made = tmp_path / "plan.model"
    words = ("learn", policy, "--target", "plan", "--columns", "age,spend", "--epsilon", "1", "-o", made)
    first = run(*words)
    assert first.exit_code == 0
    assert "logistic regression of plan from 2 columns" in first.output
    assert "spent ApproxDP(1, 1e-08)" in first.output
    before = made.read_bytes()
    again = run(*words)
    assert "spent nothing: learned before" in again.output
    assert load(made).disclosure_ == json.loads(run(*words, "--json").stdout)
    assert load(made).weights_.tolist() == load_of(before, tmp_path).weights_.tolist()
    assert charged(policy) == ApproxDP(1, "1e-8")
    with pytest.raises(LedgerError, match="is a model"):
        run("report", policy, 1)
    assert "FIT logistic regression OF visits TARGET plan" in run("log", policy, "--json").output


def load_of(body: bytes, folder: Path) -> Any:
    (folder / "before.model").write_bytes(body)
    return load(folder / "before.model")


def test_a_plan_is_free(policy: Path) -> None:
    told = run("learn", policy, "--target", "plan", "--columns", "age", "--epsilon", "1", "--delta", "0", "--show-plan")
    assert "price: ApproxDP(1, 0)" in told.output
    assert "DiscreteLaplace" in told.output
    assert charged(policy) is None


@pytest.mark.parametrize("method", ["decision-tree", "logistic-regression"])
def test_predictions_are_those_of_the_model(policy: Path, tmp_path: Path, method: str) -> None:
    made, out = tmp_path / "m", tmp_path / "out.csv"
    learned = run("learn", "fit", policy, "--target", "plan", "--columns", "age, spend", "--method", method,
                  "--rows-per-unit", 3, "--epsilon", "1", "-o", made)  # fmt: skip
    assert learned.exit_code == 0
    new = tmp_path / "new.csv"
    new.write_text("spend,other,age\n12.5,x,30\n,y,\n1e9,z,old\n", encoding="utf-8")
    assert run("learn", "predict", made, new, "-o", out, "--probabilities").exit_code == 0
    with open(out, encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    table = pandas.DataFrame({"age": [30, None, None], "spend": [12.5, None, 1e9]})
    assert [line["plan"] for line in lines] == load(made).predict(table).tolist()
    assert float(lines[0]["plan = pro"]) == load(made).predict_proba(table)[0, 1]
    assert run("learn", "predict", made, new).output.splitlines()[0] == "plan"
    table.to_parquet(tmp_path / "new.parquet")
    assert run("learn", "predict", made, tmp_path / "new.parquet").output.split()[1:] == [one["plan"] for one in lines]
    new.write_text("age,spend\n", encoding="utf-8")
    assert run("learn", "predict", made, new, "--probabilities").output == "plan,plan = free,plan = pro\n"
    new.write_text("age\n3\n", encoding="utf-8")
    with pytest.raises(UnknownColumn, match="spend"):
        run("learn", "predict", made, new)
    with pytest.raises(InvalidParameter, match="model"):
        run("learn", "predict", new, new)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--target", "plan"), MissingBounds),
        (("--target", "plan", "--columns", "age,nope"), UnknownColumn),
        (("--target", "user_id", "--columns", "age"), NotPrivate),
        (("--target", "plan", "--columns", "age", "--method", "magic"), InvalidParameter),
        (("--target", "plan", "--columns", "age", "--rows-per-unit", "9"), InvalidParameter),
        (("--columns", "age"), InvalidParameter),
        (("--target", "plan", "--columns", "age", "--epsilon", "9"), BudgetExceeded),
        (("--target", "plan", "--columns", "age", "-o", "nowhere/at/all"), InvalidParameter),
    ],
)
def test_what_cannot_be_learned_is_refused_before_it_is_paid(
    policy: Path, tmp_path: Path, words: tuple[str, ...], error: type[Exception]
) -> None:
    with pytest.raises(error):
        run("learn", policy, "--epsilon", "1", "-o", tmp_path / "m", *words)
    assert charged(policy) is None


def test_usage(policy: Path) -> None:
    assert "--epsilon 1" in run("learn", policy, "--target", "plan").output
    assert "-o plan.model" in run("learn", policy, "--target", "plan", "--epsilon", "1").output
    assert "predict" in run("learn", "--help").output
