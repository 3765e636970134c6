"""Texts that are compared with days are told, by the question alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.typing_commands import tacit

WORDS = "day is a text, and is compared as such: letter by letter. --type day=date reads days"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = "".join(f"u{at},{at % 28 + 1:02d}/12/2024,{at}\n" for at in range(300))
    (tmp_path / "t.csv").write_text("who,day,x\n" + rows)
    return tmp_path


def ask(folder: Path, condition: str, *options: str, command: str = "ask") -> str:
    sql = f"SELECT COUNT(*) AS n FROM t WHERE {condition}"
    done = tacit(folder, command, "t.csv", sql, "--unit", "who", "--epsilon", "0.3", *options)
    assert done.returncode == 0, done.printed
    return done.stderr


@pytest.mark.parametrize(
    "condition",
    ["day >= '2024-06-01'", "day BETWEEN '2024-06-01' AND '2024-07-01'", "x = '1' OR day IN ('2024-06-01 10:00:00')"],
)
def test_a_text_that_is_compared_with_a_day_is_told(folder: Path, condition: str) -> None:
    assert WORDS in ask(folder, condition)


@pytest.mark.parametrize(
    ("condition", "options"),
    [
        ("day >= '01/06/2024'", ()),
        ("day = x", ()),
        ("day >= '2024-06-01'", ("--type", "day=date", "--date-format", "%d/%m/%Y")),
        ("day >= '2024-06-01'", ("--type", "day=text")),
    ],
)
def test_others_are_not(folder: Path, condition: str, options: tuple[str, ...]) -> None:
    assert "letter by letter" not in ask(folder, condition, *options)


def test_with_a_policy_nothing_is_told(folder: Path) -> None:
    assert tacit(folder, "init", "t.csv", "--unit", "who").returncode == 0
    done = tacit(folder, "ask", "t.toml", "SELECT COUNT(*) AS n FROM t WHERE day >= '2024-12-03'", "--epsilon", "0.3")
    assert (done.returncode, "letter by letter" in done.stderr) == (0, False)
