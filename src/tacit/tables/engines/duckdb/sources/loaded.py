"""Rows that Python reads, put into a table of DuckDB: values of any type, each turned into text by itself.

No value decides how another is read: what one is read as depends on the value and on the policy's type alone.
"""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.tables.engines.duckdb.sources.source import quoted_name, view_statement
from tacit.tables.engines.duckdb.text_casts import Forms, from_text
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.policy import ColumnPolicy
from tacit.tables.policy.reading import Reading

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["attach_rows", "text_of"]

_AT_ONCE = 20_000
_WHOLE = 9.2e18  # beyond, a real is no whole number of 64 bits
_BLANKS = " \t\N{NO-BREAK SPACE}"


def attach_rows(
    connection: DuckDBPyConnection,
    rows: Iterable[Sequence[Any]],
    columns: Sequence[ColumnPolicy],
    reading: Reading,
    view: str,
) -> None:
    """Make the view of these rows, which have one value for each of the columns."""
    table = f"loaded {view}"
    places = [f"c{i}" for i in range(len(columns))] or ["nothing"]
    declared = ", ".join(f"{place} VARCHAR" for place in places)
    connection.execute(f"CREATE TABLE {quoted_name(table)} ({declared})")
    for some in _some(rows):
        lists = [[_read(row[at], one.kind, reading) for row in some] for at, one in enumerate(columns)]
        arrays = {place: np.array(values, dtype=object) for place, values in zip(places, lists, strict=False)}
        connection.register(f"some {view}", arrays or {"nothing": np.full(len(some), None, dtype=object)})
        connection.execute(f"INSERT INTO {quoted_name(table)} SELECT * FROM {quoted_name(f'some {view}')}")
        connection.unregister(f"some {view}")
    forms = Forms(reading.decimal, reading.dates)
    shown = [
        f"{from_text(place, one.kind, forms)} AS {quoted_name(one.name)}"
        for place, one in zip(places, columns, strict=False)
    ]
    connection.execute(view_statement(shown, quoted_name(table), view))


def _some(rows: Iterable[Sequence[Any]]) -> Iterator[list[Sequence[Any]]]:
    stream = iter(rows)
    while some := list(islice(stream, _AT_ONCE)):
        yield some


def _read(value: Any, kind: Kind, reading: Reading) -> str | None:
    text = text_of(value, kind)
    if text is not None and reading.trim:
        text = text.strip(_BLANKS)
    if not text or text in reading.null:
        return None
    if reading.decimal == "," and kind.is_number and not isinstance(value, (str, bytes)):
        return text.replace(".", ",")  # a number, not a text: its point is a decimal mark
    return text


def text_of(value: Any, kind: Kind) -> str | None:
    r"""Any Python value as the text that is read as what the value is; None for what is missing. Never raises.

    >>> text_of(22001.0, Kind.TEXT), text_of(True, Kind.INTEGER), text_of(b"\xff", Kind.TEXT)
    ('22001', '1', None)
    """
    try:
        if isinstance(value, (bytes, bytearray)):
            value = bytes(value).decode("utf-8")
        if isinstance(value, str):
            return _valid(value)
        if value is None or value != value or type(value).__name__ in ("NAType", "NaTType"):
            return None
        if isinstance(value, (bool, np.bool_)):
            return str(int(value)) if kind.is_number else "true" if value else "false"
        if isinstance(value, datetime.datetime):
            return _moment(value)
        if isinstance(value, datetime.date):
            return value.isoformat()
        if isinstance(value, numbers.Real) and not isinstance(value, numbers.Rational):
            return _real(value)
        return _valid(str(value))
    except Exception:  # what is no text, and a value whose comparison or repr is broken, is unknown
        return None


def _valid(text: str) -> str:
    """Raises for halves of characters."""
    text.encode("utf-8")
    return text


def _moment(value: datetime.datetime) -> str:
    """In UTC, as the engine writes a moment: without zeros at the end of its fraction."""
    if value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    base, _, fraction = value.isoformat(sep=" ").partition(".")
    return f"{base}.{fraction.rstrip('0')}" if fraction.strip("0") else base


def _real(value: numbers.Real) -> str:
    """A whole number without its point, as a column of whole numbers has it."""
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < _WHOLE else str(value)
