"""`tacit shell`: prices before payments, commands, completion, and no way out of it but the end."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tacit.cli.analyst.shell import completions, matching
from tacit.tables.session.open import open as open_table
from tests.cli.typing_commands import Ran, tacit
from tests.cli.visits import BY_CITY, COUNT, furnish


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    furnish(tmp_path)
    return tmp_path


def typed(folder: Path, monkeypatch: pytest.MonkeyPatch, *lines: str, options: tuple[str, ...] = ()) -> Ran:
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines) + "\n"))
    return tacit(folder, "shell", "visits.toml", *options)


def test_without_a_terminal_a_price_is_told_and_nothing_is_paid(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = typed(folder, monkeypatch, f"{COUNT};")
    assert ran.returncode == 0
    assert "price ε 0.1, δ 0 of ε 3, δ 1e-08 left (COUNT(*) ± " in ran.stdout
    assert "nothing was spent" in ran.stdout
    assert not (folder / "visits.ledger").exists()


def test_a_statement_ends_with_a_semicolon_and_yes_pays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = (*BY_CITY.replace(" FROM", "\nFROM").split("\n"), ";", "\\budget", f"{COUNT}; {COUNT};")
    ran = typed(folder, monkeypatch, *lines, options=("--yes", "--epsilon", "0.5"))
    assert ran.stdout.count("paying ε 0.5") == 3
    assert "spent ε 0.50" in ran.stdout
    assert "ε 2.5, δ 9" in ran.stdout  # what \budget says is left
    assert "spent nothing: asked before" in ran.stdout
    assert ran.stderr == ""


def test_mistakes_are_told_and_the_next_line_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = (
        "SELECT nobody FROM visits;",
        "\\nothing",
        "\\price rho 1",
        "\\price epsilon much",
        "\\batch none.sql",
        "",
        "SELECT",
        "\\clear",
    )
    ran = typed(folder, monkeypatch, *wrong, "\\price epsilon 0.25", "\\price 0.3", f"EXPLAIN {COUNT};", "\\quit", "x;")
    assert ran.returncode == 0
    assert ran.stderr.count("tacit: ") == 5
    assert "ε 0.25 for each question" in ran.stdout
    assert "price: ε 0.3" in ran.stdout
    assert "Traceback" not in ran.printed
    assert not (folder / "visits.ledger").exists()


def test_help_columns_and_a_batch(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "two.sql").write_text(f"{COUNT};{BY_CITY};", encoding="utf-8")
    ran = typed(folder, monkeypatch, "\\help", "\\columns", "\\batch two.sql", options=("--yes",))
    assert "\\price epsilon 0.5" in ran.stdout
    assert " spend  real, private, 0 to " in ran.stdout
    assert " [1] SELECT city" in ran.stdout
    assert max(map(len, ran.stdout.split("paying")[0].splitlines())) <= 80


def test_commands_work_while_a_statement_is_typed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever forgot a semicolon finds a way on, and what was begun stays; other lines with \\ belong to it."""
    lines = ("SELECT COUNT(*)", "\\help", "\\budget", "FROM visits;", "SELECT '", "\\x", "' FROM visits", "\\quit", ";")
    ran = typed(folder, monkeypatch, *lines)
    assert "a question; its price" in ran.stdout
    assert "is left to you" in ran.stdout
    assert ran.stdout.count("price ε 0.1, δ 0 of ε 3") == 1
    assert ran.stderr == ""


def test_the_usual_price_is_one_that_may_be_paid(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = folder / "visits.toml"
    text = policy.read_text(encoding="utf-8")
    policy.write_text(text.replace("epsilon = 3", "epsilon = 300", 1), encoding="utf-8")
    ran = typed(folder, monkeypatch, f"{COUNT};", "\\price epsilon 0.2", f"{COUNT};", options=("--yes",))
    assert "a question costs ε 0.3; ε 300" in ran.stdout
    assert ran.stdout.count("paying ε 0.3") == 2
    assert ran.stderr.startswith("tacit: price: given 'ε 0.2'; allowed: ε 0.3 or more")
    assert len(ran.stderr.splitlines()) == 1, ran.stderr  # and no answer was refused


def test_a_price_in_another_currency_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert typed(folder, monkeypatch, options=("--rho", "1")).returncode == 1
    assert typed(folder, monkeypatch, options=("--rho", "1", "--epsilon", "1")).returncode == 1


def test_columns_functions_and_commands_are_completed(folder: Path) -> None:
    with open_table(folder / "visits.toml") as table:
        words = completions(table)
    assert {"visits", "city", "spend", "AVG(", "MEDIAN(", "UPPER(", "GROUP BY", "\\budget"} <= set(words)


def test_what_is_typed_in_small_letters_is_completed_in_small_letters() -> None:
    words = ["visits", "minute", '"month"', "MINUTE(", "MONTH(", "MONTHNAME(", "GROUP BY"]
    assert matching("mi", words) == ["minute"]
    assert matching("mon", words) == ['"month"']
    assert matching('"mo', words) == ['"month"']
    assert matching("MON", words) == ["MONTH(", "MONTHNAME("]
    assert matching("gr", words) == ["GROUP BY"]


def test_the_error_is_written_as_in_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    furnish(tmp_path, 300)
    text = (tmp_path / "visits.toml").read_text(encoding="utf-8").replace("bounds = [0, 100]", "bounds = [0, 1000000]")
    (tmp_path / "visits.toml").write_text(text, encoding="utf-8")
    ran = typed(tmp_path, monkeypatch, "SELECT SUM(spend) AS s FROM visits;")
    assert re.search(r" ± \d{1,3}( \d{3})+\)", ran.stdout), ran.stdout


def test_on_a_terminal_the_tabulator_completes_and_the_price_is_asked_for(folder: Path) -> None:
    """In a terminal of its own: `COU<tab>` becomes COUNT, no is no, what was typed is kept for its writer alone."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TACIT_HISTORY": str(folder / "history"), "TERM": "dumb", "COLUMNS": "200"}
    command = [sys.executable, "-m", "tacit", "shell", "visits.toml"]
    running = subprocess.Popen(command, cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    try:
        seen = _until(ours, "", "visits> ")
        os.write(ours, b"SELECT COUNT(*) AS n FR\t visits;\n")
        seen = _until(ours, seen, "? [y/N]: ")
        os.write(ours, b"n\n")
        _until(ours, seen, "nothing was spent")
        os.write(ours, b"\\quit\n")
        running.wait(60)
    finally:
        running.kill()
        running.wait()
    os.close(ours)
    assert running.returncode == 0
    assert not (folder / "visits.ledger").exists()
    history = folder / "history"
    assert "FROM visits;" in history.read_text(encoding="utf-8")
    assert history.stat().st_mode & 0o077 == 0


def _until(terminal: int, seen: str, wanted: str) -> str:
    """Read what is shown until it contains something; gives up after two minutes."""
    begun = len(seen)
    deadline = time.monotonic() + 120
    while wanted not in seen[begun:] and time.monotonic() < deadline:
        if select.select([terminal], [], [], 1)[0]:
            seen += os.read(terminal, 65536).decode("utf-8", "replace")
    assert wanted in seen[begun:], seen
    return seen
