"""Rows divided among parts by secret coins, a coin for each unit; and private scores of predictions on a part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.learn.reading.columns import Category, Number
from tacit.learn.reading.frames import read_cells, read_rows, read_vector
from tacit.learn.reading.schema import read_target
from tacit.noise.coins import uniform_below
from tacit.noise.entropy import BitSource

__all__ = ["Divided", "Scoring", "divide", "scoring_of"]

Integers = npt.NDArray[np.int64]

_LEVELS = 256  # of a regression's error: from none to the whole width of the target's bounds


@dataclass(frozen=True, slots=True, repr=False)
class Divided:
    """A table with the part that each row is in; all rows of a unit are in one. Private."""

    X: Any
    y: npt.NDArray[Any]
    units: npt.NDArray[Any] | None
    part: Integers
    owner: Integers

    def take(self, chosen: npt.NDArray[np.bool_]) -> tuple[Any, Any, Any]:
        """The rows chosen, what is to be learned of them, and whose they are."""
        index = np.flatnonzero(chosen)
        return _taken(self.X, index), self.y[index], None if self.units is None else self.units[index]


def divide(X: Any, y: Any, units: Any, parts: int, bits: BitSource) -> Divided:  # noqa: N803
    """Every unit in one of so many parts, by a fair coin of its own: where its rows stand does not matter."""
    X = read_rows(X)  # noqa: N806
    cells = read_cells(X)
    labels = read_vector(y, cells.rows)
    if units is None:
        owner = np.arange(cells.rows)
        return Divided(X, labels, None, _coins(parts, cells.rows, bits), owner)
    owners = read_vector(units, cells.rows, "units")
    numbers: dict[Any, int] = {}
    owner = np.array([_number(numbers, unit) for unit in owners.tolist()], dtype=np.int64)
    return Divided(X, labels, owners, _coins(parts, len(numbers) + 1, bits)[owner], owner)


def _coins(parts: int, count: int, bits: BitSource) -> Integers:
    return np.asarray(uniform_below(parts, count, bits), dtype=np.int64)


def _number(numbers: dict[Any, int], unit: Any) -> int:
    """A number for each unit; what names nobody shares one, and is left out by whoever counts units."""
    try:
        return numbers.setdefault(unit, len(numbers)) if unit is not None and unit == unit else -1
    except Exception:  # a cell that cannot be compared or be a key
        return -1


@dataclass(frozen=True, slots=True)
class Scoring:
    """What a prediction is worth, in whole numbers from 0 to ``most``, the more the better."""

    most: int
    target: Number | None = None

    def of(self, predicted: npt.NDArray[Any], true: npt.NDArray[Any]) -> Integers:
        """The worth of each prediction; a label that is unknown or no number is worth nothing."""
        if self.target is None:
            return np.array(
                [_same(a, b) for a, b in zip(predicted.tolist(), true.tolist(), strict=True)], dtype=np.int64
            )
        width = self.target.highest - self.target.lowest
        wanted, found = (self.target.encode(np.asanyarray(v)).astype(np.int64) for v in (true, predicted))
        error = np.minimum(np.abs(wanted - found) * _LEVELS // width, _LEVELS)
        worth: Integers = np.where(wanted < self.target.lowest, 0, _LEVELS**2 - error * error)
        return worth

    def total(self, worth: Integers, owner: Integers, limit: int) -> Integers:
        """(the sum of the worth, how many rows counted): a unit counts with at most ``limit`` rows' worth in each."""
        known = owner >= 0
        count = int(owner.max(initial=-1)) + 1
        of_unit = np.zeros(count, dtype=np.int64)
        np.add.at(of_unit, owner[known], worth[known])
        rows = np.bincount(owner[known], minlength=count)
        sums = np.minimum(of_unit, limit * self.most).sum(), np.minimum(rows, limit).sum()
        return np.array(sums, dtype=np.int64)


def scoring_of(estimator: Any) -> Scoring:
    """Right labels for classifiers, squared errors within the target's bounds for regression."""
    if getattr(estimator, "learns", None) is Number:
        return Scoring(_LEVELS**2, read_target(estimator.target_bounds))
    if getattr(estimator, "learns", None) is Category:
        return Scoring(1)
    allowed = "one of tacit.learn's classifiers or regressions"
    raise InvalidParameter("estimator", given=type(estimator).__name__, allowed=allowed)


def _same(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except Exception:  # a cell that cannot be compared is not equal, and only that one
        return False


def _taken(table: Any, index: npt.NDArray[np.intp]) -> Any:
    if hasattr(table, "iloc"):
        return table.iloc[index]
    if hasattr(table, "take") and not isinstance(table, np.ndarray):
        return table.take(index)
    if hasattr(table, "columns"):
        return table[index]
    return np.asarray(table)[index]
