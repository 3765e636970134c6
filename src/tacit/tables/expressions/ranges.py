"""Public ranges of row-wise expressions, by interval arithmetic from the bounds of columns."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import singledispatch

from tacit.tables.expressions.intervals import EVERYTHING, Range, union
from tacit.tables.expressions.kinds import Kind, kind_of_value
from tacit.tables.expressions.operators import OPERATORS
from tacit.tables.expressions.tree import Call, Case, Column, Expression, Literal

__all__ = ["EVERYTHING", "Range", "range_of"]

Columns = Callable[[Column], Range]


def range_of(expression: Expression, columns: Columns) -> Range | None:
    """The range of the known values of an expression; None if it is always null."""
    found = _range(expression, columns)
    return None if found is None else found.tidy()


@singledispatch
def _range(expression: Expression, columns: Columns) -> Range | None:
    return EVERYTHING


@_range.register
def _(expression: Column, columns: Columns) -> Range | None:
    return columns(expression)


@_range.register
def _(expression: Literal, columns: Columns) -> Range | None:
    kind = kind_of_value(expression.value)
    if kind is None or not kind.is_number:
        return None if kind is None else EVERYTHING
    exact = Fraction(repr(expression.value))
    return Range(exact, exact)


@_range.register
def _(expression: Case, columns: Columns) -> Range | None:
    return union(range_of(part, columns) for part in expression.results())


@_range.register
def _(expression: Call, columns: Columns) -> Range | None:
    operator = OPERATORS[expression.operator]
    if operator.counts_truth and _is_truth(expression.arguments[0]):
        return Range(Fraction(0), Fraction(1))
    return operator.range_of(expression.arguments, lambda part: range_of(part, columns))


def _is_truth(expression: Expression) -> bool:
    """Whether it is a condition, or TRUE or FALSE."""
    if kind_of_value(expression.constant) is Kind.BOOLEAN:
        return True
    return bool(expression.called) and OPERATORS[expression.called].is_condition
