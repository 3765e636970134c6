"""Every reader: a table is the sum of its rows. No row changes how another is read, and none raises."""

from __future__ import annotations

import csv
import datetime
import io
import json
import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.tables.engines.duckdb.sources.workbook import write_workbook
from tests.tables.small import columns, rows

NAMES = ("id", "name", "spend", "day", "moment", "ok")
KINDS = dict(zip(NAMES, ("integer", "text", "real", "date", "timestamp", "boolean"), strict=True))
VALUES: tuple[Any, ...] = (
    None, "", " ", "x", "7", " 7 ", "007", "1e3", "1.234,5", "3,5", "31/12/2024", "2024-12-31", "99/99/2024",
    "31/12/24", "1/2/2024 25:61", "nan", "inf", "true", "no", '"', '"x', "a\nb", "a;b,c", "\\",
    "é", "NULL", "-", "[1]", "{}",
    "]", "9" * 40, "1e400", "0000-00-00", "31/12/99999", "31/02/2024", "'", "%", "=1+1",
)  # fmt: skip
OPTIONS = {"dates": "%d/%m/%Y\n%d/%m/%Y %H:%M", "decimal": ",", "trim": "true", "null": "NULL\n-"}
Row = Sequence[Any]
Written = Callable[[Path, Sequence[Row]], Any]


def as_csv(folder: Path, table: Sequence[Row]) -> Path:
    text = io.StringIO()
    csv.writer(text, delimiter=";").writerows([NAMES, *table])
    (folder / "t.csv").write_text(text.getvalue(), encoding="utf-8")
    return folder / "t.csv"


def as_json(folder: Path, table: Sequence[Row]) -> Path:
    (folder / "t.json").write_text(json.dumps([dict(zip(NAMES, row, strict=True)) for row in table]), encoding="utf-8")
    return folder / "t.json"


def as_sqlite(folder: Path, table: Sequence[Row]) -> Path:
    connection = sqlite3.connect(folder / "t.sqlite")
    connection.execute("CREATE TABLE t (id INTEGER, name TEXT, spend REAL, day DATE, moment, ok)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", table)
    connection.execute("INSERT INTO t (name, day) VALUES (CAST(x'ff41' AS TEXT), x'00ff')")
    connection.commit()
    connection.close()
    return folder / "t.sqlite"


def as_workbook(folder: Path, table: Sequence[Row]) -> Path:
    pytest.importorskip("python_calamine")
    return write_workbook(folder / "t.xlsx", {"t": [NAMES, *table]})


def as_folder(folder: Path, table: Sequence[Row]) -> Path:
    """A file per row, each with the types that pandas finds in it."""
    pandas = pytest.importorskip("pandas")
    for at, row in enumerate(table):
        place = folder / "t" / f"part={at % 3}"
        place.mkdir(parents=True, exist_ok=True)
        pandas.DataFrame([row], columns=NAMES).to_parquet(place / f"{at}.parquet")
    return folder / "t"


def as_view(folder: Path, table: Sequence[Row]) -> Path:
    path = folder / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        declared = ", ".join(f"{name} VARCHAR" for name in NAMES)
        connection.execute(f"CREATE TABLE base ({declared})")
        texts = [[None if value is None else str(value) for value in row] for row in table]
        connection.executemany("INSERT INTO base VALUES (?, ?, ?, ?, ?, ?)", texts)
        connection.execute(
            "CREATE VIEW t AS SELECT CAST(id AS INTEGER) + 1 AS id, upper(name) AS name, CAST(spend AS DOUBLE) AS "
            "spend, CAST(day AS DATE) AS day, moment, ok FROM base WHERE id IS NULL OR CAST(spend AS DOUBLE) <> 1000"
        )
    return path


WRITERS: tuple[Written, ...] = (as_csv, as_json, as_sqlite, as_workbook, as_folder, as_view)


def made(seed: int, count: int, plain: bool) -> list[list[Any]]:
    draw = random.Random(seed)
    typed = (1, 2.5, 2**60, -0.0, True, 1e300) if plain else ()
    return [[draw.choice((*VALUES, *typed)) for _ in NAMES] for _ in range(count)]


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("seed", range(1))
@pytest.mark.thorough
def test_a_table_reads_as_its_rows_read_alone(tmp_path: Path, writer: Written, seed: int) -> None:
    table = made(seed, 8, plain=writer not in (as_csv, as_view))
    if writer is as_workbook:
        table = [[day_or(value) for value in row] for row in table]
    alone: Counter[Any] = Counter()
    for at, row in enumerate(table):
        folder = tmp_path / str(at)
        folder.mkdir()
        alone.update(known(read(writer, folder, [row])))
    assert known(read(writer, tmp_path, table)) == alone


def day_or(value: Any) -> Any:
    return datetime.date(2024, 12, 31) if value == "2024-12-31" else value


def read(writer: Written, folder: Path, table: Sequence[Row]) -> list[tuple[Any, ...]]:
    return rows(writer(folder, table), columns(**KINDS), OPTIONS, "t")


def known(found: list[tuple[Any, ...]]) -> Counter[Any]:
    """Rows that hold anything, as texts: NaN is not itself."""
    return Counter(repr(row) for row in found if any(value is not None for value in row))


def test_the_test_would_notice_types_that_follow_values(tmp_path: Path) -> None:
    """What a sniffing reader does with the same rows: one word makes texts of all numbers."""
    with duckdb.connect() as connection:
        for name, body in (("a", "n\n7\n"), ("b", "n\n7\nx\n")):
            (tmp_path / f"{name}.csv").write_text(body)
        first, second = (
            connection.execute(f"SELECT n FROM '{tmp_path}/{name}.csv'").fetchall()[0][0] for name in ("a", "b")
        )
    assert (first, second) == (7, "7")
