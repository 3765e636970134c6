"""The demo tells the whole story with real commands, twice in a row, and leaves a plot and a page."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tacit.cli.story.demo_table import CITIES, write_visits
from tacit.ledger import SqliteLedger
from tests.cli.typing_commands import tacit
from tests.report.reading import Page


def test_the_story_and_the_story_again(tmp_path: Path) -> None:
    first = tacit(tmp_path, "demo", "--rows", "20000", "--out", "out")
    assert first.returncode == 0, first.printed
    told = first.stdout
    for command in ("init visits.csv", "plan visits.toml", "ask visits.toml", "ask visits.csv", "budget visits.ledger"):
        assert f"$ tacit {command}" in told
    assert "95% intervals for the noise; groups too small to show are left out" in told
    assert "Ísafjörður" not in told
    assert "so far ε 2.00 of 3.00" in told
    assert "nothing was spent" in told
    out = tmp_path / "out"
    for picture in ("by_city.png", "by_month.png"):
        assert (out / picture).read_bytes().startswith(b"\x89PNG")
    page = Page((out / "answer.html").read_text(encoding="utf-8"))
    assert page.unbalanced == []
    assert "Aarhus" in page.cells

    again = tacit(tmp_path, "demo", "--rows", "20000", "--out", "out")
    assert again.returncode == 0, again.printed
    assert "from an earlier run" in again.stdout
    assert again.stdout.count("spent nothing: asked before") == 3
    with SqliteLedger(out / "visits.ledger").open() as ledger:
        assert str(ledger.budget().charged) == "ApproxDP(2, 1e-09)"
        assert ledger.verify().sound


def test_the_table_is_untidy_and_the_same_each_time(tmp_path: Path) -> None:
    write_visits(tmp_path / "a.csv", 20_000)
    write_visits(tmp_path / "b.csv", 20_000)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 20_000
    visits: dict[str, int] = {}
    for row in rows:
        visits[row["user_id"]] = visits.get(row["user_id"], 0) + 1
    assert max(visits.values()) > 10 * len(rows) / len(visits)
    assert {row["city"] for row in rows} <= {*CITIES, ""}
    assert any(row["spend"] == "" for row in rows)
    assert any(row["city"] == "" for row in rows)


@pytest.mark.parametrize("rows", ["0", "-1", "many"])
def test_an_empty_table_is_refused_before_anything_is_made(tmp_path: Path, rows: str) -> None:
    ran = tacit(tmp_path, "demo", "--rows", rows, "--out", "out")
    assert ran.returncode == 2
    assert not (tmp_path / "out").exists()


def test_one_row_is_enough(tmp_path: Path) -> None:
    ran = tacit(tmp_path, "demo", "--rows", "1", "--out", "out")
    assert ran.returncode == 0, ran.printed
    assert "no group is large enough to show" in ran.stdout


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here first")
    ran = tacit(tmp_path, "demo", "--rows", "1", "--out", "file/out")
    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1].startswith("Error: Could not open file")
