"""What a SELECT reads from, while it is read: rows of a table or a relation, under the names that it may use."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tacit.tables.expressions.tree import Call, Column, Expression
from tacit.tables.query.refusals import NotUnderstood, not_yet, shortened, void
from tacit.tables.query.relations import Base, Relation, Selected
from tacit.tables.query.to_sql import name_to_sql

__all__ = ["Catalogue", "JoinedNames", "Qualified", "Rows", "Side", "Unsettled", "conjoined"]


@dataclass(frozen=True, slots=True)
class Qualified(Column):
    """A column written with its table, which is therefore no alias; gone before the tree is finished."""

    @property
    def bare_name(self) -> str | None:
        return None


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a join: what it may be called, and what the join calls each of its columns, by small letters."""

    aliases: frozenset[str]
    columns: Mapping[str, str]
    merged: frozenset[str] = frozenset()
    """The columns that USING made one with those of a side before."""


@dataclass(frozen=True, slots=True)
class JoinedNames:
    """The columns of a join, by what a statement may write for them."""

    sides: tuple[Side, ...]
    left: frozenset[str] = frozenset()

    @property
    def aliases(self) -> frozenset[str]:
        """What tables are called."""
        return frozenset().union(*(one.aliases for one in self.sides))

    def column(self, table: str | None, name: str) -> str:
        """What the join calls a column; a name that no side has stays, as it may be that of an output."""
        if table is None:
            return name if name.lower() in self.left else self._alone(name)
        side = next((one for one in self.sides if table.lower() in one.aliases), None)
        if side is None:
            allowed = " or ".join(sorted(self.aliases))
            raise not_yet(f"{table}.{name}", f"Columns are those of {allowed}.")
        found = side.columns.get(name.lower())
        if found is None:
            shown = ", ".join(shortened(one) for one in list(side.columns)[:20])
            raise NotUnderstood(shortened(f"{table}.{name}"), f"is no column of {shortened(table)}, which has {shown}")
        return found

    def leaving(self, aliases: Collection[str]) -> JoinedNames:
        """The same, but these names stay as they are written without a table."""
        return replace(self, left=frozenset(aliases))

    def plain(self) -> dict[str, Expression]:
        """What * shows, by the names that columns have in their tables; of two of one name, the first."""
        found = dict[str, Expression]()
        for side in self.sides:
            for name, given in side.columns.items():
                found.setdefault(name, Column(given))
        return found

    def within(self, name: str) -> str:
        """A name that the join gives stays; one that was left is looked up."""
        given = {one for side in self.sides for one in side.columns.values()}
        return name if name in given else self._alone(name)

    def _alone(self, name: str) -> str:
        lower = name.lower()
        found = [one for one in self.sides if lower in one.columns and lower not in one.merged]
        if len(found) > 1:
            whose = [min(one.aliases, default="a subquery") for one in found]
            problem = f"could be the column of {' or of '.join(whose)}"
            raise NotUnderstood(shortened(name), problem, f"Write {whose[0]}.{shortened(name)}.")
        return found[0].columns[lower] if found else name


@dataclass(frozen=True, slots=True)
class Unsettled:
    """The columns of a join in a place where names of outputs may stand that are not known yet: those stay."""

    joined: JoinedNames

    def column(self, table: str | None, name: str) -> str:
        """What the join calls a column that is written with its table; any other name stays."""
        return name if table is None else self.joined.column(table, name)

    def leaving(self, aliases: Collection[str]) -> Unsettled:
        """The same: all names stay."""
        return self


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of the table under other names: what each name means, and which rows there are."""

    names: frozenset[str]
    """What they are called, for columns written with it."""
    columns: Mapping[str, Expression] = field(default_factory=dict)
    """By name in small letters."""
    everything: bool = True
    """Whether every other name is a column of the table: SELECT *."""
    where: Expression | None = None
    relation: Relation | None = None
    """What the columns are those of, if not of the table."""
    naming: JoinedNames | None = None
    """What its columns are called, if it is a join."""

    @property
    def is_table(self) -> bool:
        """Whether nothing was renamed, computed or filtered."""
        return self.is_plain and self.relation is None

    @property
    def is_plain(self) -> bool:
        """Whether nothing of the relation was renamed, computed or filtered."""
        return self.everything and not self.columns and self.where is None

    @property
    def settled(self) -> Rows:
        """As a subquery shows them with *: of a join, each column by the name that it has in its table."""
        if self.naming is None:
            return self
        columns = {**self.naming.plain(), **self.columns}
        return replace(self, names=frozenset(), columns=columns, everything=False, naming=None)

    def stack(self) -> tuple[Selected, ...]:
        """The parts of a UNION ALL, if it is nothing but one."""
        return self.relation.stack() if self.relation is not None and self.is_plain else ()

    def meaning(self, expression: Expression) -> Expression:
        """The expression over the table's own columns."""
        return expression.over(self._column)

    def _column(self, column: Column) -> Expression:
        found = self.columns.get(column.name.lower())
        if found is not None:
            return found
        if self.everything:
            return Column(self._known(column.name if self.naming is None else self.naming.within(column.name)))
        known = ", ".join(shortened(name) for name in list(self.columns)[:20])
        problem = f"is no column of the subquery, which has {known}"
        raise NotUnderstood(shortened(column.name), problem, "Add it to the subquery's SELECT.")

    def _known(self, name: str) -> str:
        """A column of the relation; which columns tables have is known to the policy alone."""
        names = () if self.relation is None else self.relation.names()
        if not names or name.lower() in (one.lower() for one in names):
            return name
        shown = ", ".join(shortened(one) for one in names[:20])
        raise NotUnderstood(shortened(name), f"is no column that may be asked about here: there are {shown}")


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The table of the policy, and the columns of all tables that may be named, by the name of each."""

    table: str
    tables: Mapping[str, Sequence[str]]

    def columns_of(self, rows: Rows) -> list[tuple[str, Expression]]:
        """The columns that rows show, in order, and what each means."""
        shown = dict[str, tuple[str, Expression]]()
        if rows.everything:
            for name in self._names(rows.relation):
                shown[name.lower()] = (name, Column(name))
        for name, meaning in rows.columns.items():
            shown[name] = (name, meaning)
        return list(shown.values())

    def named(self, name: str) -> Rows:
        """Another table of the policy, by its name; refuses any other."""
        spelled = {one.lower(): one for one in self.tables}
        if name.lower() in spelled:
            return Rows(frozenset(), relation=Base(spelled[name.lower()]))
        known = " and ".join([self.table, *(one for one in self.tables if one != self.table)])
        asked = f"the table that may be asked about is {known}" if " and " not in known else f"there are {known}"
        raise void(f"FROM {name}", asked, f"Write FROM {name_to_sql(self.table)}.")

    def _names(self, relation: Relation | None) -> Sequence[str]:
        table = self.table if relation is None else relation.base_table
        if table is None:
            return () if relation is None else relation.names()
        return next((names for name, names in self.tables.items() if name.lower() == table.lower()), ())


def conjoined(conditions: Sequence[Expression | None]) -> Expression | None:
    """All conditions together; AND of many is one node."""
    found = [part for one in conditions if one is not None for part in one.operands("and")]
    return None if not found else found[0] if len(found) == 1 else Call("and", tuple(found))
