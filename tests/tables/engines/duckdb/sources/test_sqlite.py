"""SQLite: read only, each value by itself, one table of the file."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from tacit.errors import InvalidParameter, PolicyError
from tacit.tables.engines.duckdb.sources import open_source
from tests.tables.small import columns, rows


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE visits (who INTEGER, city TEXT, spend DECIMAL(8,2), day DATE, twice AS (who * 2))")
    connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", [(1, "Lund", 2.5, "2024-01-31"), ("x", 7, "", 3)])
    connection.execute("CREATE TABLE people (who INTEGER)")
    connection.execute("CREATE VIEW all_visits AS SELECT abs(who) FROM visits")
    connection.commit()
    connection.close()
    return path


def test_a_table_is_chosen_by_its_name_and_has_the_types_that_it_says(shop: Path) -> None:
    source = open_source(shop, {"table": "Visits"})
    assert getattr(source, "types", None) == {"who": "BIGINT", "city": "VARCHAR", "spend": "DOUBLE", "day": "DATE"}
    kinds = columns(who="integer", city="text", spend="real", day="date")
    assert str(rows(shop, kinds, {"table": "visits"})[1]) == "(None, '7', None, None)"
    assert rows(shop, columns(who="text"), name="people") == []


@pytest.mark.parametrize("table", ["nothing", "all_visits", "sqlite_master"])
def test_views_and_what_is_not_there_are_refused(shop: Path, table: str) -> None:
    with pytest.raises(InvalidParameter, match="people, visits"):
        open_source(shop, {"table": table}).column_names()


def test_nothing_is_written_and_a_log_is_read(shop: Path) -> None:
    writer = sqlite3.connect(shop)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("INSERT INTO visits (who) VALUES (9)")
    writer.commit()
    before = shop.read_bytes()
    assert len(rows(shop, columns(who="integer"), {"table": "visits"})) == 3
    writer.close()
    before = shop.read_bytes()
    assert len(rows(shop, columns(who="integer"), {"table": "visits"})) == 3
    assert shop.read_bytes() == before
    assert os.listdir(shop.parent) == ["shop.sqlite"]


def test_a_database_by_another_name_is_known_by_its_first_bytes(shop: Path) -> None:
    renamed = shop.rename(shop.with_suffix(".db"))
    assert open_source(renamed, {"table": "people"}).column_names() == ("who",)


def test_damage_and_ledgers_are_refused(shop: Path, tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="declares a column 'nobody'"):
        rows(shop, columns(nobody="text"), {"table": "visits"})
    broken = tmp_path / "b.sqlite"
    broken.write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    with pytest.raises(InvalidParameter, match="an SQLite file"):
        open_source(broken).column_names()
    ledger = tmp_path / "l.sqlite"
    connection = sqlite3.connect(ledger)
    connection.execute("PRAGMA application_id = 0x54414349")
    connection.execute("CREATE TABLE entries (number)")
    connection.commit()
    connection.close()
    with pytest.raises(InvalidParameter, match="not a ledger"):
        open_source(ledger).column_names()
