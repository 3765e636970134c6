"""Parquet files that are one table: a folder, a pattern, folders named ``key=value`` as Hive has them.

Each file is read by its own schema: a column that one lacks is null in its rows, and a type that one has decides
nothing about another's. What a folder's name says is a text column, cast like any text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.tables.engines.duckdb.sources.parquet.file import ParquetSource, looks_at
from tacit.tables.engines.duckdb.sources.source import (
    VIEW,
    missing_column,
    quoted_name,
    quoted_text,
    view_statement,
    visible,
)
from tacit.tables.engines.duckdb.text_casts import TYPES, Forms, from_text, from_type
from tacit.tables.engines.folders import ParquetFiles
from tacit.tables.policy.policy import ColumnPolicy
from tacit.tables.policy.reading import Reading

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["ParquetFolderSource"]

_KEY = re.compile(r"(?:^|/)([^/=]+)=")
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_FILE = "file of the row"  # no Parquet writer gives a column this name


class ParquetFolderSource:
    """The Parquet files in a folder and in folders within it, or those that a pattern fits."""

    def __init__(self, where: Path, reading: Reading) -> None:
        self._forms = Forms(reading.decimal, reading.dates)
        self._pattern = str(where)
        found = ParquetFiles.of(where)
        self.selection, self._folder, self._files = found.selection, found.folder, found.paths
        self.files = found.known_by
        self._opened = dict[Path, ParquetSource]()

    @property
    def identity(self) -> str:
        return str(self._folder)

    @property
    def paths(self) -> tuple[str, ...]:
        copies = (path for one in self._opened.values() for path in one.paths)
        return (*(str(path) for path in self._files), *copies)

    @cached_property
    def _schemas(self) -> dict[Path, dict[str, str]]:
        """The names and types of each file, as its footer says."""
        return {path: ParquetSource(path).types for path in self._files}

    @cached_property
    def _keys(self) -> tuple[str, ...]:
        """What the names of folders are about, where no file has it as a column."""
        found = dict.fromkeys(key for path in self._files for key in _KEY.findall(self._within(path)))
        stored = {name.casefold() for schema in self._schemas.values() for name in schema}
        return tuple(key for key in found if key.casefold() not in stored)

    def _within(self, path: Path) -> str:
        return path.parent.relative_to(self._folder).as_posix()

    @cached_property
    def types(self) -> dict[str, str]:
        """Names and DuckDB types; where files differ, text."""
        found = dict[str, str]()
        for schema in self._schemas.values():
            for name, kind in schema.items():
                found[name] = kind if found.get(name, kind) == kind else "VARCHAR"
        return found | dict.fromkeys(self._keys, "VARCHAR")

    def column_names(self) -> tuple[str, ...]:
        return tuple(self.types)

    def check(self, columns: Sequence[ColumnPolicy]) -> None:
        """Names alone: types differ from file to file with what each holds, and what is of no use is null."""
        for column in visible(columns):
            if column.name not in self.types:
                raise missing_column(column.name, tuple(self.types), f"what {self._pattern} names")

    def attach(self, connection: DuckDBPyConnection, columns: Sequence[ColumnPolicy], view: str = VIEW) -> None:
        shown = visible(columns)
        alike = dict[tuple[str | None, ...], list[Path]]()
        for path in self._files:
            alike.setdefault(tuple(self._schemas[path].get(one.name) for one in shown), []).append(path)
        selects = [one for paths in alike.values() for one in self._selects(connection, shown, paths)]
        names = [quoted_name(one.name) for one in shown]
        connection.execute(view_statement(names, f"({' UNION ALL '.join(selects)})", view))

    def _selects(
        self, connection: DuckDBPyConnection, columns: Sequence[ColumnPolicy], paths: Sequence[Path]
    ) -> Iterator[str]:
        """The rows of files whose columns have the same types: together, unless one holds what cannot be decoded."""
        types = self._schemas[paths[0]]
        stored = [one for one in columns if one.name in types]
        listed = ", ".join(quoted_text(str(path)) for path in paths)
        scan = f"read_parquet([{listed}], hive_partitioning = false, filename = {quoted_text(_FILE)})"
        if self._are_decodable(connection, scan, looks_at(stored, types)):
            cast = {
                one.name: from_type(quoted_name(one.name), types[one.name], one.kind, self._forms) for one in stored
            }
            yield self._select(columns, cast, scan, f"{quoted_name(_FILE)}[{len(str(self._folder)) + 2}:]")
            return
        for path in paths:
            source = self._opened[path] = ParquetSource(path, self._forms)
            made, own = source.shown(connection, stored)
            inner = f"(SELECT {', '.join(made) or 'NULL AS nothing'} FROM {own})"
            cast = {one.name: quoted_name(one.name) for one in stored}
            yield self._select(columns, cast, inner, quoted_text(f"{self._within(path)}/"))

    def _are_decodable(self, connection: DuckDBPyConnection, scan: str, looks: Sequence[str]) -> bool:
        """Whether DuckDB can decode every text and moment in these files."""
        import duckdb

        try:
            connection.execute(f"SELECT {', '.join(looks) or '1'} FROM {scan}").fetchall()
        except (duckdb.InvalidInputException, duckdb.ConversionException):
            return False
        return True

    def _select(self, columns: Sequence[ColumnPolicy], cast: dict[str, str], scan: str, place: str) -> str:
        shown = []
        for one in columns:
            made = cast.get(one.name)
            if made is None and one.name in self._keys:
                made = from_text(_value(one.name, place), one.kind, self._forms)
            shown.append(f"{made or f'CAST(NULL AS {TYPES[one.kind]})'} AS {quoted_name(one.name)}")
        return f"SELECT {', '.join(shown) or 'NULL AS nothing'} FROM {scan}"

    def close(self) -> None:
        for one in self._opened.values():
            one.close()
        self._opened = {}


def _value(key: str, place: str) -> str:
    """What a path says of a key; null if it says nothing, or nothing that is a text."""
    pattern = quoted_text(f"(?:^|/){re.escape(key)}=([^/]*)/")
    found = f"nullif(nullif(regexp_extract({place}, {pattern}, 1), ''), {quoted_text(_NO_VALUE)})"
    return f"TRY(url_decode({found}))"
