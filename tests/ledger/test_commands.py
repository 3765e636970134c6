"""`tacit budget`, `tacit log`, `tacit verify`: what people see, what scripts get, how they end."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from tacit.cli.owner.ledger import budget, log, verify
from tacit.errors import LedgerError
from tacit.ledger import Request, SqliteLedger, Terms
from tacit.privacy import ZCDP, ApproxDP, PureDP


def run(command: click.Command, *arguments: object) -> Result:
    return CliRunner().invoke(command, list(map(str, arguments)), env={"COLUMNS": "200"})


@pytest.fixture
def path(folder: Path) -> Path:
    path = folder / "people.ledger"
    day = iter(range(100))
    start = datetime(2026, 3, 1, 12, tzinfo=UTC)
    terms = Terms(ApproxDP(3, 1e-8), per_question=PureDP(1), analysts={"bob": PureDP(1)})
    with SqliteLedger(path, clock=lambda: start + timedelta(days=next(day))).open("people.csv", terms) as ledger:
        for turn in range(4):  # two entries each: days 1 and 2, 3 and 4, ...
            claim = ledger.spend(
                Request(("ada", "bob")[turn % 2], f"SELECT {turn}\x1b[31m [red]x[/red]"), PureDP("0.25")
            )
            if turn != 2:
                claim.release(b"x")
        ledger.amend(Terms(ApproxDP(4, 1e-8), analysts={"bob": PureDP(1)}), owner="owner", reason="second year")
    return path


def test_budget(path: Path) -> None:
    done = run(budget, path)
    assert done.exit_code == 0, done.output
    for part in ("people.csv", "ε 1, δ 0", "ε 4, δ 1e-08", "ε 3, δ 1e-08", "bob", "ε 0.5, δ 0", "head", "add-remove"):
        assert part in done.output
    found = json.loads(run(budget, path, "--json").output)
    assert found["version"] == 1
    assert found["charged"] == ["1", "0"]
    assert found["left"] == ["3", "1e-08"]
    assert [one["analyst"] for one in found["accounts"]] == ["ada", "bob"]


def test_budget_shows_what_either_reading_leaves(folder: Path) -> None:
    path, picture = folder / "lasting.ledger", folder / "spending.svg"
    with SqliteLedger(path).open("people.csv", Terms(ApproxDP(3, 1e-8), set_aside=1e-8, strikes=100)) as ledger:
        for turn in range(40):
            receipt = ledger.spend(Request("ada", f"{turn}"), PureDP("0.08")).receipt
    assert "ε 3.2, δ 0, by squares ρ 0.128 = (ε 2.897, δ 1e-08), of ε 3, δ 1e-08" in str(receipt)
    done = run(budget, path)
    for part in (
        "ε 3.2, δ 0",
        "1e-08 is set aside",
        "ε, of which 0 is left",
        "0.128 of 0.136565",
        "ε 0.130879 would fit",
    ):
        assert part in done.output, done.output
    assert "ε 0.130879, δ 0" in done.output  # in the table, too
    found = json.loads(run(budget, path, "--json").output)
    assert found["left"] == ["0.130879", "0"]
    assert found["readings"]["left_by_squares"] == "0.130879"
    assert found["charged_means"]["epsilon"] < 3
    assert run(verify, path).exit_code == 0
    assert run(log, path, "--plot", picture).exit_code == 0


def test_budget_of_a_rho_ledger_says_what_it_means(folder: Path) -> None:
    path = folder / "rho.ledger"
    with SqliteLedger(path).open("people.csv", Terms(ZCDP("0.5"))) as ledger:
        receipt = ledger.spend(Request("ada", "?"), ZCDP("0.05")).receipt
    done = run(budget, path)
    assert "ρ 0.05, δ 0" in done.output
    assert f"ε {ZCDP('0.5').epsilon(1e-6):.6g} at δ 1e-06" in done.output
    assert f"(ε {ZCDP('0.05').epsilon(1e-6):.4g}, δ 1e-06)" in str(receipt)


def test_log(path: Path) -> None:
    done = run(log, path)
    assert done.exit_code == 0, done.output
    assert "\x1b" not in done.output
    assert "SELECT 0\\x1b[31m [red]x[/red]" in done.output
    assert "no answer" in done.output
    assert "second year" in done.output
    found = json.loads(run(log, path, "--json").output)
    assert found["version"] == 2
    assert [entry["number"] for entry in found["entries"]] == [None, 1, 2, 3, 4, None]
    assert [entry["kind"] for entry in found["entries"]] == ["opened", *["reserved"] * 4, "amended"]
    assert [entry["charged"][0] for entry in found["entries"]] == ["0", "0.25", "0.5", "0.75", "1", "1"]


@pytest.mark.parametrize(
    ("filters", "numbers"),
    [
        (["--analyst", "ada"], [1, 5]),
        (["--analyst", "nobody"], []),
        (["--since", "2026-03-04"], [3, 5, 6, 8]),
        (["--until", "2026-03-04"], [0, 1, 3]),
        (["--since", "2026-03-04T12:00:01", "--until", "2026-03-06T12:00:00+00:00"], [5]),
        (["--since", "2026-03-04T13:00:00+01:00", "--analyst", "bob"], [3, 6]),
    ],
)
def test_log_filters(path: Path, filters: list[str], numbers: list[int]) -> None:
    found = json.loads(run(log, path, "--json", *filters).output)
    assert [entry["entry"] for entry in found["entries"]] == numbers


def test_log_draws(path: Path, folder: Path) -> None:
    pytest.importorskip("matplotlib")
    for name in ("spending.png", "spending.svg"):
        assert run(log, path, "--plot", folder / name).exit_code == 0
        assert (folder / name).stat().st_size > 5000
    assert run(log, path, "--analyst", "nobody", "--plot", folder / "none.png").exit_code == 1
    assert not (folder / "none.png").exists()


def test_log_draws_any_name(folder: Path) -> None:
    pytest.importorskip("matplotlib")
    path = folder / "$\\frac$.ledger"
    with SqliteLedger(path).open("people.csv", Terms(PureDP(1))) as ledger:
        for name in ("$\\frac{1$", "_hidden", "李雷", "a" * 200):
            ledger.spend(Request(name, "?"), PureDP("0.1"))
    done = run(log, path, "--plot", folder / "names.png")
    assert done.exit_code == 0, done.output


def test_verify(path: Path) -> None:
    done = run(verify, path)
    assert done.exit_code == 0
    assert "tail is unverified" in done.output
    head = json.loads(run(budget, path, "--json").output)["head"]
    assert run(verify, path, "--head", head).exit_code == 0
    done = run(verify, path, "--head", "0" * 64)
    assert done.exit_code == 1
    assert "not in the chain" in done.output
    found = json.loads(run(verify, path, "--json", "--head", head).output)
    assert (found["version"], found["sound"], found["tail"], found["problems"]) == (1, True, "verified", [])


def test_verify_finds(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE accounts SET main = '0'")
    connection.close()
    done = run(verify, path)
    assert done.exit_code == 1
    assert "PROBLEM" in done.output
    found = json.loads(run(verify, path, "--json").output)
    assert not found["sound"]


@pytest.mark.parametrize("command", [budget, log, verify])
def test_wrong_usage(command: click.Command, folder: Path) -> None:
    assert run(command).exit_code == 2
    assert run(command, folder / "none.ledger").exit_code == 2
    assert run(command, folder).exit_code == 1  # a folder may be a table: this one has no ledger
    not_one = folder / "people.csv"
    not_one.write_text("name,age\n" * 500)
    assert isinstance(run(command, not_one).exception, LedgerError)


def test_wrong_values(path: Path) -> None:
    assert run(log, path, "--since", "yesterday").exit_code == 2
    for wrong in (["--head", "abc"], ["--head", ""]):
        done = run(verify, path, *wrong)
        assert done.exit_code == 2
        assert "64 hexadecimal digits" in done.output
    assert run(log, path, "--analyst", "").exit_code == 2


def test_a_picture_that_cannot_be_written(path: Path, folder: Path) -> None:
    pytest.importorskip("matplotlib")
    for name, reason in (("nowhere/x.png", "No such file"), ("x.xyz", "no such kind of picture")):
        done = run(log, path, "--plot", folder / name)
        assert done.exit_code == 1
        assert reason in done.output
        assert not isinstance(done.exception, OSError | ValueError)


@pytest.mark.parametrize("command", [budget, log, verify])
def test_an_empty_file_is_no_ledger(command: click.Command, folder: Path) -> None:
    empty = folder / "empty.ledger"
    empty.touch()
    done = run(command, empty)
    assert isinstance(done.exception, LedgerError)
    assert "There is no ledger at" in str(done.exception)
    assert empty.stat().st_size == 0


def test_in_a_pipe_one_entry_is_one_line(path: Path) -> None:
    done = CliRunner().invoke(log, [str(path)], env={"COLUMNS": None})
    assert len(done.output.splitlines()) == 1 + 6
    assert run(log, path, "--analyst", "nobody").output == "No entry was selected.\n"


def test_they_change_nothing(path: Path) -> None:
    before = path.read_bytes()
    for command in (budget, log, verify):
        run(command, path)
    assert path.read_bytes() == before
