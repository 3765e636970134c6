"""Neighbouring tables: one row more or less, or one row replaced; ordinary, extreme and null ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacit.errors import InvalidParameter

__all__ = ["Rows"]

Pair = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class Rows:
    """Functions of a table like this one: a list of rows, an array with a row in each line, or a pandas frame.

    A unit is one row; with ``replace=True`` it is changed and not added. ``bounds`` are the least and the largest
    value that a cell may have, if that is known: without them a row may hold anything.

    >>> [(len(one), len(other)) for one, other in Rows([3, 4], bounds=(0, 10)).pairs()]
    [(2, 1), (2, 1), (0, 1), (0, 1), (0, 1), (2, 3), (2, 3), (2, 3)]
    """

    like: Any
    replace: bool = field(default=False, kw_only=True)
    bounds: tuple[float, float] | None = field(default=None, kw_only=True)
    nulls: bool = field(default=False, kw_only=True)
    """Whether a row may be null: None or NaN."""

    def __post_init__(self) -> None:
        if not hasattr(self.like, "__len__") or len(self.like) == 0 or isinstance(self.like, str | bytes | Mapping):
            allowed = "a table with at least one row: a list, an array or a frame"
            raise InvalidParameter("like", given=self.like, allowed=allowed)

    def pairs(self) -> list[Pair]:
        """Tables that differ in one row."""
        rows = _rows(self.like)
        last, strange = rows[-1], self._strange(rows[-1])
        if self.replace:
            found = [([*rows[:-1], one], [*rows[:-1], other]) for one, other in _two_of([last, *strange])]
            found += [([one, *rows[1:]], rows) for one in strange]
        else:
            found = [(rows, rows[:-1]), (rows, rows[1:])]
            found += [([], [one]) for one in [last, *strange]]
            found += [(rows, [*rows, one]) for one in [last, *strange]]
        return [(self._made(one), self._made(other)) for one, other in found]

    def _strange(self, row: Any) -> list[Any]:
        """Rows that are extreme or null, shaped like this one."""
        low, high = self.bounds or (-1e9, 1e9)
        fills: list[Any] = [low, high] if self.bounds else [low, high, 2.0**60]
        return [_filled(row, fill) for fill in [*fills, *([None] if self.nulls else [])]]

    def _made(self, rows: Sequence[Any]) -> Any:
        if isinstance(self.like, np.ndarray):
            return np.array(rows, dtype=self.like.dtype).reshape(len(rows), *self.like.shape[1:])
        if hasattr(self.like, "iloc"):
            made = self.like.iloc[:0].reindex(range(len(rows)))
            for i, name in enumerate(self.like.columns):
                made[name] = [row[i] for row in rows]
            return made.astype(self.like.dtypes) if not self.nulls else made
        return tuple(rows) if isinstance(self.like, tuple) else list(rows)


def _rows(table: Any) -> list[Any]:
    if hasattr(table, "iloc"):
        return [tuple(row) for row in table.itertuples(index=False)]
    return list(table)


def _two_of(rows: list[Any]) -> list[tuple[Any, Any]]:
    return [(rows[0], other) for other in rows[1:]] + ([(rows[1], rows[2])] if len(rows) > 2 else [])


def _filled(row: Any, fill: Any) -> Any:
    """A row of the same shape with this in every cell that holds a number, or in every cell if it is null."""
    if isinstance(row, Mapping):
        return {key: _cell(value, fill) for key, value in row.items()}
    if isinstance(row, np.ndarray):
        return np.array([_cell(value, fill) for value in row.tolist()], dtype=row.dtype)
    if isinstance(row, list | tuple):
        return type(row)(_cell(value, fill) for value in row)
    return _cell(row, fill)


def _cell(value: Any, fill: Any) -> Any:
    if fill is None:
        return math.nan if isinstance(value, float) else None
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return value
    return type(value)(fill)
