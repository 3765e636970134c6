"""Released columns as plain values: what every renderer takes."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tacit.errors import InvalidParameter

__all__ = ["Cell", "Column", "interval_columns", "same_length"]

Cell: TypeAlias = "int | float | str | bool | datetime.date | datetime.datetime | None"
"""One released value."""


@dataclass(frozen=True, slots=True)
class Column:
    """A released column: its values and, where noise was added, an interval for each.

    ``low`` and ``high`` are None for keys and constants. Within them, None stands for "no bound"; a value of None is
    one that could not be computed, such as a quotient by zero. ``whole`` says that the values are whole numbers.

    >>> Column.of("n", [1003.0], [962.0], [1044.0], whole=True).values
    (1003,)
    """

    name: str
    values: tuple[Cell, ...]
    low: tuple[float | None, ...] | None = None
    high: tuple[float | None, ...] | None = None
    whole: bool = False

    def __post_init__(self) -> None:
        ends = [end for end in (self.low, self.high) if end is not None]
        if len(ends) == 1 or any(len(end) != len(self.values) for end in ends):
            allowed = "as many lower and upper ends as values, or neither"
            raise InvalidParameter(f"interval of {self.name}", given=[len(end) for end in ends], allowed=allowed)

    @classmethod
    def of(
        cls,
        name: str,
        values: Iterable[Any],
        low: Iterable[Any] | None = None,
        high: Iterable[Any] | None = None,
        *,
        whole: bool = False,
    ) -> Column:
        """A column from any sequences, NumPy's included; NaN becomes None, and so does an infinite end."""
        cells = tuple(_cell(value, whole) for value in _listed(values))
        if low is None or high is None:
            return cls(name, cells, None, None, whole)
        return cls(name, cells, _ends(low), _ends(high), whole)

    @property
    def is_noisy(self) -> bool:
        """Whether its values come with intervals."""
        return self.low is not None

    def interval(self, row: int) -> tuple[float | None, float | None]:
        """The ends of one value's interval; (None, None) if it has none."""
        if self.low is None or self.high is None:
            return None, None
        return self.low[row], self.high[row]

    def relative_error(self, row: int) -> float | None:
        """How far the farther end is, as a share of the value: ∞ for a value of 0, None where nothing can be said."""
        value, (low, high) = self.values[row], self.interval(row)
        if isinstance(value, str | datetime.date) or value is None or not self.is_noisy:
            return None
        if low is None or high is None:
            return math.inf
        error = max(high - value, value - low)
        return error / abs(value) if value else math.inf


def same_length(columns: Sequence[Column]) -> int:
    """The number of rows that all the columns have."""
    lengths = {len(column.values) for column in columns}
    if len(lengths) > 1:
        raise InvalidParameter("columns", given=sorted(lengths), allowed="columns of one length")
    return lengths.pop() if lengths else 0


def interval_columns(columns: Sequence[Column]) -> dict[str, list[Any]]:
    """All columns by name, with ``n_low`` and ``n_high`` behind each noisy ``n``; taken names get an underscore more.

    >>> interval_columns([Column.of("city", ["Lund"]), Column.of("n", [7], [3], [11], whole=True)])
    {'city': ['Lund'], 'n': [7], 'n_low': [3], 'n_high': [11]}
    """
    same_length(columns)
    taken, made = {column.name for column in columns}, dict[str, list[Any]]()
    for column in columns:
        made[column.name] = list(column.values)
        for suffix, ends in (("low", column.low), ("high", column.high)):
            if ends is None:
                continue
            name = f"{column.name}_{suffix}"
            while name in taken:
                name += "_"
            taken.add(name)
            made[name] = [int(end) if column.whole and end is not None and end == int(end) else end for end in ends]
    return made


def _listed(values: Iterable[Any]) -> list[Any]:
    to_list = getattr(values, "tolist", None)  # NumPy, Arrow and pandas have one, and give Python's own numbers
    return list(to_list() if to_list is not None else values)


def _cell(value: Any, whole: bool) -> Cell:
    if isinstance(value, float):
        if math.isnan(value):
            return None
        if whole and value.is_integer():
            return int(value)
    cell: Cell = value
    return cell


def _ends(values: Iterable[Any]) -> tuple[float | None, ...]:
    return tuple(None if end is None or not math.isfinite(end) else end for end in _listed(values))
