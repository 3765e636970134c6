"""The result of a statement, batch by batch, without ever being in memory as a whole.

DuckDB hands over a stream of Arrow's C interface, whose layout is fixed (arrow.apache.org/docs/format); it is read here
with ctypes, so that no Arrow package is needed. Columns are integers without nulls, nothing else.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tacit.errors import TacitError

if TYPE_CHECKING:
    import duckdb

__all__ = ["batches"]


class _Array(ctypes.Structure):
    """struct ArrowArray."""


class _Stream(ctypes.Structure):
    """struct ArrowArrayStream."""


_Release = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))
_Next = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))

_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.c_void_p),
    ("release", _Release),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", ctypes.c_void_p),
    ("get_next", _Next),
    ("get_last_error", ctypes.c_void_p),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]


def batches(
    connection: duckdb.DuckDBPyConnection, sql: str, kinds: Sequence[np.dtype[Any]]
) -> Iterator[list[npt.NDArray[Any]]]:
    """The columns of each batch, copied; ``kinds`` are the types that the statement itself casts them to."""
    relation = connection.sql(sql)
    wanted = [_TYPES[kind.name] for kind in kinds]
    if [str(kind) for kind in relation.types] != wanted:
        raise TacitError("The engine gave columns of other types.")
    capsule = relation.__arrow_c_stream__()  # its end releases the stream
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    stream = ctypes.cast(pointer(capsule, b"arrow_array_stream"), ctypes.POINTER(_Stream))
    while True:
        array = _Array()
        if stream.contents.get_next(stream, ctypes.byref(array)) != 0:
            raise TacitError("The engine did not finish its rows.")
        if not array.release:
            return
        try:
            for start in range(0, array.length, _ROWS):
                yield [_column(array.children[i].contents, kind, start) for i, kind in enumerate(kinds)]
        finally:
            array.release(ctypes.byref(array))


_ROWS = 1 << 17
"""Copied at a time: DuckDB's own batches are of a million."""
_TYPES = {"int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT"}


def _column(array: Any, kind: np.dtype[Any], first: int) -> npt.NDArray[Any]:
    if array.null_count > 0 or array.n_buffers != 2:
        raise TacitError("The engine gave a column that is not of integers alone.")
    start = (array.offset + first) * kind.itemsize
    size = min(_ROWS, array.length - first) * kind.itemsize
    held = (ctypes.c_char * size).from_address(array.buffers[1] + start) if size else b""
    return np.frombuffer(held, dtype=kind).copy()
