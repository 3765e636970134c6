"""What a question sees: the table, or a relation with a row per unit, checked against the policy and described like it.

A relation has columns with kinds, roles and bounds as the table has, so that the question over it is checked, priced
and bounded by the same rules; only how much of a unit there can be is known better.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from tacit.privacy.neighbours import ROW, Unit
from tacit.tables.check.names import Names
from tacit.tables.check.public_values import domain
from tacit.tables.check.types import Typing, column_kind, declared_range, range_of
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Column, Expression, Value
from tacit.tables.policy.policy import ColumnPolicy, Limits, Policy, Role
from tacit.tables.query.relations import Relation, Shown

__all__ = ["View", "ViewRows", "described", "open_columns"]


@dataclass(frozen=True, slots=True)
class View:
    """A checked relation, or the table (None): its columns described by the policy's names, and which names the unit.

    ``unit`` None: it is public, or each row is a unit.
    """

    relation: Relation | None
    columns: Mapping[str, ColumnPolicy] = field(hash=False)
    unit: str | None
    size: int = 1
    """How many rows it has at most, if it is public."""
    rows: int = 1
    """How many rows of it one row of a private table can become, if it is private."""
    others: frozenset[str] | None = None
    """Of a relation with one row per unit and keys: the keys besides the unit."""
    once: bool = False
    """Whether no unit has more than one row of it."""

    def over(self, policy: Policy, keys: tuple[Expression, ...] = ()) -> Policy:
        """The policy as a question grouped by these keys sees it.

        A unit has one row if the relation has no other key; and one per group if the question groups by all of them.
        """
        seen = replace(policy, columns=self.columns, unit=ROW if self.unit is None else Unit(self.unit))
        if self.others is None:
            return seen
        once = self.others <= {key.column_name for key in keys}
        limits = replace(policy.limits, rows=1) if once else policy.limits
        return replace(seen, limits=limits if self.others else Limits(1, 1))


def described(name: str, expression: Expression, kind: Kind, policy: Policy) -> ColumnPolicy:
    """A computed column: what is public of its values follows from the columns that it is computed of."""
    listed = domain(expression, policy)
    role = Role.PRIVATE if listed is None else Role.PUBLIC
    found = range_of(expression, lambda column: declared_range(column, policy)) if kind.is_number else None
    return ColumnPolicy(name, kind, role, bounds=None if found is None else found.bounds, keys=listed)


def open_columns(columns: Iterable[ColumnPolicy], unit: str | None) -> dict[str, ColumnPolicy]:
    """The columns that may be asked about; the unit names people, whatever else is said of it."""
    return {
        one.name: replace(one, role=Role.IDENTIFIER, keys=None) if one.name == unit else one
        for one in columns
        if one.role is not Role.FORBIDDEN
    }


class ViewRows:
    """Expressions over the rows of a view."""

    def __init__(self, view: View, policy: Policy) -> None:
        self.policy = view.over(policy)
        self._names = Names(self.policy)
        self._typing = Typing(lambda leaf: column_kind(leaf, self.policy), {})

    def condition(self, expression: Expression, place: str) -> Expression:
        return self._typing.condition(self._names.in_rows(expression, place), place)

    def equal(self, condition: Expression) -> Expression:
        """Two units that are compared with each other, by their names."""
        named = (self.named(part) for part in condition.parts())
        return self._typing.typed(condition.with_parts(tuple(Column(one.name) for one in named if one is not None)))

    def column(self, one: Shown) -> tuple[Shown, ColumnPolicy | None]:
        """A column by the policy's names, and its description; None for NULL. A column may be passed on as it is."""
        plain = self.named(one.expression)
        if plain is not None:
            return Shown(one.name, Column(plain.name)), replace(plain, name=one.name)
        expression = self._typing.typed(self._names.in_rows(one.expression, "a subquery"))
        kind = self._typing.kind(expression)
        made = None if kind is None else described(one.name, expression, kind, self.policy)
        return Shown(one.name, expression), made

    def named(self, expression: Expression) -> ColumnPolicy | None:
        """The column that an expression is, if it is one."""
        name = expression.column_name
        known = {one.lower(): column for one, column in self.policy.columns.items()}
        return None if name is None else known.get(name.lower())

    def domain(self, expression: Expression) -> tuple[Value, ...] | None:
        return domain(expression, self.policy)
