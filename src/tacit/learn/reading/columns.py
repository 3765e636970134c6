"""Columns as whole numbers, by public rules alone: numbers in steps of their bounds, categories by their place.

A cell's code depends on that cell and on public parameters. Whatever a cell holds has a code: numbers beyond the bounds
get that of the bound; NaN, nulls, what cannot be read as a number and unknown categories get `MISSING`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import repeat
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter

__all__ = ["LEVELS", "MISSING", "Category", "Codes", "Column", "Number", "Repeated", "column_from_dict"]

Codes = npt.NDArray[np.int16]

LEVELS = 1 << 14
"""How many steps there are between the bounds of a number."""

MISSING = -(1 << 15)
"""The code of what is unknown."""


class Column(Protocol):
    """A column whose codes are known without the data."""

    @property
    def name(self) -> str: ...

    @property
    def lowest(self) -> int:
        """The smallest code, `MISSING` apart."""

    @property
    def highest(self) -> int:
        """The largest code."""

    def encode(self, cells: npt.NDArray[Any]) -> Codes:
        """The code of each cell."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""


@dataclass(frozen=True, slots=True, repr=False)
class Repeated:
    """Cells by the place of each among different values: what a cell's code depends on is looked at once for each.

    >>> cells = Repeated(np.array([0, 1, 0, -1]), np.array(["Oslo", "Rome", np.nan], dtype=object))
    >>> cells.codes(Category("city", ("Oslo", "Bonn"))).tolist()
    [0, -32768, 0, -32768]
    """

    places: npt.NDArray[np.intp]
    values: npt.NDArray[Any]

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of the cells."""
        return self.values.dtype

    def __len__(self) -> int:
        return len(self.places)

    def codes(self, column: Column) -> Codes:
        """The code of each cell."""
        found: Codes = column.encode(self.values)[self.places]
        return found

    def __repr__(self) -> str:
        return "Repeated(private)"


@dataclass(frozen=True, slots=True)
class Number:
    """A number between public bounds, in 2¹⁴ steps between them, cut off toward zero.

    With zero between the bounds a code counts steps from zero, otherwise from the bound next to zero.

    >>> age = Number("age", 0, 128)
    >>> age.encode(np.array([-5, 0, 64, 64.001, 200, np.nan])).tolist()
    [0, 0, 8192, 8192, 16384, -32768]
    >>> Number("change", -1, 1).encode(np.array([-0.5, -1e-9, 2])).tolist()
    [-4096, 0, 8192]
    """

    name: str
    low: float
    high: float
    origin: float = field(init=False)
    lowest: int = field(init=False)
    highest: int = field(init=False)
    _per_unit: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        low, high = _bound(self.low, self.name), _bound(self.high, self.name)
        width = high - low
        if not (low < high and math.isfinite(width) and math.isfinite(LEVELS / width)):
            raise InvalidParameter(f"bounds of {self.name}", given=(self.low, self.high), allowed=_BOUNDS)
        origin = min(max(0.0, low), high)
        set_field = object.__setattr__
        set_field(self, "low", low)
        set_field(self, "high", high)
        set_field(self, "origin", origin)
        set_field(self, "_per_unit", LEVELS / width)
        set_field(self, "lowest", math.trunc((low - origin) * self._per_unit))
        set_field(self, "highest", math.trunc((high - origin) * self._per_unit))

    def encode(self, cells: npt.NDArray[Any]) -> Codes:
        values = _floats(cells)
        unknown = np.isnan(values)
        np.clip(values, self.low, self.high, out=values)
        values -= self.origin
        values *= self._per_unit
        np.trunc(values, out=values)
        np.clip(values, self.lowest, self.highest, out=values)
        values[unknown] = MISSING
        return values.astype(np.int16)

    def value(self, code: npt.NDArray[Any] | float) -> Any:
        """What a code stands for, in the units of the column."""
        return self.origin + code / self._per_unit

    def codes_per_unit(self) -> float:
        """How many steps make one of the column's own units."""
        return self._per_unit

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "number", "name": self.name, "low": self.low, "high": self.high}


@dataclass(frozen=True, slots=True)
class Category:
    """One of a public list of values; the code is the place in the list.

    >>> Category("city", ("Rome", "Oslo")).encode(np.array(["Oslo", "Rome", "Bonn", None], dtype=object)).tolist()
    [1, 0, -32768, -32768]
    """

    name: str
    values: tuple[Any, ...]
    _places: dict[Any, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        values = tuple(_plain(value) for value in self.values)
        try:
            places = {value: place for place, value in enumerate(values)}
        except TypeError:
            raise InvalidParameter(f"categories of {self.name}", given=self.values, allowed=_VALUES) from None
        if not values or len(places) != len(values) or len(values) >= 1 << 15 or any(v != v for v in values):
            raise InvalidParameter(f"categories of {self.name}", given=self.values, allowed=_VALUES)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "_places", places)

    @property
    def lowest(self) -> int:
        return 0

    @property
    def highest(self) -> int:
        return len(self.values) - 1

    def encode(self, cells: npt.NDArray[Any]) -> Codes:
        places = self._places
        if cells.dtype.kind == "b" and not isinstance(cells, np.ma.MaskedArray):
            return Repeated(cells.astype(np.intp), np.array([False, True], dtype=object)).codes(self)
        listed = cells.tolist()
        try:
            return np.fromiter(map(places.get, listed, repeat(MISSING)), dtype=np.int16, count=len(listed))
        except Exception:  # a cell that cannot be looked up is unknown, and only that one
            codes = [_place(places, cell) for cell in listed]
        return np.array(codes, dtype=np.int16)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "category", "name": self.name, "values": list(self.values)}


def column_from_dict(values: dict[str, Any]) -> Number | Category:
    """The column that `to_dict` described."""
    if values["kind"] == "number":
        return Number(values["name"], values["low"], values["high"])
    return Category(values["name"], tuple(values["values"]))


_BOUNDS = "two finite numbers, the lower one first, known without looking at the data"
_VALUES = "a list of different values, fewer than 32768, known without looking at the data"


def _bound(value: object, name: str) -> float:
    """A bound as the nearest float: public, so rounding it costs nothing."""
    try:
        return float(value if not isinstance(value, str) else Fraction(value))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise InvalidParameter(f"bounds of {name}", given=value, allowed=_BOUNDS) from None


def _plain(value: object) -> object:
    """numpy's scalars as Python's own, so that files can hold them."""
    return value.item() if isinstance(value, np.generic) else value


def _place(places: dict[Any, int], cell: object) -> int:
    try:
        return places.get(cell, MISSING)
    except Exception:
        return MISSING


def _floats(cells: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """A new array of floats; what is no number is NaN."""
    if cells.dtype.kind in "fiub":
        reals = cells.astype(np.float64)
        return reals.filled(math.nan) if isinstance(reals, np.ma.MaskedArray) else reals
    return np.array([_float(cell) for cell in cells.tolist()], dtype=np.float64)


def _float(cell: Any) -> float:
    try:
        return float(cell)
    except Exception:  # text, a date, None, a whole number beyond the floats: unknown, and only this cell
        return math.nan
