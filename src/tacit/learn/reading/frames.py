"""Tables in memory, read by column: arrays, lists of rows, and the frames of pandas, Polars and Arrow."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.learn.reading.columns import Repeated

__all__ = ["Cells", "read_cells", "read_rows", "read_vector"]

_ALLOWED = "a two-dimensional array, a list of rows, or a frame of pandas, Polars or Arrow"


@dataclass(frozen=True, slots=True, repr=False)
class Cells:
    """The columns of a table; ``named`` says whether the names came with it."""

    names: tuple[str, ...]
    columns: tuple[npt.NDArray[Any] | Repeated, ...]
    rows: int
    named: bool

    def __repr__(self) -> str:
        return f"Cells({len(self.names)} columns)"


def read_cells(table: Any) -> Cells:
    """A table by column. What is refused is refused for its type or shape, never for what a cell holds."""
    if hasattr(table, "toarray") and hasattr(table, "tocsr"):
        hint = "Sparse input is not read: its pattern would decide how long a fit takes. Pass X.toarray()."
        raise InvalidParameter("X", given=type(table).__name__, allowed=_ALLOWED, hint=hint)
    names = getattr(table, "column_names", None) or getattr(table, "columns", None)
    if names is not None and hasattr(table, "__getitem__"):
        return _framed(table, [str(name) for name in names], list(names))
    array = _array(read_rows(table))
    if array.dtype.kind == "c":
        raise InvalidParameter("X", given="complex numbers", allowed=_ALLOWED, hint="Complex data not supported.")
    if array.dtype.kind in "Mm":
        raise InvalidParameter("X", given=str(array.dtype), allowed="numbers, or categories")
    if array.ndim != 2:
        hint = "Expected 2D array. Reshape your data either using array.reshape(-1, 1) or array.reshape(1, -1)."
        raise InvalidParameter("X", given=f"{array.ndim} dimensions", allowed=_ALLOWED, hint=hint)
    width = array.shape[1]
    if not width:
        hint = f"Found array with 0 feature(s) (shape={array.shape}) while a minimum of 1 is required."
        raise InvalidParameter("X", given="no columns", allowed="at least one column", hint=hint)
    return Cells(
        names=tuple(f"x{i}" for i in range(width)),
        columns=tuple(array[:, i] for i in range(width)),
        rows=array.shape[0],
        named=False,
    )


def read_rows(table: Any) -> Any:
    """A list of rows as an array of cells, each as it is, which has as many columns if no row of it is taken."""
    return _listed_rows(table) if isinstance(table, list | tuple) else table


def read_vector(values: Any, rows: int, name: str = "y") -> npt.NDArray[Any]:
    """One column beside a table, with as many cells as the table has rows."""
    if values is None:
        hint = "requires y to be passed, but the target y is None"
        raise InvalidParameter(name, given=None, allowed="a label or a number for every row", hint=f"This {hint}.")
    array = _column(values)
    if array.dtype.kind == "c":
        raise InvalidParameter(name, given="complex numbers", allowed="real numbers or labels")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or array.shape[0] != rows:
        raise InvalidParameter(name, given="another number of cells", allowed="one cell for each row of X")
    return array


def _framed(table: Any, names: list[str], keys: list[Any]) -> Cells:
    if len(set(names)) != len(names):
        raise InvalidParameter("X", given="two columns of one name", allowed="columns of different names")
    if not names:
        raise InvalidParameter("X", given="no columns", allowed="at least one column")
    columns = tuple(_texts(table[key]) for key in keys)
    return Cells(names=tuple(names), columns=columns, rows=len(columns[0]), named=all(type(k) is str for k in keys))


def _listed(values: Any) -> npt.NDArray[Any]:
    """Cells of a list, which has no type: whatever they are, each is read as it is, and none decides for others."""
    array = np.empty(len(values), dtype=object)
    for place, cell in enumerate(values):
        array[place] = cell
    return array


def _listed_rows(rows: Any) -> npt.NDArray[Any]:
    """Rows of a list, all of one length."""
    sizes = {len(row) if isinstance(row, list | tuple | np.ndarray) else -1 for row in rows}
    if -1 in sizes or not sizes:
        hint = "Expected 2D array, got 1D array instead. Reshape your data using array.reshape(-1, 1)."
        raise InvalidParameter("X", given="a list without rows", allowed=_ALLOWED, hint=hint)
    if len(sizes) > 1:
        raise InvalidParameter("X", given="rows of different lengths", allowed=_ALLOWED)
    array = np.empty((len(rows), sizes.pop()), dtype=object)
    for place, row in enumerate(rows):
        array[place] = _listed(row)
    return array


def _texts(values: Any) -> npt.NDArray[Any] | Repeated:
    """A column of a frame; one of pandas' texts by the different ones, which it finds faster than it lists all."""
    if hasattr(values, "factorize") and re.match(r"str(ing)?\b", str(getattr(values, "dtype", ""))):
        places, different = values.factorize()
        return Repeated(places, np.array([*different, math.nan], dtype=object))  # null has the place -1, the last
    return _column(values)


def _column(values: Any) -> npt.NDArray[Any]:
    if isinstance(values, list | tuple):
        return _listed(values)
    if hasattr(values, "toarray") and hasattr(values, "tocsr"):
        raise InvalidParameter("y", given=type(values).__name__, allowed="one dimension of labels or numbers")
    arrow = hasattr(values, "combine_chunks")
    array = _array(values.to_pylist() if arrow else values)
    declared = str(getattr(values, "type" if arrow else "dtype", "")).lower()
    for pattern, kinds, held in _DECLARED:
        if re.match(pattern, declared) and array.dtype.kind not in kinds:
            return _masked(values.to_pylist() if arrow else values.to_list(), held)
    return array


_DECLARED = (
    (r"u?int(8|16|32)\b|int64\b", "iu", np.dtype(np.int64)),
    (r"uint64\b", "iu", np.dtype(np.uint64)),
    (r"bool", "b", np.dtype(np.bool_)),
    (r"(half)?float|double", "f", np.dtype(np.float64)),
)
"""By what a frame's column is declared to be, the kinds of array it is read as, and what holds one with nulls."""


def _masked(cells: list[Any], held: np.dtype[Any]) -> npt.NDArray[Any]:
    """A column with nulls, of its declared kind: one null makes neither floats nor objects of the other cells."""
    known = [isinstance(cell, int | float) and cell == cell for cell in cells]
    values = np.array([cell if there else 0 for cell, there in zip(cells, known, strict=True)], dtype=held)
    return np.ma.MaskedArray(values, mask=np.logical_not(np.array(known, dtype=np.bool_)))


def _array(values: Any) -> npt.NDArray[Any]:
    try:
        array = values if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
        if not isinstance(values, np.ndarray) and (array.dtype.kind in "US" or _rounded(array)):
            listed = values.to_list() if hasattr(values, "to_list") else values
            array = np.asarray(listed, dtype=object)  # numbers beside texts stay numbers, and whole ones beside nulls
    except ValueError:  # rows of different lengths
        raise InvalidParameter("X", given="rows of different lengths", allowed=_ALLOWED) from None
    if array.dtype.kind == "V":
        raise InvalidParameter("X", given="a structured array", allowed=_ALLOWED)
    return array


def _rounded(array: npt.NDArray[Any]) -> bool:
    """Whether whole numbers may have become others: one null or float makes floats of all, where 2⁵³ + 1 is 2⁵³."""
    return array.dtype.kind == "f" and bool((np.abs(array) >= 2**53).any())
