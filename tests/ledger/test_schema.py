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


class _Racing(sqlite3.Connection):
    """Between any two statements somebody else tries to make the tables of the same file."""

    other: sqlite3.Connection

    def execute(self, sql: str, *values: object) -> sqlite3.Cursor:  # type: ignore[override]
        if sql == "PRAGMA user_version":
            try:
                self.other.execute("BEGIN")
                schema.create(self.other)
                self.other.execute("COMMIT")
            except sqlite3.OperationalError:  # locked: it must wait
                self.other.execute("ROLLBACK")
        return super().execute(sql, *values)


def test_a_file_whose_tables_are_just_being_made_is_no_strangers(tmp_path: Path) -> None:
    path = tmp_path / "people.ledger"
    racing = sqlite3.connect(path, factory=_Racing, isolation_level=None)
    racing.other = sqlite3.connect(path, isolation_level=None, timeout=0)
    assert schema.version_of(racing, "The ledger") == 0
    assert not racing.in_transaction
    racing.other.close()
    racing.close()
