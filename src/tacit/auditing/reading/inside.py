"""What is inside an outcome that is not plain: frames, records, dates, iterators, objects with attributes."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import itertools
import numbers
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = ["Label", "Named", "array_words", "inside"]

_MOST_DRAWN = 1 << 16  # items of an iterator
_EPOCH = datetime.datetime(1970, 1, 1)
_CONTAINERS = (np.ndarray, list, tuple, Mapping, Set, deque)
_FRAMES = ("pandas", "polars", "pyarrow")


class Label(str):
    """The name of a part: a label as a whole, also where there is a number in it."""

    __slots__ = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Named:
    """A kind of thing, and its parts in a fixed order; ``keys`` as they came, where order can tell something."""

    kind: str
    parts: Sequence[Any]
    keys: tuple[Any, ...] | None = None


def inside(item: Any) -> Named | None:
    """The parts of an outcome; None where nothing is known to be inside.

    >>> inside(2 - 1j).parts, inside(Decimal("1.50")).parts, inside({"b": 1, "a": 2}).parts
    ([2.0, -1.0], [1.5, 150, -2], ['a', 2, 'b', 1])
    """
    found = _inside(item)
    if found is None or not isinstance(item, _CONTAINERS) or not getattr(item, "__dict__", None):
        return found
    return dataclasses.replace(found, parts=[*found.parts, dict(vars(item))])


def _inside(item: Any) -> Named | None:
    if isinstance(item, np.ndarray):
        return _array(item)
    if isinstance(item, np.void) and item.dtype.names:
        return Named("void", _labelled((name, item[name]) for name in item.dtype.names))
    if isinstance(item, range | slice):
        return Named(type(item).__name__, [item.start, item.stop, item.step])
    if isinstance(item, list | tuple | deque | array):
        return Named("" if type(item) is list else type(item).__name__, list(item))
    if isinstance(item, Mapping):
        return _mapping(item)
    if isinstance(item, Set):
        return Named(type(item).__name__, sorted(item, key=repr))
    if isinstance(item, Fraction | Decimal | complex | np.complexfloating | np.longdouble):
        return _unusual_number(item)
    if isinstance(item, datetime.date | datetime.time | datetime.timedelta | np.datetime64 | np.timedelta64):
        return _time(item)
    if type(item).__module__.partition(".")[0] in _FRAMES:
        return _frame(item)
    if isinstance(item, enum.Enum | type) or callable(item):
        return None
    if isinstance(item, Iterator):
        return Named("iterator", list(itertools.islice(item, _MOST_DRAWN)))
    return _object(item)


def _array(item: Any) -> Named:
    if item.dtype.names:
        return Named("record", _labelled((name, item[name]) for name in item.dtype.names))
    flat = np.asarray(item).reshape(-1)
    kind = array_words(item) if type(item) is np.ndarray else f"{type(item).__name__} {array_words(item)}"
    return Named(kind, (flat.astype(np.int64) if flat.dtype.kind in "mM" else flat).tolist())


def array_words(item: Any) -> str:
    """The type and the shape of an array: an onlooker sees both.

    >>> array_words(np.zeros((2, 3)))
    'float64(2×3)'
    """
    return f"{item.dtype}({'×'.join(map(str, item.shape))})"


def _mapping(item: Mapping[Any, Any]) -> Named:
    pairs = sorted(item.items(), key=lambda pair: repr(pair[0]))
    return Named(type(item).__name__, _labelled(pairs), tuple(map(repr, item)))


def _labelled(pairs: Iterable[tuple[Any, Any]]) -> list[Any]:
    return [part for key, value in pairs for part in (Label(key) if isinstance(key, str) else key, value)]


def _unusual_number(item: Any) -> Named:
    """Numbers that a float cannot hold: the float, and what shows the rest."""
    if isinstance(item, Fraction):
        return Named("Fraction", [_float(item), item.numerator, item.denominator])
    if isinstance(item, Decimal):
        if not item.is_finite():
            return Named("Decimal", [str(item)])
        _, digits, exponent = item.as_tuple()
        whole = int("".join(map(str, digits)) or "0") if len(digits) < 4000 else 0
        return Named("Decimal", [_float(item), whole, int(exponent)])
    if isinstance(item, np.longdouble):
        near = float(item)
        return Named("longdouble", [near, float(item - np.longdouble(near))])
    return Named("complex", [float(item.real), float(item.imag)])


def _float(item: Any) -> float:
    try:
        return float(item)
    except OverflowError:
        return float("inf") if item > 0 else float("-inf")


def _time(item: Any) -> Named:
    """Dates and times as whole numbers of their finest unit."""
    kind = type(item).__name__
    if isinstance(item, np.datetime64 | np.timedelta64):
        return Named(str(item.dtype), [int(item.astype(np.int64))])
    if isinstance(item, datetime.timedelta):
        return Named(kind, [getattr(item, "value", item // datetime.timedelta(microseconds=1))])
    if isinstance(item, datetime.time):
        parts = ((item.hour * 60 + item.minute) * 60 + item.second) * 10**6 + item.microsecond
        return Named(kind, [parts, item.tzname()])
    if isinstance(item, datetime.datetime):
        plain = item.replace(tzinfo=None)
        exact = getattr(item, "value", None)  # of pandas, in nanoseconds
        return Named(kind, [exact or (plain - _EPOCH) // datetime.timedelta(microseconds=1), item.tzname()])
    return Named(kind, [item.toordinal()])


def _frame(item: Any) -> Named | None:
    """Frames, columns and tables of pandas, Polars and Arrow, which need not be installed."""
    kind = type(item).__name__
    if hasattr(item, "to_pydict"):
        return Named(kind, [*_labelled(item.to_pydict().items()), Label(getattr(item, "schema", ""))])
    if hasattr(item, "to_dicts"):
        columns = _labelled((name, item[name].to_list()) for name in item.columns)
        return Named(kind, [*columns, Label(item.dtypes)])
    if hasattr(item, "to_pylist"):
        return Named(kind, item.to_pylist())
    if hasattr(item, "to_list") and hasattr(item, "index") and hasattr(item, "to_frame"):
        return Named(kind, [item.name, *_column(item), list(item.index), item.index.name, *_notes(item)])
    if hasattr(item, "columns") and hasattr(item, "index"):
        columns = _labelled((name, _column(item.iloc[:, i])) for i, name in enumerate(item.columns))
        names = Label((*item.index.names, *item.columns.names))
        return Named(kind, [*columns, list(item.index), names, *_notes(item)])
    if hasattr(item, "to_list"):
        return Named(kind, item.to_list())
    if hasattr(item, "as_py"):
        return Named(kind, [item.as_py()])
    return None


def _column(series: Any) -> list[Any]:
    return [list(series.to_list()), Label(series.dtype)]


def _notes(frame: Any) -> list[Any]:
    """What was attached to a frame of pandas."""
    return [dict(frame.attrs)] if getattr(frame, "attrs", None) else []


def _object(item: Any) -> Named | None:
    kind = type(item).__name__
    if dataclasses.is_dataclass(item):
        fields = {field.name: getattr(item, field.name, None) for field in dataclasses.fields(item)}
        return Named(kind, _labelled((fields | _attributes(item)).items()))
    if hasattr(item, "__array__") and not isinstance(item, numbers.Number | np.generic):
        return Named(kind, [np.asarray(item)])
    if isinstance(item, bytearray | memoryview):
        return Named(kind, [bytes(item)])
    held = _attributes(item)
    return Named(kind, _labelled(held.items())) if held else None


def _attributes(item: Any) -> dict[str, Any]:
    slots = [name for one in type(item).__mro__ for name in _names(getattr(one, "__slots__", ()))]
    held = {name: getattr(item, name) for name in slots if not name.startswith("__") and hasattr(item, name)}
    return {**held, **getattr(item, "__dict__", {})}


def _names(slots: Any) -> list[str]:
    return [slots] if isinstance(slots, str) else list(slots)
