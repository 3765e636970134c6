"""Which columns a fit reads and how: from public bounds and categories, never from the cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.errors import InvalidParameter, MissingBounds, UnknownColumn
from tacit.learn.reading.columns import Category, Codes, Number, Repeated, column_from_dict
from tacit.learn.reading.frames import Cells

__all__ = ["Schema", "read_classes", "read_columns"]

TARGET = "target"


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns to learn from and, where there is one, the column to learn.

    >>> Schema((Number("age", 0, 120),), Category("target", ("no", "yes"))).names
    ('age',)
    """

    columns: tuple[Number | Category, ...]
    target: Number | Category | None = None
    named: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns to learn from."""
        return tuple(column.name for column in self.columns)

    def encode(self, cells: Cells) -> Codes:
        """The codes of a table that has these columns, a row for each of its rows."""
        codes = np.empty((cells.rows, len(self.columns)), dtype=np.int16, order="F")
        for place, (column, values) in enumerate(zip(self.columns, cells.columns, strict=True)):
            codes[:, place] = values.codes(column) if isinstance(values, Repeated) else column.encode(values)
        return codes

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "columns": [column.to_dict() for column in self.columns],
            "target": None if self.target is None else self.target.to_dict(),
            "named": self.named,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Schema:
        """The schema that `to_dict` described."""
        target = values["target"]
        columns = tuple(column_from_dict(column) for column in values["columns"])
        return cls(columns, None if target is None else column_from_dict(target), bool(values["named"]))


def read_columns(cells: Cells, bounds: Any, categories: Any) -> tuple[Number | Category, ...]:
    """A column for each of a table's: by its categories if it has some, otherwise by its bounds.

    ``bounds`` is one pair for all, a pair for each in order, or a mapping from names (or places) to pairs;
    ``categories`` is such a mapping to lists of values. Columns of truth values need neither; those of a list do, which
    has no types: its cells are not looked at for one.
    """
    listed = _by_place(categories, cells, "categories")
    pairs = _pairs(bounds, cells)
    both = sorted(set(listed) & set(pairs)) if isinstance(bounds, Mapping) else []
    if both:
        raise InvalidParameter(cells.names[both[0]], given="bounds and categories", allowed="one of the two")
    return tuple(_column(place, cells, pairs, listed) for place in range(len(cells.names)))


def _column(place: int, cells: Cells, pairs: dict[int, Any], listed: dict[int, Any]) -> Number | Category:
    name = cells.names[place]
    if place in listed:
        return Category(name, _values(listed[place], f"categories of {name}"))
    if place in pairs:
        return _number(name, pairs[place])
    if cells.columns[place].dtype.kind == "b":
        return Number(name, 0, 1)
    raise MissingBounds(name, f'Add bounds={{"{name}": (low, high)}} or categories={{"{name}": [...]}}.')


def read_classes(classes: Any, labels: Any) -> Category:
    """The public list of classes, in order; arrays and columns of truth values need none.

    ``classes=None`` stands for 0 and 1 for numbers; other labels must be declared, because their list is private, and
    those of a list too: it has no type, so that its cells would decide.
    """
    if classes is None:
        if labels.dtype.kind == "b":
            return Category(TARGET, (False, True))
        if labels.dtype.kind in "iuf":
            return Category(TARGET, (0, 1))
        hint = "The labels that occur are private: which ones there can be is declared."
        allowed = "the list of the classes, for labels in a list, of text or of mixed kinds"
        raise InvalidParameter("classes", given=None, allowed=allowed, hint=hint)
    column = Category(TARGET, _values(classes, "classes"))
    if len(column.values) < 2:
        raise InvalidParameter("classes", given=classes, allowed="at least two classes")
    return column


def read_target(bounds: Any) -> Number:
    """The public bounds of the number to learn."""
    if bounds is None:
        raise MissingBounds(TARGET, "Add target_bounds=(low, high).")
    return _number(TARGET, bounds)


def _values(values: Any, name: str) -> tuple[Any, ...]:
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise InvalidParameter(name, given=values, allowed="a list of values")
    return tuple(values)


def _number(name: str, pair: Any) -> Number:
    if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
        raise InvalidParameter(f"bounds of {name}", given=pair, allowed="a pair (low, high)")
    return Number(name, pair[0], pair[1])


def _pairs(bounds: Any, cells: Cells) -> dict[int, Any]:
    if bounds is None or isinstance(bounds, Mapping):
        return _by_place(bounds, cells, "bounds")
    if isinstance(bounds, str) or not isinstance(bounds, Sequence | np.ndarray):
        raise InvalidParameter("bounds", given=bounds, allowed=_BOUNDS)
    width = len(cells.names)
    if len(bounds) == 2 and not any(hasattr(bound, "__len__") for bound in bounds):
        return dict.fromkeys(range(width), bounds)
    if len(bounds) != width:
        raise InvalidParameter("bounds", given=f"{len(bounds)} pairs", allowed=f"{_BOUNDS}; there are {width} columns")
    return dict(enumerate(bounds))


_BOUNDS = 'one pair (low, high) for all columns, a pair for each, or a mapping such as {"age": (0, 120)}'


def _by_place(given: Any, cells: Cells, what: str) -> dict[int, Any]:
    """A mapping from names or places as one from places."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InvalidParameter(what, given=given, allowed='a mapping such as {"age": ...}')
    places = {name: place for place, name in enumerate(cells.names)}
    found = {}
    for key, value in given.items():
        place = places.get(str(key), key if isinstance(key, int) and not cells.named else None)
        if place is None or not 0 <= place < len(cells.names):
            raise UnknownColumn(f"{what} name {key!r}, which is no column. The columns: {', '.join(cells.names)}.")
        found[place] = value
    return found
