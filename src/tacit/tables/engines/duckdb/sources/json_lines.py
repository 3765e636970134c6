"""JSON lines: one object per line, values of any JSON type on any line.

A line that is no object is a row of nulls; a name that a line does not have is null there; blank lines are no rows. Of
a name that a line has twice, the first counts. Arrays and objects are read as their JSON text. There is no schema, so
a declared column that no line has is no error: such an error would depend on rows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.tables.engines.duckdb.sources.csv_records import Dialect, Records
from tacit.tables.engines.duckdb.sources.source import VIEW, quoted_name, quoted_text, view_statement, visible
from tacit.tables.engines.duckdb.sources.text_files import open_text
from tacit.tables.engines.duckdb.text_casts import decoded, from_text
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
    """A file of JSON lines."""

    def __init__(self, path: Path, reading: Reading) -> None:
        self._path = path
        self._text = open_text(path, reading.encoding)
        self._null = reading.null
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
        lines = (line for block in self._text.blocks(1 << 16) for line in block.splitlines())
        for line in islice(lines, _LOOKED_AT):
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(found, dict):
                names |= dict.fromkeys(found)
        return tuple(names)

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
        shown = [
            f"{from_text(self._value(i, column.kind), column.kind)} AS {quoted_name(column.name)}"
            for i, column in enumerate(columns, start=1)
        ]
        found = f"json_extract_string({known}, [{paths}])" if columns else "NULL"
        rows = f"(SELECT {found} AS found FROM {scan} WHERE line IS NOT NULL)"
        connection.execute(view_statement(shown, rows, view))

    def close(self) -> None:
        if self._scratch is not None:
            self._scratch.close()
            self._scratch, self._readable = None, str(self._path)

    def _value(self, i: int, kind: Kind) -> str:
        value = decoded(f"found[{i}]") if kind is Kind.TEXT else f"found[{i}]"
        for null in self._null:
            value = f"nullif({value}, {quoted_text(null)})"
        return value

    def _prepare(self) -> None:
        if self._text.plain and all(_RECORDS.is_clean(block) and b"\r" not in block for block in self._text.blocks()):
            return
        self._scratch = Scratch()
        target = self._scratch.path / "rows.jsonl"
        with target.open("wb") as file:
            file.writelines(_RECORDS.rewritten(self._text.blocks()))
        self._readable = str(target)


def _pointer(name: str) -> str:
    """The JSON pointer of a name (RFC 6901)."""
    return "/" + name.replace("~", "~0").replace("/", "~1")
