"""Parquet files, scanned where they are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import InvalidParameter
from tacit.tables.engines.duckdb.sources.source import VIEW, quoted_text
from tacit.tables.engines.duckdb.sources.typed import check_types, view_of
from tacit.tables.policy.policy import ColumnPolicy

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["ParquetSource"]


class ParquetSource:
    """A Parquet file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._scan = f"read_parquet({quoted_text(str(path))}, hive_partitioning = false, union_by_name = false)"

    @property
    def identity(self) -> str:
        return str(self._path)

    @property
    def paths(self) -> tuple[str, ...]:
        return (str(self._path),)

    @cached_property
    def types(self) -> dict[str, str]:
        """Names and DuckDB types, from the file's footer."""
        import duckdb

        try:
            with duckdb.connect(":memory:") as connection:
                found = connection.execute(f"DESCRIBE SELECT * FROM {self._scan}").fetchall()
        except duckdb.Error:
            allowed = "a Parquet file"
            raise InvalidParameter("source", given=str(self._path), allowed=allowed, hint="This is none.") from None
        return {name: kind for name, kind, *_ in found}

    def column_names(self) -> tuple[str, ...]:
        return tuple(self.types)

    def check(self, columns: Sequence[ColumnPolicy]) -> None:
        check_types(columns, self.types, self._path.name)

    def attach(self, connection: DuckDBPyConnection, columns: Sequence[ColumnPolicy], view: str = VIEW) -> None:
        connection.execute(view_of(self._scan, columns, self.types, view))

    def close(self) -> None:
        """Nothing was written."""
