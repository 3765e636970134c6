"""Versions of the tables: newer ones are refused, older ones are brought up to date and the chain records it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tacit.errors import LedgerError
from tacit.ledger import Request, SqliteLedger, Terms, schema
from tacit.privacy import ApproxDP, PureDP


@pytest.fixture
def path(folder: Path) -> Path:
    path = folder / "people.ledger"
    with SqliteLedger(path).open("people", Terms(PureDP(1))) as ledger:
        ledger.spend(Request("ada", "?"), PureDP("0.1")).release(b"42")
    return path


def test_a_newer_version_is_refused(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    connection.close()
    for act in (lambda: SqliteLedger(path).open(), lambda: SqliteLedger(path).verify()):
        with pytest.raises(LedgerError, match="newer Tacit"):
            act()


def _next_version(monkeypatch: pytest.MonkeyPatch, step: schema.Migration) -> None:
    added = "CREATE TABLE notes (number INTEGER PRIMARY KEY, note TEXT NOT NULL)"
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)
    monkeypatch.setattr(schema, "MIGRATIONS", {**schema.MIGRATIONS, schema.VERSION - 1: step})
    monkeypatch.setattr(schema, "_OBJECTS", {**schema._OBJECTS, "notes": added})


def test_an_older_version_is_migrated_once_and_recorded(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def step(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE notes (number INTEGER PRIMARY KEY, note TEXT NOT NULL)")

    _next_version(monkeypatch, step)
    for _ in range(2):
        with SqliteLedger(path).open("people", Terms(PureDP(1))) as ledger:
            assert [entry.kind for entry in ledger.history()] == ["opened", "reserved", "released", "migrated"]
            assert ledger.spend(Request("ada", "?"), PureDP("0.1")).answer == b"42"
            assert ledger.budget().charged == ApproxDP("0.1", 0)
            assert ledger.verify().sound
    assert list(ledger.history())[3].values["after"] == schema.VERSION
    ledger.close()


def test_a_migration_that_fails_changes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def step(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE notes (number INTEGER PRIMARY KEY, note TEXT NOT NULL)")
        connection.execute("SELECT * FROM nothing")

    with monkeypatch.context() as patch:
        _next_version(patch, step)
        with pytest.raises(LedgerError):
            SqliteLedger(path).open()
    with SqliteLedger(path).open() as ledger:
        assert ledger.verify().sound
        assert len(list(ledger.history())) == 3
