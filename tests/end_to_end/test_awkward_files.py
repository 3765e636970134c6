"""Files as people have them: from `tacit init` to a first answer, and nothing edited by hand."""

from __future__ import annotations

import datetime
import gzip
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from tests.cli.typing_commands import tacit
from tests.tables.engines.duckdb.sources.workbook import write_workbook

CITIES = ("Århus", "Köln", "Malmö")
FIRST = datetime.date(2024, 1, 1)
PEOPLE = [(f"u{at}", CITIES[at % 3], at + 1234.5, FIRST + datetime.timedelta(at), f"{at % 9:05d}") for at in range(300)]
"""100 of them in each city, 148 from June on."""
LATE = "day >= '2024-06-01'"
NEAR = range(118, 179)


def lines(form: str, head: str, sep: str = "\n") -> str:
    return head + "".join(
        form.format(who=who, city=city, spend=spend, day=day, zip=code) + sep for who, city, spend, day, code in PEOPLE
    )


def german(path: Path) -> None:
    rows = [
        f"{who};{city};{spend:,.2f}".replace(",", "_").replace(".", ",").replace("_", ".") + f";{day:%d.%m.%Y};{code}\n"
        for who, city, spend, day, code in PEOPLE
    ]
    path.write_text("who;city;spend;day;zip\n" + "".join(rows), encoding="utf-8")


def latin(path: Path) -> None:
    path.write_bytes(lines("{who},{city},{spend},{day}", "who,city,spend,day\n").encode("cp1252"))


def no_header(path: Path) -> None:
    path.write_text(lines("{who},{city},{spend},{day}", ""), encoding="utf-8")


def marked(path: Path) -> None:
    path.write_text(lines("{who},{city},{day}", "who,city,day\r\n", "\r\n"), encoding="utf-8-sig")


def repeated(path: Path) -> None:
    path.write_text(lines("{who},{spend},{day},{city},{zip}", "who,x,day,city,X\n"), encoding="utf-8")


def mixed(path: Path) -> None:
    rows = [
        f"{who},{day.isoformat() if at % 2 else f'{day:%d/%m/%Y}'}\n" for at, (who, _, _, day, _) in enumerate(PEOPLE)
    ]
    path.write_text("who,day\n" + "".join(rows))


def titled(path: Path) -> None:
    path.write_text(lines("{who}, {city} ,{day:%m/%d/%Y %H:%M}", "Report\n\nof 2024\nwho,city,day\n"), encoding="utf-8")


def wide(path: Path) -> None:
    path.write_text(lines("{who}|{city}|{day}", "who|city|day\n"), encoding="utf-16")


def packed(path: Path) -> None:
    path.write_bytes(gzip.compress(lines("{who}\t{day}", "who\tday\n").encode()))


def array(path: Path) -> None:
    path.write_text(json.dumps([{"who": who, "day": str(day)} for who, _, _, day, _ in PEOPLE]))


def workbook(path: Path) -> None:
    pytest.importorskip("python_calamine")
    write_workbook(path, {"Visits": [["who", "city", "spend", "day"], *([*row[:4]] for row in PEOPLE)]})


def database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE visits (who TEXT, city TEXT, spend REAL, day DATE)")
    connection.execute("CREATE TABLE other (x)")
    connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", [(*row[:3], str(row[3])) for row in PEOPLE])
    connection.commit()
    connection.close()


def folder(path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    for city in CITIES:
        (path / f"city={city}").mkdir(parents=True)
        some = [row for row in PEOPLE if row[1] == city]
        table = arrow.table({"who": [row[0] for row in some], "day": [row[3] for row in some]})
        parquet.write_table(table, path / f"city={city}" / "part.parquet")


def view(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE base (who VARCHAR, city VARCHAR, day DATE)")
        values = ", ".join(f"('{row[0]}', '{row[1]}', DATE '{row[3]}')" for row in PEOPLE)
        connection.execute(f"INSERT INTO base VALUES {values}")
        connection.execute("CREATE VIEW visits AS SELECT who, upper(city) AS city, day FROM base WHERE who <> 'u0'")


Case = tuple[Callable[[Path], None], str, tuple[str, ...], str, str]
CASES: tuple[Case, ...] = (
    (german, "t.csv", (), f"SELECT COUNT(*) AS n FROM t WHERE {LATE} AND spend > 1000.5 AND zip < '00009'", "who"),
    (latin, "t.csv", (), f"SELECT COUNT(*) AS n FROM t WHERE {LATE} AND city <> 'Malm'", "who"),
    (no_header, "t.csv", (), "SELECT COUNT(*) AS n FROM t WHERE column4 >= '2024-06-01'", "column1"),
    (no_header, "t.data", ("--format", "csv"), "SELECT COUNT(*) AS n FROM t WHERE column4 >= '2024-06-01'", "column1"),
    (packed, "t.gz", ("--format", "csv"), f"SELECT COUNT(*) AS n FROM t WHERE {LATE}", "who"),
    (
        database,
        "t",
        ("--format", "sqlite", "--table", "visits"),
        f"SELECT COUNT(*) AS n FROM visits WHERE {LATE}",
        "who",
    ),
    (marked, "t.csv", (), f"SELECT COUNT(*) AS n FROM t WHERE {LATE}", "who"),
    (repeated, "t.csv", (), f"SELECT COUNT(*) AS n FROM t WHERE {LATE} AND x > 0 AND X_2 < '1'", "who"),
    (mixed, "t.csv", (), f"SELECT COUNT(*) AS n FROM t WHERE {LATE}", "who"),
    (titled, "t.csv", (), f"SELECT COUNT(*) AS n FROM t WHERE {LATE} AND city IN ('Malmö', 'Köln', 'Århus')", "who"),
    (wide, "t.csv", (), f"SELECT COUNT(*) AS n FROM t WHERE {LATE}", "who"),
    (packed, "t.tsv.gz", (), f"SELECT COUNT(*) AS n FROM t WHERE {LATE}", "who"),
    (array, "t.json", (), f"SELECT COUNT(*) AS n FROM t WHERE {LATE}", "who"),
    (workbook, "t.xlsx", (), f"SELECT COUNT(*) AS n FROM t WHERE {LATE} AND spend > 0.5", "who"),
    (database, "t.sqlite", ("--table", "visits"), f"SELECT COUNT(*) AS n FROM visits WHERE {LATE}", "who"),
    (folder, "t", (), f"SELECT COUNT(*) AS n FROM t WHERE {LATE} AND city <> ''", "who"),
    (view, "t.duckdb", (), f"SELECT COUNT(*) AS n FROM t WHERE {LATE} AND city <> 'x'", "who"),
    (view, "t.duckdb", ("--table", "visits"), f"SELECT COUNT(*) AS n FROM visits WHERE {LATE} AND city <> 'x'", "who"),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_from_the_file_to_a_first_answer(tmp_path: Path, case: Case) -> None:
    write, name, options, question, unit = case
    write(tmp_path / name)
    drafted = tacit(tmp_path, "init", name, "--unit", unit, *options)
    assert drafted.returncode == 0, drafted.printed
    asked = tacit(tmp_path, "ask", "t.toml", question, "--epsilon", "3", "--json")
    assert asked.returncode == 0, asked.printed
    (value,) = json.loads(asked.stdout)["columns"][0]["values"]
    assert value in NEAR, value  # 148; noise beyond 30 comes once in a thousand million times
    assert tacit(tmp_path, "log", "t.toml").returncode == 0
    assert tacit(tmp_path, "report", "t.toml", "1").returncode == 0


def test_a_name_that_does_not_say_what_the_file_is(tmp_path: Path) -> None:
    """The refusal says the option, and the option is taken by what asks without a policy too."""
    no_header(tmp_path / "t.data")
    refused = tacit(tmp_path, "init", "t.data")
    assert (refused.returncode, "--format csv" in refused.stderr) == (1, True), refused.printed
    assert tacit(tmp_path, "init", "t.data", "--format", "pdf").returncode == 1
    typed = ("t.data", "SELECT COUNT(*) AS n FROM t", "--format", "csv", "--no-header", "--unit", "column1")
    assert tacit(tmp_path, "plan", *typed, "--epsilon", "1").returncode == 0
    asked = tacit(tmp_path, "ask", *typed, "--epsilon", "3", "--json")
    assert asked.returncode == 0, asked.printed
    (value,) = json.loads(asked.stdout)["columns"][0]["values"]
    assert value in range(270, 331), value


def test_a_file_of_several_tables_says_how_to_name_one(tmp_path: Path) -> None:
    database(tmp_path / "t.sqlite")
    refused = tacit(tmp_path, "init", "t.sqlite", "--unit", "who")
    assert refused.returncode == 1
    assert "other, visits. Say which: --table NAME" in refused.stderr
