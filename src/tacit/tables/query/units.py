"""Rows per unit, GROUP BY unit inside of a question: what SQL and the Python API both make them with.

Whether one of the keys is the unit is checked later, with the policy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tacit.tables.expressions.tree import Column, Expression
from tacit.tables.query.canonical import default_name, folded
from tacit.tables.query.per_unit import Fact, PerUnit, UnitKey
from tacit.tables.query.refusals import NotUnderstood, not_yet, shortened

__all__ = ["Grouped", "UnitValue", "counted", "grouped", "no_bounds"]


@dataclass(frozen=True, slots=True)
class UnitValue(Expression):
    """A value per unit while it is read: a leaf of what the subquery shows."""

    function: str
    argument: Expression | None = None


@dataclass(frozen=True, slots=True)
class Grouped:
    """The relation, what each name of the subquery means in terms of its columns, and HAVING."""

    relation: PerUnit
    columns: Mapping[str, Expression]
    having: Expression | None


def no_bounds(name: str) -> NotUnderstood:
    """Why a value per unit has no bounds."""
    instead = "It is exact, and never shown: write the bounds at the aggregate outside."
    return not_yet(f"bounds of {name}(…) in a subquery", instead)


def counted(value: UnitValue) -> UnitValue:
    """COUNT(1) is COUNT(*)."""
    is_one = value.function == "count" and value.argument is not None and value.argument.constant is not None
    return UnitValue("count_rows") if is_one else value


def grouped(
    listed: Sequence[Expression], outputs: Sequence[tuple[str, Expression]], condition: Expression | None = None
) -> Grouped:
    """The relation by these keys that shows the outputs, where the condition on them holds."""
    keys = {folded(key): key for key in listed}
    shown = [value for _, value in outputs]
    values: dict[Expression, UnitValue] = {}
    for value in _values([*shown, *([condition] if condition else [])]):
        values.setdefault(_folded(value), value)
    names = _Names(outputs)
    named_keys = {key: UnitKey(names.of(key, meaning), meaning) for key, meaning in keys.items()}
    named_values = {key: Fact(names.of(key, one), one.function, one.argument) for key, one in values.items()}
    known = {key: one.name for key, one in named_keys.items()} | {v: one.name for v, one in named_values.items()}
    relation = PerUnit(tuple(named_keys.values()), tuple(named_values.values()))
    columns = {label.lower(): _over(value, known) for label, value in outputs}
    return Grouped(relation, columns, None if condition is None else _over(condition, known))


def _values(trees: list[Expression]) -> Iterator[UnitValue]:
    return (one for tree in trees for one in tree.nodes(UnitValue))


def _folded(tree: Expression) -> Expression:
    """Keys and values that differ in the capitals of names are one."""
    match tree:
        case UnitValue(_, argument) if argument is not None:
            return replace(tree, argument=folded(argument))
    return folded(tree)


class _Names:
    """A name for each column of the relation: the one it is shown under, otherwise one that says what it is."""

    def __init__(self, outputs: Sequence[tuple[str, Expression]]) -> None:
        self._shown: dict[Expression, str] = {}
        for label, value in outputs:
            self._shown.setdefault(_folded(value), label)
        self._taken = {label.lower() for label, _ in outputs}

    def of(self, column: Expression, meaning: Expression) -> str:
        """The name of a key or a value, as it is folded, and as it was written."""
        if column in self._shown:
            return self._shown[column]
        name = base = _said(meaning) if isinstance(meaning, UnitValue) else default_name(meaning, ())
        number = 1
        while name.lower() in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name.lower())
        return name


def _said(value: UnitValue) -> str:
    if value.function == "count_rows":
        return "count"
    match value.argument:
        case Column(name):
            return f"{value.function}_{name}"[:60]
    return value.function[:60]


def _over(tree: Expression, known: Mapping[Expression, str]) -> Expression:
    """What the subquery shows, over the columns of the relation; the largest parts that are keys are keys."""
    name = known.get(_folded(tree))
    if name is not None:
        return Column(name)
    match tree:
        case Column(name):
            raise NotUnderstood(
                f"{shortened(name)} in a subquery that groups",
                "is neither in its GROUP BY nor aggregated",
                f"Write MAX({shortened(name)}), or add it to GROUP BY.",
            )
    return tree.with_parts(tuple(_over(part, known) for part in tree.parts()))
