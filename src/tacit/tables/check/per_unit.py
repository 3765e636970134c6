"""A row per unit, or per unit and keys: a grouped subquery, checked and described like a table."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from tacit.errors import InvalidParameter, NotPrivate
from tacit.tables.check.names import Names
from tacit.tables.check.row_work import admit_row_work, aggregating
from tacit.tables.check.rows import View, described
from tacit.tables.check.types import Typing, Words, column_kind, declared_range, quoted, range_of
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Column, Expression
from tacit.tables.policy.policy import ColumnPolicy, Policy, Role
from tacit.tables.query.per_unit import FACTS, Fact, PerUnit, UnitKey, fact_kind

__all__ = ["per_unit_view"]


def per_unit_view(relation: PerUnit, below: View | None, policy: Policy) -> View:
    """The relation over a table or a checked relation; refuses one whose rows are not each of one unit."""
    if policy.unit.column is None:
        raise NotPrivate(
            "GROUP BY in a subquery: each row is protected by itself here, so no key inside belongs to one unit alone. "
            "Group outside."
        )
    return _Checking(policy if below is None else below.over(policy), below).view(relation)


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
        others = frozenset(one.name for one in keys) - {unit}
        named = {one.name: one for one in columns}
        return View(checked, named, unit, rows=rows if others else 1, others=others, once=not others)

    def _is_unit(self, expression: Expression) -> bool:
        return (expression.column_name or "").lower() == str(self._policy.unit.column).lower()

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
        if fact.function == "sum" and argument.column_name is not None:  # what one unit adds to one group
            return replace(made, bounds=self._policy.columns[argument.column_name].group_bounds)
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
