"""Parquet files, scanned where they are.

A text that is no UTF-8 and a moment beyond the calendar are null in their row. DuckDB raises while it scans such a
file, so texts and moments are looked through once when it is opened; if one cannot be decoded, a private copy is read
in which they are declared as bytes and numbers (`footer`), and cast totally.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import InvalidParameter
from tacit.tables.engines.duckdb.sources.parquet.footer import plain_footer
from tacit.tables.engines.duckdb.sources.source import VIEW, quoted_name, quoted_text, view_statement, visible
from tacit.tables.engines.duckdb.sources.typed import check_types
from tacit.tables.engines.duckdb.text_casts import PLAIN, Forms, from_type
from tacit.tables.policy.policy import ColumnPolicy
from tacit.work.scratch import Scratch

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["ParquetSource", "looks_at"]

_TAIL = 8  # the length of the footer, and PAR1
_FIRST, _LAST = -62_135_596_800_000, 253_402_300_799_999  # milliseconds of the calendar
_INSIDE = f"make_timestamp(CASE WHEN {{0}} BETWEEN {_FIRST} AND {_LAST} THEN {{0}} * 1000 END)"
_DECODED = {
    "VARCHAR": ("max(strlen({}))", "TRY(decode({}))"),
    "TIMESTAMP": ("max(epoch_us({}))", _INSIDE),
    "TIMESTAMP WITH TIME ZONE": ("max(epoch_us({}))", f"timezone('UTC', {_INSIDE})"),
}
"""Types that are decoded while they are scanned: what looks at every value; how bytes, or milliseconds, are read."""


class ParquetSource:
    """A Parquet file."""

    def __init__(self, path: Path, forms: Forms = PLAIN) -> None:
        self._path = path
        self._forms = forms
        self._scratch: Scratch | None = None
        self._readable = str(path)

    @property
    def identity(self) -> str:
        return str(self._path)

    @property
    def paths(self) -> tuple[str, ...]:
        return (self._readable,)

    @cached_property
    def types(self) -> dict[str, str]:
        """Names and DuckDB types, from the file's footer."""
        import duckdb

        try:
            with duckdb.connect(":memory:") as connection:
                return _described(connection, self._scan)
        except duckdb.Error:
            allowed = "a Parquet file"
            raise InvalidParameter("source", given=str(self._path), allowed=allowed, hint="This is none.") from None

    def column_names(self) -> tuple[str, ...]:
        return tuple(self.types)

    def check(self, columns: Sequence[ColumnPolicy]) -> None:
        check_types(columns, self.types, self._path.name)

    def attach(self, connection: DuckDBPyConnection, columns: Sequence[ColumnPolicy], view: str = VIEW) -> None:
        shown, scan = self.shown(connection, visible(columns))
        connection.execute(view_statement(shown, scan, view))

    def shown(self, connection: DuckDBPyConnection, columns: Sequence[ColumnPolicy]) -> tuple[list[str], str]:
        """The columns, each cast to its kind, and what they are selected from; a private copy if need be."""
        doubtful = self._doubtful(connection, columns)
        is_plain = self._is_decodable(connection, doubtful)
        if not is_plain:
            self._copy(doubtful)
        shown = []
        for one in columns:
            name, kind = quoted_name(one.name), self.types[one.name]
            plain = name if is_plain or one.name not in doubtful else _DECODED[kind][1].format(name)
            shown.append(f"{from_type(plain, kind, one.kind, self._forms)} AS {name}")
        return shown, self._scan

    def close(self) -> None:
        if self._scratch is not None:
            self._scratch.close()
            self._scratch, self._readable = None, str(self._path)

    @property
    def _scan(self) -> str:
        return f"read_parquet({quoted_text(self._readable)}, hive_partitioning = false, union_by_name = false)"

    def _doubtful(self, connection: DuckDBPyConnection, columns: Sequence[ColumnPolicy]) -> list[str]:
        """The columns of texts, and of moments in milliseconds: all others are read whatever they hold."""
        schema = (
            f"SELECT name, converted_type, logical_type::VARCHAR FROM parquet_schema({quoted_text(self._readable)})"
        )
        found = connection.execute(schema).fetchall()
        counted = {name for name, *said in found if "TIMESTAMP_MILLIS" in said or "MILLIS=Milli" in str(said)}
        return [
            one.name
            for one in columns
            if self.types[one.name] == "VARCHAR" or (self.types[one.name] in _DECODED and one.name in counted)
        ]

    def _is_decodable(self, connection: DuckDBPyConnection, doubtful: Sequence[str]) -> bool:
        """Whether DuckDB can decode every value of these columns."""
        import duckdb

        if not doubtful:
            return True
        looks = [_DECODED[self.types[name]][0].format(quoted_name(name)) for name in doubtful]
        try:
            connection.execute(f"SELECT {', '.join(looks)} FROM {self._scan}").fetchall()
        except (duckdb.InvalidInputException, duckdb.ConversionException):
            return False
        return True

    def _copy(self, doubtful: Sequence[str]) -> None:
        """The same rows in a private file, these columns declared as what they are stored in."""
        self._scratch = Scratch()
        target = self._scratch.path / "rows.parquet"
        with self._path.open("rb") as given, target.open("wb") as made:
            given.seek(-_TAIL, os.SEEK_END)
            size = int.from_bytes(given.read(4), "little")
            start = given.seek(-_TAIL - size, os.SEEK_END)
            footer = plain_footer(given.read(size), doubtful)
            given.seek(0)
            shutil.copyfileobj(given, made, 1 << 20)
            made.truncate(start)
            made.seek(start)
            made.write(footer + len(footer).to_bytes(4, "little") + b"PAR1")
        self._readable = str(target)


def looks_at(columns: Sequence[ColumnPolicy], types: Mapping[str, str]) -> list[str]:
    """What looks at every value of the columns that are decoded while they are scanned."""
    return [
        _DECODED[types[one.name]][0].format(quoted_name(one.name)) for one in columns if types[one.name] in _DECODED
    ]


def _described(connection: DuckDBPyConnection, scan: str) -> dict[str, str]:
    found = connection.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()
    return {name: kind for name, kind, *_ in found}
