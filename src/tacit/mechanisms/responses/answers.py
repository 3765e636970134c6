"""The possible answers of a question, and where each given value stands among them, at array speed."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.mechanisms.shared.inputs import INT64_MAX

__all__ = ["UNKNOWN", "Answers", "listed", "several"]

Places = npt.NDArray[np.int64]

UNKNOWN = -1
"""The place of a value that is none of the answers."""

_TABLE = 1 << 20


class Answers:
    """Different answers in a fixed order; values equal to one, as Python compares them, have its place.

    >>> answers = Answers(["red", "green", "blue"])
    >>> answers.places(np.array(["blue", "red", "mauve"])).tolist(), answers.place("green")
    ([2, 0, -1], 1)
    >>> Answers(range(10, 20)).places(np.array([10, 19, 20])).tolist()
    [0, 9, -1]
    """

    __slots__ = ("_first", "_index", "_integers", "_listed", "_span", "_table", "_texts")

    def __init__(self, categories: object) -> None:
        if isinstance(categories, range) and _is_plain(categories):
            self._set_range(categories)
            return
        self._listed = _distinct(categories)
        self._index = {category: place for place, category in enumerate(self._listed)}
        self._integers = _integers(self._listed)
        self._texts = _texts(self._listed)
        self._first, self._span, self._table = 0, 0, None
        if self._integers is not None:
            values = self._integers[0]
            self._first, self._span = int(values[0]), int(values[-1]) - int(values[0]) + 1
            ordered = self._listed == tuple(range(self._first, self._first + len(self._listed)))
            if not ordered and self._span <= _TABLE:
                self._table = np.full(self._span, UNKNOWN, dtype=np.int64)
                self._table[values - self._first] = self._integers[1]
            elif not ordered:
                self._span = 0

    def _set_range(self, categories: range) -> None:
        """The same for whole numbers in a row, without a look at each."""
        self._listed = tuple(categories)
        self._index = dict(zip(self._listed, range(len(categories)), strict=True))
        values = np.arange(categories.start, categories.stop, dtype=np.int64)
        self._integers, self._texts = (values, values - categories.start), None
        self._first, self._span, self._table = categories.start, len(categories), None

    @property
    def listed(self) -> tuple[Any, ...]:
        """The answers themselves."""
        return self._listed

    @property
    def tuples(self) -> bool:
        """Whether an answer is a tuple: then every tuple is one value, and not several."""
        return any(isinstance(category, tuple) for category in self._listed)

    def __len__(self) -> int:
        return len(self._listed)

    def place(self, value: Any) -> int:
        """Where one value stands; `UNKNOWN` for anything that is no answer, whatever it is."""
        plain = value.item() if isinstance(value, np.generic) else value
        try:
            return self._index.get(plain, UNKNOWN)
        except Exception:  # whatever a foreign value raises when it is hashed or compared, it is no answer
            return UNKNOWN

    def places(self, values: npt.NDArray[Any]) -> Places:
        """Where each value of a one-dimensional array stands."""
        if values.dtype.kind in "iub" and self._integers is not None:
            return self._of_integers(values.view(np.uint8) if values.dtype.kind == "b" else values)
        if values.dtype.kind == "U" and self._texts is not None:
            return _found(values, *self._texts)
        if values.dtype == object:
            return np.fromiter((self.place(value) for value in values), dtype=np.int64, count=values.size)
        try:
            known, inverse = np.unique(values, return_inverse=True)
        except Exception:  # values without an order: types that do not compare, or missing ones
            return self.places(values.astype(object))
        return np.array([self.place(item) for item in known.tolist()], dtype=np.int64)[inverse.reshape(-1)]

    def _of_integers(self, values: npt.NDArray[Any]) -> Places:
        assert self._integers is not None
        if values.dtype == np.uint64:
            return np.where(values > INT64_MAX, UNKNOWN, self._of_integers(values.astype(np.int64)))
        if not self._span:
            return _found(values, *self._integers)
        offsets = np.subtract(values, self._first, dtype=np.int64)
        within = offsets.view(np.uint64) < self._span  # what lies before the first wraps to the largest
        if self._table is None:
            return np.where(within, offsets, UNKNOWN)
        return np.where(within, self._table[np.where(within, offsets, 0)], UNKNOWN)


def several(values: Any) -> npt.NDArray[Any] | None:
    """Several values as an array that keeps each as it is; None for what is not several values."""
    if isinstance(values, list | tuple):
        return listed(values)
    array = np.asarray(values) if hasattr(values, "__array__") and not isinstance(values, np.generic) else None
    return array if array is not None and array.ndim else None


def listed(values: Sequence[Any]) -> npt.NDArray[Any]:
    """A sequence as an array of objects, numpy's numbers as Python's."""
    out = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        out[i] = value.item() if isinstance(value, np.generic) else value
    return out


def _is_plain(categories: range) -> bool:
    ends = categories.start, categories.stop
    return categories.step == 1 and len(categories) >= 2 and all(-(1 << 62) <= end <= 1 << 62 for end in ends)


def _distinct(categories: object) -> tuple[Any, ...]:
    allowed = "a list of at least two different answers"
    if not isinstance(categories, Sequence | np.ndarray | range) or isinstance(categories, str):
        raise InvalidParameter("categories", given=categories, allowed=allowed)
    given = categories.tolist() if isinstance(categories, np.ndarray) else categories
    found = tuple(one.item() if isinstance(one, np.generic) else one for one in given)
    if len(found) < 2 or len(set(found)) != len(found):
        raise InvalidParameter("categories", given=categories, allowed=allowed)
    return found


def _integers(categories: tuple[Any, ...]) -> tuple[Places, Places] | None:
    """The whole numbers among the answers, sorted, and their places; None if one does not fit into 64 bits.

    What is no number cannot equal a whole one; a float or a fraction could, and is left to Python to compare.
    """
    found = [(value, place) for place, value in enumerate(categories) if isinstance(value, int)]
    if not found or any(isinstance(value, numbers.Number) and not isinstance(value, int) for value in categories):
        return None
    if any(not -(1 << 62) <= value < 1 << 62 for value, _ in found):
        return None
    found.sort()
    return np.array([int(v) for v, _ in found], dtype=np.int64), np.array([p for _, p in found], dtype=np.int64)


def _texts(categories: tuple[Any, ...]) -> tuple[npt.NDArray[np.str_], Places] | None:
    """The texts among the answers, sorted, and their places; texts that numpy would cut are left to Python."""
    found = [(value, place) for place, value in enumerate(categories) if type(value) is str]
    if not found or any(value.endswith("\0") for value, _ in found):
        return None
    found.sort()
    return np.array([value for value, _ in found]), np.array([place for _, place in found], dtype=np.int64)


def _found(values: npt.NDArray[Any], known: npt.NDArray[Any], places: Places) -> Places:
    """The places of the values among the sorted ``known``."""
    at = np.minimum(np.searchsorted(known, values), known.size - 1)
    return np.where(known[at] == values, places[at], UNKNOWN)
