"""`tacit audit --policy … --sql …` as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.typing_commands import tacit
from tests.cli.visits import BY_CITY, COUNT, furnish


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    furnish(tmp_path, people=3)
    return tmp_path


def test_a_statement_is_audited_and_the_table_says_so(folder: Path) -> None:
    ran = tacit(folder, "audit", "--policy", "visits.toml", "--sql", COUNT, "--samples", "0")
    assert ran.returncode == 0, ran.stderr
    assert "at the upper ends" in ran.stdout
    assert "1 statement: not disproved" in ran.stdout
    assert ran.stderr == ""
    assert not list(folder.glob("*.ledger*")), "nothing is paid"


def test_its_answers_are_judged_by_how_often_they_occur(folder: Path) -> None:
    ran = tacit(folder, "audit", "--policy", "visits.toml", "--sql", COUNT, "--samples", "100", "--json")
    (found,) = json.loads(ran.stdout)["statements"]
    assert not found["leaked"]["blind"], found["leaked"]


def test_a_violation_is_exit_status_1(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.auditing.statements.audit.MOST_ADDED", 0.1)
    words = ("--sql", BY_CITY, "--epsilon", "0.5", "--samples", "0", "--json")
    ran = tacit(folder, "audit", "--policy", "visits.toml", *words)
    assert ran.returncode == 1
    (found,) = json.loads(ran.stdout)["statements"]
    assert found["violated"]
    assert found["findings"][0]["work"][0].keys() == {"rows", "scanned", "memory", "steps"}


def test_statements_from_a_file(folder: Path) -> None:
    (folder / "all.sql").write_text(f"-- two of them\n{COUNT};\n\nSELECT nope FROM visits\n", encoding="utf-8")
    words = ("--sql-file", str(folder / "all.sql"), "--samples", "0", "--json")
    ran = tacit(folder, "audit", "--policy", "visits.toml", *words)
    assert ran.returncode == 0
    assert json.loads(ran.stdout)["statements"][0]["outcome"] == "answered"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--sql", COUNT), "--policy"),
        (("--policy", "visits.toml"), "--sql"),
        (("laplace", "--policy", "visits.toml", "--sql", COUNT), "MECHANISM"),
        (("--policy", "visits.toml", "--sql", COUNT, "--mu", "1"), "--mu"),
        (("--policy", "nowhere.toml", "--sql", COUNT), "nowhere.toml"),
        (("--policy", "visits.toml", "--sql-file", "nowhere.sql"), "nowhere.sql"),
    ],
)
def test_mistakes_are_explained(folder: Path, words: tuple[str, ...], told: str) -> None:
    ran = tacit(folder, "audit", *words)
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert told in ran.stderr
