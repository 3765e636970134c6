"""What an engine is asked for: integer sums per group, in which no unit counts for more than the plan says.

The engine knows neither ε nor noise. Semantics, exactly (an engine is right if it returns these integers):

0. Rows are those of the table; with a ``relation``, those that `per_unit.PerUnit` or the node of `relations` says, and
   columns are its columns. A member of a join that is limited (`relations.Few`) has of each unit at most so many rows:
   those with the smallest keyed hash of (secret, unit, what the join takes of the row).
1. Rows: those where ``where`` is true (not false, not unknown) and, if a unit column is named, whose unit is not null.
   Every row-wise operation is total: an overflow, a bad cast, a division by zero, NaN is null, for that row alone.
2. Keys: the tuple of ``keys`` per row; null is a key like any other. With ``public_keys``, rows whose key is not
   listed are left out *before* anything is limited.
3. A unit counts in at most ``groups`` groups: those with the smallest keyed hash of (secret, unit, group). Without a
   unit column each row is a unit.
4. Within a group, a measure over *chosen* rows sees at most ``rows`` rows of a unit: those with the smallest keyed hash
   of (secret, unit, group, content, ordinal among rows of equal content); other measures see all rows of the unit.
5. A measure is Σ over units of clamp(Σ over the unit's rows of ``value``, low, high). Sums are in integers that cannot
   overflow, and are returned exactly, in one form whatever they are: `Sums`.
6. ``units`` of a group is the number of distinct units that count in it (after 3).
7. `Cells` of a group: how many of the rows that count (after 3 and 4) have each integer of ``value`` other than 0,
   which stands for unknown. `Distinct` of a group: the number of different known values among those that its units
   hold, of each unit at most ``most``: those with the smallest keyed hash of (secret, unit, group, value).
8. `Votes` of a group: Σ over the units that count in it (after 3) of what its ``weights`` say for the number of groups
   in which the unit counts (after 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.tables.engines.sums import Sums
from tacit.tables.engines.work import Work
from tacit.tables.expressions.tree import Case, Expression, Literal, Value
from tacit.tables.query.relations import Relation

if TYPE_CHECKING:
    from tacit.tables.engines.rows import BoundedRows
    from tacit.tables.engines.spool import ChosenRows

__all__ = [
    "MOST_UNITS",
    "Asked",
    "Blend",
    "BoundedQuery",
    "Category",
    "Cells",
    "Counted",
    "Distinct",
    "Engine",
    "Integers",
    "Measure",
    "One",
    "Present",
    "Product",
    "Quantised",
    "RowValue",
    "Square",
    "Tallies",
    "Votes",
]


MOST_UNITS = 1 << 36
"""So many units, each at the bound, are the most that a group's integer shows: beyond, it is clamped before the noise.

No table of people has as many. The clamp moves two integers no further apart, and makes their width public.
"""


@dataclass(frozen=True, slots=True)
class One:
    """1 for every row."""

    step: ClassVar[Fraction] = Fraction(1)
    """What one step of the integers is worth, here and below."""
    words: ClassVar[str] = "rows"
    """What it is for people, here and below."""
    has_granule: ClassVar[bool] = False
    """Whether it is a number of granules itself."""

    def where(self, condition: Expression) -> Present:
        """It where a condition is true, and 0 elsewhere, here and below; None where that is not known."""
        return Present(_where(condition, Literal(1)))


@dataclass(frozen=True, slots=True)
class Present:
    """1 where the expression is known (neither null nor NaN), otherwise 0."""

    step: ClassVar[Fraction] = Fraction(1)
    words: ClassVar[str] = "known values"
    has_granule: ClassVar[bool] = False
    expression: Expression

    def where(self, condition: Expression) -> Present:
        return Present(_where(condition, self.expression))


@dataclass(frozen=True, slots=True)
class Quantised:
    """The nearest whole number of granules from the centre, after clamping; 0 where unknown.

    clamp(floor((clamp(x, low, high) - centre) / granule + 1/2), lowest, highest), evaluated in doubles; the outer
    clamp, of integers, is what the sensitivity rests on.
    """

    words: ClassVar[str] = "sum"
    has_granule: ClassVar[bool] = True
    expression: Expression
    low: Fraction
    high: Fraction
    centre: Fraction
    granule: Fraction

    def __hash__(self) -> int:
        """By whole numbers alone: hashing a fraction takes long, and measures are looked up again and again."""
        return hash((self.expression, self.low.numerator, self.high.numerator, self.granule.denominator))

    def where(self, condition: Expression) -> Quantised:
        return replace(self, expression=_where(condition, self.expression))

    @property
    def step(self) -> Fraction:
        return self.granule

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

    words: ClassVar[str] = "sum of squares"
    has_granule: ClassVar[bool] = False
    value: Quantised

    def where(self, condition: Expression) -> Square:
        return Square(self.value.where(condition))

    @property
    def step(self) -> Fraction:
        return self.value.granule**2


@dataclass(frozen=True, slots=True)
class Product:
    """The product of two quantised values: 0 where either is unknown."""

    words: ClassVar[str] = "sum of products"
    has_granule: ClassVar[bool] = False
    left: Quantised
    right: Quantised

    def where(self, condition: Expression) -> None:
        return None

    @property
    def step(self) -> Fraction:
        return self.left.granule * self.right.granule


@dataclass(frozen=True, slots=True)
class Category:
    """The place of the value among listed ones, from 1 on; 0 where it is unknown or not listed."""

    step: ClassVar[Fraction] = Fraction(1)
    words: ClassVar[str] = "places"
    has_granule: ClassVar[bool] = False
    expression: Expression
    listed: tuple[Value, ...]

    def where(self, condition: Expression) -> None:
        return None


def _where(condition: Expression, expression: Expression) -> Expression:
    return Case(((condition, expression),))


RowValue = One | Present | Quantised | Square | Product | Category


@dataclass(frozen=True, slots=True)
class Measure:
    """One integer per group. ``chosen``: over at most ``BoundedQuery.rows`` rows per unit and group, not over all."""

    takes_steps: ClassVar[bool] = False
    """Whether an engine takes steps of its own for it, here and below."""
    value: RowValue
    low: int
    high: int
    chosen: bool

    def asked(self) -> tuple[Measure, ...]:
        """What an engine is asked for it, here and below."""
        return (self,)

    def row_values(self) -> tuple[RowValue, ...]:
        """By what of a row it is chosen, if rows are; here and below."""
        return (self.value,)

    def where(self, condition: Expression | None) -> Measure | None:
        """The sum over the rows where a condition is true; None where it is not known how, or 0 is no possible sum."""
        moved = self.value.where(condition or Literal(True))
        if moved is None or not self.low <= 0 <= self.high:
            return None
        return self if condition is None else replace(self, value=moved)

    @property
    def is_empty(self) -> bool:
        """Whether it is a sum of granules of which none lies between its bounds."""
        return self.low > self.high and self.value.has_granule

    @property
    def words(self) -> str:
        """It, and how far one unit moves it, for people."""
        steps = f" of {float(self.step):.4g}" if self.value.has_granule and self.step != 1 else ""
        most = f"{self.reach} {'step' if self.reach == 1 else 'steps'}{steps}"
        how = ", rows chosen" if self.chosen else ""
        return f"{self.value.words}, one unit moves a group by at most {most}{how}"

    @property
    def step(self) -> Fraction:
        """What one step of the integer is worth."""
        return self.value.step

    @property
    def reach(self) -> int:
        """How far one unit can move one group's integer: under add-remove, in one group."""
        return max(abs(self.low), abs(self.high))

    @property
    def squared(self) -> int:
        """The same, squared: in L2."""
        return self.reach**2

    @property
    def largest(self) -> int:
        """The largest absolute value that noise is added to: public, and so is the width that follows from it."""
        return MOST_UNITS * self.reach


@dataclass(frozen=True, slots=True)
class Distinct:
    """How many different known values a group's units hold, of each unit at most ``most``."""

    step: ClassVar[Fraction] = Fraction(1)
    takes_steps: ClassVar[bool] = True
    is_empty: ClassVar[bool] = False
    expression: Expression
    most: int

    def asked(self) -> tuple[Distinct, ...]:
        return (self,)

    def row_values(self) -> tuple[RowValue, ...]:
        """None: values are chosen by themselves, whatever rows are chosen for other measures."""
        return ()

    def where(self, condition: Expression | None) -> None:
        return None

    @property
    def words(self) -> str:
        """As of a `Measure`."""
        return f"distinct values, one unit moves a group by at most {self.reach}, values chosen"

    @property
    def reach(self) -> int:
        """How far one unit can move one group's integer: docs/proofs/distinct_values.md."""
        return self.most

    @property
    def squared(self) -> int:
        """The same, squared: in L2."""
        return self.reach**2

    @property
    def largest(self) -> int:
        """As of a `Measure`."""
        return MOST_UNITS * self.reach

    @property
    def chosen(self) -> bool:
        """Values are chosen, not rows."""
        return True


@dataclass(frozen=True, slots=True)
class Blend:
    """Combinations of measures of the same rows that get noise in their place: an engine returns the measures.

    One unit moves a group's combinations by at most ``reach`` in L1, and by at most √``square`` in L2, which is
    ``reach`` where no more is said. docs/proofs/blends.md.
    """

    measures: tuple[Measure, ...]
    combinations: tuple[tuple[int, ...], ...]
    """One line of whole factors per combination, one factor per measure."""
    reach: int
    square: int | None = None
    fine: int = 1
    """So many steps of a combination are one step of the measures: noise is drawn in finer steps."""
    about: str = "combinations of sums"
    """What they are, for people."""

    def __post_init__(self) -> None:
        if len({measure.chosen for measure in self.measures}) != 1:
            raise InvalidParameter("measures", given="sums over different rows", allowed="sums over the same rows")
        if self.reach < 0:
            raise InvalidParameter("reach", given=self.reach, allowed="0 or more")

    def asked(self) -> tuple[Measure, ...]:
        return self.measures

    @property
    def squared(self) -> int:
        """As of a `Measure`."""
        return self.reach**2 if self.square is None else self.square

    @property
    def words(self) -> str:
        """As of a `Measure`."""
        how = ", rows chosen" if self.chosen else ""
        return f"{self.about}, one unit moves a group's by at most {self.reach} steps together{how}"

    @property
    def step(self) -> Fraction:
        """As of a `Measure`."""
        return self.measures[0].step / self.fine

    @property
    def largest(self) -> int:
        """As of a `Measure`, of each combination."""
        return MOST_UNITS * self.reach

    @property
    def chosen(self) -> bool:
        """Whether rows are chosen."""
        return self.measures[0].chosen

    def of(self, measured: Sequence[Sequence[int]]) -> list[list[int]]:
        """The combinations, per group, of the measures per group; in whole numbers without end."""
        columns = [np.array(list(map(int, values)), dtype=object) for values in measured]
        zero = columns[0] * 0
        return [
            sum((factor * values for factor, values in zip(line, columns, strict=True)), start=zero).tolist()
            for line in self.combinations
        ]


@dataclass(frozen=True, slots=True)
class Cells:
    """How many of a group's rows fall into each cell; 0 is no cell. ``chosen`` as in `Measure`."""

    takes_steps: ClassVar[bool] = True
    reach: ClassVar[int] = 0
    is_empty: ClassVar[bool] = False
    value: Quantised | Category
    chosen: bool

    def row_values(self) -> tuple[RowValue, ...]:
        return (self.value,)

    def where(self, condition: Expression | None) -> None:
        return None

    @property
    def step(self) -> Fraction:
        """What one cell is worth."""
        return self.value.step


@dataclass(frozen=True, slots=True)
class Votes:
    """The votes of a group's units, of which each gives so many to each of the groups that it counts in.

    ``weights`` are pairs (groups, votes): a unit of at most so many groups, and of more than the pair before says,
    gives so many votes. docs/proofs/key_votes.md.
    """

    step: ClassVar[Fraction] = Fraction(1)
    takes_steps: ClassVar[bool] = False
    is_empty: ClassVar[bool] = False
    chosen: ClassVar[bool] = False
    weights: tuple[tuple[int, int], ...]

    def row_values(self) -> tuple[RowValue, ...]:
        """None: rows have no votes."""
        return ()

    def where(self, condition: Expression | None) -> None:
        return None

    @property
    def reach(self) -> int:
        """The most that one unit adds to a group."""
        return max(votes for _, votes in self.weights)

    @property
    def largest(self) -> int:
        """As of a `Measure`."""
        return MOST_UNITS * self.reach


Counted = Measure | Distinct | Blend
"""What gets noise: one integer per group, or a few that share it."""
Asked = Measure | Distinct | Cells | Votes
"""What an engine can be asked for."""


@dataclass(frozen=True, slots=True)
class BoundedQuery:
    """See the module's docstring. ``public_keys`` None: every group is returned, for a private selection of keys."""

    where: Expression | None
    keys: tuple[Expression, ...]
    public_keys: tuple[tuple[Value, ...], ...] | None
    unit: str | None
    groups: int
    rows: int
    measures: tuple[Asked, ...]
    relation: Relation | None = None

    def __post_init__(self) -> None:
        """Cells have no clamp: only the choice of rows bounds what a unit puts into them."""
        if self.unit is not None and any(isinstance(one, Cells) and not one.chosen for one in self.measures):
            raise InvalidParameter("measures", given="cells of all rows of a unit", allowed="cells of chosen rows")


@dataclass(frozen=True, slots=True, eq=False)
class Tallies:
    """Rows per cell: the cells of group i, ascending, and their counts lie from ``starts[i]`` to ``starts[i + 1]``.

    Private, as all that an engine returns.
    """

    starts: npt.NDArray[np.int64]
    cells: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]

    def __len__(self) -> int:
        """How many groups."""
        return len(self.starts) - 1

    def of(self, group: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The cells of a group that are not empty, and how many rows are in each."""
        part = slice(int(self.starts[group]), int(self.starts[group + 1]))
        return self.cells[part], self.counts[part]

    def taken(self, at: npt.NDArray[np.intp]) -> Tallies:
        """Of these groups, in this order."""
        return Tallies.joined([self.of(int(i)) for i in at])

    def placed(self, at: npt.NDArray[np.intp], size: int) -> Tallies:
        """Of ``size`` groups, all empty but those at these places."""
        nothing = self.cells[:0], self.counts[:0]
        made = [nothing] * size
        for i, place in enumerate(at.tolist()):
            made[place] = self.of(i)
        return Tallies.joined(made)

    @classmethod
    def joined(cls, parts: Sequence[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]) -> Tallies:
        """From the cells and counts of each group."""
        starts = np.concatenate(([0], np.cumsum([len(cells) for cells, _ in parts]))).astype(np.int64)
        nothing = np.zeros(0, dtype=np.int64)
        cells = np.concatenate([nothing, *(cells for cells, _ in parts)])
        return cls(starts, cells, np.concatenate([nothing, *(counts for _, counts in parts)]))

    def __repr__(self) -> str:
        return "Tallies(private)"


@dataclass(frozen=True, slots=True)
class Integers:
    """What an engine returns: one entry per group, in no particular order; listed keys that no row has may be missing.

    Private until noise is added: has no repr of its values, and is never stored or logged.
    """

    keys: tuple[list[Value], ...]
    """One list per key expression."""
    units: npt.NDArray[np.int64]
    measures: tuple[Sums | Tallies, ...]
    """One per measure; `Tallies` of cells."""

    def __repr__(self) -> str:
        return "Integers(private)"


class Engine(Protocol):
    """Runs bounded queries over one source."""

    def run(self, query: BoundedQuery) -> Integers:
        """The integers; raises only for reasons that do not depend on rows, as far as that can be excluded."""

    def read(self, asked: BoundedRows) -> ChosenRows:
        """The chosen rows of each unit as integers, to be gone through as often as it takes; as `run` in all else."""

    def work(self, query: BoundedQuery) -> Work:
        """What the query takes, counted; it is run for that. As private as the integers."""

    def explain(self, query: BoundedQuery) -> str:
        """The statement that would be run, with the secret hash key left out; free, and independent of the data."""

    def interrupt(self) -> None:
        """Stop what runs, from another thread, on the server or cluster too; nothing more is begun."""

    def progress(self) -> float | None:
        """How much of what runs is done, from 0 to 1, from another thread; None where the engine does not say.

        As private as the integers: rows decide it, so no analyst is shown it.
        """

    def close(self) -> None:
        """Let go of the source."""
