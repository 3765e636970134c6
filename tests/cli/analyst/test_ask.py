"""`tacit ask`: answers with intervals, files, exit codes, and never a traceback."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pyarrow.parquet
import pytest
from click.testing import CliRunner

from tacit.cli.main import cli
from tacit.ledger import SqliteLedger
from tacit.tables.engines.duckdb.engine import DuckDBEngine
from tacit.tables.session.table import Table
from tests.cli.typing_commands import tacit, tacit_alone
from tests.cli.visits import BY_CITY, COUNT, furnish
from tests.report.reading import Page, disagreements
from tests.report.test_disclosure import SCHEMA


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    furnish(tmp_path)
    return tmp_path


def charged(folder: Path) -> str:
    with SqliteLedger(folder / "visits.ledger").open() as ledger:
        return str(ledger.budget().charged)


def test_an_answer_shows_intervals_the_price_and_who_is_protected(folder: Path) -> None:
    ran = tacit_alone(folder, "ask", "visits.toml", BY_CITY, "--epsilon", "2")
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[0].split() == ["city", "visits", "spend"]
    assert re.fullmatch(r" Lund +[12] \d{3} ± \d+ +\d+\.\d.*", lines[1]), lines[1]
    assert lines[2].split()[0] == "Łódź"
    assert lines[3] == " 95% intervals for the noise; groups too small to show are left out"
    assert lines[4] == " rows over the limits are not counted, and not in ±: tacit discover limits helps"
    assert re.fullmatch(r" drawn \d{4}-\d\d-\d\d \d\d:\d\d UTC on version 1 of the data", lines[5])
    assert lines[6].startswith(" spent ε 2.00, δ 1e-9 (so far ε 2.00 of 3.00) · unit: one user_id, at most 5 groups")
    assert lines[6].endswith("visits.ledger #1 · tacit report visits.toml 1")
    assert "Nowhere" not in ran.stdout
    assert "\x1b" not in ran.stdout
    assert ran.stderr == ""


def test_asking_again_is_free_and_says_so_and_fresh_pays(folder: Path) -> None:
    first = tacit(folder, "ask", "visits.toml", COUNT, "--epsilon", "0.5").stdout.splitlines()
    again = tacit(folder, "ask", "visits.toml", COUNT, "--epsilon", "0.5").stdout.splitlines()
    assert again[:-1] == first[:-1]
    assert "spent nothing: asked before, for ε 0.50" in again[-1]
    tacit(folder, "ask", "visits.toml", COUNT, "--epsilon", "0.5", "--fresh")
    assert charged(folder) == "ApproxDP(1, 0)"
    now = tacit(folder, "ask", "visits.toml", COUNT, "--epsilon", "0.5").stdout
    assert "so far ε 1.00 of 3.00" in now


def test_json_is_as_its_schema_says(folder: Path) -> None:
    ran = tacit(folder, "ask", "visits.toml", BY_CITY, "--epsilon", "2", "--json")
    made = json.loads(ran.stdout)
    assert disagreements(made, SCHEMA, SCHEMA) == []
    assert made["version"] == 1
    names = [column["name"] for column in made["columns"]]
    assert names == ["city", "visits", "spend"]
    visits = made["columns"][1]
    assert all(
        low < value < high for low, value, high in zip(visits["low"], visits["values"], visits["high"], strict=True)
    )


def test_files_are_written_and_agree(folder: Path) -> None:
    words = ["--csv", "a.csv", "--parquet", "a.parquet", "--report", "a.html", "--plot", "a.png"]
    ran = tacit(folder, "ask", "visits.toml", BY_CITY, "--epsilon", "2", *words)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.splitlines() == ["wrote a.csv", "wrote a.parquet", "wrote a.html", "wrote a.png"]
    with (folder / "a.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["city", "visits", "visits_low", "visits_high", "spend", "spend_low", "spend_high"]
    table = pyarrow.parquet.read_table(folder / "a.parquet").to_pylist()
    assert [int(row["visits"]) for row in rows] == [row["visits"] for row in table]
    page = Page((folder / "a.html").read_text(encoding="utf-8"))
    assert page.unbalanced == []
    assert "Łódź" in page.cells
    assert (folder / "a.png").read_bytes().startswith(b"\x89PNG")


def test_without_a_policy_it_counts_and_the_ledger_is_the_same(folder: Path) -> None:
    (folder / "visits.toml").unlink()
    ran = tacit(folder, "ask", "visits.csv", COUNT, "--unit", "user_id", "--epsilon", "1")
    assert ran.returncode == 0, ran.stderr
    assert "visits.ledger was opened with a total of ε 3, δ 1e-8" in ran.stderr
    assert "so far ε 1.00 of 3.00" in ran.stdout
    more = tacit(folder, "ask", "visits.csv", "SELECT AVG(spend) FROM visits", "--unit", "user_id", "--epsilon", "1")
    assert more.returncode == 1
    furnish(folder)
    assert "so far ε 1.50 of 3.00" in tacit(folder, "ask", "visits.toml", COUNT, "--epsilon", "0.5").stdout


def test_without_a_policy_more_rows_of_a_person_can_count(folder: Path) -> None:
    words = ["ask", "visits.csv", COUNT, "--unit", "user_id", "--epsilon", "1"]
    assert "at most 1 group, 1 row " in tacit(folder, *words).stdout
    assert "at most 1 group, 7 rows " in tacit(folder, *words, "--rows", "7").stdout


def test_a_budget_can_be_set_once(folder: Path) -> None:
    (folder / "visits.toml").unlink()
    words = ["ask", "visits.csv", COUNT, "--unit", "user_id", "--epsilon", "1"]
    assert "of 2.00" in tacit(folder, *words, "--budget", "2").stdout
    other = tacit(folder, *words, "--budget", "5")
    assert other.returncode == 1
    assert "other terms" in other.stderr
    assert tacit(folder, *words, "--budget", "lots").stderr.startswith("tacit: --budget: given 'lots'")


def test_too_much_is_exit_code_three_and_nothing_is_spent(folder: Path) -> None:
    ran = tacit(folder, "ask", "visits.toml", COUNT, "--epsilon", "3.1")
    assert ran.returncode == 3
    assert ran.stdout == ""
    assert "nothing was spent" in ran.stderr
    assert not (folder / "visits.ledger").exists()


def test_a_lost_answer_is_exit_code_four(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine fails after the payment; asking again says that it was paid for."""
    words = ["ask", "visits.toml", COUNT, "--epsilon", "0.5"]
    with monkeypatch.context() as broken:
        broken.setattr(DuckDBEngine, "run", _failing)
        ran = tacit(folder, *words)
    assert ran.returncode == 4
    assert "4711" not in ran.printed
    assert "The payment stands" in ran.stderr
    assert tacit(folder, *words).returncode == 4
    assert charged(folder) == "ApproxDP(0.5, 0)"
    assert tacit(folder, "report", "visits.toml", "1").returncode == 4


def test_a_fault_of_ours_shows_no_message(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Table, "query", _failing)
    ran = tacit(folder, "ask", "visits.toml", COUNT, "--epsilon", "0.5")
    assert ran.returncode == 70
    assert "4711" not in ran.printed
    assert "Traceback" not in ran.stderr
    monkeypatch.setenv("TACIT_TRACEBACK", "1")
    with pytest.raises(MemoryError, match="4711"):
        tacit(folder, "ask", "visits.toml", COUNT, "--epsilon", "0.5")


def _failing(*_: object) -> None:
    raise MemoryError("secret 4711")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "Missing argument"),
        (["visits.toml", COUNT], 2, "--epsilon 0.5"),
        (["visits.toml", COUNT, "--epsilon", "nan"], 1, "epsilon: given 'nan'"),
        (["visits.toml", COUNT, "--rho", "1"], 1, "rho"),
        (["visits.toml", "SELECT * FROM visits", "--epsilon", "1"], 1, "rows are never shown"),
        (["visits.toml", "DROP TABLE visits", "--epsilon", "1"], 1, "SELECT"),
        (["visits.toml", COUNT, "--epsilon", "1", "--csv", "no/a.csv"], 1, "Nothing was spent"),
        (["visits.toml", COUNT, "--epsilon", "1", "--plot", "a.exe"], 1, "Nothing was spent"),
        (["nothing.toml", COUNT, "--epsilon", "1"], 1, "nothing.toml"),
        (["nothing.csv", COUNT, "--epsilon", "1", "--unit", "user_id"], 1, "nothing.csv"),
        (["visits.csv", COUNT, "--epsilon", "1", "--unit", "who"], 1, "who"),
        (["visits.toml", COUNT, "--epsilon", "1", "--rows", "5"], 1, "--rows: given 'beside a policy file'"),
        (["visits.csv", COUNT, "--epsilon", "1", "--groups", "5"], 1, "--groups: given 'beside a policy file'"),
        (["visits.toml", COUNT, "--epsilon", "1", "--unit", "user_id"], 1, "unit: given 'beside a policy file'"),
        (["visits.toml", COUNT, "--epsilon", "1", "--analyst", "\u200b"], 1, "analyst"),
    ],
)
def test_refusals_are_readable_and_free(folder: Path, words: list[str], code: int, said: str) -> None:
    ran = tacit(folder, "ask", *words)
    assert ran.returncode == code
    assert ran.stdout == ""
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr
    assert not (folder / "visits.ledger").exists()


def test_explain_is_free(folder: Path) -> None:
    ran = tacit(folder, "ask", "visits.toml", f"explain {COUNT}", "--epsilon", "0.5")
    assert ran.returncode == 0, ran.stderr
    assert "price: ε 0.5" in ran.stdout
    assert not (folder / "visits.ledger").exists()


def test_analysts_have_their_own_answers(folder: Path) -> None:
    ada = tacit(folder, "ask", "visits.toml", COUNT, "--epsilon", "0.5", "--analyst", "ada")
    bob = tacit(folder, "ask", "visits.toml", COUNT, "--epsilon", "0.5", "--analyst", "bob")
    assert "tacit report visits.toml 1 --analyst ada" in ada.stdout
    assert "so far ε 1.00" in bob.stdout
    other = tacit(folder, "report", "visits.toml", "1", "--analyst", "bob")
    assert other.returncode == 1
    assert "was not given to bob" in other.stderr


def test_help_names_the_exit_codes() -> None:
    shown = " ".join(CliRunner().invoke(cli, ["ask", "--help"]).output.split())
    for said in ("0 answered", "1 refused", "2 wrong usage", "3 the budget", "4 paid for"):
        assert said in shown


GOOGLE = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5) COUNT(*) AS n FROM visits"


def test_a_statement_that_says_its_price_needs_no_option(folder: Path) -> None:
    ran = tacit(folder, "ask", "visits.toml", GOOGLE)
    assert ran.returncode == 0, ran.printed
    assert "spent ε 0.50" in ran.stdout
    assert tacit(folder, "ask", "visits.toml", GOOGLE, "--epsilon", "0.50").returncode == 0
    assert charged(folder) == "ApproxDP(0.5, 0)"
    other = tacit(folder, "ask", "visits.toml", GOOGLE, "--epsilon", "0.6")
    assert other.returncode == 1
    assert "the statement says epsilon = 0.5" in other.printed
    plan = tacit(folder, "plan", "visits.toml", GOOGLE)
    assert "price: ε 0.5" in plan.stdout
    assert "price: ε 0.5" in tacit(folder, "ask", "visits.toml", f"EXPLAIN {GOOGLE}").stdout
    assert charged(folder) == "ApproxDP(0.5, 0)"


def test_a_clause_without_a_price_or_with_a_slip(folder: Path) -> None:
    ran = tacit(folder, "ask", "visits.toml", GOOGLE.replace("epsilon=0.5", ""))
    assert ran.returncode == 2
    assert "--epsilon 0.5" in ran.printed
    ran = tacit(folder, "ask", "visits.toml", GOOGLE.replace("0.5", "-1"))
    assert ran.returncode == 1
    assert "takes a number above 0" in ran.printed
    ran = tacit(folder, "ask", "visits.toml", GOOGLE.replace("0.5", "1e20"))
    assert ran.returncode == 3
    assert not (folder / "visits.ledger").exists()


def test_the_shell_speaks_of_options_and_files(folder: Path) -> None:
    (folder / "visits.toml").unlink()
    ran = tacit(folder, "ask", "visits.csv", COUNT, "--epsilon", "1")
    assert "--unit user_id" in ran.stderr
    assert tacit(folder, "ask", "visits.csv", COUNT, "--epsilon", "1", "--unit", "user_id").returncode == 0
    told = ran.stderr
    assert (
        "--epsilon: given '0,5'"
        in tacit(folder, "plan", "visits.csv", COUNT, "--epsilon", "0,5", "--unit", "user_id").stderr
    )
    for words in (["--unit", "city"], ["--unit", "user_id", "--budget", "5"], ["--unit", "user_id", "--rho", "1"]):
        ran = tacit(folder, "ask", "visits.csv", COUNT, *([] if "--rho" in words else ["--epsilon", "1"]), *words)
        assert ran.returncode == 1
        told += ran.stderr
    assert not [code for code in ("SqliteLedger", "unit=", "tacit.ROW", "epsilon=") if code in told]
    assert str(folder / "visits.ledger") in told


@pytest.mark.parametrize("command", ["budget", "log", "verify"])
@pytest.mark.parametrize("named", ["visits.csv", "visits.toml", "visits.ledger", "kept.db"])
def test_the_ledger_is_found_from_the_data_the_policy_or_itself(folder: Path, command: str, named: str) -> None:
    if named != "kept.db" and not named.endswith(".ledger"):
        ran = tacit(folder, command, named)
        assert (ran.returncode, "tacit ask" in ran.stderr) == (1, True)
    assert tacit(folder, "ask", "visits.toml", COUNT, "--epsilon", "1").returncode == 0
    (folder / "kept.db").write_bytes((folder / "visits.ledger").read_bytes())
    ran = tacit(folder, command, named)
    assert ran.returncode == 0, ran.printed


def test_within_finds_the_price_and_pays_it(folder: Path) -> None:
    planned = json.loads(tacit(folder, "plan", "visits.toml", COUNT, "--within", "20", "--json").stdout)
    price = planned["plans"][0]["price"]["main"]
    ran = tacit(folder, "ask", "visits.toml", COUNT, "--within", "20")
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.startswith(f"paying ε {price}")
    assert f"spent ε {price}" in ran.stdout
    (error,) = re.findall(r"± (\d+)", ran.stdout)
    assert int(error) <= 20
    both = tacit(folder, "ask", "visits.toml", COUNT, "--within", "20", "--epsilon", "1")
    assert both.returncode == 1
    assert "either a price or the errors to meet" in both.stderr


def test_bias_says_what_the_limits_cut_inside_the_price(folder: Path) -> None:
    ran = tacit(folder, "ask", "visits.toml", BY_CITY, "--epsilon", "2", "--bias", "0.5")
    assert ran.returncode == 0, ran.stderr
    assert re.search(r"\d% of the rows \(.+% to .+%\) are over the limits: not counted, and not in ±", ran.stdout)
    assert "spent ε 2.00" in ran.stdout
    assert "what the limits cut" in tacit(folder, "plan", "visits.toml", COUNT, "--epsilon", "1", "--bias").stdout
    wrong = tacit(folder, "ask", "visits.toml", COUNT, "--epsilon", "0.5", "--bias", "2")
    assert wrong.returncode == 1
    assert "--bias" in wrong.stderr
    assert "between 0 and 1" in wrong.stderr


def test_statements_with_semicolons_are_one_batch(folder: Path) -> None:
    (folder / "questions.sql").write_text(f"{COUNT};\n-- and; by city\n{BY_CITY};\n", encoding="utf-8")
    ran = tacit(folder, "ask", "visits.toml", "-f", "questions.sql", "--epsilon", "2")
    assert ran.returncode == 0, ran.stderr
    assert [line[:4] for line in ran.stdout.splitlines() if line.startswith(" [")] == [" [0]", " [1]"]
    assert ran.stdout.count("spent ε 2.00") == 1
    assert charged(folder).startswith("ApproxDP(2,")
    made = json.loads(tacit(folder, "ask", "visits.toml", "-f", "questions.sql", "--epsilon", "2", "--json").stdout)
    assert [one["columns"][0]["name"] for one in made] == ["n", "city"]
    again = tacit(folder, "ask", "visits.toml", f"{COUNT}; {BY_CITY}", "--epsilon", "2").stdout
    assert "spent nothing: asked before" in again
    for option in (["--within", "3"], ["--bias"], ["--csv", "a.csv"]):
        refused = tacit(folder, "ask", "visits.toml", "-f", "questions.sql", "--epsilon", "1", *option)
        assert refused.returncode == 1
        assert "one statement" in refused.stderr
    assert not (folder / "a.csv").exists()
