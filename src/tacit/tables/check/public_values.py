"""Which values a key can have, where that is public: listed by the policy, or fixed by the expression itself.

Groups with public keys are shown even when they are empty, and cost no selection. The list depends on the policy and
the question alone; rows whose key is not listed are left out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from functools import singledispatch

from tacit.tables.expressions.evaluate import evaluate_rows
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.literals import kind_of_value
from tacit.tables.expressions.operator import constants_of
from tacit.tables.expressions.operators import OPERATORS, common_kind
from tacit.tables.expressions.tree import Call, Case, Column, Expression, Literal, Value
from tacit.tables.expressions.values import values_of
from tacit.tables.policy.policy import Policy, Role

__all__ = ["MOST_KEYS", "domain", "merged"]

MOST_KEYS = 100_000
"""The most groups that are shown for public keys."""


def domain(expression: Expression, policy: Policy) -> tuple[Value, ...] | None:
    """The public values of a key, each once, null last if it can be; None if they are not public."""
    found = _domain(expression, policy)
    return None if found is None or len(found) > MOST_KEYS else found


def merged(domains: Iterable[Iterable[Value]]) -> tuple[Value, ...] | None:
    """The values of several lists together, each once; None if there are too many to be shown."""
    found = _once(itertools.chain.from_iterable(domains))
    return None if len(found) > MOST_KEYS else found


@singledispatch
def _domain(expression: Expression, policy: Policy) -> tuple[Value, ...] | None:
    raise AssertionError(f"{type(expression).__name__} is no key of rows")


@_domain.register(Literal)
def _(expression: Literal, policy: Policy) -> tuple[Value, ...] | None:
    return (expression.value,)


@_domain.register(Column)
def _(expression: Column, policy: Policy) -> tuple[Value, ...] | None:
    return _listed(expression, policy)


@_domain.register(Case)
def _(expression: Case, policy: Policy) -> tuple[Value, ...] | None:
    results = [_domain(part, policy) for part in expression.results()]
    known = [one for one in results if one is not None]
    return _once(itertools.chain.from_iterable(known)) if len(known) == len(results) else None


@_domain.register(Call)
def _(expression: Call, policy: Policy) -> tuple[Value, ...] | None:
    operator = OPERATORS[expression.operator]
    listed: tuple[Value, ...] | None = (False, True) if operator.is_condition else None
    if operator.values is not None:
        listed = tuple(operator.values(constants_of(expression.arguments)))
    if listed is not None and _can_be_null(expression):
        listed = (*listed, None)
    if operator.is_condition or operator.shows_all:
        return listed
    return _image(expression, policy) or listed


def _listed(column: Column, policy: Policy) -> tuple[Value, ...] | None:
    declared = policy.columns[column.name]
    if declared.role is Role.PUBLIC and declared.keys is not None:
        return _once(declared.keys)
    return (False, True, None) if declared.kind is Kind.BOOLEAN else None


def _image(expression: Call, policy: Policy) -> tuple[Value, ...] | None:
    """A function of values that are public: computed for each of them.

    Not through a time zone: the engine has tables of its own, and rows that it puts elsewhere would be left out.
    """
    if OPERATORS[expression.operator].uses_zones:
        return None
    columns = tuple(dict.fromkeys(expression.nodes(Column)))
    choices = [_listed(column, policy) for column in columns]
    zoned = any(OPERATORS[node.operator].uses_zones for node in expression.nodes(Call))
    if all(one is not None for one in choices) and not zoned:
        leaves: tuple[Expression, ...] = columns
    else:
        leaves = tuple(dict.fromkeys(expression.arguments))
        choices = [_domain(part, policy) for part in leaves]
    known = [one for one in choices if one is not None]
    if len(known) != len(choices) or math.prod(len(one) for one in known) > MOST_KEYS:
        return None
    rows = list(itertools.product(*known))
    values = {leaf: [row[place] for row in rows] for place, leaf in enumerate(leaves)}
    return _once(evaluate_rows(expression, values, len(rows)))


def _can_be_null(expression: Expression) -> bool:
    if expression.is_literal:
        return expression.constant is None
    operator = OPERATORS.get(expression.called)
    if operator is not None:
        return operator.can_be_null(_can_be_null(part) for part in expression.parts())
    results = expression.results()
    return any(_can_be_null(part) for part in results) if results else True


def _once(values: Iterable[Value]) -> tuple[Value, ...]:
    """Each value once, as values of the one kind they have together, in the order they came, null last."""
    cells = list(values)
    kind = common_kind(tuple({kind_of_value(cell) for cell in cells}))
    if kind in (Kind.REAL, Kind.TIMESTAMP):
        cells = values_of(cells, kind).cells()
    return tuple(sorted(dict.fromkeys(cells), key=lambda cell: cell is None))
