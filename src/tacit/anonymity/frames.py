"""Frames and lists as DuckDB takes them: arrays by name, or an Arrow stream."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter

__all__ = ["arrays_of"]

_PLAIN = "iufb"
_WIDEST = 2**63


class _Stream:
    """Only the Arrow stream of a frame: DuckDB would ask for pyarrow if it knew whose it is."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._frame.__arrow_c_stream__(requested_schema)


def arrays_of(source: Any, allowed: str) -> Any:
    """What `register` takes for this source."""
    if isinstance(source, Mapping):
        return _same_length({str(name): _from_list(values) for name, values in source.items()}, allowed)
    if type(source).__module__.split(".")[0] == "pandas" and hasattr(source, "iloc"):
        labels = [str(label) for label in source.columns]
        if len(set(labels)) < len(labels):
            raise InvalidParameter(
                "source", given="two columns of one name", allowed="a name of its own for each column"
            )
        places = enumerate(labels)
        return _same_length({name: _from_pandas(source.iloc[:, place]) for place, name in places}, allowed)
    if hasattr(source, "__arrow_c_stream__"):
        return _Stream(source)
    raise InvalidParameter("source", given=type(source).__name__, allowed=allowed)


def _same_length(arrays: dict[str, npt.NDArray[Any]], allowed: str) -> dict[str, npt.NDArray[Any]]:
    lengths = {name: len(values) for name, values in arrays.items()}
    for place, name in enumerate(arrays):
        if not name.strip() or name.lower() in [other.lower() for other in list(arrays)[:place]]:
            given = f"two columns named {name!r}, but for capitals" if name.strip() else "a column without a name"
            raise InvalidParameter("source", given=given, allowed="a name of its own for each column")
    if not arrays or len(set(lengths.values())) > 1:
        given = "no column" if not arrays else f"columns of {lengths} values"
        raise InvalidParameter("source", given=given, allowed=allowed)
    return arrays


def _from_pandas(column: Any) -> npt.NDArray[Any]:
    dtype = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in _PLAIN:
        return np.ascontiguousarray(column.to_numpy())
    return _from_list(column.astype(object))


def _from_list(values: Iterable[Any]) -> npt.NDArray[Any]:
    """Whole numbers, numbers, or texts; None and NaN are unknown. Beside unknown ones, whole numbers are texts."""
    listed = list(values)
    known = [value for value in listed if value is not None]
    if known and len(known) == len(listed) and all(_is_whole(v) and abs(int(v)) < _WIDEST for v in known):
        return np.array(listed, dtype=np.int64)
    if known and all(_is_number(value) for value in known) and not all(_is_whole(value) for value in known):
        return np.array([np.nan if value is None else float(value) for value in listed])
    return np.array([_text(value) for value in listed], dtype=object)


def _is_whole(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)


def _is_number(value: object) -> bool:
    """Whether a double holds it exactly."""
    return isinstance(value, float | np.floating) or (_is_whole(value) and abs(int(value)) <= 2**53)  # type: ignore[call-overload]


def _text(value: Any) -> str | None:
    """A value as the text that a file would hold; None for what is unknown."""
    if value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value):
        return None
    return str(value).encode("utf-8", "replace").decode("utf-8")
