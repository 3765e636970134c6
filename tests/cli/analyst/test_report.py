"""`tacit report`: an answer that was given, from the record, free."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tacit.report.disclosure import Disclosure
from tests.cli.typing_commands import tacit
from tests.cli.visits import BY_CITY, furnish
from tests.report.reading import Page


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    furnish(tmp_path)
    assert tacit(tmp_path, "ask", "visits.toml", BY_CITY, "--epsilon", "2").returncode == 0
    return tmp_path


def test_it_says_what_was_said(folder: Path) -> None:
    asked = tacit(folder, "ask", "visits.toml", BY_CITY, "--epsilon", "2", "--json").stdout
    for where in ("visits.toml", "visits.csv", "visits.ledger"):
        told = tacit(folder, "report", where, "1", "--json")
        assert json.loads(told.stdout) == json.loads(asked), told.stderr
    shown = tacit(folder, "report", "visits.toml", "1").stdout
    assert "Łódź" in shown
    assert "spent ε 2.00" in shown


def test_it_needs_no_data(folder: Path) -> None:
    (folder / "visits.csv").unlink()
    assert tacit(folder, "report", "visits.toml", "1").returncode == 0


def test_the_page_says_what_the_json_says(folder: Path) -> None:
    ran = tacit(folder, "report", "visits.toml", "1", "--out", "page.html", "--json")
    assert ran.stderr == "wrote page.html\n"
    made = Disclosure.from_dict(json.loads(ran.stdout))
    page = Page((folder / "page.html").read_text(encoding="utf-8"))
    text = " ".join(page.text.split())
    assert page.unbalanced == []
    assert made.head in text
    assert " ".join(made.question.split()) in text
    assert "one user_id" in text
    assert made.charged.main == "2"
    assert made.cap.main == "3"
    assert {column.name for column in made.columns} <= set(page.cells)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["visits.toml", "99"], 1, "no payment #99"),
        (["visits.toml", "0"], 1, "no payment #0"),
        (["nothing.toml", "1"], 2, "does not exist"),
        (["visits.toml", "one"], 2, "integer"),
        (["visits.toml", "1", "--out", "no/a.html"], 1, "no/a.html"),
    ],
)
def test_refusals_are_readable(folder: Path, words: list[str], code: int, said: str) -> None:
    ran = tacit(folder, "report", *words)
    assert ran.returncode == code
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr
