"""The twelve steps: from a draft to a table that is asked; no row is read, and what is open is exit code 1."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tacit.advice.steps import DONE, OPEN, STEPS, checklist
from tacit.cli.story.demo_table import POLICY, write_visits
from tests.cli.typing_commands import tacit

NAMES = ["classify", "prepare", "budget", "questions", "run", "noise", "test", "utility", "document", "secure"]
NAMES += ["educate", "monitor"]
FULL = POLICY.replace("unit =", "population = 100000\nunit =", 1)


def states(folder: Path) -> dict[str, str]:
    return {step.name: step.state for step in checklist(folder / "visits.toml").steps}


def test_there_are_twelve_in_the_order_of_the_work() -> None:
    assert [name for name, _, _ in STEPS] == NAMES


def test_from_a_draft_to_answers(tmp_path: Path) -> None:
    write_visits(tmp_path / "visits.csv", 2000)
    tacit(tmp_path, "init", "visits.csv")
    draft = tacit(tmp_path, "checklist", "visits.toml")
    assert draft.returncode == 1
    assert "replace" in draft.stdout
    assert states(tmp_path)["prepare"] == OPEN

    (tmp_path / "visits.toml").write_text(POLICY, encoding="utf-8")
    assert states(tmp_path)["classify"] == DONE
    assert states(tmp_path)["budget"] == OPEN  # δ, and nothing to check it against
    (tmp_path / "visits.toml").write_text(FULL, encoding="utf-8")
    assert states(tmp_path) | {"budget": DONE, "prepare": DONE} == states(tmp_path)
    without = tacit(tmp_path, "checklist", "visits.toml")
    assert "there is no ledger: the first answer makes it" in without.stdout
    assert 'tacit ask visits.toml "SELECT COUNT(*) AS n FROM visits" --epsilon 0.5' in without.stdout

    asked = tacit(tmp_path, "ask", "visits.toml", "SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.5")
    assert asked.returncode == 0, asked.printed
    os.chmod(tmp_path / "visits.csv", 0o644)
    assert states(tmp_path)["secure"] == OPEN
    for name in ("visits.csv", "visits.ledger"):
        os.chmod(tmp_path / name, 0o600)
    done = tacit(tmp_path, "checklist", "visits.toml")
    assert done.returncode == 0, done.printed
    assert "none open" in done.stdout
    assert "left: ε 2.5, δ " in done.stdout
    assert json.loads(tacit(tmp_path, "checklist", "visits.toml", "--json").stdout)["steps"][11]["state"] == DONE


def test_every_command_that_is_named_exists(tmp_path: Path) -> None:
    (tmp_path / "visits.toml").write_text(FULL, encoding="utf-8")
    for step in checklist(tmp_path / "visits.toml").steps:
        if step.command.startswith("tacit "):
            ran = tacit(tmp_path, step.command.split()[1], "--help")
            assert ran.returncode == 0, step.command


def test_no_row_is_read(tmp_path: Path) -> None:
    """The same text whatever the rows, and with data that nobody could read."""
    (tmp_path / "visits.toml").write_text(FULL, encoding="utf-8")
    told = []
    for rows in (b"user_id,day,city,spend\nu1,2026-01-01,Gent,3\n", b"\xff\xfe\x00not a table at all"):
        (tmp_path / "visits.csv").write_bytes(rows)
        os.chmod(tmp_path / "visits.csv", 0o600)
        told.append(str(checklist(tmp_path / "visits.toml")))
    assert told[0] == told[1]


def test_data_are_taken_for_no_policy(tmp_path: Path) -> None:
    """Nobody is told to edit them: the policy beside them is meant, or there is none."""
    (tmp_path / "visits.csv").write_text("user_id,day,city,spend\n", encoding="utf-8")
    ran = tacit(tmp_path, "checklist", "visits.csv")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "Draft one: tacit init visits.csv" in ran.stderr
    (tmp_path / "visits.toml").write_text(FULL, encoding="utf-8")
    assert tacit(tmp_path, "checklist", "visits.csv").stdout == tacit(tmp_path, "checklist", "visits.toml").stdout


@pytest.mark.parametrize("name", ["nothing.toml", "."])
def test_a_policy_that_is_not_there(tmp_path: Path, name: str) -> None:
    ran = tacit(tmp_path, "checklist", name)
    assert ran.returncode == 1
    assert "tacit init" in ran.stderr
    assert "Traceback" not in ran.printed


def test_on_a_narrow_screen_a_step_goes_on_below_itself(tmp_path: Path) -> None:
    (tmp_path / "visits.toml").write_text(POLICY, encoding="utf-8")
    write_visits(tmp_path / "visits.csv", 200)
    wide = tacit(tmp_path, "checklist", "visits.toml").stdout
    narrow = tacit(tmp_path, "checklist", "visits.toml", columns=70).stdout
    assert max(map(len, narrow.splitlines())) <= 70 < max(map(len, wide.splitlines()))
    assert narrow.replace("\\\n", "").split() == wide.split()
