"""Where keys, sign-ins and newest heads are kept: a small file beside the ledgers, or a schema of the database."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from tacit.errors import LedgerError
from tacit.ledger.postgres.address import PostgresAddress, is_postgres
from tacit.ledger.postgres.database import Link
from tacit.ledger.postgres.errors import failures, translated

__all__ = ["Place", "place_at"]

_TABLES = (
    "CREATE TABLE IF NOT EXISTS keys (id TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL, tables TEXT, "
    "hash TEXT NOT NULL, made TEXT NOT NULL, expires TEXT, revoked TEXT)",
    "CREATE TABLE IF NOT EXISTS signins (hash TEXT PRIMARY KEY, id TEXT NOT NULL, expires TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS heads (ledger TEXT PRIMARY KEY, number BIGINT NOT NULL, hash TEXT NOT NULL)",
)


class Place(Protocol):
    """A place that runs one statement at a time, durably; parameters are question marks."""

    def run(self, sql: str, *values: object) -> list[Any]:
        """The rows that it gives."""

    def beside(self) -> Place | None:
        """The same for one thread that reads and may wait for nobody; None where it would have to."""

    def close(self) -> None:
        """Let go of it."""


class File:
    """A file of SQLite that only its user can read."""

    def __init__(self, path: Path, patience: float = 10.0) -> None:
        self._lock = threading.Lock()
        self._path = path
        self._where = f"The file of keys {path}"
        try:
            if patience:  # never beside a connection: closing a descriptor lets go of the locks that another one holds
                os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
                os.chmod(path, 0o600)
            self._connection = sqlite3.connect(path, isolation_level=None, timeout=patience, check_same_thread=False)
        except (OSError, sqlite3.Error):
            raise LedgerError(f"{self._where} cannot be opened. Check that its folder can be written.") from None
        for sql in ("PRAGMA synchronous = FULL", *_TABLES) if patience else ():
            self.run(sql)

    def run(self, sql: str, *values: object) -> list[Any]:
        with self._lock:
            try:
                return self._connection.execute(sql, values).fetchall()
            except sqlite3.Error:
                raise LedgerError(f"{self._where} cannot be read or written. Nothing was spent.") from None

    def beside(self) -> File | None:
        return File(self._path, patience=0.0)

    def close(self) -> None:
        with self._lock:
            self._connection.close()


class Database:
    """A schema of its own in PostgreSQL: for several processes of the service."""

    def __init__(self, address: PostgresAddress) -> None:
        self._lock = threading.Lock()
        self._address = address.named("keys")
        self._where = f"The keys at {self._address}"
        self._link = Link(self._address, self._where, 10.0, self._begun)
        with self._lock:
            self._link.connected()

    def _begun(self, connection: Any) -> None:
        schema = self._address.schema
        connection.execute("BEGIN")
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 1))", (schema,))
        connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')
        connection.execute(";\n".join(_TABLES))
        connection.execute("COMMIT")

    def run(self, sql: str, *values: object) -> list[Any]:
        problem, rows = None, list[Any]()
        with self._lock:
            try:
                cursor = self._link.connected().execute(sql.replace("?", "%s"), values)
                rows = cursor.fetchall() if cursor.description else []
            except failures() as error:
                self._link.close()
                problem = translated(error, self._where)
        if problem is not None:  # raised here, so that it does not carry the driver's words: they may tell a value
            raise problem
        return rows

    def beside(self) -> None:
        return None

    def close(self) -> None:
        with suppress(Exception), self._lock:
            self._link.close()


def place_at(where: str | Path) -> Place:
    """The place by its address."""
    return Database(PostgresAddress.of(where)) if is_postgres(where) else File(Path(where))
