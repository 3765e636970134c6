"""A subquery that groups, as it is written: SELECT user_id, SUM(x) AS total … GROUP BY user_id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tacit.tables.expressions.tree import Case, Column, Expression, Literal
from tacit.tables.query.canonical import folded
from tacit.tables.query.functions import FACT_NAMES
from tacit.tables.query.refusals import NotUnderstood, not_yet, shortened
from tacit.tables.query.units import Grouped, UnitValue, counted, grouped, no_bounds
from tacit.tables.sql.grammar import exp
from tacit.tables.sql.read.aggregates import argument_name
from tacit.tables.sql.read.functions import function
from tacit.tables.sql.scope import Reader, Scope, is_star, only, place_in, refused, undistinct
from tacit.tables.sql.translate import scope as row_scope

__all__ = ["grouping_scope", "read_grouped"]

_FUNCTIONS = {name.lower(): function for function, name in FACT_NAMES.items()} | {"mean": "mean"}


def grouping_scope(rows: Scope) -> Scope:
    """A place where values per unit may stand."""
    own: dict[type[exp.Expression], Reader] = {exp.Anonymous: _function, exp.Filter: _filtered}
    return replace(rows, readers={**rows.readers, **own}, place="a subquery that groups")


def _function(scope: Scope, node: exp.Anonymous) -> Expression:
    name = str(node.this).lower()
    if name not in _FUNCTIONS:
        return function(scope, node)
    inside = _below(scope, f"{name.upper()}(…)")
    if any(argument_name(one) is not None for one in node.expressions):
        raise no_bounds(name.upper())
    given, distinct = undistinct(node.expressions)
    if name == "count" and not distinct and (not given or is_star(given[0])) and len(given) <= 1:
        for star in given:
            only(star)
        return UnitValue("count_rows")
    if len(given) != 1:
        raise NotUnderstood(f"{name.upper()}(…)", "takes one value", f"Write {name.upper()}(column).")
    if is_star(given[0]):
        raise refused(given[0])
    argument = inside.expression(given[0])
    if distinct:
        if name not in ("count", "min", "max"):
            raise not_yet(f"{name.upper()}(DISTINCT …)", f"Write {name.upper()}(x), of every row.")
        return UnitValue("count_distinct" if name == "count" else _FUNCTIONS[name], argument)
    return counted(UnitValue(_FUNCTIONS[name], argument))


def _below(scope: Scope, place: str) -> Scope:
    """Inside of a value per unit there is none."""
    return replace(scope, readers=row_scope(scope.tables, place, aggregates=False).readers, place=place)


def _filtered(scope: Scope, node: exp.Filter) -> Expression:
    only(node, "this", "expression")
    found = scope.expression(node.this)
    if not isinstance(found, UnitValue) or not isinstance(node.expression, exp.Where):
        raise not_yet("FILTER", "It follows an aggregate: COUNT(*) FILTER (WHERE age > 40).")
    only(node.expression, "this")
    condition = _below(scope, "FILTER").expression(node.expression.this)
    value = Literal(1) if found.argument is None else found.argument
    name = "count" if found.function == "count_rows" else found.function
    return UnitValue(name, Case(((condition, value),)))


def read_grouped(node: exp.Select, scope: Scope, outputs: list[tuple[str, Expression]]) -> Grouped:
    """The relation of a subquery whose outputs have been read in a `grouping_scope`."""
    keys = _keys(node, _below(scope, "GROUP BY"), outputs)
    having = node.args.get("having")
    condition = None
    if having is not None:
        only(having, "this")
        condition = _aliased(scope.placed("HAVING").expression(having.this), dict(outputs))
    return grouped(keys, outputs, condition)


def _keys(node: exp.Select, rows: Scope, outputs: list[tuple[str, Expression]]) -> list[Expression]:
    group = node.args.get("group")
    if group is None:
        raise NotUnderstood(
            "an aggregate in a subquery without GROUP BY",
            "would be one exact number of all people",
            "Group by the protected unit inside, or ask for it outside.",
        )
    only(group, "expressions", "all")
    plain = [value for _, value in outputs if not value.has(UnitValue)]
    if group.args.get("all"):
        return [value for value in plain if value.has(Column)]
    named = {label.lower(): value for label, value in outputs if value in plain}
    return [_key(one, rows, outputs, named) for one in group.expressions]


def _key(
    node: exp.Expression, rows: Scope, outputs: list[tuple[str, Expression]], named: Mapping[str, Expression]
) -> Expression:
    place = place_in(node, "GROUP BY", len(outputs))
    if place is not None:
        found = outputs[place][1]
        if found.has(UnitValue):
            raise not_yet("an aggregate in GROUP BY", "Group by columns, or expressions of them.")
        return found
    key = rows.expression(node)
    name = key.bare_name
    if name is None or name.lower() not in named:
        return key
    meant = named[name.lower()]
    if folded(meant) != folded(key) and folded(key) in map(folded, meant.nodes(Column)):
        problem = "could mean the column or what SELECT calls by that name"
        raise NotUnderstood(f"GROUP BY {shortened(name)}", problem, "Write its place (GROUP BY 1).")
    return meant


def _aliased(tree: Expression, named: Mapping[str, Expression]) -> Expression:
    """Names of outputs in HAVING, replaced by what they stand for."""
    known = {label.lower(): value for label, value in named.items()}
    return tree.changed(Column, lambda column: known.get((column.bare_name or "").lower(), column))
