"""A table in a DuckDB file, attached for reading only."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import InvalidParameter
from tacit.tables.engines.duckdb.sources.duckdb_views import RowByRow
from tacit.tables.engines.duckdb.sources.source import VIEW, WHICH_TABLE, quoted_name, quoted_text, visible
from tacit.tables.engines.duckdb.sources.typed import check_types, view_of
from tacit.tables.policy.policy import ColumnPolicy

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["DuckDBFileSource"]

_ALIAS = "source"
_TABLES = (
    f"SELECT schema_name || '.' || table_name FROM duckdb_tables() WHERE database_name = '{_ALIAS}' AND NOT internal "
    "ORDER BY ALL"
)
_VIEWS = (
    f"SELECT schema_name || '.' || view_name, sql FROM duckdb_views() WHERE database_name = '{_ALIAS}' "
    "AND NOT internal ORDER BY ALL"
)


class DuckDBFileSource:
    """One table or view of a DuckDB file: ``table``, which is ``name`` or ``schema.name``; or else that which is called
    ``name``, or the only table.

    Of views, those that are row by row (`duckdb_views`).
    """

    def __init__(self, path: Path, table: str | None, name: str | None = None) -> None:
        self._path = path
        self._asked = table or name
        self._is_chosen = table is not None
        self._views = dict[str, str]()
        self._base = ""

    @property
    def identity(self) -> str:
        return str(self._path)

    @property
    def paths(self) -> tuple[str, ...]:
        return (str(self._path), f"{self._path}.wal")

    @cached_property
    def _found(self) -> tuple[str, dict[str, str]]:
        """The table's name, and its columns with their types."""
        import duckdb

        try:
            with duckdb.connect(":memory:") as connection:
                self._attach(connection)
                tables = [name for (name,) in connection.execute(_TABLES).fetchall()]
                self._views = {name.casefold(): sql for name, sql in connection.execute(_VIEWS).fetchall()}
                name = self._choose(tables)
                described = connection.execute(f"DESCRIBE SELECT * FROM {self._rows(connection, name)}").fetchall()
        except duckdb.Error:
            hint = "This is none, or another program is writing to it."
            raise InvalidParameter("source", given=str(self._path), allowed="a DuckDB file", hint=hint) from None
        return name, {column: kind for column, kind, *_ in described}

    @property
    def table(self) -> str:
        """Which table of the file it is, with its schema."""
        return self._found[0]

    @property
    def base(self) -> str:
        """The table that its rows are of: of a view, that which it is about."""
        name = self._found[0]
        return self._base or name

    def _choose(self, tables: list[str]) -> str:
        asked = self._asked
        fits = [
            name
            for name in (*tables, *self._views)
            if asked is not None and asked.casefold() in (name.casefold(), name.partition(".")[2].casefold())
        ]
        if len(fits) == 1:
            return fits[0]
        if len(tables) == 1 and not self._is_chosen:
            return tables[0]
        allowed = f"a table of {self._path.name}: {', '.join((*tables, *self._views)) or 'it has none'}"
        raise InvalidParameter("table", given=asked, allowed=allowed, hint=WHICH_TABLE)

    def _attach(self, connection: DuckDBPyConnection, alias: str = _ALIAS) -> None:
        connection.execute(
            f"ATTACH IF NOT EXISTS {quoted_text(str(self._path))} AS {quoted_name(alias)} (READ_ONLY, TYPE duckdb)"
        )

    def column_names(self) -> tuple[str, ...]:
        return tuple(self._found[1])

    def check(self, columns: Sequence[ColumnPolicy]) -> None:
        name, types = self._found
        check_types(columns, types, f"table {name} of {self._path.name}")

    def attach(self, connection: DuckDBPyConnection, columns: Sequence[ColumnPolicy], view: str = VIEW) -> None:
        name, types = self._found
        alias = f"{_ALIAS} {self._path}"  # several tables of one file share it
        self._attach(connection, alias)
        rows = self._rows(connection, name, alias)
        if name.casefold() in self._views:  # each of its rows is made once, whatever a question joins it to
            wanted = ", ".join(quoted_name(one.name) for one in visible(columns)) or "NULL AS nothing"
            connection.execute(f"CREATE TABLE {quoted_name(f'made {view}')} AS SELECT {wanted} FROM {rows}")
            rows = quoted_name(f"made {view}")
        connection.execute(view_of(rows, columns, types, view))

    def _rows(self, connection: DuckDBPyConnection, name: str, alias: str = _ALIAS) -> str:
        """What the rows are selected from."""
        if name.casefold() not in self._views:
            return _spelled(name, alias)
        schema, _, view = name.partition(".")
        made = RowByRow(connection, lambda *of: self._views.get(".".join(of).casefold()), alias)
        text = made.select(schema, view)
        self._base = made.base
        return f"({text})"

    @property
    def types(self) -> dict[str, str]:
        """Names and DuckDB types."""
        return self._found[1]

    def close(self) -> None:
        """Nothing was written."""


def _spelled(name: str, alias: str = _ALIAS) -> str:
    schema, _, table = name.partition(".")
    return f"{quoted_name(alias)}.{quoted_name(schema)}.{quoted_name(table)}"
