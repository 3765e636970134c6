"""What an engine is asked for: integer sums per group, in which no unit counts for more than the plan says.

The engine knows neither ε nor noise. Semantics, exactly (an engine is right if it returns these integers):

0. Rows are those of the table; with a ``relation``, those that `per_unit.PerUnit` says, and columns are its columns.
1. Rows: those where ``where`` is true (not false, not unknown) and, if a unit column is named, whose unit is not null.
   Every row-wise operation is total: an overflow, a bad cast, a division by zero, NaN is null, for that row alone.
2. Keys: the tuple of ``keys`` per row; null is a key like any other. With ``public_keys``, rows whose key is not
   listed are left out *before* anything is limited.
3. A unit counts in at most ``groups`` groups: those with the smallest keyed hash of (secret, unit, group). Without a
   unit column each row is a unit.
4. Within a group, a measure over *chosen* rows sees at most ``rows`` rows of a unit: those with the smallest keyed hash
   of (secret, unit, group, content, ordinal among rows of equal content); other measures see all rows of the unit.
5. A measure is Σ over units of clamp(Σ over the unit's rows of ``value``, low, high). Sums are in integers that cannot
   overflow.
6. ``units`` of a group is the number of distinct units that count in it (after 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tacit.tables.expressions import Expression, Value
from tacit.tables.per_unit import PerUnit

__all__ = ["BoundedQuery", "Engine", "Integers", "Measure", "One", "Present", "Quantised", "RowValue", "Square"]


@dataclass(frozen=True, slots=True)
class One:
    """1 for every row."""


@dataclass(frozen=True, slots=True)
class Present:
    """1 where the expression is known (neither null nor NaN), otherwise 0."""

    expression: Expression


@dataclass(frozen=True, slots=True)
class Quantised:
    """The nearest whole number of granules from the centre, after clamping; 0 where unknown.

    clamp(floor((clamp(x, low, high) - centre) / granule + 1/2), lowest, highest), evaluated in doubles; the outer
    clamp, of integers, is what the sensitivity rests on.
    """

    expression: Expression
    low: Fraction
    high: Fraction
    centre: Fraction
    granule: Fraction

    @property
    def lowest(self) -> int:
        """The smallest integer a row can contribute."""
        return -((self.centre - self.low) // self.granule)

    @property
    def highest(self) -> int:
        """The largest integer a row can contribute."""
        return (self.high - self.centre) // self.granule


@dataclass(frozen=True, slots=True)
class Square:
    """The square of a quantised value."""

    value: Quantised


RowValue = One | Present | Quantised | Square


@dataclass(frozen=True, slots=True)
class Measure:
    """One integer per group. ``chosen``: over at most ``BoundedQuery.rows`` rows per unit and group, not over all."""

    value: RowValue
    low: int
    high: int
    chosen: bool

    @property
    def reach(self) -> int:
        """How far one unit can move one group's integer: under add-remove, in one group."""
        return max(abs(self.low), abs(self.high))


@dataclass(frozen=True, slots=True)
class BoundedQuery:
    """See the module's docstring. ``public_keys`` None: every group is returned, for a private selection of keys."""

    where: Expression | None
    keys: tuple[Expression, ...]
    public_keys: tuple[tuple[Value, ...], ...] | None
    unit: str | None
    groups: int
    rows: int
    measures: tuple[Measure, ...]
    relation: PerUnit | None = None


@dataclass(frozen=True, slots=True)
class Integers:
    """What an engine returns: one entry per group, in no particular order; listed keys that no row has may be missing.

    Private until noise is added: has no repr of its values, and is never stored or logged.
    """

    keys: tuple[list[Value], ...]
    """One list per key expression."""
    units: npt.NDArray[np.int64]
    measures: tuple[npt.NDArray[np.int64] | list[int], ...]
    """One per measure: int64 where all fit, otherwise Python ints."""

    def __repr__(self) -> str:
        return "Integers(private)"


class Engine(Protocol):
    """Runs bounded queries over one source."""

    def run(self, query: BoundedQuery) -> Integers:
        """The integers; raises only for reasons that do not depend on rows, as far as that can be excluded."""

    def explain(self, query: BoundedQuery) -> str:
        """The statement that would be run, with the secret hash key left out; free, and independent of the data."""

    def close(self) -> None:
        """Let go of the source."""
