"""Expressions evaluated in Python, over what is public: released values, and the listed keys of a policy.

Same meaning as in an engine: total, null where a value cannot be computed, truth with three values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import singledispatch

import numpy as np

from tacit.errors import InvalidParameter
from tacit.tables.expressions.kinds import common_kind
from tacit.tables.expressions.operators import OPERATORS
from tacit.tables.expressions.tree import Call, Case, Expression, Literal, Value
from tacit.tables.expressions.values import Values, constant, truths, values_of

__all__ = ["Values", "evaluate", "evaluate_rows", "values_of"]

Leaf = Callable[[Expression], "Values | None"]


def evaluate(expression: Expression, leaf: Leaf, size: int) -> Values:
    """The expression's values; ``leaf`` gives those of keys, aggregates, columns, or any part that is known."""
    found = leaf(expression)
    return _evaluated(expression, leaf, size) if found is None else found


def evaluate_rows(expression: Expression, values: Mapping[Expression, Sequence[Value]], size: int) -> list[Value]:
    """The expression for each row of values of some of its parts."""
    columns = {part: values_of(cells) for part, cells in values.items()}
    return evaluate(expression, columns.get, size).cells()


@singledispatch
def _evaluated(expression: Expression, leaf: Leaf, size: int) -> Values:
    allowed = "keys, aggregates and constants, and operators of them"
    raise InvalidParameter("expression", given=type(expression).__name__, allowed=allowed)


@_evaluated.register
def _(expression: Literal, leaf: Leaf, size: int) -> Values:
    return constant(expression.value, size)


@_evaluated.register
def _(expression: Call, leaf: Leaf, size: int) -> Values:
    arguments = [evaluate(part, leaf, size) for part in expression.arguments]
    operator = OPERATORS[expression.operator]
    kind = operator.gives(tuple(one.kind for one in arguments))
    if kind is None:
        given = ", ".join("NULL" if one.kind is None else str(one.kind) for one in arguments)
        raise InvalidParameter(expression.operator, given=given, allowed=operator.takes)
    return operator.compute(arguments, kind)


@_evaluated.register
def _(expression: Case, leaf: Leaf, size: int) -> Values:
    *results, otherwise = (evaluate(value, leaf, size) for value in expression.results())
    kinds = tuple(one.kind for one in (*results, otherwise))
    kind = common_kind(kinds) if any(kinds) else None
    data, known = otherwise.widened(kind).data.copy(), otherwise.known.copy()
    waiting = np.ones(size, dtype=bool)
    for (condition, _), result in zip(expression.branches, results, strict=True):
        true = truths(evaluate(condition, leaf, size))
        taken = waiting & true
        data[taken] = result.widened(kind).data[taken]
        known[taken] = result.known[taken]
        waiting &= ~true
    return Values(kind, data, known)
