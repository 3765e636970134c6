"""`tacit synth`: a file to share for a price, further samples for nothing; refusals before payment."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pandas
import pytest
from click.testing import CliRunner

import tacit
from tacit.cli.main import cli
from tacit.errors import BudgetExceeded, InvalidParameter, MissingBounds, TacitError
from tacit.privacy import ApproxDP
from tests.tables.visits import write_visits

SOME = ("--columns", "age,plan")


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


def test_a_file_is_made_paid_and_made_again(policy: Path, tmp_path: Path) -> None:
    made, again, model = tmp_path / "made.csv", tmp_path / "again.parquet", tmp_path / "made.model"
    words = ("synth", policy, *SOME, "--epsilon", "1", "--seed", "7", "--sample", "50")
    first = run(*words, "-o", made, "--model", model)
    assert first.exit_code == 0
    assert "spent ApproxDP(1, 1e-08)" in first.stderr
    second = run(*words, "-o", again)
    assert "spent nothing" in second.stderr
    with open(made, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    frame = pandas.read_parquet(again)
    assert list(frame.columns) == ["age", "plan"] == list(rows[0])
    assert len(frame) == len(rows) == 50
    assert [plan if isinstance(plan, str) else "" for plan in frame["plan"]] == [row["plan"] for row in rows]
    assert set(frame["plan"].dropna()) <= {"free", "pro"}
    assert tacit.synth.load(model).sample(50, seed=7)["plan"] == [row["plan"] or None for row in rows]
    assert charged(policy) == ApproxDP(1, "1e-8")


@pytest.mark.parametrize("method", ["independent", "mst", "aim"])
def test_methods(policy: Path, tmp_path: Path, method: str) -> None:
    out = tmp_path / "made.csv"
    told = run("synth", policy, *SOME, "--method", method, "--epsilon", "1", "--rows-per-unit", "3", "-o", out,
               "--report", tmp_path / "quality.html")  # fmt: skip
    assert told.exit_code == 0
    assert out.exists()
    assert "<html" in (tmp_path / "quality.html").read_text(encoding="utf-8")


def test_a_plan_is_free(policy: Path) -> None:
    told = run("synth", policy, *SOME, "--epsilon", "1", "--show-plan")
    assert "price: ApproxDP(1, 1e-08)" in told.output
    assert "age" in told.output
    assert charged(policy) is None


def test_days_are_typed_and_what_is_discovered_is_planned_too(policy: Path, tmp_path: Path) -> None:
    words = ("synth", policy, "--columns", "day,city,age", "--epsilon", "1", "--discover", "0.1")
    days = ("--days", "day=2026-01-01..2026-12-31")
    told = run(*words, *days, "--show-plan")
    assert "city: what it can have is found first" in told.output
    assert charged(policy) is None
    done = run(*words, *days, "-o", tmp_path / "made.parquet", "--sample", "40")
    assert done.exit_code == 0
    assert {day.year for day in pandas.read_parquet(tmp_path / "made.parquet")["day"].dropna()} <= {2026}
    assert charged(policy) == ApproxDP(1, "1e-8")
    for wrong in ("day", "day=x..y", "day=2026-12-31..2026-01-01", "plan=2026-01-01..2026-12-31"):
        assert run(*words, "--days", wrong, "-o", tmp_path / "made.csv").exit_code == 2
    with pytest.raises(MissingBounds, match="--days day="):
        run(*words, "-o", tmp_path / "made.csv")
    assert charged(policy) == ApproxDP(1, "1e-8")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ((), MissingBounds),
        (("--columns", "age,nope"), TacitError),
        (("--columns", "user_id"), TacitError),
        (("--columns", "notes,age"), TacitError),
        ((*SOME, "--epsilon", "9"), BudgetExceeded),
        ((*SOME, "--rows-per-unit", "9"), InvalidParameter),
        ((*SOME, "-o", "made.xlsx"), InvalidParameter),
        ((*SOME, "-o", "nowhere/made.csv"), InvalidParameter),
        ((*SOME, "--report", "nowhere/quality.html"), InvalidParameter),
    ],
)
def test_what_cannot_be_made_is_refused_before_it_is_paid(
    policy: Path, tmp_path: Path, words: tuple[str, ...], error: type[Exception]
) -> None:
    with pytest.raises(error):
        run("synth", policy, "--epsilon", "1", "-o", tmp_path / "made.csv", *words)
    assert charged(policy) is None


def test_usage(policy: Path) -> None:
    assert "--epsilon 1" in run("synth", policy, "-o", "made.csv").output
    assert "-o synthetic.parquet" in run("synth", policy, "--epsilon", "1").output
