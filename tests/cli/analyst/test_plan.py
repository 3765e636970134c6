"""`tacit plan`: free, independent of the data, and consistent with itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tacit.report.numbers import number
from tests.cli.typing_commands import tacit
from tests.cli.visits import BY_CITY, COUNT, furnish

MEAN = "SELECT AVG(spend) AS spend FROM visits"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    furnish(tmp_path, people=20)
    return tmp_path


def test_errors_at_several_prices(folder: Path) -> None:
    ran = tacit(folder, "plan", "visits.toml", BY_CITY)
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[1].split() == ["price", "visits", "spend", "shows", "groups", "from"]
    assert [line.split(",")[0].strip() for line in lines[2:7]] == ["ε 0.10", "ε 0.20", "ε 0.50", "ε 1.00", "ε 2.00"]
    assert "--expected-rows N" in lines[-1]
    assert not any(line != line.rstrip() for line in lines)


def test_the_price_that_reaches_an_error_reaches_it(folder: Path) -> None:
    words = ["plan", "visits.toml", MEAN, "--expected-rows", "20000", "--json"]
    found = json.loads(tacit(folder, *words, "--within", "1").stdout)
    assert (found["version"], found["kind"]) == (1, "tacit plan")
    price = found["plans"][0]["price"]["main"]
    (mean,) = found["plans"][0]["aggregates"]
    assert mean["output"] == "spend"
    assert 0.95 < mean["error"] <= 1
    named = json.loads(tacit(folder, *words, "--within", "spend=1").stdout)
    assert named == found
    at_price = json.loads(tacit(folder, *words, "--epsilon", price).stdout)
    assert at_price["plans"][0]["aggregates"] == found["plans"][0]["aggregates"]
    less = json.loads(tacit(folder, *words, "--epsilon", str(0.9 * float(price))).stdout)
    assert less["plans"][0]["aggregates"][0]["error"] > 1


def test_nothing_is_written_and_the_data_do_not_matter(folder: Path) -> None:
    before = tacit(folder, "plan", "visits.toml", BY_CITY, "--epsilon", "1", "--expected-rows", "100").stdout
    assert sorted(path.name for path in folder.iterdir()) == ["visits.csv", "visits.toml"]
    furnish(folder, people=500)
    assert tacit(folder, "plan", "visits.toml", BY_CITY, "--epsilon", "1", "--expected-rows", "100").stdout == before
    assert "price: ε 1" in before


def test_without_a_policy(folder: Path) -> None:
    (folder / "visits.toml").unlink()
    ran = tacit(folder, "plan", "visits.csv", COUNT, "--unit", "user_id", "--epsilon", "1")
    assert ran.returncode == 0, ran.stderr
    assert not (folder / "visits.ledger").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--within", "one"], "--within: given 'one'"),
        (["--within", "1", "--within", "2"], "NAME=ERROR"),
        (["--within", "1"], "--expected-rows"),
        (["--within", "other=1", "--expected-rows", "10"], "other"),
        (["--within", "-1", "--expected-rows", "10"], "above 0"),
        (["--epsilon", "1", "--expected-rows", "0"], "--expected-rows"),
        (["--epsilon", "1", "--rho", "1"], "price"),
    ],
)
def test_refusals_are_readable(folder: Path, words: list[str], said: str) -> None:
    ran = tacit(folder, "plan", "visits.toml", MEAN, *words)
    assert ran.returncode == 1
    assert said in ran.stderr
    assert ran.stdout == ""


def test_several_groupings_at_once(folder: Path) -> None:
    sql = "SELECT spend > 30 AS dear, COUNT(*) AS n FROM visits GROUP BY ROLLUP (dear)"
    found = json.loads(tacit(folder, "plan", "visits.toml", sql, "--epsilon", "1", "--json").stdout)
    assert [one["keys"] for one in found["plans"][0]["sets"]] == ["by spend > 30", "in all"]
    ran = tacit(folder, "plan", "visits.toml", sql)
    assert ran.stdout.splitlines()[1].split()[:2] == ["price", "n"], ran.stderr
    assert "in all" in tacit(folder, "ask", "visits.toml", f"EXPLAIN {sql}", "--epsilon", "1").stdout
    assert "in all" in tacit(folder, "plan", "visits.toml", f"EXPLAIN {sql}", "--epsilon", "1").stdout
    asked = tacit(folder, "ask", "visits.toml", sql, "--epsilon", "1", "--csv", "rows.csv", "--report", "page.html")
    assert asked.returncode == 0, asked.stderr
    lines = (folder / "rows.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "dear,n,n_low,n_high"
    assert lines[-1].startswith(",")
    assert "add up" in (folder / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("place", [".", "empty"])
def test_a_folder_without_parquet_is_no_table(folder: Path, place: str) -> None:
    (folder / "empty").mkdir(exist_ok=True)
    ran = tacit(folder, "init", place)
    assert ran.returncode == 1
    assert "a folder with 1 to 100,000 Parquet files" in ran.stderr


@pytest.mark.parametrize("engine", ["duckdb", "postgres", "spark"])
def test_what_a_question_is_on_an_engine(folder: Path, engine: str) -> None:
    """Reckoned from public numbers: nothing is loaded, read or written, and no server is there."""
    words = ["plan", "visits.toml", BY_CITY, "--epsilon", "1", "--engine", engine]
    ran = tacit(folder, *words)
    assert ran.returncode == 0, ran.stderr
    assert f"On {engine}, {number(10**7)} rows:" in ran.stdout
    told = json.loads(tacit(folder, *words, "--table-rows", "1000000", "--largest-unit", "0.1", "--json").stdout)
    (statement,) = told["engine"]["statements"]
    assert statement["sql"].startswith("WITH")
    if engine == "spark":
        assert "DISTRIBUTE BY" in statement["sql"]
        assert (statement["rows_shuffled"], statement["largest_task_rows"]) == (10**6, 10**5)
        assert f"Shuffled once, by unit: {number(10**7)} rows" in ran.stdout
    else:
        assert statement["rows_shuffled"] == 0
        assert "none is moved" in ran.stdout
    assert sorted(path.name for path in folder.iterdir()) == ["visits.csv", "visits.toml"]


@pytest.mark.parametrize(
    "words",
    [["--largest-unit", "2"], ["--table-rows", "0"], ["--partitions", "0"], ["--largest-unit", "much"]],
    ids=str,
)
def test_numbers_that_no_cluster_has_are_refused(folder: Path, words: list[str]) -> None:
    ran = tacit(folder, "plan", "visits.toml", BY_CITY, "--epsilon", "1", "--engine", "spark", *words)
    assert ran.returncode == 1
    assert "Traceback" not in ran.stderr


def test_what_an_engine_has_no_form_for_is_refused_in_its_plan(folder: Path) -> None:
    statement = "SELECT COUNT(*) AS n FROM visits WHERE REGEXP_MATCHES(city, 'B')"
    ran = tacit(folder, "plan", "visits.toml", statement, "--epsilon", "1", "--engine", "spark")
    assert ran.returncode == 1
    assert "Nothing was spent" in ran.stderr
    assert tacit(folder, "plan", "visits.toml", statement, "--epsilon", "1", "--engine", "duckdb").returncode == 0
