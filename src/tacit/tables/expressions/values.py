"""Arrays of released values, null where unknown, and how an operator is lifted to them.

Numbers are doubles; texts and times are Python objects, computed one by one.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.tables.expressions.kinds import Kind, common_kind, kind_of_value
from tacit.tables.expressions.tree import Value

__all__ = ["Compute", "Values", "as_moment", "constant", "each", "null", "numeric", "truth", "truths", "values_of"]

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
_LARGEST_WHOLE = float(2**63)


@dataclass(frozen=True, slots=True)
class Values:
    """One value per row: doubles for numbers, truths, or Python objects; ``known`` is false where it is null."""

    kind: Kind | None
    data: npt.NDArray[np.generic]
    known: Mask

    @property
    def size(self) -> int:
        return len(self.known)

    def cells(self) -> list[Value]:
        """As Python values, None for null."""
        cells: list[Value] = [None] * self.size
        rows = np.flatnonzero(self.known)
        for row, value in zip(rows.tolist(), self.at(rows), strict=True):
            cells[row] = value
        return cells

    def at(self, rows: npt.NDArray[np.intp]) -> list[Value]:
        """Python values of these rows, which are known."""
        cells = self.data[rows].tolist()
        return [int(value) for value in cells] if self.kind is Kind.INTEGER else cells

    def widened(self, kind: Kind | None) -> Values:
        """As the wider kind that several values have together."""
        if self.kind is kind:
            return self
        if self.kind is None:
            return null(kind, self.size)
        if kind is Kind.TIMESTAMP:
            return each(as_moment)([self], Kind.TIMESTAMP)
        return Values(kind, self.data, self.known)


Compute = Callable[[Sequence[Values], Kind], Values]
"""What an operator gives of the values of its arguments, and of which kind that is."""


def values_of(cells: Sequence[Value], kind: Kind | None = None) -> Values:
    """Python values as an array; their kind is found if it is not given."""
    known = np.array([cell is not None for cell in cells], dtype=bool)
    if kind is None:
        kind = common_kind(tuple({kind_of_value(cell) for cell in cells if cell is not None})) if known.any() else None
    if kind is not None and kind.is_number:
        return Values(kind, np.array([0.0 if cell is None else cell for cell in cells], dtype=np.float64), known)
    if kind is Kind.BOOLEAN:
        return Values(kind, np.array([bool(cell) for cell in cells], dtype=bool), known)
    if kind is Kind.TIMESTAMP:
        cells = [as_moment(cell) if isinstance(cell, datetime.date) else None for cell in cells]
    made = np.empty(len(cells), dtype=object)
    made[:] = cells
    return Values(kind, made, known)


def constant(value: Value, size: int) -> Values:
    """The same value in every row."""
    kind = kind_of_value(value)
    filled: type = np.float64 if kind is not None and kind.is_number else bool if kind is Kind.BOOLEAN else object
    return Values(kind, np.full(size, value, dtype=filled), np.full(size, value is not None))


def null(kind: Kind | None, size: int) -> Values:
    """Unknown in every row."""
    return values_of([None] * size, kind)


def truth(data: Mask, known: Mask) -> Values:
    """True, false or unknown."""
    return Values(Kind.BOOLEAN, data & known, known)


def truths(values: Values) -> Mask:
    """Where it is known to be true."""
    return np.asarray(values.widened(Kind.BOOLEAN).data, dtype=bool) & values.known


def as_moment(value: datetime.date | datetime.datetime) -> datetime.datetime:
    """A date as its first moment."""
    return value if isinstance(value, datetime.datetime) else datetime.datetime(value.year, value.month, value.day)


def each(function: Callable[..., Value]) -> Compute:
    """A function of Python values, where all arguments are known."""

    def compute(arguments: Sequence[Values], kind: Kind) -> Values:
        known = np.logical_and.reduce([one.known for one in arguments])
        rows = np.flatnonzero(known)
        found = map(function, *(one.at(rows) for one in arguments))
        cells: list[Value] = [None] * len(known)
        for row, value in zip(rows.tolist(), found, strict=True):
            cells[row] = value
        return values_of(cells, kind)

    return compute


def numeric(function: Callable[..., Floats]) -> Compute:
    """A function of doubles; null where it gives none, and where a whole number leaves 64 bits."""

    def compute(arguments: Sequence[Values], kind: Kind) -> Values:
        numbers = (one if one.kind is not None else null(Kind.INTEGER, one.size) for one in arguments)
        fine = np.logical_and.reduce([one.known for one in arguments])
        with np.errstate(all="ignore"):
            data = np.asarray(function(*(one.data.astype(np.float64) for one in numbers)), dtype=float)
            fine = fine & np.isfinite(data)
            if kind is Kind.INTEGER:
                fine &= np.abs(data) < _LARGEST_WHOLE
        return Values(kind, np.where(fine, data, 0.0) + 0.0, fine)

    return compute
