"""What an owner does at the prompt: versions of the data, other caps, a look at how the data fit."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

import tacit as library
from tests.cli.typing_commands import tacit
from tests.cli.visits import COUNT, furnish

ASK = ("ask", "visits.toml", COUNT, "--epsilon", "0.5", "--analyst", "ada")


def test_data_that_grow(tmp_path: Path) -> None:
    furnish(tmp_path, 300)
    first = tacit(tmp_path, *ASK)
    assert " on version 1 of the data\n" in first.stdout
    assert tacit(tmp_path, "data", "visits.toml").stdout == "version 1 of the data\n"
    with (tmp_path / "visits.csv").open("a") as file:
        file.write("".join(f"v{i},2026-02-01,Lund,20\n" for i in range(3000)))
    stale = tacit(tmp_path, *ASK)
    assert "asked before" in stale.stdout
    assert "changed" not in stale.printed  # size and time depend on rows, and this is no owner's terminal
    assert "The files have changed since that version began" in tacit(tmp_path, "data", "visits.toml").stdout
    assert tacit(tmp_path, "data", "visits.toml", "--new").returncode == 2
    raised = tacit(tmp_path, "data", "visits.toml", "--new", "--reason", "February", "--owner", "grace")
    assert raised.stdout.startswith("The data are of version 2 now")
    told = tacit(tmp_path, *ASK)
    assert "on version 1 of the data; now they are of version 2: --fresh" in told.stdout
    assert "version 2" in tacit(tmp_path, "report", "visits.toml", "1").stdout
    fresh = tacit(tmp_path, *ASK, "--fresh", "--json")
    answer = json.loads(fresh.stdout)
    assert answer["data_version"] == 2
    assert answer["columns"][0]["values"][0] > 3000
    assert "version 2 of the data: February" in " ".join(tacit(tmp_path, "log", "visits.toml").stdout.split())
    assert tacit(tmp_path, "verify", "visits.toml").returncode == 0


def test_other_caps_are_written_into_policy_and_ledger(tmp_path: Path) -> None:
    furnish(tmp_path, 30)
    before = (tmp_path / "visits.toml").read_text(encoding="utf-8")
    assert tacit(tmp_path, "amend", "visits.toml", "--epsilon", "6", "--reason", "x").returncode == 1  # no ledger yet
    assert (tmp_path / "visits.toml").read_text(encoding="utf-8") == before
    tacit(tmp_path, *ASK)
    done = tacit(tmp_path, "amend", "visits.toml", "--epsilon", "6", "--reason", "spring survey", "--owner", "grace")
    assert done.returncode == 0, done.printed
    after = (tmp_path / "visits.toml").read_text(encoding="utf-8")
    changed = [(old, new) for old, new in zip(before.split("\n"), after.split("\n"), strict=True) if old != new]
    assert [(old.split("#")[0].split(), new.split("#")[0].split()) for old, new in changed] == [
        (["epsilon", "=", "3"], ["epsilon", "=", "6"])
    ]
    assert "of 6.00" in tacit(tmp_path, *ASK).stdout
    (entry,) = [
        one
        for one in json.loads(tacit(tmp_path, "log", "visits.toml", "--json").stdout)["entries"]
        if one["kind"] == "amended"
    ]
    assert (entry["owner"], entry["reason"]) == ("grace", "spring survey")
    (tmp_path / "visits.toml").write_text(after.replace("delta = 1e-8", "delta = 1e-7"), encoding="utf-8")
    assert "tacit amend" in tacit(tmp_path, *ASK).stderr
    assert tacit(tmp_path, "amend", "visits.toml", "--reason", "by hand").returncode == 0
    assert tacit(tmp_path, *ASK).returncode == 0
    assert tacit(tmp_path, "amend", "visits.toml", "--rho", "1", "--reason", "x").returncode == 1
    assert tacit(tmp_path, "amend", "visits.toml", "--epsilon", "-1", "--reason", "x").returncode == 1
    assert tacit(tmp_path, "verify", "visits.toml").returncode == 0


def test_a_look_at_how_the_data_fit(tmp_path: Path) -> None:
    furnish(tmp_path, 30)
    with (tmp_path / "visits.csv").open("ab") as file:
        file.write(b"u1,31/12/2024,,3,5\n,2026-01-31,Lund,x\nu2,2026-01-31,\xff,7\n")
    found = tacit(tmp_path, "check", "visits.toml")
    assert found.returncode == 1
    assert "34 rows" in found.stdout
    assert "day: 1 of its cells cannot be read as date" in found.stdout
    assert "spend: 1 of its cells cannot be read as real" in found.stdout
    assert "spend: not within the bounds: 1 of its values" in found.stdout
    assert "user_id: rows without a unit are left out of every answer: 1" in found.stdout
    assert not (tmp_path / "visits.ledger").exists()


def test_a_header_that_says_a_name_twice_is_told(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("who,x,X\nu1,1,2\n")
    assert tacit(tmp_path, "init", "t.csv", "--unit", "who").returncode == 0
    found = tacit(tmp_path, "check", "t.toml")
    assert "the header has 'x' more than once: the second is called x_2" in found.stdout


def test_a_question_from_a_file_or_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    furnish(tmp_path, 300)
    (tmp_path / "q.sql").write_text(f"{COUNT}\n", encoding="utf-8")
    asked = tacit(tmp_path, "ask", "visits.toml", "-f", "q.sql", "--epsilon", "0.5")
    assert asked.returncode == 0, asked.printed
    monkeypatch.setattr(sys, "stdin", io.StringIO(COUNT))
    again = tacit(tmp_path, "ask", "visits.toml", "-", "--epsilon", "0.5")
    assert "asked before" in again.stdout
    assert tacit(tmp_path, "ask", "visits.toml", "--epsilon", "0.5").returncode == 2
    assert tacit(tmp_path, "ask", "visits.toml", COUNT, "-f", "q.sql", "--epsilon", "0.5").returncode == 2
    with library.open(tmp_path / "visits.toml") as table:
        answer = table.sql(COUNT, epsilon=0.5)
        assert [row["n"] for row in answer] == [answer["n"].value]


def test_what_may_be_asked(tmp_path: Path) -> None:
    furnish(tmp_path, 30)
    (tmp_path / "visits.csv").unlink()  # the policy is enough
    shown = tacit(tmp_path, "describe", "visits.toml").stdout
    assert "spend     real   filtered, grouped by, added     0 to 100" in shown
    furnish(tmp_path, 300)
    for line in [line for line in shown.splitlines() if line.strip().startswith("tacit ask")]:
        words = line.split("'")
        asked = tacit(tmp_path, "ask", "visits.toml", words[1], "--epsilon", "0.5")
        assert asked.returncode == 0, asked.printed


def test_an_answer_names_the_ledger_that_was_used(tmp_path: Path) -> None:
    furnish(tmp_path, 300)
    shown = tacit(tmp_path, *ASK, "--ledger", "other.ledger").stdout
    assert "other.ledger #1" in shown
    typed = shown.strip().rsplit(" · ", 1)[-1].split()
    assert typed[:4] == ["tacit", "report", "other.ledger", "1"]
    told = tacit(tmp_path, *typed[1:])
    assert shown.splitlines()[1] in told.stdout
    with library.open(tmp_path / "visits.toml", ledger=library.InMemory()) as table:
        assert "a ledger in memory #1" in repr(table.sql(COUNT, epsilon=0.5))
