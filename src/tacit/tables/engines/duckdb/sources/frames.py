"""Frames of pandas, Polars and Arrow, and whatever else offers an Arrow stream, read where they are in memory.

No value decides how another is read. In pandas, values decide the dtype of a column: one unknown number makes floats of
whole numbers, one odd object makes objects of all. So what a pandas value is read as depends on the value and on the
policy's type alone, and is the same in every dtype that can hold it; a dtype is never refused. Columns of Python
objects are turned into text value by value, then cast like text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InvalidParameter, TacitError
from tacit.tables.engines.duckdb.sources.loaded import text_of
from tacit.tables.engines.duckdb.sources.source import VIEW, Source, quoted_name, visible
from tacit.tables.engines.duckdb.sources.typed import check_types, view_of
from tacit.tables.engines.frame_names import file_name, refuse_other_name_of
from tacit.tables.expressions.kinds import Kind
from tacit.tables.policy.policy import ColumnPolicy

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["FrameSource", "refuse_other_name"]

_REGISTERED = "frame"
_PLAIN = "iufbM"  # numpy's kinds that need no look at values


class FrameSource:
    """A frame, under the name its owner gives it. The frame must not change while it is open."""

    def __init__(self, frame: Any, name: str | None) -> None:
        if not (_is_pandas(frame) or hasattr(frame, "__arrow_c_stream__")):
            allowed = "a path, or a frame of pandas, Polars or Arrow"
            raise InvalidParameter("source", given=type(frame).__name__, allowed=allowed)
        if name is None:
            hint = 'tacit.open(frame, name="people", …): the ledger knows the data by it.'
            raise InvalidParameter("name", given=None, allowed="the name of the data in this frame", hint=hint)
        self._name = file_name(name)
        self._frame = frame
        self._read: Any = None

    @property
    def identity(self) -> str:
        return f"frame:{self._name}"

    @property
    def paths(self) -> tuple[str, ...]:
        return ()

    def _table(self, kinds: Mapping[str, Kind]) -> Any:
        """What DuckDB is given: an Arrow stream, or arrays by column; kept as long as it is read."""
        if _is_pandas(self._frame):
            return _arrays(self._frame, kinds)
        return _Stream(_without_objects(self._frame, kinds))

    def _register(self, connection: DuckDBPyConnection, name: str, table: Any) -> dict[str, str]:
        connection.register(name, table)
        described = connection.execute(f"DESCRIBE {quoted_name(name)}").fetchall()
        return {column: kind for column, kind, *_ in described}

    @cached_property
    def types(self) -> dict[str, str]:
        """Names and DuckDB types, of a frame without its rows."""
        import duckdb

        try:
            with duckdb.connect(":memory:", config={"pandas_analyze_sample": "0"}) as connection:
                empty = self._frame.iloc[:0] if _is_pandas(self._frame) else self._frame
                shown = _arrays(empty, {}) if _is_pandas(self._frame) else _Stream(_without_objects(empty, {}))
                return self._register(connection, _REGISTERED, shown)
        except TacitError:
            raise
        except Exception:  # of DuckDB or of the frame's library, about types
            allowed = "columns of numbers, texts, truth values, days and moments"
            raise InvalidParameter("frame", given=type(self._frame).__name__, allowed=allowed) from None

    @property
    def declared(self) -> dict[str, str]:
        """Names and types, as far as values have no say in them.

        In pandas one unknown value makes floats of whole numbers and objects of truth values, so that numbers of numpy
        are all reals here, and truth values texts; types that can hold what is unknown count as they are.
        """
        if not _is_pandas(self._frame):
            return self.types
        return {str(name): _declared(dtype) for name, dtype in self._frame.dtypes.items()}

    def column_names(self) -> tuple[str, ...]:
        return tuple(self.types)

    def check(self, columns: Sequence[ColumnPolicy]) -> None:
        by_values = _is_pandas(self._frame)
        types = dict.fromkeys(self.types, "VARCHAR") if by_values else self.types
        check_types(columns, types, f"frame {self._name!r}")

    def attach(self, connection: DuckDBPyConnection, columns: Sequence[ColumnPolicy], view: str = VIEW) -> None:
        name = f"{_REGISTERED} {view}"
        self._read = self._table({one.name: one.kind for one in visible(columns)})
        types = self._register(connection, name, self._read)
        connection.execute(view_of(quoted_name(name), columns, types, view))

    def close(self) -> None:
        """Nothing was written."""


def refuse_other_name(source: Source) -> None:
    """Refuse a frame that this process knows by another name: it would begin a second budget by accident."""
    assert isinstance(source, FrameSource)
    refuse_other_name_of(source._frame, source._name)


class _Stream:
    """Only the Arrow stream of a frame: DuckDB would ask for pyarrow if it knew whose it is."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._frame.__arrow_c_stream__(requested_schema)


def _is_pandas(frame: Any) -> bool:
    return type(frame).__module__.split(".")[0] == "pandas" and hasattr(frame, "columns") and hasattr(frame, "iloc")


def _without_objects(frame: Any, kinds: Mapping[str, Kind]) -> Any:
    """A Polars frame whose columns of Python objects are texts: as an Arrow stream they are addresses in memory."""
    if type(frame).__module__.split(".")[0] != "polars":
        return frame
    polars = import_module("polars")  # it is loaded: the frame is one of its own
    objects = [name for name, dtype in frame.schema.items() if dtype == polars.Object]
    texts = [
        polars.Series(name, _texts(frame[name].to_list(), kinds.get(name, Kind.TEXT)), dtype=polars.String)
        for name in objects
    ]
    return frame.with_columns(texts) if texts else frame


def _arrays(frame: Any, kinds: Mapping[str, Kind]) -> dict[str, Any]:
    """The columns of a pandas frame as arrays that DuckDB reads without looking for a type.

    With kinds, those of the columns that have one.
    """
    arrays = dict[str, Any]()
    for position, label in enumerate(frame.columns):
        name = str(label)
        if name in arrays:
            raise InvalidParameter("frame", given=name, allowed="columns of different names")
        arrays[name] = None
        if not kinds or name in kinds:
            arrays[name] = _array(frame.iloc[:, position], kinds.get(name, Kind.TEXT))
    kept = {name: array for name, array in arrays.items() if array is not None}
    return kept or {"nothing": np.zeros(len(frame), dtype=bool)}


def _array(column: Any, kind: Kind) -> Any:
    dtype = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in _PLAIN:
        array = np.ascontiguousarray(column.to_numpy())
        return array.astype(np.float64) if dtype.kind == "f" and dtype.itemsize not in (4, 8) else array
    if getattr(dtype, "tz", None) is not None:
        return column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
    # Always as text, also where nothing is missing: whether it is must not show in the type.
    return np.array(_texts(column, kind), dtype=object)


def _declared(dtype: Any) -> str:
    name = str(dtype).lower()
    if isinstance(dtype, np.dtype):
        return {"M": "TIMESTAMP", "i": "DOUBLE", "u": "DOUBLE", "f": "DOUBLE"}.get(dtype.kind, "VARCHAR")
    kinds = {
        "datetime": "TIMESTAMP",
        "timestamp": "TIMESTAMP",
        "date": "DATE",
        "int": "BIGINT",
        "uint": "BIGINT",
        "float": "DOUBLE",
        "double": "DOUBLE",
        "decimal": "DOUBLE",
        "bool": "BOOLEAN",
    }
    return next((kind for begins, kind in kinds.items() if name.startswith(begins)), "VARCHAR")


def _texts(values: Iterable[Any], kind: Kind) -> list[str | None]:
    return [text_of(value, kind) for value in values]
