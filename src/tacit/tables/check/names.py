"""Names of columns, found in the policy as SQL finds them (capitals do not matter), and what each may be used for."""

from __future__ import annotations

import difflib
from dataclasses import replace

from tacit.errors import NotPrivate, UnknownColumn
from tacit.tables.expressions.tree import Case, Column, Expression, Literal
from tacit.tables.policy.policy import ColumnPolicy, Policy, Role
from tacit.tables.query.relations import Base, Relation
from tacit.tables.query.to_sql import name_to_sql
from tacit.tables.query.tree import Aggregate

__all__ = ["Names", "unit_names"]


class Names:
    """The columns of one policy."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._known = {name.lower(): column for name, column in policy.columns.items()}

    def in_rows(self, expression: Expression, place: str) -> Expression:
        """An expression of rows by the policy's names; columns that name people are refused."""
        return expression.changed(Column, lambda column: self.in_place(column.name, place))

    def in_place(self, name: str, place: str) -> Column:
        """A column by the policy's name, in a place where nothing may depend on who somebody is."""
        column = self._found(name)
        if self._names_people(column):
            counted, table = name_to_sql(self._policy.unit.column or column.name), name_to_sql(self._policy.table)
            raise NotPrivate(
                f"{column.name} in {place}: it names the people who are protected, so nothing may depend on one of "
                f"its values. How many there are: SELECT COUNT(DISTINCT {counted}) AS n FROM {table}."
            )
        return Column(column.name)

    def in_aggregate(self, aggregate: Aggregate) -> Aggregate:
        """An aggregate by the policy's names."""
        argument = aggregate.argument
        if aggregate.estimator == "count_units":
            return replace(aggregate, argument=self._unit(argument))
        if aggregate.estimator == "count_distinct" and self._is_unit(argument):
            return Aggregate("count_units", self._unit(argument))
        if argument is None:
            return aggregate
        if aggregate.estimator == "count" and argument.column_name is not None:
            return replace(aggregate, argument=Column(self._found(argument.column_name).name))
        return aggregate.of(lambda one: self.in_rows(one, "an aggregate"))

    def _is_unit(self, argument: Expression | None) -> bool:
        """Whether it is the protected unit, under FILTER perhaps."""
        if argument is not None and argument.filtered is not None:
            argument = argument.filtered[1]
        name, unit = None if argument is None else argument.column_name, self._policy.unit.column
        return name is not None and unit is not None and name.lower() == unit.lower()

    def _unit(self, argument: Expression | None) -> Expression:
        unit = self._policy.unit.column
        if argument is None and unit is not None:
            return Column(unit)
        if argument is not None and argument.filtered is not None:
            condition, counted = argument.filtered  # FILTER (WHERE condition)
            unit_counted = self._unit(None if counted == Literal(1) else counted)  # COUNT_UNITS() says no column
            return Case(((self.in_rows(condition, "FILTER"), unit_counted),))
        written = None if argument is None else argument.column_name
        name = "" if written is None else self._found(written).name
        if unit is not None and name.lower() == unit.lower():
            return Column(name)
        if unit is None:
            raise NotPrivate("COUNT(DISTINCT …): each row is protected on its own here, so write COUNT(*).")
        raise NotPrivate(
            f"{name or 'That expression'} is not the protected unit: COUNT(DISTINCT {unit}) counts people."
        )

    def _names_people(self, column: ColumnPolicy) -> bool:
        unit = self._policy.unit.column
        return column.role is Role.IDENTIFIER or (unit is not None and column.name.lower() == unit.lower())

    def _found(self, name: str) -> ColumnPolicy:
        column = self._known.get(name.lower())
        if column is None:
            raise self._unknown(name)
        if column.role is Role.FORBIDDEN:
            raise NotPrivate(f"{column.name} must not be asked about: the policy forbids it.")
        return column

    def _unknown(self, name: str) -> UnknownColumn:
        shown = [column.name for column in self._known.values() if column.role is not Role.FORBIDDEN]
        near = difflib.get_close_matches(name.lower(), [one.lower() for one in shown], n=1)
        names = ", ".join(shown[:50]) + (", …" if len(shown) > 50 else "")
        text = f"There is no column {name[:60]!r} in {self._policy.table} that may be asked about; it has {names}."
        if near:
            text += f" Did you mean {_typed(self._known[near[0]].name)}?"
        else:
            text += f" If it is a text, write it in single quotes: '{name[:60]}'."
        return UnknownColumn(text)


def _typed(name: str) -> str:
    """As it has to be typed: in double quotes, if it is not a plain word."""
    return name if name.isidentifier() else '"' + name.replace('"', '""') + '"'


def unit_names(relation: Relation | None, policy: Policy) -> tuple[str, ...]:
    """What the private tables that it is made of call the unit, each name once; none where each row is one."""
    if relation is None:
        return () if policy.unit.column is None else (policy.unit.column,)
    if isinstance(relation, Base):
        found = {name.lower(): one for name, one in policy.others.items()}.get(relation.table.lower())
        return () if found is None or found.unit is None else (found.unit,)
    names = [name for one in relation.below() for name in unit_names(one, policy)]
    return tuple({name.lower(): name for name in reversed(names)}.values())[::-1]
