"""CSV files: any delimiter, quote, encoding; packed with gzip or not; with a header or not.

Read as text, then cast totally. A file that DuckDB's reader takes exactly as `csv_records` says is scanned where it is,
each time; any other is rewritten once into a private temporary file that goes with the source.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import InvalidParameter
from tacit.tables.engines.duckdb.sources.csv_records import Dialect, Records
from tacit.tables.engines.duckdb.sources.source import (
    VIEW,
    missing_column,
    named,
    quoted_name,
    quoted_text,
    refuse_empty,
    usable_names,
    view_statement,
    visible,
)
from tacit.tables.engines.duckdb.sources.text_files import UNDECODED, TextFile, open_text
from tacit.tables.engines.duckdb.text_casts import BLANKS, Forms, decoded, from_text
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.policy import ColumnPolicy
from tacit.tables.policy.reading import Reading
from tacit.work.scratch import Scratch

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["CsvSource"]

_DELIMITERS = ",;\t|"


class CsvSource:
    """A CSV file."""

    def __init__(self, path: Path, reading: Reading, *, as_written: bool = False) -> None:
        self._path = path
        self._reading = reading
        self._as_written = as_written
        self._text: TextFile = open_text(path, reading.encoding, reading.skip)
        first, delimiter, self._header_line = _first_line(self._text, reading)
        self.first_line = first if reading.header and not reading.names else ()
        """The names in the header as they are."""
        if reading.header:
            refuse_empty(first, str(path), "a CSV file")
            if not all(_is_readable(name) for name in first) and not reading.names:
                hint = "Its first line is not readable text: is it a CSV? "
                hint += "In another encoding: --encoding, or encoding in [reading]."
                raise InvalidParameter("source", given=path.name, allowed="a CSV file of readable text", hint=hint)
        self._header = _names(first, reading, path.name)
        self._dialect = Dialect(delimiter.encode(), reading.quote.encode(), reading.lines)
        self._scratch: Scratch | None = None
        self._readable: str = str(path)
        self._lossy = True  # whether a field may hold what could not be decoded

    @property
    def identity(self) -> str:
        return str(self._path)

    @property
    def paths(self) -> tuple[str, ...]:
        return (self._readable,)

    @property
    def delimiter(self) -> str:
        """What separates the fields."""
        return self._dialect.delimiter.decode()

    def column_names(self) -> tuple[str, ...]:
        return self._header

    def as_written(self) -> CsvSource:
        """The same, but texts that cannot be decoded are there, with U+FFFD in them: for its owner to count."""
        return CsvSource(self._path, self._reading, as_written=True)

    def headers_again(self) -> int:
        """How many lines repeat the header, as where files were put together: for its owner's eyes."""
        if not self._reading.header:
            return 0
        found, again = 0, re.compile(rb"(?m)^" + re.escape(self._header_line) + rb"\r?$")
        for block in self._text.blocks():
            found += len(again.findall(block))
        return max(found - 1, 0)

    def check(self, columns: Sequence[ColumnPolicy]) -> None:
        if not self._reading.header and not self._reading.names:
            return  # the policy's own order says what is what
        for column in visible(columns):
            if column.name not in self._header:
                raise missing_column(column.name, self._header, f"the header of {self._path.name}")

    def attach(self, connection: DuckDBPyConnection, columns: Sequence[ColumnPolicy], view: str = VIEW) -> None:
        if self._reading.header or self._reading.names:
            names, width = self._header, len(self._header)
        else:
            names, width = tuple(column.name for column in columns), max(len(columns), 1)
        parallel = self._prepare(Records(self._dialect, width))
        fields = ", ".join(f"c{i}: 'VARCHAR'" for i in range(width))
        nulls = ", ".join(quoted_text(text) for text in ("", *self._reading.null))
        forms = Forms(self._reading.decimal, self._reading.dates)
        scan = (
            f"read_csv({quoted_text(self._readable)}, columns = {{{fields}}}, auto_detect = false, "
            f"delim = {quoted_text(self.delimiter)}, quote = {quoted_text(self._reading.quote)}, "
            f"escape = {quoted_text(self._reading.quote)}, header = {str(self._reading.header).lower()}, "
            f"nullstr = [{nulls}], null_padding = true, strict_mode = false, ignore_errors = true, "
            f"parallel = {str(parallel).lower()}, max_line_size = 4194304, compression = 'none')"
        )
        places = {name: f"c{i}" for i, name in enumerate(names)}
        shown = []
        for one in visible(columns):
            field = places[one.name]
            is_read = self._lossy and one.kind is Kind.TEXT and not self._as_written
            field = decoded(field) if is_read else field
            shown.append(f"{from_text(field, one.kind, forms)} AS {quoted_name(one.name)}")
        if self._reading.trim:
            trimmed = [f"{self._trimmed(f'c{i}')} AS c{i}" for i in range(width)]
            scan = f"(SELECT {', '.join(trimmed)} FROM {scan})"
        connection.execute(view_statement(shown, scan, view))

    def _trimmed(self, field: str) -> str:
        """Without blanks around it; what is left may be what stands for null."""
        made = f"nullif(trim({field}, {BLANKS}), '')"
        for null in self._reading.null:
            made = f"nullif({made}, {quoted_text(null)})"
        return made

    def close(self) -> None:
        if self._scratch is not None:
            self._scratch.close()
            self._scratch, self._readable = None, str(self._path)

    def _prepare(self, records: Records) -> bool:
        """Make sure that DuckDB reads what `records` says; whether it may do so in parallel, which quotes make hard."""
        if self._text.plain:
            styles, first, quotes, self._lossy = set[bool](), True, False, False
            for block in self._text.blocks():
                self._lossy |= UNDECODED in block
                styles |= {b"\r\n" in block} if b"\n" in block else set()
                quotes |= bool(self._dialect.quote) and self._dialect.quote in block
                if len(styles) > 1 or not records.is_clean(block) or (first and block[:1] in (b"\r", b"\n")):
                    break
                first = False
            else:
                return not quotes
        self._lossy = True
        self._scratch = Scratch()
        target = self._scratch.path / "rows.csv"
        with target.open("wb") as file:
            file.writelines(records.rewritten(iter(self._text.blocks())))
        self._readable = str(target)
        return False


def _is_readable(name: str) -> bool:
    return name.isprintable() and "\N{REPLACEMENT CHARACTER}" not in name


def _names(first: tuple[str, ...], reading: Reading, where: str) -> tuple[str, ...]:
    """The names of the columns: those of the policy, or those in the header, or their places."""
    if reading.header:
        return named(usable_names(first), reading.names, where)
    return reading.names or tuple(f"column{i + 1}" for i in range(len(first)))


def _first_line(text: TextFile, reading: Reading) -> tuple[tuple[str, ...], str, bytes]:
    """The fields of the first line that is not blank, the delimiter, and the line."""
    block = text.first_block()
    first = next((line for line in block.replace(b"\r", b"\n").split(b"\n") if line), b"")
    likely = "\t" if ".tsv" in text.path.suffixes else ","
    guess = max(_DELIMITERS, key=lambda one: (first.count(one.encode()), one == likely))
    delimiter = reading.delimiter or guess
    fields = Dialect(delimiter.encode(), reading.quote.encode()).lenient(first)
    return tuple(field.decode("utf-8", "replace").strip() for field in fields), delimiter, first
