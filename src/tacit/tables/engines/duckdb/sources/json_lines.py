"""JSON lines, one object per line, values of any JSON type on any line; or one array of such objects.

A line that is no object is a row of nulls; a name that a line does not have is null there; blank lines are no rows. Of
a name that a line has twice, the first counts. Arrays and objects are read as their JSON text. There is no schema, so
a declared column that no line has is no error: such an error would depend on rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.tables.engines.duckdb.sources.csv_records import Dialect, Records
from tacit.tables.engines.duckdb.sources.json_arrays import elements
from tacit.tables.engines.duckdb.sources.source import VIEW, quoted_name, quoted_text, view_statement, visible
from tacit.tables.engines.duckdb.sources.text_files import BLOCK, open_text
from tacit.tables.engines.duckdb.text_casts import BLANKS, Forms, decoded, from_text
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.policy import ColumnPolicy
from tacit.tables.policy.reading import Reading
from tacit.work.scratch import Scratch

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["JsonLinesSource"]

_NEVER = b"\x01"  # no valid JSON holds it: within strings it must be escaped
_LOOKED_AT = 1000
_RECORDS = Records(Dialect(_NEVER, b""), 1)


class JsonLinesSource:
    """A file of JSON lines; one whose first sign is ``[`` is an array, and is rewritten into lines."""

    def __init__(self, path: Path, reading: Reading, *, as_written: bool = False) -> None:
        self._path = path
        self._as_written = as_written
        self._text = open_text(path, reading.encoding, reading.skip)
        self._reading = reading
        self._array = _is_array(next(self._text.pieces(1 << 12), b""))
        self._scratch: Scratch | None = None
        self._readable = str(path)

    @property
    def identity(self) -> str:
        return str(self._path)

    @property
    def paths(self) -> tuple[str, ...]:
        return (self._readable,)

    def column_names(self) -> tuple[str, ...]:
        """None: the names are in the rows, and one row may have a name of its own."""
        return ()

    def names_in_rows(self) -> tuple[str, ...]:
        """The names at the beginning of the file: for its owner's eyes."""
        names = dict[str, None]()
        lines = (line for block in self._lines(1 << 16) for line in block.splitlines())
        for line in islice(lines, _LOOKED_AT):
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(found, dict):
                names |= dict.fromkeys(found)
        return tuple(names)

    def as_written(self) -> JsonLinesSource:
        """The same, but texts that cannot be decoded are there, with U+FFFD in them: for its owner to count."""
        return JsonLinesSource(self._path, self._reading, as_written=True)

    def check(self, columns: Sequence[ColumnPolicy]) -> None:
        """Nothing: the names are in the rows."""

    def attach(self, connection: DuckDBPyConnection, columns: Sequence[ColumnPolicy], view: str = VIEW) -> None:
        columns = visible(columns)
        self._prepare()
        scan = (
            f"read_csv({quoted_text(self._readable)}, columns = {{line: 'VARCHAR'}}, auto_detect = false, "
            f"delim = {quoted_text(_NEVER.decode())}, quote = '', escape = '', header = false, nullstr = '', "
            "null_padding = true, strict_mode = false, ignore_errors = true, max_line_size = 4194304, "
            "compression = 'none')"
        )
        paths = ", ".join(quoted_text(_pointer(column.name)) for column in columns)
        known = "CASE WHEN json_valid(line) AND json_type(line) = 'OBJECT' THEN line END"
        forms = Forms(self._reading.decimal, self._reading.dates)
        shown = [
            f"{from_text(f'v{i}', column.kind, forms)} AS {quoted_name(column.name)}"
            for i, column in enumerate(columns, start=1)
        ]
        found = f"json_extract_string({known}, [{paths}])" if columns else "NULL"
        rows = f"(SELECT {found} AS found FROM {scan} WHERE line IS NOT NULL)"
        values = [f"{self._value(i, one.kind)} AS v{i}" for i, one in enumerate(columns, start=1)]
        connection.execute(view_statement(shown, f"(SELECT {', '.join(values) or '1'} FROM {rows})", view))

    def close(self) -> None:
        if self._scratch is not None:
            self._scratch.close()
            self._scratch, self._readable = None, str(self._path)

    def _value(self, i: int, kind: Kind) -> str:
        is_read = kind is Kind.TEXT and not self._as_written
        value = decoded(f"found[{i}]") if is_read else f"found[{i}]"
        if self._reading.trim:
            value = f"nullif(trim({value}, {BLANKS}), '')"
        for null in self._reading.null:
            value = f"nullif({value}, {quoted_text(null)})"
        return value

    def _lines(self, size: int = BLOCK) -> Iterator[bytes]:
        """The file, one object per line."""
        return elements(self._text.pieces(size)) if self._array else self._text.blocks(size)

    def _prepare(self) -> None:
        if (
            not self._array
            and self._text.plain
            and all(_RECORDS.is_clean(block) and b"\r" not in block for block in self._text.blocks())
        ):
            return
        self._scratch = Scratch()
        target = self._scratch.path / "rows.jsonl"
        with target.open("wb") as file:
            file.writelines(_RECORDS.rewritten(self._lines()))
        self._readable = str(target)


def _is_array(block: bytes) -> bool:
    """What the first sign of the file says."""
    return block.lstrip(b" \t\r\n").startswith(b"[")


def _pointer(name: str) -> str:
    """The JSON pointer of a name (RFC 6901)."""
    return "/" + name.replace("~", "~0").replace("/", "~1")
