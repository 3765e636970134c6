"""Which values a key can have, where that is public: listed by the policy, or fixed by the expression itself.

Groups with public keys are shown even when they are empty, and cost no selection. The list depends on the policy and
the question alone; rows whose key is not listed are left out.
"""

from __future__ import annotations

import datetime
import itertools
import math
from collections.abc import Iterable

from tacit.tables.expressions.evaluate import evaluate_rows
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.literals import kind_of_value
from tacit.tables.expressions.operators import common_kind
from tacit.tables.expressions.scalars import as_moment
from tacit.tables.expressions.tree import Call, Case, Column, Expression, Literal, Value
from tacit.tables.policy.policy import Policy, Role

__all__ = ["MOST_KEYS", "domain", "merged"]

MOST_KEYS = 100_000
"""The most groups that are shown for public keys."""

_CONDITIONS = {
    "and", "or", "not", "=", "<>", "<", "<=", ">", ">=", "in", "like", "ilike", "starts_with", "contains",
}  # fmt: skip
_FIXED = {
    "quarter": range(1, 5),
    "month": range(1, 13),
    "week": range(1, 54),
    "day": range(1, 32),
    "weekday": range(1, 8),
    "hour": range(24),
    "minute": range(60),
    "sign": range(-1, 2),
}
_ZONED = ("at_time_zone", "timestamp_trunc")


def domain(expression: Expression, policy: Policy) -> tuple[Value, ...] | None:
    """The public values of a key, each once, null last if it can be; None if they are not public."""
    found = _domain(expression, policy)
    return None if found is None or len(found) > MOST_KEYS else found


def merged(domains: Iterable[Iterable[Value]]) -> tuple[Value, ...] | None:
    """The values of several lists together, each once; None if there are too many to be shown."""
    found = _once(itertools.chain.from_iterable(domains))
    return None if len(found) > MOST_KEYS else found


def _domain(expression: Expression, policy: Policy) -> tuple[Value, ...] | None:
    if isinstance(expression, Literal):
        return (expression.value,)
    if isinstance(expression, Column):
        return _listed(expression, policy)
    if isinstance(expression, Case):
        results = [_domain(part, policy) for part in (*(v for _, v in expression.branches), expression.otherwise)]
        known = [one for one in results if one is not None]
        return _once(itertools.chain.from_iterable(known)) if len(known) == len(results) else None
    assert isinstance(expression, Call)
    if expression.operator == "is_null":
        return (False, True)
    if expression.operator in _CONDITIONS:
        return _maybe_null((False, True), expression)
    if expression.operator == "width_bucket":
        count = expression.arguments[3]
        assert isinstance(count, Literal)
        assert isinstance(count.value, int)
        return _maybe_null(tuple(range(count.value + 2)), expression)
    return _image(expression, policy) or _fixed(expression)


def _listed(column: Column, policy: Policy) -> tuple[Value, ...] | None:
    declared = policy.columns[column.name]
    if declared.role is Role.PUBLIC and declared.keys is not None:
        return _once(declared.keys)
    return (False, True, None) if declared.kind is Kind.BOOLEAN else None


def _fixed(expression: Call) -> tuple[Value, ...] | None:
    if expression.operator not in _FIXED:
        return None
    return _maybe_null(tuple(_FIXED[expression.operator]), expression)


def _image(expression: Call, policy: Policy) -> tuple[Value, ...] | None:
    """A function of values that are public: computed for each of them.

    Not through a time zone: the engine has tables of its own, and rows that it puts elsewhere would be left out.
    """
    if expression.operator in _ZONED:
        return None
    columns = tuple(dict.fromkeys(node for node in expression.walk() if isinstance(node, Column)))
    choices = [_listed(column, policy) for column in columns]
    zoned = any(isinstance(node, Call) and node.operator in _ZONED for node in expression.walk())
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


def _maybe_null(values: tuple[Value, ...], expression: Expression) -> tuple[Value, ...]:
    return (*values, None) if _can_be_null(expression) else values


def _can_be_null(expression: Expression) -> bool:
    if isinstance(expression, Literal):
        return expression.value is None
    if isinstance(expression, Case):
        return any(_can_be_null(part) for part in (*(v for _, v in expression.branches), expression.otherwise))
    if not isinstance(expression, Call):
        return True
    if expression.operator == "is_null":
        return False
    if expression.operator == "coalesce":
        return all(_can_be_null(part) for part in expression.arguments)
    if expression.operator in _CONDITIONS or expression.operator in ("width_bucket", *_FIXED):
        return any(_can_be_null(part) for part in expression.arguments)
    return True


def _once(values: Iterable[Value]) -> tuple[Value, ...]:
    """Each value once, as values of the one kind they have together, in the order they came, null last."""
    cells = list(values)
    kind = common_kind(tuple({kind_of_value(cell) for cell in cells}))
    if kind is Kind.REAL:
        cells = [float(cell) if isinstance(cell, int) else cell for cell in cells]
    if kind is Kind.TIMESTAMP:
        cells = [as_moment(cell) if isinstance(cell, datetime.date) else cell for cell in cells]
    return tuple(sorted(dict.fromkeys(cells), key=lambda cell: cell is None))
