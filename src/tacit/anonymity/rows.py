"""The rows that are looked at: a CSV or Parquet file, a frame, or columns as lists, behind one view.

An empty text, and in a frame a NaN, is an unknown value. Numbers in a CSV are recognised column by column: a column is
of numbers if all its known values are, and none has a leading zero, as postal codes do. The text NaN among numbers is
unknown where their order matters; in a class it is what is written, unless ``null`` lists it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from tacit.anonymity.connection import lock, open_connection, quoted_name, quoted_text
from tacit.anonymity.csv_file import CsvFile
from tacit.anonymity.frames import arrays_of
from tacit.errors import InvalidParameter, TacitError, UnknownColumn

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["NUMBER", "Rows", "long_digits", "opened", "read"]

NUMBER = r"[+-]?(0|[1-9][0-9]*|)(\.[0-9]*)?([eE][+-]?[0-9]+)?|[+-]?(?i:nan|inf|infinity)"
"""What a text must look like to be a number; a cast decides the rest."""
_LONG = 15
"""Digits that a double keeps: longer numbers that cast alike may still differ."""
_NUMBERS = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "FLOAT",
    "DOUBLE",
)
"""Types that arrays hold exactly; decimals and wider whole numbers are read as the texts of their digits."""
_SMALL_FILE, _SMALL_FRAME = 2**22, 200_000
_OTHERS = (".json", ".jsonl", ".ndjson", ".duckdb", ".db", ".gz", ".zip", ".xlsx", ".toml")
_FORMATS = "a .csv, .tsv or .parquet file, a frame of pandas, Polars or Arrow, or columns as lists by name"


class Rows:
    """An open source: a view ``rows`` whose columns are numbers or texts. Closed by ``with`` or `close`.

    >>> with read({"age": [34, 34, 51], "city": ["Lund", "Lund", None]}) as rows:
    ...     rows.names, rows.is_number("age")
    (('age', 'city'), True)
    """

    def __init__(self, source: object, delimiter: str | None = None, null: Sequence[str] = ()) -> None:
        self._csv: CsvFile | None = None
        self._connection: DuckDBPyConnection | None
        self._connection, self._remove_scratch = open_connection(self, 1 if _is_small(source) else None)
        failed = False
        try:
            scan, paths = self._scan(source, delimiter, null)
            self._types = self._view(scan, null)
            lock(self._connection, paths)
        except TacitError:
            self.close()
            raise
        except Exception:
            failed = True
        if failed:  # raised here, so that the error does not carry the engine's, which may quote a row
            self.close()
            raise self._unreadable(source)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(self._types)

    def run(self, statement: str, values: Sequence[object] = ()) -> DuckDBPyConnection:
        """Run one of this folder's own statements; a row that cannot be read is named by its line."""
        if self._connection is None:
            raise InvalidParameter("rows", given="a closed table", allowed="an open one", hint="Read it again.")
        try:
            return self._connection.execute(statement, list(values))
        except Exception:
            pass  # the engine's words may quote a row
        raise self._failed()

    def known(self, names: Iterable[str], what: str) -> tuple[str, ...]:
        """The names, if each is a column and none is named twice."""
        if not isinstance(names, Iterable):
            raise InvalidParameter(what, given=names, allowed="names of columns")
        listed = (names,) if isinstance(names, str) else tuple(names)
        for place, name in enumerate(listed):
            if name not in self._types:
                near = get_close_matches(str(name), self.names, n=1)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                shown = ", ".join(self.names[:20]) + (", …" if len(self.names) > 20 else "")
                raise UnknownColumn(f"There is no column {name!r}; the columns are {shown}.{hint}")
            if name in listed[:place]:
                raise InvalidParameter(what, given=name, allowed="each column once")
        return listed

    def is_number(self, name: str) -> bool:
        """Whether every known value of the column is a number; the column then has at least one."""
        if self._types[name]:
            return True
        column = quoted_name(name)
        test = f"regexp_full_match({column}, {quoted_text(NUMBER)}) AND TRY_CAST({column} AS DOUBLE) IS NOT NULL"
        found = self.run(f"SELECT bool_and({test}) FROM rows WHERE {column} IS NOT NULL").fetchall()[0][0]
        return bool(found)

    def place_of(self, name: str, value: str | None) -> str:
        """ "line 17" of a CSV, or "row 16": the first row with that text in the column, or with none."""
        column = f"CAST({quoted_name(name)} AS VARCHAR)"
        numbered = f"SELECT row_number() OVER () AS place, {column} AS value FROM rows"
        first = f"SELECT min(place) FROM ({numbered}) WHERE value IS NOT DISTINCT FROM ?"
        row = int(self.run(first, [value]).fetchall()[0][0])
        return f"row {row}" if self._csv is None else f"line {self._csv.line_of(row)}"

    @contextmanager
    def held(self, names: Sequence[str]) -> Iterator[None]:
        """Within it these columns are read from memory: a file is then parsed once, however often it is looked at."""
        shown = ", ".join(map(quoted_name, names))
        self.run(
            f"CREATE OR REPLACE TEMP TABLE rows AS SELECT {shown} FROM memory.main.rows"
        )  # found before the view of that name
        try:
            yield
        finally:
            self.run("DROP TABLE temp.rows")

    def close(self) -> None:
        """Let go of the source."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        self._remove_scratch()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _scan(self, source: object, delimiter: str | None, null: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        assert self._connection is not None
        if isinstance(source, str | Path):
            path = _file(source)
            if path.suffix.lower() in _OTHERS:
                raise InvalidParameter("source", given=str(path), allowed=_FORMATS)
            if path.suffix.lower() in (".parquet", ".pq"):
                return f"read_parquet({quoted_text(str(path))})", (str(path),)
            self._csv = CsvFile(path, delimiter)
            return self._csv.scan(null), (str(path),)
        self._connection.register("given", arrays_of(source, _FORMATS))
        return "given", ()

    def _view(self, scan: str, null: Sequence[str]) -> dict[str, bool]:
        """Make the view; the columns and whether their type is a number."""
        assert self._connection is not None
        described = self._connection.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()
        types = {str(name): str(kind) for name, kind, *_ in described}
        total = _total if self._csv is None else _as_read
        shown = ", ".join(f"{total(name, kind, null)} AS {quoted_name(name)}" for name, kind in types.items())
        self._connection.execute(f"CREATE VIEW rows AS SELECT {shown} FROM {scan}")
        return {name: kind.partition("(")[0] in _NUMBERS for name, kind in types.items()}

    def _failed(self) -> TacitError:
        """Rows that cannot be read are named by their line; else the machine is too small."""
        complaint = "" if self._csv is None else self._csv.complaint()
        if complaint:
            return InvalidParameter(
                "source", given="a line that is no row", allowed="lines like the first", hint=complaint
            )
        return TacitError("The table could not be read to its end: it is damaged, or memory or disk did not suffice.")

    def _unreadable(self, source: object) -> InvalidParameter:
        hint = "" if self._csv is None else self._csv.complaint()
        given = str(source) if isinstance(source, str | Path) else type(source).__name__
        return InvalidParameter("source", given=given, allowed=_FORMATS, hint=hint)


def read(source: object, *, delimiter: str | None = None, null: Sequence[str] = ()) -> Rows:
    """Open a CSV or Parquet file, a frame of pandas, Polars or Arrow, or a mapping of names to lists.

    ``delimiter`` of a CSV is found in its header unless given; ``null`` are texts that stand for an unknown value, as
    the empty text does.
    """
    return Rows(source, delimiter, null)


def long_digits(text: str) -> str:
    """In SQL, for the text of a number: its digits if they are more than a double keeps, else NULL.

    Without zeros that say nothing: 1.0000000000000000 is 1. (A long number written with an exponent differs from the
    same one written without.)
    """
    bare = f"ltrim(regexp_replace({text}, '^([+-]?)0[.]', '\\1.'), '+')"
    digits = (
        f"CASE WHEN regexp_full_match({bare}, '-?[0-9]*[.][0-9]*') THEN rtrim(rtrim({bare}, '0'), '.') ELSE {bare} END"
    )
    return f"CASE WHEN length({digits}) > {_LONG} THEN {digits} END"


def opened(source: object) -> Rows:
    """The source itself if it is open already, else opened: then whoever calls closes it."""
    return source if isinstance(source, Rows) else read(source)


def _is_small(source: object) -> bool:
    """Whether several threads would cost more than they save."""
    if isinstance(source, str | Path):
        path = Path(source)
        return path.is_file() and path.stat().st_size < _SMALL_FILE
    values = next(iter(source.values()), ()) if isinstance(source, Mapping) else source
    return isinstance(values, Sized) and len(values) < _SMALL_FRAME


def _file(source: str | Path) -> Path:
    path = Path(source)
    if path.is_dir():
        raise InvalidParameter("source", given=str(path), allowed="a file", hint="This is a folder.")
    if not path.is_file():
        raise InvalidParameter("source", given=str(path), allowed="a file that exists")
    return path.resolve()


def _as_read(name: str, kind: str, null: Sequence[str]) -> str:
    """A column of a CSV: the reader knows what is unknown."""
    return quoted_name(name)


def _total(name: str, kind: str, null: Sequence[str]) -> str:
    """A column as a number or a text, unknown where it is empty or no number."""
    column, base = quoted_name(name), kind.partition("(")[0]
    if base in ("FLOAT", "DOUBLE"):
        return f"CASE WHEN isnan({column}) THEN NULL ELSE {column} END"
    if base in _NUMBERS:
        return column
    unknown = ", ".join(quoted_text(text) for text in ("", *null))
    text = column if base == "VARCHAR" else f"CAST({column} AS VARCHAR)"
    return f"CASE WHEN {text} IN ({unknown}) THEN NULL ELSE {text} END"
