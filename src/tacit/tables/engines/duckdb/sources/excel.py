"""A sheet of a workbook: .xlsx, .xlsb, .xls and .ods, read by python-calamine (the extra ``excel``).

A cell has a type of its own, and is read by itself: a day that is stored as a day, a number, a text. The first row that
is not empty names the columns; rows without any value are no rows. Formulas are read as the values last saved.
"""

from __future__ import annotations

import contextlib
import datetime
import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import InvalidParameter, MissingPackage
from tacit.tables.engines.duckdb.sources.loaded import attach_rows
from tacit.tables.engines.duckdb.sources.source import (
    VIEW,
    WHICH_TABLE,
    missing_column,
    named,
    refuse_empty,
    usable_names,
    visible,
)
from tacit.tables.policy.policy import ColumnPolicy
from tacit.tables.policy.reading import Reading

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["ExcelSource"]

_ERROR = re.compile(rb"""<((?:\w+:)?)c\s[^<>]*?\bt=(["'])e\2[^<>]*?(?:/>|>.*?</\1c>)""", re.DOTALL)
_BY_PLACE = re.compile("column([1-9][0-9]{0,4})")


class ExcelSource:
    """One sheet of a workbook, which may be left out if there is only one."""

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
        """Which sheet it is."""
        return self._found[0]

    @cached_property
    def _found(self) -> tuple[str, tuple[str, ...]]:
        """The sheet's name, and the names of its columns."""
        with _workbook(self._path) as workbook:
            sheet = self._choose(list(workbook.sheet_names))
            first = next(self._filled(workbook, sheet), [])
        titles = _named_by(first)
        if not self._reading.header:
            return sheet, self._reading.names or tuple(f"column{at + 1}" for at in range(len(titles)))
        refuse_empty(titles, f"{self._path.name}, sheet {sheet}", "a sheet")
        return sheet, named(usable_names(titles), self._reading.names, f"sheet {sheet}")

    def _filled(self, workbook: Any, sheet: str) -> Iterator[list[Any]]:
        """The rows that hold anything, after those that are skipped."""
        rows = _rows(workbook, sheet)
        if rows is None and zipfile.is_zipfile(self._path):
            with contextlib.suppress(Exception), _without_errors(self._path) as mended:
                rows = _rows(mended, sheet)
        if rows is None:
            allowed = f"a sheet whose cells can all be read: {sheet} of {self._path.name} has one that cannot"
            hint = "Save it anew from a spreadsheet program, cells that show an error as values, or as CSV."
            raise InvalidParameter("source", given=str(self._path), allowed=allowed, hint=hint)
        return (row for row in rows[self._reading.skip :] if any(value not in ("", None) for value in row))

    def _choose(self, sheets: list[str]) -> str:
        asked = self._asked
        fits = [name for name in sheets if asked is not None and name.casefold() == asked.casefold()]
        if len(fits) == 1:
            return fits[0]
        if len(sheets) == 1 and not self._chosen:
            return sheets[0]
        allowed = f"a sheet of {self._path.name}: {', '.join(sheets) or 'it has none'}"
        raise InvalidParameter("table", given=asked, allowed=allowed, hint=WHICH_TABLE)

    def column_names(self) -> tuple[str, ...]:
        return self._found[1]

    def _place(self, name: str) -> int | None:
        """Where a column is. Without any names its place is its name: how many there are, only rows could say."""
        if name in self._found[1]:
            return self._found[1].index(name)
        by_place = None if self._reading.header or self._reading.names else _BY_PLACE.fullmatch(name)
        return None if by_place is None else int(by_place[1]) - 1

    def check(self, columns: Sequence[ColumnPolicy]) -> None:
        for column in visible(columns):
            if self._place(column.name) is None:
                raise missing_column(column.name, self._found[1], f"sheet {self.table} of {self._path.name}")

    def attach(self, connection: DuckDBPyConnection, columns: Sequence[ColumnPolicy], view: str = VIEW) -> None:
        shown = visible(columns)
        places = [self._place(one.name) or 0 for one in shown]
        with _workbook(self._path) as workbook:
            rows = self._filled(workbook, self.table)
            if self._reading.header:
                next(rows, None)
            attach_rows(connection, (_cells(row, places) for row in rows), shown, self._reading, view)

    def close(self) -> None:
        """Nothing was written."""


def _workbook(path: Path) -> Any:
    try:
        calamine = import_module("python_calamine")
    except ImportError:
        raise MissingPackage("python-calamine", extra="excel") from None
    try:
        return calamine.CalamineWorkbook.from_path(str(path))
    except Exception:  # of the format, in the words of a library that quotes files
        allowed = "a workbook: .xlsx, .xlsb, .xls or .ods"
        raise InvalidParameter("source", given=str(path), allowed=allowed, hint="This is none.") from None


def _rows(workbook: Any, sheet: str) -> list[list[Any]] | None:
    """All rows; None if there is a cell that the library does not know, whose words quote it."""
    try:
        rows: list[list[Any]] = workbook.get_sheet_by_name(sheet).to_python(skip_empty_area=False)
    except Exception:
        return None
    return rows


def _without_errors(path: Path) -> Any:
    """An .xlsx without its cells that show an error: of newer ones (#SPILL!) the library refuses the whole sheet."""
    made = io.BytesIO()
    with zipfile.ZipFile(path) as given, zipfile.ZipFile(made, "w") as mended:
        for name in given.namelist():
            body = given.read(name)
            mended.writestr(name, _ERROR.sub(b"", body) if name.startswith("xl/worksheets/") else body)
    made.seek(0)
    return import_module("python_calamine").CalamineWorkbook.from_filelike(made)


def _title(value: Any) -> str:
    """A heading; a year that is stored as a number has no point."""
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if whole else "" if value is None else str(value).strip()


def _named_by(first: Sequence[Any]) -> tuple[str, ...]:
    """The headings up to the last: a sheet is as wide as its widest row, which must not say how many columns it has."""
    titles = [_title(value) for value in first]
    while titles and not titles[-1]:
        titles.pop()
    return tuple(titles)


def _cells(row: Sequence[Any], places: Sequence[int]) -> list[Any]:
    return [_cell(row[at]) if at < len(row) else None for at in places]


def _cell(value: Any) -> Any:
    """A cell that holds hours alone is their text: a day has none."""
    return str(value) if isinstance(value, (datetime.time, datetime.timedelta)) else value
