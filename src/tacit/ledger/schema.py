"""The tables of a ledger file, their version, and the steps from older versions."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from functools import lru_cache

from tacit.errors import LedgerError

__all__ = ["APPLICATION", "MIGRATIONS", "VERSION", "create", "differences", "migrate", "version_of"]

APPLICATION = 0x54414349  # "TACI", in the header of every ledger file
VERSION = 2

Migration = Callable[[sqlite3.Connection], None]


def _append_only(table: str, act: str) -> tuple[str, str]:
    name = f"{table}_refuse_{act}"
    return name, (
        f"CREATE TRIGGER {name} BEFORE {act.upper()} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END"
    )


_OBJECTS = {
    "entries": "CREATE TABLE entries (number INTEGER PRIMARY KEY, body BLOB NOT NULL, hash TEXT NOT NULL)",
    "terms": (
        "CREATE TABLE terms (one INTEGER PRIMARY KEY CHECK (one = 1), ledger TEXT NOT NULL, source TEXT NOT NULL, "
        "terms TEXT NOT NULL)"
    ),
    "head": (
        "CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL, hash TEXT NOT NULL, "
        "time TEXT NOT NULL, main TEXT NOT NULL, delta TEXT NOT NULL)"
    ),
    "accounts": (
        "CREATE TABLE accounts (analyst TEXT PRIMARY KEY, main TEXT NOT NULL, delta TEXT NOT NULL) WITHOUT ROWID"
    ),
    "requests": (
        "CREATE TABLE requests (number INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, analyst TEXT NOT NULL, "
        "key TEXT, drawer TEXT NOT NULL)"
    ),
    "requests_by_key": "CREATE UNIQUE INDEX requests_by_key ON requests (analyst, key) WHERE key IS NOT NULL",
    "answers": (
        "CREATE TABLE answers (released INTEGER PRIMARY KEY, number INTEGER NOT NULL UNIQUE, body BLOB NOT NULL)"
    ),
    **dict(_append_only(table, act) for table in ("entries", "answers") for act in ("update", "delete")),
    **dict([_append_only("requests", "delete")]),
    "secrets": "CREATE TABLE secrets (one INTEGER PRIMARY KEY CHECK (one = 1), secret TEXT NOT NULL)",
    "marks": (
        "CREATE TABLE marks (kind TEXT NOT NULL, source TEXT NOT NULL, value TEXT NOT NULL, "
        "PRIMARY KEY (kind, source, value)) WITHOUT ROWID"
    ),
    "unanswered": "CREATE TABLE unanswered (number INTEGER PRIMARY KEY, analyst TEXT NOT NULL)",
    "unanswered_by_analyst": "CREATE INDEX unanswered_by_analyst ON unanswered (analyst)",
}
_SINCE_2 = ("secrets", "marks", "unanswered", "unanswered_by_analyst")


def _to_version_2(connection: sqlite3.Connection) -> None:
    """A secret of its own, which is what chose rows until now; marks of the data; answers that are missing from now on.

    What was lost before is forgiven: nobody had been told that it counts.
    """
    for name in _SINCE_2:
        connection.execute(_OBJECTS[name])
    connection.execute("INSERT INTO secrets SELECT 1, ledger FROM terms")


MIGRATIONS: Mapping[int, Migration] = {1: _to_version_2}
"""version: the step from it to the next. Each runs in one transaction and is recorded in the chain."""


def create(connection: sqlite3.Connection) -> None:
    """Make the tables of the current version, inside the caller's transaction."""
    for statement in _OBJECTS.values():
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def version_of(connection: sqlite3.Connection, where: str) -> int:
    """The version of the tables, 0 if there are none yet; a stranger's file, or a newer ledger, is refused."""
    asked = ("PRAGMA application_id", "PRAGMA user_version", "SELECT COUNT(*) FROM sqlite_master")
    alone = not connection.in_transaction
    if alone:  # of one moment: somebody may be making the tables
        connection.execute("BEGIN")
    try:
        application, version, objects = (connection.execute(one).fetchall()[0][0] for one in asked)
    finally:
        if alone and connection.in_transaction:
            connection.execute("ROLLBACK")
    if not objects and not application and not version:
        return 0
    if application != APPLICATION or version < 1:
        raise LedgerError(f"{where} is a database, but not a ledger of Tacit. Give the path of the ledger.")
    if version > VERSION:
        raise LedgerError(
            f"{where} was written by a newer Tacit (version {version} of the tables; this one knows up to {VERSION}). "
            "Upgrade Tacit to use it; nothing was changed."
        )
    return int(version)


def migrate(connection: sqlite3.Connection, where: str) -> None:
    """Take every step up to the current version, inside the caller's transaction."""
    version = version_of(connection, where)
    while 0 < version < VERSION:
        MIGRATIONS[version](connection)
        version += 1
        connection.execute(f"PRAGMA user_version = {version}")


def differences(connection: sqlite3.Connection) -> list[str]:
    """How the tables, indexes and triggers differ from what they should be."""
    ((version,),) = connection.execute("PRAGMA user_version").fetchall()
    made = [sql for name, sql in _OBJECTS.items() if version > 1 or name not in _SINCE_2]
    found, expected = _described(connection), _expected(tuple(made))
    return [
        *(f"{name} is missing from the ledger's tables" for name in expected if name not in found),
        *(f"{name} was added to the ledger's tables" for name in found if name not in expected),
        *(f"{name} was altered" for name in expected if name in found and found[name] != expected[name]),
    ]


def _described(connection: sqlite3.Connection) -> dict[str, tuple[object, ...]]:
    rows = connection.execute("SELECT name, type, tbl_name, sql FROM sqlite_master").fetchall()
    return {str(name): tuple(rest) for name, *rest in rows}


@lru_cache(maxsize=4)
def _expected(statements: tuple[str, ...]) -> dict[str, tuple[object, ...]]:
    """What SQLite writes down about these statements, its own indexes included."""
    connection = sqlite3.connect(":memory:")
    try:
        for statement in statements:
            connection.execute(statement)
        return _described(connection)
    finally:
        connection.close()
