"""A table in an SQLite file: opened for reading only by the standard library, and read row by row.

In SQLite each value has a type of its own, whatever its column says; so each is read by itself. A text that is no UTF-8
is null in its row. Views, virtual tables and generated columns are not read: what computes them could fail on a row.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tacit.errors import InvalidParameter, PolicyError
from tacit.tables.engines.duckdb.sources.loaded import attach_rows
from tacit.tables.engines.duckdb.sources.source import VIEW, WHICH_TABLE, missing_column, quoted_name, visible
from tacit.tables.policy.policy import ColumnPolicy
from tacit.tables.policy.reading import Reading

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["SqliteSource", "is_sqlite"]

_MAGIC = b"SQLite format 3\0"
_JOURNAL = 18  # where a file says whether it has a write-ahead log
_LEDGER = 0x54414349  # a ledger of Tacit: a book, no data
_TABLES = (
    "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY 1"
)
_KINDS = (("INT", "BIGINT"), ("REAL", "DOUBLE"), ("FLOA", "DOUBLE"), ("DOUB", "DOUBLE"), ("DEC", "DOUBLE"))
_TYPES = {"NUMERIC": "DOUBLE", "BOOLEAN": "BOOLEAN", "DATE": "DATE", "DATETIME": "TIMESTAMP", "TIMESTAMP": "TIMESTAMP"}


def is_sqlite(path: Path) -> bool:
    """Whether a file is an SQLite database, whatever it is called."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


class SqliteSource:
    """One table of an SQLite file, which may be left out if there is only one."""

    def __init__(self, path: Path, reading: Reading, name: str | None) -> None:
        self._path = path
        self._reading = reading
        self._asked = reading.table or name
        self._chosen = reading.table is not None

    @property
    def identity(self) -> str:
        return str(self._path)

    @property
    def paths(self) -> tuple[str, ...]:
        return ()

    @property
    def table(self) -> str:
        """Which table of the file it is."""
        return self._found[0]

    @property
    def types(self) -> dict[str, str]:
        """What the columns are declared to hold; SQLite does not hold them to it."""
        return {name: _type(said) for name, said in self._found[1].items()}

    @cached_property
    def _found(self) -> tuple[str, dict[str, str]]:
        """The table's name, and its stored columns with what they are declared to hold."""
        try:
            with closing(_connect(self._path)) as connection:
                if connection.execute("PRAGMA application_id").fetchall() == [(_LEDGER,)]:
                    hint = "It says what was paid; `tacit log` shows it."
                    raise InvalidParameter("source", given=self._path.name, allowed="data, not a ledger", hint=hint)
                made = connection.execute(_TABLES).fetchall()
                tables = [_text(name) for name, sql in made if not _is_virtual(sql)]
                table = self._choose(tables)
                columns = connection.execute(f"PRAGMA table_xinfo({quoted_name(table)})").fetchall()
        except (sqlite3.Error, OSError):
            hint = "This is none, it is damaged, or another program holds it."
            raise InvalidParameter("source", given=str(self._path), allowed="an SQLite file", hint=hint) from None
        return table, {_text(name): _text(kind) for _, name, kind, *_, hidden in columns if not hidden}

    def _choose(self, tables: list[str]) -> str:
        asked = self._asked
        fits = [name for name in tables if asked is not None and name.casefold() == asked.casefold()]
        if len(fits) == 1:
            return fits[0]
        if len(tables) == 1 and not self._chosen:
            return tables[0]
        allowed = f"a table of {self._path.name}: {', '.join(tables) or 'it has none'}"
        raise InvalidParameter("table", given=asked, allowed=allowed, hint=WHICH_TABLE)

    def column_names(self) -> tuple[str, ...]:
        return tuple(self._found[1])

    def check(self, columns: Sequence[ColumnPolicy]) -> None:
        for column in visible(columns):
            if column.name not in self._found[1]:
                raise missing_column(column.name, self.column_names(), f"table {self.table} of {self._path.name}")

    def attach(self, connection: DuckDBPyConnection, columns: Sequence[ColumnPolicy], view: str = VIEW) -> None:
        shown = visible(columns)
        attach_rows(connection, self._rows([one.name for one in shown]), shown, self._reading, view)

    def _rows(self, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        listed = ", ".join(quoted_name(name) for name in names) or "NULL"
        try:
            with closing(_connect(self._path)) as connection:
                yield from connection.execute(f"SELECT {listed} FROM {quoted_name(self.table)}")
        except (sqlite3.Error, OSError):  # of the file, not of a row: values are given as they are stored
            raise PolicyError(
                f"{self._path.name} cannot be read to its end; `sqlite3 FILE 'PRAGMA integrity_check'` says why. "
                "Nothing was spent."
            ) from None

    def close(self) -> None:
        """Nothing was written."""


def _connect(path: Path) -> sqlite3.Connection:
    """For reading only: nothing is written, and nothing is made beside a file whose log is folded in."""
    with path.open("rb") as file:
        head = file.read(20)
    logged = head[_JOURNAL : _JOURNAL + 1] == b"\x02" and not os.path.exists(f"{path}-wal")
    mode = "ro&immutable=1" if logged else "ro"
    connection = sqlite3.connect(f"file:{quote(str(path))}?mode={mode}", uri=True, timeout=5, isolation_level=None)
    connection.text_factory = bytes  # decoded by us, each by itself
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA query_only = ON")
    return connection


def _text(raw: Any) -> str:
    return raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw or "")


def _is_virtual(sql: Any) -> bool:
    return _text(sql).lstrip()[:14].upper() == "CREATE VIRTUAL"


def _type(said: str) -> str:
    """The DuckDB type that a declaration means, by SQLite's own rules of affinity and by usual names."""
    plain = said.upper().partition("(")[0].strip()
    if plain in _TYPES:
        return _TYPES[plain]
    return next((kind for part, kind in _KINDS if part in plain), "VARCHAR")
