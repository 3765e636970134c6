"""A subquery that groups: SELECT user_id, SUM(x) AS total … GROUP BY user_id, as a relation with a row per unit.

Whether one of its keys is the unit is checked later, with the policy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tacit.tables.expressions import Case, Column, Expression, Literal
from tacit.tables.grouping import default_name, folded
from tacit.tables.per_unit import Fact, PerUnit, UnitKey
from tacit.tables.sql.functions import FACT_NAMES
from tacit.tables.sql.grammar import exp
from tacit.tables.sql.read_functions import function
from tacit.tables.sql.read_leaves import Qualified
from tacit.tables.sql.refusals import NotUnderstood, not_yet, shortened
from tacit.tables.sql.scope import Reader, Scope, only, refused
from tacit.tables.sql.translate import scope as row_scope

__all__ = ["Grouped", "grouped", "grouping_scope"]

_FUNCTIONS = {name.lower(): function for function, name in FACT_NAMES.items()} | {"mean": "mean"}


@dataclass(frozen=True, slots=True)
class _Value(Expression):
    """A value per unit while it is read: a leaf of what the subquery shows."""

    function: str
    argument: Expression | None = None


@dataclass(frozen=True, slots=True)
class Grouped:
    """The relation, what each name of the subquery means in terms of its columns, and HAVING."""

    relation: PerUnit
    columns: Mapping[str, Expression]
    having: Expression | None


def grouping_scope(rows: Scope) -> Scope:
    """A place where values per unit may stand."""
    own: dict[type[exp.Expression], Reader] = {exp.Anonymous: _function, exp.Filter: _filtered}
    return replace(rows, readers={**rows.readers, **own}, place="a subquery that groups")


def _function(scope: Scope, node: exp.Anonymous) -> Expression:
    name = str(node.this).lower()
    if name not in _FUNCTIONS:
        return function(scope, node)
    inside = _below(scope, f"{name.upper()}(…)")
    given = list(node.expressions)
    if any(isinstance(one, exp.Kwarg) for one in given):
        instead = "It is exact, and never shown: write the bounds at the aggregate outside."
        raise not_yet(f"bounds of {name.upper()}(…) in a subquery", instead)
    distinct = bool(given) and isinstance(given[0], exp.Distinct)
    if distinct:
        only(given[0], "expressions")
        given = [*given[0].expressions, *given[1:]]
    if name == "count" and not distinct and (not given or isinstance(given[0], exp.Star)) and len(given) <= 1:
        for star in given:
            only(star)
        return _Value("count_rows")
    if len(given) != 1:
        raise NotUnderstood(f"{name.upper()}(…)", "takes one value", f"Write {name.upper()}(column).")
    if isinstance(given[0], exp.Star):
        raise refused(given[0])
    argument = inside.expression(given[0])
    if distinct:
        if name not in ("count", "min", "max"):
            raise not_yet(f"{name.upper()}(DISTINCT …)", f"Write {name.upper()}(x), of every row.")
        return _Value("count_distinct" if name == "count" else _FUNCTIONS[name], argument)
    return _counted(_Value(_FUNCTIONS[name], argument))


def _below(scope: Scope, place: str) -> Scope:
    """Inside of a value per unit there is none."""
    return replace(scope, readers=row_scope(scope.tables, place, aggregates=False).readers, place=place)


def _counted(value: _Value) -> _Value:
    """COUNT(1) is COUNT(*)."""
    is_one = value.function == "count" and isinstance(value.argument, Literal) and value.argument.value is not None
    return _Value("count_rows") if is_one else value


def _filtered(scope: Scope, node: exp.Filter) -> Expression:
    only(node, "this", "expression")
    found = scope.expression(node.this)
    if not isinstance(found, _Value) or not isinstance(node.expression, exp.Where):
        raise not_yet("FILTER", "It follows an aggregate: COUNT(*) FILTER (WHERE age > 40).")
    only(node.expression, "this")
    condition = _below(scope, "FILTER").expression(node.expression.this)
    value = Literal(1) if found.argument is None else found.argument
    name = "count" if found.function == "count_rows" else found.function
    return _Value(name, Case(((condition, value),)))


def grouped(node: exp.Select, scope: Scope, outputs: list[tuple[str, Expression]]) -> Grouped:
    """The relation of a subquery whose outputs have been read in a `grouping_scope`."""
    rows = _below(scope, "GROUP BY")
    keys = {folded(key): key for key in _keys(node, rows, outputs)}
    having = node.args.get("having")
    condition = None
    if having is not None:
        only(having, "this")
        condition = _aliased(scope.placed("HAVING").expression(having.this), dict(outputs))
    shown = [value for _, value in outputs]
    values: dict[Expression, _Value] = {}
    for value in _values([*shown, *([condition] if condition else [])]):
        values.setdefault(folded_value(value), value)
    names = _Names(outputs)
    named_keys = {key: UnitKey(names.of(key, meaning), meaning) for key, meaning in keys.items()}
    named_values = {key: Fact(names.of(key, one), one.function, one.argument) for key, one in values.items()}
    known = {key: one.name for key, one in named_keys.items()} | {v: one.name for v, one in named_values.items()}
    relation = PerUnit(tuple(named_keys.values()), tuple(named_values.values()))
    columns = {label.lower(): _over(value, known) for label, value in outputs}
    return Grouped(relation, columns, None if condition is None else _over(condition, known))


def _values(trees: list[Expression]) -> Iterator[_Value]:
    return (one for tree in trees for one in tree.walk() if isinstance(one, _Value))


def folded_value(value: _Value) -> _Value:
    """Values that differ in the capitals of names are one."""
    return value if value.argument is None else replace(value, argument=folded(value.argument))


def _keys(node: exp.Select, rows: Scope, outputs: list[tuple[str, Expression]]) -> list[Expression]:
    group = node.args.get("group")
    if group is None:
        raise NotUnderstood(
            "an aggregate in a subquery without GROUP BY",
            "would be one exact number of all people",
            "Group by the protected unit inside, or ask for it outside.",
        )
    only(group, "expressions", "all")
    plain = [value for _, value in outputs if not any(isinstance(one, _Value) for one in value.walk())]
    if group.args.get("all"):
        return [value for value in plain if any(isinstance(one, Column) for one in value.walk())]
    named = {label.lower(): value for label, value in outputs if value in plain}
    return [_key(one, rows, outputs, named) for one in group.expressions]


def _key(
    node: exp.Expression, rows: Scope, outputs: list[tuple[str, Expression]], named: Mapping[str, Expression]
) -> Expression:
    if isinstance(node, exp.Literal) and not node.is_string:
        text = str(node.this)
        if not text.isascii() or not text.isdecimal() or len(text) > 6 or not 1 <= int(text) <= len(outputs):
            raise NotUnderstood(f"GROUP BY {text[:20]}", f"the places are 1 to {len(outputs)}")
        found = outputs[int(text) - 1][1]
        if any(isinstance(one, _Value) for one in found.walk()):
            raise not_yet("an aggregate in GROUP BY", "Group by columns, or expressions of them.")
        return found
    key = rows.expression(node)
    if not isinstance(key, Column) or isinstance(key, Qualified) or key.name.lower() not in named:
        return key
    meant = named[key.name.lower()]
    if folded(meant) != folded(key) and folded(key) in (folded(one) for one in meant.walk() if isinstance(one, Column)):
        problem = "could mean the column or what SELECT calls by that name"
        raise NotUnderstood(f"GROUP BY {shortened(key.name)}", problem, "Write its place (GROUP BY 1).")
    return meant


def _aliased(tree: Expression, named: Mapping[str, Expression]) -> Expression:
    """Names of outputs in HAVING, replaced by what they stand for."""
    known = {label.lower(): value for label, value in named.items()}
    if isinstance(tree, Column) and not isinstance(tree, Qualified):
        return known.get(tree.name.lower(), tree)
    return tree.with_parts(tuple(_aliased(part, named) for part in tree.parts()))


class _Names:
    """A name for each column of the relation: the one it is shown under, otherwise one that says what it is."""

    def __init__(self, outputs: list[tuple[str, Expression]]) -> None:
        self._shown: dict[Expression, str] = {}
        for label, value in outputs:
            plain = folded_value(value) if isinstance(value, _Value) else folded(value)
            self._shown.setdefault(plain, label)
        self._taken = {label.lower() for label, _ in outputs}

    def of(self, column: Expression, meaning: Expression) -> str:
        """The name of a key or a value, as it is folded, and as it was written."""
        if column in self._shown:
            return self._shown[column]
        name = base = _said(meaning) if isinstance(meaning, _Value) else default_name(meaning, ())
        number = 1
        while name.lower() in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name.lower())
        return name


def _said(value: _Value) -> str:
    if value.function == "count_rows":
        return "count"
    name = value.function if not isinstance(value.argument, Column) else f"{value.function}_{value.argument.name}"
    return name[:60]


def _over(tree: Expression, known: Mapping[Expression, str]) -> Expression:
    """What the subquery shows, over the columns of the relation; the largest parts that are keys are keys."""
    if isinstance(tree, _Value):
        return Column(known[folded_value(tree)])
    name = known.get(folded(tree))
    if name is not None:
        return Column(name)
    if isinstance(tree, Column):
        raise NotUnderstood(
            f"{shortened(tree.name)} in a subquery that groups",
            "is neither in its GROUP BY nor aggregated",
            f"Write MAX({shortened(tree.name)}), or add it to GROUP BY.",
        )
    return tree.with_parts(tuple(_over(part, known) for part in tree.parts()))
