"""Where rows come from: files of many formats and folders of them; pandas, Polars and Arrow frames."""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from tacit.errors import InvalidParameter
from tacit.tables.engines.duckdb.sources.source import Source
from tacit.tables.engines.duckdb.sources.sqlite import is_sqlite
from tacit.tables.engines.duckdb.text_casts import Forms
from tacit.tables.engines.source import table_folder
from tacit.tables.policy.reading import Reading

__all__ = ["ENDINGS", "Source", "format_of", "open_source"]

ENDINGS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".jsonl": "json lines",
    ".ndjson": "json lines",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".duckdb": "duckdb",
    ".db": "duckdb",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xlsb": "excel",
    ".xls": "excel",
    ".ods": "excel",
}
"""The format that an ending of a file's name means; ``.gz`` or ``.zst`` may follow those of text."""

_PACKED = (".gz", ".zst")
_OTHER_ENDINGS = {
    ".bz2": "It is packed: unpack it first (bunzip2); .csv.gz is read as it is.",
    ".xz": "It is packed: unpack it first (unxz); .csv.gz is read as it is.",
    ".zip": "It is packed: unpack it first (unzip); .csv.gz is read as it is.",
}
"""What to do about files that are not read."""


def open_source(where: Any, options: Mapping[str, str] | None = None, name: str | None = None) -> Source:
    """The source at a path, or in a frame that ``name`` names; reads its schema and no rows."""
    reading = Reading.of(options) if options else Reading()
    if not isinstance(where, (str, os.PathLike)):
        from tacit.tables.engines.duckdb.sources.frames import FrameSource

        return FrameSource(where, name)
    given = Path(where)
    if table_folder(given) is not None:
        from tacit.tables.engines.duckdb.sources.parquet.folder import ParquetFolderSource

        return ParquetFolderSource(given, reading)
    path = _existing(given)
    return _file(path, reading.format or _format(path), reading, name)


def format_of(where: Any, options: Mapping[str, str]) -> str | None:
    """The format of the file at a path; None of folders, frames and what is not there."""
    path = Path(where).expanduser() if isinstance(where, (str, os.PathLike)) else None
    if path is None or not path.is_file():
        return None
    return Reading.of(options).format or _format(path)


def _file(path: Path, found: str, reading: Reading, name: str | None) -> Source:
    forms = Forms(reading.decimal, reading.dates)
    if found == "parquet":
        from tacit.tables.engines.duckdb.sources.parquet.file import ParquetSource

        return ParquetSource(path, forms)
    if found == "sqlite" or (found == "duckdb" and reading.format is None and is_sqlite(path)):
        from tacit.tables.engines.duckdb.sources.sqlite import SqliteSource

        return SqliteSource(path, reading, name)
    if found == "duckdb":
        from tacit.tables.engines.duckdb.sources.duckdb_file import DuckDBFileSource

        return DuckDBFileSource(path, reading.table, name)
    if found == "excel":
        from tacit.tables.engines.duckdb.sources.excel import ExcelSource

        return ExcelSource(path, reading, name)
    if found in ("json", "json lines"):
        from tacit.tables.engines.duckdb.sources.json_lines import JsonLinesSource

        return JsonLinesSource(path, reading)
    from tacit.tables.engines.duckdb.sources.csv import CsvSource

    return CsvSource(path, reading)


def _existing(given: Path) -> Path:
    """The file itself, every link followed."""
    try:
        path = given.expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        folder = given.parent if given.parent.is_dir() else Path()
        near = get_close_matches(given.name, sorted(os.listdir(folder)), n=1)
        hint = f"Did you mean {str(given.with_name(near[0]))!r}?" if near else "There is no such file."
        raise InvalidParameter("source", given=str(given), allowed="an existing file", hint=hint) from None
    if not path.is_file():
        raise InvalidParameter("source", given=str(given), allowed="a file", hint="This is no ordinary file.")
    return path


def _format(path: Path) -> str:
    """What the ending says."""
    endings = [one.lower() for one in path.suffixes]
    if endings and endings[-1] in _PACKED:
        endings.pop()
    if endings and endings[-1] in ENDINGS:
        return ENDINGS[endings[-1]]
    hint = _OTHER_ENDINGS.get(
        endings[-1] if endings else "", 'Or say which: --format csv, or [reading] format = "csv".'
    )
    raise InvalidParameter("source", given=path.name, allowed=f"a name ending in {', '.join(ENDINGS)}", hint=hint)
