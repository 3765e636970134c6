"""The rows that a question in Python is about, step by step: names looked up, columns computed, tables joined.

Each step makes of rows what a subquery around them would make of them in SQL, with the same parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tacit.errors import InvalidParameter
from tacit.tables.expressions.tree import Column, Expression
from tacit.tables.query.joins import made_stack, selected
from tacit.tables.query.limits import Sizes
from tacit.tables.query.per_unit import PerUnit
from tacit.tables.query.refusals import NotUnderstood, misplaced, not_yet, shortened
from tacit.tables.query.relations import Relation
from tacit.tables.query.rows import Catalogue, Rows
from tacit.tables.query.to_sql import expression_sql
from tacit.tables.query.tree import Aggregate
from tacit.tables.query.units import UnitValue, counted, grouped, no_bounds

__all__ = [
    "column_as_called",
    "computed",
    "own_name",
    "per_unit",
    "refuse_aggregates",
    "row_wise",
    "spelled",
    "stacked",
    "unnamed",
]


def spelled(expression: Expression, rows: Rows, catalogue: Catalogue) -> Expression:
    """Columns as the rows call them: ``city``, or ``regions.city`` where several tables have one."""

    def called(column: Column) -> Column:
        bare = column.bare_name
        return Column(column.name if bare is None else column_as_called(bare, rows, catalogue))

    return expression.over(called)


def column_as_called(name: str, rows: Rows, catalogue: Catalogue) -> str:
    """What the rows call a column that is written with its table, or without."""
    table, column = _parted(name, rows, catalogue)
    return column if rows.naming is None else rows.naming.column(table, column)


def own_name(name: str, rows: Rows, catalogue: Catalogue) -> str:
    """The name of a column, without that of its table."""
    return _parted(name, rows, catalogue)[1]


def _parted(name: str, rows: Rows, catalogue: Catalogue) -> tuple[str | None, str]:
    """The table and the column; a column may have a dot in its own name."""
    table, dot, column = name.partition(".")
    if not dot or not column or table.lower() not in rows.names:
        return None, name
    if rows.naming is None:
        known = {one.lower() for one, _ in catalogue.columns_of(rows)}
    else:
        known = {one for side in rows.naming.sides for one in side.columns}
    return (None, name) if name.lower() in known else (table, column)


def row_wise(expression: Expression, rows: Rows, catalogue: Catalogue, place: str) -> Expression:
    """The expression over what the rows are made of; refuses aggregates, and what grows too large."""
    Sizes().of(expression)
    refuse_aggregates(expression, place)
    found = rows.meaning(spelled(expression, rows, catalogue))
    Sizes().of(found)
    return found


def refuse_aggregates(expression: Expression, place: str) -> None:
    """Refuse an expression of rows in which an aggregate stands."""
    found = next(expression.nodes(Aggregate), None)
    if found is not None:
        raise misplaced(_function(found), place)


def _function(aggregate: Aggregate) -> str:
    return expression_sql(aggregate).partition("(")[0]


def computed(rows: Rows, columns: Mapping[str, Expression], catalogue: Catalogue, *, everything: bool) -> Rows:
    """The rows with these columns: beside all others, in place of those of the same name, or alone."""
    found = dict[str, Expression]()
    for label, expression in columns.items():
        if label.lower() in found:
            raise NotUnderstood(shortened(label), "is the name of two columns of a subquery", "Choose another.")
        found[label.lower()] = row_wise(expression, rows, catalogue, "a subquery without GROUP BY")
    if not everything:
        return replace(rows, names=_one_name(rows), columns=found, everything=False, naming=None)
    below = rows.settled
    return replace(below, columns={**below.columns, **found})


def _one_name(rows: Rows) -> frozenset[str]:
    return rows.names if rows.naming is None else frozenset()


def stacked(first: Rows, second: Rows, catalogue: Catalogue) -> Rows:
    """The rows of both, which have the same columns; those of the second go by their names."""
    parts = list(first.stack()) or [selected(first.settled, catalogue)]
    added = selected(second.settled, catalogue)
    wanted, given = [one.lower() for one in parts[0].names()], [one.lower() for one in added.names()]
    if sorted(wanted) != sorted(given):
        hint = 'Choose and rename them on both sides: .select("city", who="customer").'
        given_columns = f"{', '.join(wanted)[:60]} and {', '.join(given)[:60]}"
        raise InvalidParameter("union", given=given_columns, allowed="the same names of columns in both", hint=hint)
    places = [given.index(name) for name in wanted]
    parts += [replace(one, columns=tuple(one.columns[at] for at in places)) for one in second.stack() or (added,)]
    return Rows(_one_name(first), relation=made_stack(parts))


def per_unit(
    rows: Rows,
    keys: Sequence[tuple[str, Expression]],
    values: Sequence[tuple[str, Expression]],
    catalogue: Catalogue,
) -> Rows:
    """A row for each combination of the keys, one of which is the unit; exact values, which stay inside."""
    for _, one in keys:
        Sizes().of(one)
        refuse_aggregates(one, "GROUP BY")
    for _, one in values:
        Sizes().of(one)
    outputs = [(label, spelled(one, rows, catalogue)) for label, one in keys]
    listed_keys = [one for _, one in outputs]
    outputs += [(label, spelled(one, rows, catalogue).changed(Aggregate, _valued)) for label, one in values]
    labels = [label.lower() for label, _ in outputs]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise NotUnderstood(shortened(twice), "is the name of two columns of a subquery", "Choose another.")
    found = grouped(listed_keys, outputs)
    unit_keys = tuple(replace(one, expression=rows.meaning(one.expression)) for one in found.relation.keys)
    facts = tuple(
        one if one.argument is None else replace(one, argument=rows.meaning(one.argument))
        for one in found.relation.facts
    )
    relation: Relation = PerUnit(unit_keys, facts, rows.where, rows.relation)
    return Rows(_one_name(rows), found.columns, False, None, relation)


_FACTS = {
    "count_rows": "count_rows",
    "count": "count",
    "count_distinct": "count_distinct",
    "sum": "sum",
    "mean": "mean",
}


def _valued(expression: Aggregate) -> UnitValue:
    """An aggregate as a value per unit."""
    function = _FACTS.get(expression.estimator)
    if expression.estimator == "quantile" and expression.level in (0, 1):
        function = "max" if expression.level else "min"
    name = _function(expression)
    if function is None:
        raise misplaced(name, "a subquery that groups")
    if any(one is not None for one in (expression.bounds, expression.group_bounds, expression.interval_share)):
        raise no_bounds(name)
    return counted(UnitValue(function, expression.argument))


def unnamed(example: str) -> NotUnderstood:
    """A computed column that is given no name."""
    return not_yet("a computed column of a subquery without a name", f"Give it one: {example}.")
