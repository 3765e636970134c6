"""Tables in DuckDB files, for reading only."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tacit.errors import InvalidParameter, PolicyError
from tacit.tables.engines.duckdb.connection import EngineFailed, LockedDuckDB
from tacit.tables.engines.duckdb.sources import open_source
from tests.tables.small import columns, policy, rows, written


@pytest.fixture
def path(tmp_path: Path) -> Path:
    target = tmp_path / "shop.duckdb"
    with duckdb.connect(str(target)) as connection:
        connection.execute("CREATE TABLE visits AS SELECT i AS id, 'c' || i AS city FROM range(3) r(i)")
        connection.execute("CREATE SCHEMA other; CREATE TABLE other.people AS SELECT 7 AS id")
    return target


def test_a_table_by_its_name(path: Path) -> None:
    assert rows(path, columns(city="text"), name="visits") == [("c0",), ("c1",), ("c2",)]
    assert rows(path, columns(id="integer"), {"table": "other.people"}) == [(7,)]
    assert open_source(path, name="VISITS").column_names() == ("id", "city")
    assert open_source(path, name="visits").identity == str(path.resolve())


def test_which_table_must_be_said_if_there_are_several(path: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"main\.visits, other\.people"):
        open_source(path).column_names()
    with pytest.raises(PolicyError, match="'nothing'"):
        rows(path, columns(nothing="text"), name="visits")


def test_the_only_table_goes_by_any_name(tmp_path: Path) -> None:
    alone = tmp_path / "alone.duckdb"
    with duckdb.connect(str(alone)) as connection:
        connection.execute("CREATE TABLE visits AS SELECT i AS id FROM range(3) r(i)")
        connection.execute("CREATE VIEW twice AS SELECT id * 2 AS id FROM visits")
    assert rows(alone, columns(id="integer"), name="alone") == [(0,), (1,), (2,)]
    assert rows(alone, columns(id="integer"), name="twice") == [(0,), (2,), (4,)]
    with pytest.raises(InvalidParameter, match=r"given 'alone'.*main\.visits, main\.twice"):
        open_source(alone, {"table": "alone"}, name="visits").column_names()


def test_the_file_cannot_be_changed_nor_its_other_tables_be_forgotten(path: Path) -> None:
    before = path.read_bytes()
    with LockedDuckDB(open_source(path, name="visits"), policy(columns(id="integer"))) as connection:
        assert connection._connection is not None
        with pytest.raises(duckdb.Error):
            connection._connection.execute("INSERT INTO source.main.visits VALUES (9, 'x')")
        with pytest.raises(EngineFailed):
            connection.columns("DROP TABLE source.main.visits")
    assert path.read_bytes() == before


def test_a_file_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="a DuckDB file"):
        open_source(written(tmp_path, b"nothing of the kind", "x.duckdb"), name="t").column_names()
