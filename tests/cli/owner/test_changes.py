"""What an owner does at the prompt: versions of the data, other caps, a look at how the data fit."""

from __future__ import annotations

import io
import json
import re
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
    size = (tmp_path / "visits.csv").stat().st_size
    told = tacit(tmp_path, "data", "visits.toml").stdout
    assert told.startswith(f"version 1 of the data\n{size:,} bytes, written 20")
    assert "changed" not in told
    with (tmp_path / "visits.csv").open("a") as file:
        file.write("".join(f"v{i},2026-02-01,Lund,20\n" for i in range(3000)))
    stale = tacit(tmp_path, *ASK)
    assert "asked before" in stale.stdout
    assert not re.search(
        "changed|bytes", stale.printed
    )  # size and time depend on rows, and this is no owner's terminal
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


def test_cells_in_another_encoding_are_unreadable_not_empty(tmp_path: Path) -> None:
    """A body that is Latin-1 under a header that is UTF-8: each cell is null in every answer, and is told."""
    (tmp_path / "t.csv").write_bytes("who,städ\n".encode() + "u1,Malmö\nu2,\nu3,Lund\n".encode("latin-1"))
    drafted = tacit(tmp_path, "init", "t.csv", "--unit", "who", "--encoding", "utf-8")
    assert "städ: 1 cells are not in the encoding and count as null: --encoding" in drafted.stdout
    found = tacit(tmp_path, "check", "t.toml")
    assert found.returncode == 1
    assert "städ: 1 of its cells cannot be read as text: null in every answer" in found.stdout
    (tmp_path / "t.toml").unlink()
    guessed = tacit(tmp_path, "init", "t.csv", "--unit", "who")
    assert "is read as cp1252" in guessed.stdout
    assert "The header alone is UTF-8" in guessed.stdout
    assert "städ: text, 2 different values, 1 empty" in guessed.stdout
    assert tacit(tmp_path, "check", "t.toml").returncode == 0


def test_the_same_of_json_lines(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_bytes(
        '{"who": "u1", "city": "Malmö"}\n{"who": "u2", "city": "Lund"}\n'.encode("cp1252")
    )
    assert tacit(tmp_path, "init", "t.jsonl", "--unit", "who").returncode == 0
    found = tacit(tmp_path, "check", "t.toml")
    assert "city: 1 of its cells cannot be read as text" in found.stdout


def test_a_mark_of_utf_8_is_no_part_of_a_name(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbfwho,city\n" + "u1,Malmö\n".encode("cp1252"))
    assert tacit(tmp_path, "init", "t.csv", "--unit", "who").returncode == 0
    assert tacit(tmp_path, "ask", "t.toml", "SELECT COUNT(city) FROM t", "--epsilon", "1").returncode == 0


def test_lines_that_repeat_the_header_are_told(tmp_path: Path) -> None:
    part = "who,x\r\nu1,1\r\nu2,2\r\n"
    (tmp_path / "t.csv").write_text(part + part + part, newline="")
    drafted = tacit(tmp_path, "init", "t.csv", "--unit", "who")
    assert "2 lines repeat the header and count as rows" in drafted.stdout
    assert "2 lines repeat the header and count as rows" in tacit(tmp_path, "check", "t.toml").stdout


def test_a_text_that_stands_for_null_is_told(tmp_path: Path) -> None:
    rows = "".join(
        f"u{at},{'NA' if at % 5 == 0 else at},{'-' if at % 5 == 1 else '31/12/2024'},{at}a\n" for at in range(50)
    )
    (tmp_path / "t.csv").write_text("who,x,day,other\n" + rows)
    drafted = tacit(tmp_path, "init", "t.csv", "--unit", "who")
    assert "x: 40 of its 50 texts are numbers; if 'NA' stands for null: --null NA\n" in drafted.stdout
    assert "day: 40 of its 50 texts are days; if '-' stands for null: --null -\n" in drafted.stdout
    assert "other:" not in drafted.stdout.partition("From the rows")[0]
    (tmp_path / "t.toml").unlink()
    again = tacit(tmp_path, "init", "t.csv", "--unit", "who", "--null", "NA", "--null", "-")
    assert "x: integer, 40 different values, 10 empty" in again.stdout
    assert "day: date, 1 different value, 10 empty" in again.stdout


def test_a_unit_that_is_not_there_because_the_first_line_looks_like_a_row(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("who,2023.5,2024.5\nu1,1,2\nu2,3,4\n")
    refused = tacit(tmp_path, "init", "t.csv", "--unit", "who")
    assert (refused.returncode, "if it does name columns: --header" in refused.stderr) == (1, True)
    assert tacit(tmp_path, "init", "t.csv", "--unit", "who", "--header").returncode == 0


def test_another_source_beside_a_ledger_of_the_same_name(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("who,x\nu1,1\n")
    (tmp_path / "t.jsonl").write_text('{"who": "u1"}\n')
    asked = ("SELECT COUNT(*) FROM t", "--unit", "who", "--epsilon", "0.5")
    assert tacit(tmp_path, "ask", "t.csv", *asked).returncode == 0
    refused = tacit(tmp_path, "ask", "t.jsonl", *asked)
    assert (refused.returncode, "--ledger FILE" in refused.stderr) == (1, True)
    assert tacit(tmp_path, "ask", "t.jsonl", *asked, "--ledger", "other.ledger").returncode == 0


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
