"""One kind of engine: the sources that it reads, the engine on them, and what an owner may be told of rows.

`contract` says what an engine computes; this says how one is come by. Whoever adds an engine writes one `Backend`,
enters it in `registry`, and passes tests/contracts/test_engines.py.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, Self

from tacit.tables.engines.contract import BoundedQuery, Engine
from tacit.tables.engines.source import Source
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Value
from tacit.tables.policy.policy import ColumnPolicy, OtherTable, Policy

__all__ = [
    "Backend",
    "ColumnContents",
    "Contents",
    "Found",
    "Guess",
    "Quality",
    "Spread",
    "Survey",
    "TableSources",
    "UnitRows",
]


@dataclass(frozen=True, slots=True)
class TableSources:
    """The rows that questions are about: of the table, and of the other tables of its policy by their names."""

    source: Source
    policy: Policy
    others: Mapping[str, Source]


@dataclass(frozen=True, slots=True)
class ColumnContents:
    """What a column of a public table holds: its values in order, if they are few enough, and its ends.

    ``repeats`` is how many rows have the same value, at most; null equals nothing.
    """

    values: tuple[Value, ...] | None
    low: Any
    high: Any
    repeats: int


@dataclass(frozen=True, slots=True)
class Contents:
    """What a public table holds, in how many rows, and a text that changes with it."""

    stamp: str
    columns: Mapping[str, ColumnContents]
    size: int


@dataclass(frozen=True, slots=True)
class Guess:
    """Options of [reading] that seem to fit a source, and what its owner is told about them."""

    options: Mapping[str, str]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """The kinds of columns, how their numbers and days are written, and what the owner should look at."""

    kinds: Mapping[str, Kind]
    options: Mapping[str, str]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return "Found(private)"


@dataclass(frozen=True, slots=True)
class Quality:
    """Exact facts about a column under its policy: cells that are empty, that cannot be read, beyond bounds or keys."""

    empty: int
    unreadable: int
    outside: int | None
    """Values beyond the bounds, or not among the public keys; None where there are neither."""

    def __repr__(self) -> str:
        return "Quality(private)"


@dataclass(frozen=True, slots=True)
class Spread:
    """Exact facts about a column: how many cells are empty, how many values differ, where 98% of the numbers lie."""

    empty: int
    different: int
    ends: tuple[float, float] | None

    def __repr__(self) -> str:
        return "Spread(private)"


@dataclass(frozen=True, slots=True)
class UnitRows:
    """Exact facts about a column as the unit: units, and how many rows half of them, 95% of them, and one has most."""

    units: int
    half: int
    most: int
    top: int
    kept: tuple[tuple[int, float], ...]
    """For limits of rows per unit, the share of all rows that would count."""

    @classmethod
    def of(cls, found: Mapping[str, Any], ladder: Sequence[int]) -> Self | None:
        """From the one row of a statement: a sequence by the name of each column. None where there are no units."""
        units = int(found["units"][0])
        if not units:
            return None
        half, most, top = (int(found[one][0]) for one in ("half", "most", "top"))
        return cls(units, half, most, top, tuple((limit, float(found[f"kept{limit}"][0])) for limit in ladder))

    def __repr__(self) -> str:
        return "UnitRows(private)"


class Survey(Protocol):
    """A look at the rows for their owner's eyes alone. All that it gives is exact, and nothing of it is paid for."""

    def kinds(self, names: Sequence[str], options: Mapping[str, str]) -> Found:
        """Per column, the narrowest kind that nearly all values can be read as; text if there are none."""

    def rows(self) -> int:
        """How many there are."""

    def spread(self, found: Found, *, exact: bool) -> dict[str, Spread]:
        """Of each column; different values are estimated unless ``exact``."""

    def present(self, names: Sequence[str]) -> dict[str, int]:
        """How many cells of each column hold anything at all, read as texts."""

    def quality(self, columns: Sequence[ColumnPolicy], present: Mapping[str, int]) -> dict[str, Quality]:
        """Of each column, read as the policy says; ``present`` is how many cells hold anything."""

    def unit(self, name: str) -> UnitRows | None:
        """Of a column as the unit; None if it has no values."""


class Backend(Protocol):
    """One kind of engine. A value: it can be sent to the process that draws."""

    @property
    def name(self) -> str:
        """What the registry calls it."""

    def reads(self, where: object) -> bool:
        """Whether this is the engine for rows at that place."""

    def source(self, where: Any, options: Mapping[str, str] | None = None, name: str | None = None) -> Source:
        """The source at a place, or in a frame that ``name`` names; reads its schema and no rows."""

    def kinds(self, source: Source) -> Mapping[str, Kind]:
        """The kinds that the source itself says its columns have; none where it only has texts."""

    def own_kinds(self, source: Source) -> Mapping[str, Kind]:
        """The same, as far as no value has a say in them: of private rows, whose kinds nobody may learn from."""

    def engine(self, table: TableSources, secret: str) -> Engine:
        """Connected to the rows, which are chosen by the secret; after a payment."""

    def explain(self, query: BoundedQuery, policy: Policy) -> str:
        """The statement that would be run, the secret left out; free, and blind to rows."""

    def notes(self, query: BoundedQuery, source: Source) -> tuple[str, ...]:
        """What a plan says of this engine besides: where its numbers may differ, and what is not tested."""

    def contents(self, table: OtherTable, source: Source, policy: Policy) -> Contents:
        """What a public table holds: nothing in it is anybody's secret. `PolicyError` if it cannot be read."""

    def operators(self) -> Collection[str]:
        """The operators that it has a form for, by their names: every entry of `expressions.operators`."""

    def refuse_other_name(self, source: Source) -> None:
        """Refuse rows in memory that this process knows by another name: they would begin a second budget."""

    def refused(self) -> Mapping[str, str]:
        """Of these operators, those without a form of the same meaning, and what to write instead: before a payment."""

    def check_again(self, table: TableSources) -> None:
        """Refuse, before a payment, what is no longer as it was opened and is not a file; blind to what is private."""

    @property
    def is_near(self) -> bool:
        """Whether `check_again` asks nobody: its rows are files, or in this process."""

    def all_names(self, source: Source) -> tuple[str, ...]:
        """The names of columns for a draft, found in the rows where there is no schema."""

    def guess(self, where: Any, given: Mapping[str, str]) -> Guess:
        """How rows at a place seem to be read, for the owner's draft of a policy; what is given is not guessed."""

    def survey(self, source: Source, policy: Policy) -> AbstractContextManager[Survey]:
        """A look at all columns of the policy as texts, for the owner."""
