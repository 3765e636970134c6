"""From inside the connection there is one table and nothing else in the world."""

from __future__ import annotations

import contextlib
import datetime
import logging
import os
import traceback
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pytest

from tacit.tables.engines.duckdb.connection import EngineFailed, LockedDuckDB
from tacit.tables.engines.duckdb.sources import open_source
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.policy import ColumnPolicy, Role
from tacit.work.limits import Work
from tests.tables.small import columns, policy, written

SECRET = "s3cr3t-4711"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    written(tmp_path, f"a,b,hidden\n1,{SECRET},x\n2,,y\n".encode(), "rows.csv")
    written(tmp_path, b"z\n9\n", "other.csv")
    duckdb.connect(str(tmp_path / "other.duckdb")).execute("CREATE TABLE t AS SELECT 1 AS x").close()
    duckdb.sql("SELECT 1 AS x").write_parquet(str(tmp_path / "other.parquet"))
    return tmp_path


@pytest.fixture
def locked(folder: Path) -> Iterator[LockedDuckDB]:
    with LockedDuckDB(
        open_source(folder / "rows.csv"), policy(columns(a="integer", b="text")), threads=1
    ) as connection:
        yield connection


REACHING_OUT = [
    "SELECT * FROM read_csv('{folder}/other.csv')",
    "SELECT * FROM '{folder}/other.csv'",
    "SELECT * FROM read_csv('{folder}/*.csv')",
    "SELECT * FROM read_parquet('{folder}/other.parquet')",
    "SELECT * FROM '{folder}/other.parquet'",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('/proc/self/environ')",
    "SELECT * FROM read_json('{folder}/other.csv')",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM sniff_csv('{folder}/other.csv')",
    "SELECT * FROM parquet_metadata('{folder}/other.parquet')",
    "SELECT * FROM read_csv('https://example.com/x.csv')",
    "SELECT * FROM duckdb_secrets()",
    "COPY (SELECT 1) TO '{folder}/rows.csv'",
    "COPY (SELECT 1) TO '{folder}/new.csv'",
    "COPY (SELECT * FROM rows) TO '{folder}/new.parquet'",
    "COPY rows FROM '{folder}/other.csv'",
    "EXPORT DATABASE '{folder}/dump'",
    "IMPORT DATABASE '{folder}/dump'",
    "ATTACH '{folder}/other.duckdb'",
    "ATTACH '{folder}/new.duckdb'",
    "ATTACH ':memory:' AS spare",
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD '{folder}/other.csv'",
    "SET threads = 1",
    "SET memory_limit = '100GB'",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "SET TimeZone = 'Asia/Tokyo'",
    "RESET memory_limit",
    "PRAGMA threads = 1",
    "PRAGMA enable_profiling",
    "PRAGMA enable_profiling = 'json'",
    "SET profiling_output = '{folder}/profile.json'",
    "CALL enable_logging()",
    "SELECT getenv('HOME')",
    "CREATE TABLE spare (a INTEGER)",
    "CREATE MACRO f() AS 1",
    "CREATE OR REPLACE VIEW rows AS SELECT 1 AS a",
    "DROP VIEW rows",
    "INSERT INTO rows VALUES (1, 'x')",
    "PREPARE p AS SELECT 1",
    "EXPLAIN ANALYZE SELECT * FROM rows",
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP VIEW rows",
    "",
    "SELECT",
    "SELECT hidden FROM rows",
    "SELECT * FROM folder",
    "SELECT * FROM frame",
]


@pytest.mark.parametrize("statement", REACHING_OUT)
def test_nothing_but_the_view_can_be_reached(statement: str, locked: LockedDuckDB, folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    frame = {"x": np.arange(3)}  # what a replacement scan would find
    assert frame
    with pytest.raises(EngineFailed):
        locked.columns(statement.format(folder=folder))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert locked.columns("SELECT count(*) AS n FROM rows")["n"].tolist() == [2]


UNLOCKED = [
    "COPY",
    "ATTACH '{folder}/",
    "read_",
    "glob",
    "INSTALL",
    "LOAD",
    "SET",
    "RESET",
    "EXPORT",
    "sniff",
    "FROM '{",
]


@pytest.mark.parametrize(
    "statement", [one for one in REACHING_OUT if any(word in one for word in UNLOCKED) and "; " not in one]
)
def test_the_engine_itself_refuses_too(statement: str, locked: LockedDuckDB, folder: Path) -> None:
    """The check of statements is one wall; this is the other, on the bare connection."""
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert locked._connection is not None
    with pytest.raises(duckdb.Error):
        locked._connection.execute(statement.format(folder=folder)).fetchall()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_check_can_fail(folder: Path) -> None:
    """An ordinary connection does most of this."""
    done = 0
    for statement in REACHING_OUT:
        if statement and not any(word in statement for word in ("https", "INSTALL", "LOAD")):
            with contextlib.suppress(duckdb.Error):
                duckdb.connect().execute(statement.format(folder=folder))
                done += 1
    assert done >= 15


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT error(b) AS x FROM rows",
        "SELECT CAST(b AS INTEGER) AS x FROM rows",
        "SELECT b::DATE AS x FROM rows",
        "SELECT nothing FROM rows",
        "SELECT regexp_matches('a', b || '(') AS x FROM rows",
        "SELEC",
    ],
)
def test_what_the_engine_says_never_gets_out(sql: str, locked: LockedDuckDB, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(EngineFailed) as caught:
        locked.columns(sql)
    assert str(caught.value) == str(EngineFailed())
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert SECRET not in caplog.text


def test_forbidden_columns_are_not_in_the_view(folder: Path) -> None:
    declared = [*columns(a="integer"), ColumnPolicy("hidden", Kind.TEXT, Role.FORBIDDEN)]
    with LockedDuckDB(open_source(folder / "rows.csv"), policy(declared)) as connection:
        assert list(connection.columns("SELECT * FROM rows")) == ["a"]


def test_arrays_by_type(locked: LockedDuckDB) -> None:
    found = locked.columns(
        "SELECT 7::BIGINT AS i, NULL::BIGINT AS n, 0.5::DOUBLE AS r, true AS t, 'x' AS s, DATE '2024-01-31' AS d, "
        "TIMESTAMP '2024-01-31 12:00' AS m, 170141183460469231731687303715884105727::HUGEINT AS h, "
        "NULL::HUGEINT AS hn, sum(a) AS total FROM rows"
    )
    assert found["i"].dtype == np.int64
    assert found["i"].tolist() == [7]
    assert found["n"].tolist() == [None]
    assert found["r"].dtype == np.float64
    assert found["t"].dtype == np.bool_
    assert found["s"].tolist() == ["x"]
    assert found["d"].tolist() == [datetime.date(2024, 1, 31)]
    assert found["m"].tolist() == [datetime.datetime(2024, 1, 31, 12)]
    assert found["h"].tolist() == [2**127 - 1]
    assert found["hn"].tolist() == [None]
    assert found["total"].tolist() == [3]


def test_no_rows_give_empty_arrays(locked: LockedDuckDB) -> None:
    found = locked.columns("SELECT a, b, sum(a)::HUGEINT AS h FROM rows WHERE a > 5 GROUP BY ALL")
    assert {name: len(array) for name, array in found.items()} == {"a": 0, "b": 0, "h": 0}


def test_too_little_memory_is_the_same_failure(tmp_path: Path) -> None:
    path = tmp_path / "big.parquet"
    duckdb.sql("SELECT i AS a, 'x' || hash(i) AS b FROM range(2000000) r(i)").write_parquet(str(path))
    declared = policy(columns(a="integer", b="text"))
    with LockedDuckDB(open_source(path), declared, limits=Work(memory="20MB"), threads=1) as connection:
        with pytest.raises(EngineFailed) as caught:
            connection.columns("SELECT list(b ORDER BY hash(b)) AS x FROM rows")
        assert str(caught.value) == str(EngineFailed())
        assert caught.value.__context__ is None


def test_what_is_spilled_is_private_and_gone_after_closing(folder: Path) -> None:
    connection = LockedDuckDB(open_source(folder / "rows.csv"), policy(columns(a="integer")))
    spill = connection._scratch.path
    assert spill.stat().st_mode & 0o077 == 0
    connection.close()
    connection.close()
    assert not spill.exists()
    with pytest.raises(EngineFailed):
        connection.columns("SELECT 1 AS x")


def test_nothing_is_left_in_the_working_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    before = sorted(os.listdir(folder))
    with LockedDuckDB(open_source("rows.csv"), policy(columns(a="integer", b="text"))) as connection:
        connection.columns("SELECT * FROM rows ORDER BY b")
    assert sorted(os.listdir(folder)) == before
