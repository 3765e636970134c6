"""A CSV file: its header and delimiter, how DuckDB reads it, and on which line a row is."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from tacit.anonymity.connection import quoted_text
from tacit.errors import InvalidParameter

__all__ = ["CsvFile"]

_DELIMITERS = ",;\t|"


class CsvFile:
    """A file of comma-separated values in UTF-8 whose first line names the columns."""

    def __init__(self, path: Path, delimiter: str | None) -> None:
        if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n'):
            raise InvalidParameter("delimiter", given=delimiter, allowed="one ASCII character, no quote or line end")
        self._path = path
        self._delimiter = delimiter or ","
        if delimiter is None:
            first = self._first_line()
            likely = "\t" if path.suffix.lower() == ".tsv" else ","
            self._delimiter = max(_DELIMITERS, key=lambda one: (first.count(one), one == likely))
        self.header = self._header()

    def scan(self, null: Sequence[str]) -> str:
        """The table function that reads it: all texts, nothing guessed; empty ones and ``null`` are unknown."""
        unknown = ", ".join(quoted_text(text) for text in ("", *null))
        columns = ", ".join(f"{quoted_text(name)}: 'VARCHAR'" for name in self.header)
        return (
            f"read_csv({quoted_text(str(self._path))}, columns = {{{columns}}}, auto_detect = false, header = true, "
            f"delim = {quoted_text(self._delimiter)}, quote = '\"', escape = '\"', nullstr = [{unknown}], "
            "strict_mode = true, max_line_size = 4194304, compression = 'none')"
        )

    def line_of(self, row: int) -> int:
        """The line on which a row begins, counted from 1; the header is line 1 unless blank lines come before it."""
        for place, (line, _) in enumerate(self._records(blank=len(self.header) == 1)):
            if place == row:
                return line
        return row + 1

    def complaint(self) -> str:
        """What is wrong with the first line that cannot be read; empty if no line is."""
        try:
            for line, fields in self._records():
                if len(fields) != len(self.header):
                    return f"Line {line} has {len(fields)} fields, and the header names {len(self.header)} columns."
        except UnicodeDecodeError:
            return self._undecodable()
        except csv.Error as error:
            return f"It is no CSV: {error}."
        return ""

    def _records(self, blank: bool = False) -> Iterator[tuple[int, list[str]]]:
        """The header and every record after it, with the line it begins on.

        Blank lines before the header are none; later ones only if asked for: of one column, they are unknown values.
        """
        with self._path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=self._delimiter)
            line, header = 1, False
            for fields in reader:
                if fields or (blank and header):
                    header = True
                    yield line, fields
                line = reader.line_num + 1

    def _first_line(self) -> str:
        with self._path.open("rb") as file:
            block = file.read(1 << 20)
        lines = block.decode("utf-8-sig", "replace").splitlines()
        return next((line for line in lines if line.strip()), "")

    def _header(self) -> tuple[str, ...]:
        try:
            _, names = next(self._records(), (1, []))
        except UnicodeDecodeError:
            raise self._refused(self._undecodable()) from None
        except csv.Error as error:
            raise self._refused(f"It is no CSV: {error}.") from None
        if not names:
            raise self._refused("It is empty.")
        for place, name in enumerate(names):
            if not name.strip() or not name.isprintable():
                raise self._refused(f"Field {place + 1} of its first line names no column.")
            if name.lower() in [other.lower() for other in names[:place]]:
                raise self._refused(f"Its first line names {name!r} twice.")
        return tuple(names)

    def _undecodable(self) -> str:
        with self._path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                try:
                    line.decode("utf-8")
                except UnicodeDecodeError:
                    return f"Line {number} is not UTF-8."
        return "It is not UTF-8."

    def _refused(self, hint: str) -> InvalidParameter:
        allowed = "a CSV file in UTF-8 whose first line names the columns"
        return InvalidParameter("source", given=str(self._path), allowed=allowed, hint=hint)
