"""Which values satisfy a condition on columns: those that may, those that surely do, and what part of each cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.synth.domain.columns import Dates, Numbers, floats
from tacit.synth.domain.domain import Domain

__all__ = ["Met", "conditions"]

Booleans = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Met:
    """Of each value (cell) of a column: whether a row in it may satisfy a condition, whether it must, and in part."""

    may: Booleans
    must: Booleans
    part: npt.NDArray[np.float64]

    def also(self, other: Met) -> Met:
        """Two conditions on one column, one of them of its values alone: both are met."""
        return Met(self.may & other.may, self.must & other.must, self.part * other.part)


def conditions(domain: Domain, where: Mapping[str, object]) -> dict[int, Met]:
    """For each measured column that is named, by which of its values its condition is met: a value, values, or bounds.

    A condition on a column that another one determines is one on that other.
    """
    if not isinstance(where, Mapping) or not where:
        allowed = 'conditions by column: a value, a list of values, or bounds {"age": (30, 39)}'
        raise InvalidParameter("where", given=where, allowed=allowed)
    told = {then: (first, table) for first, then, table in domain.determined()}
    places, found = {at: place for place, at in enumerate(domain.free)}, dict[int, Met]()
    for name, condition in where.items():
        at = domain.place(name)
        met = _met(domain, at, condition)
        if at in told:
            at, table = told[at]
            met = Met(met.may[table], met.must[table], met.part[table])
        before = found.get(places[at])
        found[places[at]] = met if before is None else before.also(met)
    return found


def _met(domain: Domain, at: int, condition: object) -> Met:
    column, size = domain.columns[at], domain.sizes[at]
    may, must, part = np.zeros(size, dtype=np.bool_), np.zeros(size, dtype=np.bool_), np.zeros(size)
    listed: Any = condition if isinstance(condition, list | set | frozenset) else [condition]
    for one in listed:
        if one is None or not isinstance(column, Numbers | Dates):
            code = domain.code_of(at, one)
            may[code] = must[code] = True
            part[code] = 1.0
            continue
        bounds = one if isinstance(one, tuple) and len(one) == 2 else (one, one)
        if any(bound is None for bound in bounds):
            raise InvalidParameter(column.name, given=one, allowed="two bounds of values, or None alone for missing")
        codes = [domain.code_of(at, bound) for bound in bounds]
        numbers, ends = _numbers(column, bounds)
        between = slice(codes[0] + 1, codes[1])  # cells ascend with values: what lies between two ends' cells is inside
        may[between], must[between], part[between] = True, True, 1.0
        for code in {codes[0], codes[1]} if codes[0] <= codes[1] else ():
            first, last = _cell(numbers, code)
            low, high = max(ends[0], first), min(ends[1], last)
            may[code] = True
            must[code] |= ends[0] <= first and last <= ends[1]
            over = max(Fraction(0), high - low) if not numbers.whole else Fraction(max(0, high // 1 + (-low) // 1 + 1))
            part[code] += float(over / (last - first + numbers.whole))
    return Met(may, must, np.where(must, 1.0, np.minimum(part, 1.0)))


def _numbers(column: Numbers | Dates, bounds: tuple[Any, Any]) -> tuple[Numbers, tuple[Fraction, Fraction]]:
    """The column as numbers, and the bounds: what lies beyond the column's own by more than a cell does not matter."""
    numbers = column if isinstance(column, Numbers) else column.in_days
    reals = floats(bounds) if isinstance(column, Numbers) else floats([column.day_of(bound) for bound in bounds])
    low, high = (float(numbers.low - 1), float(numbers.high + 1))
    return numbers, (Fraction(float(np.clip(reals[0], low, high))), Fraction(float(np.clip(reals[1], low, high))))


def _cell(numbers: Numbers, code: int) -> tuple[Fraction, Fraction]:
    """The first and the last value of a cell."""
    first = numbers.low + code * numbers.width
    return first, min(first + numbers.width - numbers.whole, numbers.high)
