"""Rows that a question can be about besides those of the table: other tables, joins, unions, lists that it writes.

Every row of a relation is computed from rows of one unit and from what is public, so a statement over it is bounded
like one over the table. Whether that is so is checked in `combining`; why it suffices: docs/proofs/joins.md. In every
place ``None`` stands for the table that the policy is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from tacit.tables.expressions.tree import Column, Expression, Literal

__all__ = [
    "MOST_LEVELS",
    "MOST_TABLES",
    "Base",
    "Few",
    "Join",
    "Joined",
    "Listed",
    "Member",
    "Relation",
    "Selected",
    "Shown",
    "Stacked",
    "Taken",
    "called",
    "levels_of",
    "tables_in",
    "taken_name",
]

MOST_TABLES = 16
"""How many tables, counted as often as they are read, a relation may be made of."""

MOST_LEVELS = 10
"""How deep subqueries may stand in each other; a chain of steps that dissolves has no limit but size."""


class Relation:
    """Rows with named columns."""

    __slots__ = ()

    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        return ()

    def expressions(self) -> Iterator[Expression]:
        """Every expression in it, and in what it is computed from."""
        yield from ()

    def reduced(self, used: Iterable[Expression]) -> Relation:
        """Without the columns that none of the expressions reads; the same rows."""
        return self

    def join_limits(self) -> Iterator[int]:
        """How many rows of a unit the joins in it take from a side, where they multiply rows."""
        for one in self.below():
            if one is not None:
                yield from one.join_limits()

    def below(self) -> tuple[Relation | None, ...]:
        """What it is computed from."""
        return ()

    def inside(self) -> tuple[Relation | None, ...]:
        """What its text stands around; the parts of a stack are one text."""
        return self.below()

    def stack(self) -> tuple[Selected, ...]:
        """The parts of a UNION ALL; none of anything else."""
        return ()

    def renamed(self, names: tuple[str, ...]) -> Relation | None:
        """The same with other names of its columns, if that is no more than that."""
        return None

    @property
    def is_subquery(self) -> bool:
        """Whether its text is a SELECT."""
        return True

    @property
    def base_table(self) -> str | None:
        """Which table of the policy it is, if it is one."""
        return None

    @property
    def called(self) -> str:
        """What it is called in the canonical text of a join."""
        return "part"


@dataclass(frozen=True, slots=True)
class Base(Relation):
    """Another table of the policy, by its name there."""

    table: str

    @property
    def is_subquery(self) -> bool:
        return False

    @property
    def base_table(self) -> str | None:
        return self.table

    @property
    def called(self) -> str:
        return self.table


@dataclass(frozen=True, slots=True)
class Listed(Relation):
    """A table that the statement writes itself: VALUES (…), (…). Public, as it depends on no data."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Literal, ...], ...]

    def names(self) -> tuple[str, ...]:
        return self.columns

    def expressions(self) -> Iterator[Expression]:
        return (cell for row in self.rows for cell in row)

    def renamed(self, names: tuple[str, ...]) -> Relation | None:
        return replace(self, columns=names)

    @property
    def is_subquery(self) -> bool:
        return False

    @property
    def called(self) -> str:
        return "listed"


@dataclass(frozen=True, slots=True)
class Shown:
    """A column of a `Selected`: a name, and the expression over rows that it stands for."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class Selected(Relation):
    """SELECT columns FROM source WHERE where: row by row."""

    columns: tuple[Shown, ...]
    where: Expression | None = None
    source: Relation | None = None

    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.columns)

    def expressions(self) -> Iterator[Expression]:
        yield from self._own()
        if self.source is not None:
            yield from self.source.expressions()

    def _own(self) -> Iterator[Expression]:
        yield from (one.expression for one in self.columns)
        if self.where is not None:
            yield self.where

    def reduced(self, used: Iterable[Expression]) -> Selected:
        return self.kept(_places(self.names(), used))

    def kept(self, places: Sequence[int]) -> Selected:
        """With the columns at these places alone."""
        own = replace(self, columns=tuple(self.columns[i] for i in places))
        return own if own.source is None else replace(own, source=own.source.reduced(own._own()))

    def below(self) -> tuple[Relation | None, ...]:
        return (self.source,)


class Join(Enum):
    """What becomes of rows without a match on the right: left out, or kept with nulls."""

    INNER = "JOIN"
    LEFT = "LEFT JOIN"


@dataclass(frozen=True, slots=True)
class Member:
    """One side of a join: what it reads, how it is joined to those before it, and on which condition.

    The condition is over the columns of the join by their names there, of this member and those before it. Rows match
    where it is true: not false, not unknown. The first member has none.
    """

    relation: Relation | None
    join: Join = Join.INNER
    on: Expression | None = None
    few: Few | None = None
    """Set by the check, where the join multiplies rows."""


@dataclass(frozen=True, slots=True)
class Few:
    """At most so many rows of each unit, whose column is named; those first by a keyed hash of what the join takes."""

    unit: str
    most: int


@dataclass(frozen=True, slots=True)
class Taken:
    """A column of a join: its name there, whose it is, and its name there."""

    name: str
    member: int
    column: str


@dataclass(frozen=True, slots=True)
class Joined(Relation):
    """SELECT columns FROM the first JOIN the second ON … LEFT JOIN the third ON …: each match is a row."""

    members: tuple[Member, ...]
    columns: tuple[Taken, ...]

    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.columns)

    def expressions(self) -> Iterator[Expression]:
        yield from self.conditions()
        for one in self.members:
            if one.relation is not None:
                yield from one.relation.expressions()

    def conditions(self) -> Iterator[Expression]:
        """What rows are joined on."""
        return (one.on for one in self.members if one.on is not None)

    def reduced(self, used: Iterable[Expression]) -> Joined:
        columns = tuple(self.columns[i] for i in _places(self.names(), (*used, *self.conditions())))
        members = []
        for place, one in enumerate(self.members):
            taken = [Column(column.column) for column in columns if column.member == place]
            members.append(one if one.relation is None else replace(one, relation=one.relation.reduced(taken)))
        return Joined(tuple(members), columns)

    def join_limits(self) -> Iterator[int]:
        yield from (one.few.most for one in self.members if one.few is not None)
        yield from Relation.join_limits(self)

    def below(self) -> tuple[Relation | None, ...]:
        return tuple(one.relation for one in self.members)


@dataclass(frozen=True, slots=True)
class Stacked(Relation):
    """The rows of all parts, UNION ALL: columns go by their place, under the names of the first part."""

    parts: tuple[Selected, ...]

    def names(self) -> tuple[str, ...]:
        return self.parts[0].names()

    def expressions(self) -> Iterator[Expression]:
        for one in self.parts:
            yield from one.expressions()

    def reduced(self, used: Iterable[Expression]) -> Stacked:
        places = _places(self.names(), used)
        return Stacked(tuple(one.kept(places) for one in self.parts))

    def below(self) -> tuple[Relation | None, ...]:
        return self.parts

    def inside(self) -> tuple[Relation | None, ...]:
        return tuple(one.source for one in self.parts)

    def stack(self) -> tuple[Selected, ...]:
        return self.parts


def tables_in(relation: Relation | None) -> int:
    """How many tables it is made of, each as often as it is read."""
    below = () if relation is None else relation.below()
    return sum(tables_in(one) for one in below) if below else 1


def levels_of(relation: Relation | None) -> int:
    """How deep subqueries stand in each other in its text."""
    if relation is None or not relation.is_subquery:
        return 0
    return 1 + max(map(levels_of, relation.inside()))


def called(relations: Sequence[Relation | None], table: str) -> tuple[str, ...]:
    """What the members of a join are called in its canonical text, whatever a statement calls them."""
    found = list[str]()
    for one in relations:
        name = base = table if one is None else one.called
        number = 1
        while name.lower() in (other.lower() for other in found):
            number += 1
            name = f"{base}_{number}"
        found.append(name)
    return tuple(found)


def taken_name(place: int, member: str, column: str, taken: Iterable[str]) -> str:
    """What a column of a member is called in the join: by its own name in the first, after the member in others."""
    name = base = column if place == 0 else f"{member}_{column}"
    number, known = 1, {one.lower() for one in taken}
    while name.lower() in known:
        number += 1
        name = f"{base}_{number}"
    return name


def _places(names: Sequence[str], used: Iterable[Expression]) -> list[int]:
    """The places of the columns that are read; all if one is read that is not there, for whoever reports that."""
    wanted = {node.name.lower() for one in used for node in one.nodes(Column)}
    known = [name.lower() for name in names]
    if wanted - set(known):
        return list(range(len(names)))
    return [place for place, name in enumerate(known) if name in wanted] or [0]
