"""Frames of pandas, Polars and Arrow, and whatever else offers an Arrow stream, read where they are in memory.

Columns of Python objects are turned into text value by value, then cast like text: no value decides a type.
"""

from __future__ import annotations

import contextlib
import datetime
import decimal
import numbers
import weakref
from collections.abc import Iterable, Sequence
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InvalidParameter, LedgerError, TacitError
from tacit.ledger.names import source_name
from tacit.tables.engines.duckdb.sources.source import VIEW, Source, quoted_name
from tacit.tables.engines.duckdb.sources.typed import check_types, view_of
from tacit.tables.policy.policy import ColumnPolicy

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["FrameSource", "refuse_other_name"]

_REGISTERED = "frame"
_PLAIN = "iufbM"  # numpy's kinds that need no look at values


_names: dict[int, str] = {}
"""The names of the frames that are in memory."""


class FrameSource:
    """A frame, under the name its owner gives it. The frame must not change while it is open."""

    def __init__(self, frame: Any, name: str | None) -> None:
        if not (_is_pandas(frame) or hasattr(frame, "__arrow_c_stream__")):
            allowed = "a path, or a frame of pandas, Polars or Arrow"
            raise InvalidParameter("source", given=type(frame).__name__, allowed=allowed)
        if name is None:
            hint = 'tacit.open(frame, name="people", …): the ledger knows the data by it.'
            raise InvalidParameter("name", given=None, allowed="the name of the data in this frame", hint=hint)
        self._name = source_name(name)
        if any(mark in self._name for mark in "/\\:"):
            hint = "The ledger is called NAME.ledger, in the working folder; to keep it elsewhere pass ledger=."
            raise InvalidParameter("name", given=name, allowed="a name without / or \\ or :", hint=hint)
        self._frame = frame

    @property
    def identity(self) -> str:
        return f"frame:{self._name}"

    @property
    def paths(self) -> tuple[str, ...]:
        return ()

    @cached_property
    def _tables(self) -> list[Any]:
        """What DuckDB is given: an Arrow stream, or arrays by column."""
        if _is_pandas(self._frame):
            return [_arrays(self._frame)]
        return [_Stream(_without_objects(self._frame))]

    def _register(self, connection: DuckDBPyConnection, name: str = _REGISTERED) -> dict[str, str]:
        connection.register(name, self._tables[0])
        described = connection.execute(f"DESCRIBE {quoted_name(name)}").fetchall()
        return {column: kind for column, kind, *_ in described}

    @cached_property
    def types(self) -> dict[str, str]:
        """Names and DuckDB types."""
        import duckdb

        try:
            with duckdb.connect(":memory:", config={"pandas_analyze_sample": "0"}) as connection:
                return self._register(connection)
        except TacitError:
            raise
        except Exception:  # of DuckDB or of the frame's library, about types
            allowed = "columns of numbers, texts, truth values, days and moments"
            raise InvalidParameter("frame", given=type(self._frame).__name__, allowed=allowed) from None

    def column_names(self) -> tuple[str, ...]:
        return tuple(self.types)

    def check(self, columns: Sequence[ColumnPolicy]) -> None:
        check_types(columns, self.types, f"frame {self._name!r}")

    def attach(self, connection: DuckDBPyConnection, columns: Sequence[ColumnPolicy], view: str = VIEW) -> None:
        name = f"{_REGISTERED} {view}"
        types = self._register(connection, name)
        connection.execute(view_of(quoted_name(name), columns, types, view))

    def close(self) -> None:
        """Nothing was written."""


def refuse_other_name(source: Source) -> None:
    """Refuse a frame that this process knows by another name: it would begin a second budget by accident."""
    assert isinstance(source, FrameSource)
    frame, name = source._frame, source._name
    known = _names.get(id(frame), name)
    if known != name:
        raise LedgerError(
            f"This frame is open as {known!r} already, and a second name would begin a second budget: name={known!r}. "
            f"If it must be {name!r}, say which ledger pays: ledger=…. Nothing was spent."
        )
    with contextlib.suppress(TypeError):  # of a kind that cannot be watched: a later one could be taken for it
        if id(frame) not in _names:
            weakref.finalize(frame, _names.pop, id(frame), None).atexit = False
            _names[id(frame)] = name


class _Stream:
    """Only the Arrow stream of a frame: DuckDB would ask for pyarrow if it knew whose it is."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._frame.__arrow_c_stream__(requested_schema)


def _is_pandas(frame: Any) -> bool:
    return type(frame).__module__.split(".")[0] == "pandas" and hasattr(frame, "columns") and hasattr(frame, "iloc")


def _without_objects(frame: Any) -> Any:
    """A Polars frame whose columns of Python objects are texts: as an Arrow stream they are addresses in memory."""
    if type(frame).__module__.split(".")[0] != "polars":
        return frame
    polars = import_module("polars")  # it is loaded: the frame is one of its own
    objects = [name for name, dtype in frame.schema.items() if dtype == polars.Object]
    texts = [polars.Series(name, _texts(frame[name].to_list()), dtype=polars.String) for name in objects]
    return frame.with_columns(texts) if texts else frame


def _arrays(frame: Any) -> dict[str, Any]:
    """The columns of a pandas frame as arrays that DuckDB reads without looking for a type."""
    arrays = dict[str, Any]()
    for position, label in enumerate(frame.columns):
        column = frame.iloc[:, position]
        name = str(label)
        if name in arrays:
            raise InvalidParameter("frame", given=name, allowed="columns of different names")
        arrays[name] = _array(column)
    return arrays


def _array(column: Any) -> Any:
    dtype = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in _PLAIN:
        array = np.ascontiguousarray(column.to_numpy())
        return array.astype(np.float64) if dtype.kind == "f" and dtype.itemsize not in (4, 8) else array
    if getattr(dtype, "tz", None) is not None:
        return column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
    # Always as text, also where nothing is missing: whether it is must not show in the type.
    return np.array(_texts(column), dtype=object)


def _texts(values: Iterable[Any]) -> list[str | None]:
    return [_text(value) for value in values]


def _text(value: Any) -> str | None:
    """Any Python value as the text that a file would hold; None for what is missing. Never raises."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    try:
        if value is None or value != value or type(value).__name__ in ("NAType", "NaTType"):
            return None
        if isinstance(value, (bool, np.bool_)):
            return "true" if value else "false"
        if isinstance(value, (datetime.datetime, datetime.date)):
            return value.isoformat()
        if isinstance(value, (bytes, bytearray)):
            return bytes(value).decode("utf-8", "replace")
        if isinstance(value, (numbers.Number, decimal.Decimal)):
            return str(value)
        return str(value).encode("utf-8", "replace").decode("utf-8")
    except Exception:  # a value whose comparison or repr is broken is unknown
        return None
