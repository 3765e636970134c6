"""What a question sees: the table, or a relation with a row per unit, checked against the policy and described like it.

A relation has columns with kinds, roles and bounds as the table has, so that the question over it is checked, priced
and bounded by the same rules; only how much of a unit there can be is known better.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy import ROW, Unit
from tacit.tables.check.names import Names
from tacit.tables.check.public_values import domain
from tacit.tables.check.row_work import admit_row_work, aggregating
from tacit.tables.check.types import Typing, Words, quoted
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.ranges import EVERYTHING, Range, range_of
from tacit.tables.expressions.tree import Column, Expression
from tacit.tables.policy.policy import ColumnPolicy, Limits, Policy, Role
from tacit.tables.query.per_unit import FACTS, Fact, PerUnit, UnitKey, fact_kind
from tacit.tables.query.relations import Relation

__all__ = ["View", "column_kind", "declared_range", "described", "per_unit_view"]


@dataclass(frozen=True, slots=True)
class View:
    """A checked relation, by the policy's names, its columns described; ``unit`` is its unit, None: each row."""

    relation: Relation
    unit: str | None
    columns: Mapping[str, ColumnPolicy] = field(hash=False)
    rows: int = 1
    """How many rows of it one row of a table can become."""

    def over(self, policy: Policy, keys: tuple[Expression, ...] = ()) -> Policy:
        """The policy as a question grouped by these keys sees it.

        A unit has one row if the relation has no other key; and one per group if the question groups by all of them.
        """
        if not isinstance(self.relation, PerUnit):
            return replace(policy, columns=self.columns, unit=ROW if self.unit is None else Unit(self.unit))
        assert self.unit is not None
        others = {one.name for one in self.relation.keys} - {self.unit}
        once = others <= {key.name for key in keys if isinstance(key, Column)}
        limits = replace(policy.limits, rows=1) if once else policy.limits
        return replace(policy, columns=self.columns, unit=Unit(self.unit), limits=limits if others else Limits(1, 1))


def column_kind(leaf: Expression, policy: Policy) -> Kind:
    """The kind of a column; there is no other leaf in an expression of rows."""
    if isinstance(leaf, Column):
        return policy.columns[leaf.name].kind
    raise InvalidParameter("expression", given=type(leaf).__name__, allowed="columns, constants and operators")


def declared_range(column: Column, policy: Policy) -> Range:
    """The public range of a column's values."""
    declared = policy.columns[column.name]
    if declared.kind is Kind.BOOLEAN:
        return Range(Fraction(0), Fraction(1))
    return EVERYTHING if declared.bounds is None else Range(*declared.bounds)


def per_unit_view(relation: PerUnit, below: View | None, policy: Policy) -> View:
    """The relation over a table or a checked relation; refuses one whose rows are not each of one unit."""
    if policy.unit.column is None:
        raise NotPrivate(
            "GROUP BY in a subquery: each row is protected by itself here, so no key inside belongs to one unit alone. "
            "Group outside."
        )
    return _Checking(policy if below is None else below.over(policy), below).view(relation)


def described(name: str, expression: Expression, kind: Kind, policy: Policy) -> ColumnPolicy:
    """A computed column: what is public of its values follows from the columns that it is computed of."""
    listed = domain(expression, policy)
    role = Role.PRIVATE if listed is None else Role.PUBLIC
    found = range_of(expression, lambda column: declared_range(column, policy)) if kind.is_number else None
    return ColumnPolicy(name, kind, role, bounds=None if found is None else found.bounds, keys=listed)


class _Checking:
    """One relation against the policy of what it is computed from."""

    def __init__(self, policy: Policy, below: View | None) -> None:
        self._policy = policy
        self._below = below
        self._names = Names(policy)
        self._rows = Typing(lambda leaf: column_kind(leaf, policy), {})

    def view(self, relation: PerUnit) -> View:
        where = relation.where
        if where is not None:
            where = self._rows.condition(self._names.in_rows(where, "WHERE of a subquery"), "WHERE")
        keys = tuple(self._key(one) for one in relation.keys)
        facts = tuple(self._fact(one) for one in relation.facts)
        unit = next((one.name for one in keys if self._is_unit(one.expression)), None)
        if unit is None:
            column = self._policy.unit.column
            raise NotPrivate(
                f"A subquery that groups must group by {column}, so that each of its rows belongs to one unit alone: "
                f"write GROUP BY {', '.join([str(column), *(quoted(one.expression) for one in keys[:3])])} inside, "
                f"and group by the rest outside."
            )
        columns = [self._key_column(one) for one in keys] + [self._fact_column(one) for one in facts]
        checked = PerUnit(keys, facts, where, None if self._below is None else self._below.relation)
        rows = 1 if self._below is None else self._below.rows
        own = (where, *(one.expression for one in keys), *(one.argument for one in facts))
        admit_row_work(rows, own, aggregating(one.function for one in facts))
        return View(checked, unit, {one.name: one for one in columns}, rows if len(keys) > 1 else 1)

    def _is_unit(self, expression: Expression) -> bool:
        return isinstance(expression, Column) and expression.name.lower() == str(self._policy.unit.column).lower()

    def _key(self, key: UnitKey) -> UnitKey:
        if self._is_unit(key.expression):
            return replace(key, expression=Column(str(self._policy.unit.column)))
        expression = self._rows.typed(self._names.in_rows(key.expression, "GROUP BY of a subquery"))
        if self._rows.kind(expression) is None:
            raise InvalidParameter("GROUP BY", given=Words("NULL"), allowed="expressions of columns")
        return replace(key, expression=expression)

    def _fact(self, fact: Fact) -> Fact:
        if fact.function not in FACTS:
            raise InvalidParameter("value per unit", given=fact.function, allowed=", ".join(FACTS))
        if fact.argument is None:
            return fact
        argument = self._rows.typed(self._names.in_rows(fact.argument, "an aggregate of a subquery"))
        kind = fact_kind(fact.function, self._rows.kind(argument))
        if kind is None:
            given = Words(str(self._rows.kind(argument) or "NULL"))
            allowed = "a number" if fact.function in ("sum", "mean") else "a column"
            raise InvalidParameter(f"{fact.function}({quoted(argument)})", given=given, allowed=allowed)
        return replace(fact, argument=argument)

    def _key_column(self, key: UnitKey) -> ColumnPolicy:
        if self._is_unit(key.expression):
            kind = self._policy.columns[str(self._policy.unit.column)].kind
            return ColumnPolicy(key.name, kind, Role.IDENTIFIER)
        return described(key.name, key.expression, self._kind(key.expression), self._policy)

    def _fact_column(self, fact: Fact) -> ColumnPolicy:
        argument = fact.argument
        kind = fact_kind(fact.function, None if argument is None else self._kind(argument))
        assert kind is not None
        made = ColumnPolicy(fact.name, kind, Role.PRIVATE)
        if argument is None or not kind.is_number:
            return made
        if fact.function in ("min", "max", "mean"):
            return replace(made, bounds=self._bounds(argument))
        if fact.function == "sum" and isinstance(argument, Column):  # what one unit adds to one group
            return replace(made, bounds=self._policy.columns[argument.name].group_bounds)
        return made

    def _kind(self, expression: Expression) -> Kind:
        kind = self._rows.kind(expression)
        assert kind is not None
        return kind

    def _bounds(self, expression: Expression) -> tuple[Fraction, Fraction] | None:
        if not self._kind(expression).is_number:
            return None
        found = range_of(expression, lambda column: declared_range(column, self._policy))
        return None if found is None else found.bounds
