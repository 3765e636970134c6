"""Which values a key can have, where that is public: listed by the policy, or fixed by the expression itself.

Groups with public keys are shown even when they are empty, and cost no selection. The list depends on the policy and
the question alone; rows whose key is not listed are left out.
A statement can list groups itself, or ask for a selection where the policy lists them: `public_groups`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import singledispatch

from tacit.errors import InvalidParameter
from tacit.tables.check.names import Names
from tacit.tables.check.types import Typing, Words
from tacit.tables.expressions.evaluate import evaluate_rows
from tacit.tables.expressions.kinds import Kind, is_number, kind_of_value
from tacit.tables.expressions.operator import constants_of
from tacit.tables.expressions.operators import OPERATORS, common_kind
from tacit.tables.expressions.tree import Call, Case, Column, Expression, Literal, Value
from tacit.tables.expressions.values import values_of
from tacit.tables.policy.policy import Policy, Role
from tacit.tables.query.options import ListedGroups, Options, Selecting

__all__ = ["MOST_KEYS", "Domains", "domain", "merged", "named_lists", "public_groups", "typed_lists"]

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


Domains = tuple[tuple[Value, ...] | None, ...]


def named_lists(options: Options, names: Names) -> Options:
    """The lists by the policy's names of columns; columns that name people are refused."""
    listed: list[ListedGroups] = []
    for one in options.listed:
        column = names.in_place(one.column, "GROUP BY")
        if any(column.name == other.column for other in listed):
            raise InvalidParameter("groups", given=Words(column.name), allowed="one list of groups for each column")
        listed.append(ListedGroups(column.name, one.values))
    return replace(options, listed=tuple(listed))


def typed_lists(options: Options, keys: Sequence[Expression], rows: Typing) -> Options:
    """The lists in the kind of their columns, each value once; each column must be a key by itself."""
    listed = []
    for one in options.listed:
        column = Column(one.column)
        if column not in keys:
            hint = f"Write GROUP BY {one.column}."
            raise InvalidParameter("groups", given=Words(one.column), allowed="a column of GROUP BY", hint=hint)
        kind = rows.kind(column)
        if any(value.constant is None for value in one.values):
            hint = "A join never matches NULL: leave it out of the list."
            raise InvalidParameter(f"groups of {one.column}", given=None, allowed="values", hint=hint)
        condition = rows.typed(Call("in", (column, *one.values)))  # refuses what cannot be compared; reads dates
        values = dict.fromkeys(_as_kind(value.constant, kind, one.column) for value in condition.parts()[1:])
        listed.append(ListedGroups(one.column, tuple(values)))
    return replace(options, listed=tuple(listed))


def public_groups(options: Options, keys: Sequence[Expression], policy: Policy) -> tuple[Options, Domains]:
    """Per key its public values, None for a private selection; and the options, those of no effect left out."""
    lists = {Column(one.column): tuple(value.value for value in one.values) for one in options.listed}
    found: Domains = tuple(lists[key] if key in lists else domain(key, policy) for key in keys)
    private = any(one is None for one in found)
    if options.selecting is Selecting.PUBLIC and private:
        raise InvalidParameter(
            "group_selection_strategy",
            given=Words("PUBLIC_GROUPS"),
            allowed="keys that are public, and some of these are not",
            hint="List them: RIGHT OUTER JOIN UNNEST(['a', 'b']) AS city USING (city), or keys = [...] in the policy.",
        )
    if options.selecting is Selecting.THRESHOLD and lists:
        hint = "Leave it out, or leave the list out."
        given = Words("LAPLACE_THRESHOLD")
        raise InvalidParameter(
            "group_selection_strategy", given=given, allowed="PUBLIC_GROUPS beside a list", hint=hint
        )
    if options.selecting is Selecting.THRESHOLD and keys and not private:
        found = tuple(None for _ in keys)
        private = True
    else:
        options = replace(options, selecting=None)
    if options.least_units is not None and not private:
        hint = "Leave it out, or write group_selection_strategy = LAPLACE_THRESHOLD." if keys else "Leave it out."
        allowed = "groups that pass a private selection; these are public, and all are shown"
        allowed = allowed if keys else "a GROUP BY: there are no groups to choose from"
        raise InvalidParameter("min_privacy_units_per_group", given=options.least_units, allowed=allowed, hint=hint)
    if options.least_units == 1:
        options = replace(options, least_units=None)
    return options, found


def _as_kind(given: Value, kind: Kind | None, column: str) -> Literal:
    """A listed value as the column holds it."""
    if kind is Kind.REAL and is_number(given):
        return Literal(float(given) + 0.0)  # -0.0 and 0.0 are one group
    if kind is Kind.INTEGER and is_number(given):
        if given != int(given):
            raise InvalidParameter(f"groups of {column}", given=given, allowed="whole numbers")
        return Literal(int(given))
    if kind is Kind.TIMESTAMP:
        return Literal(values_of([given], kind).cells()[0])
    if kind is Kind.DATE and kind_of_value(given) is Kind.TIMESTAMP:
        raise InvalidParameter(f"groups of {column}", given=given, allowed="dates")
    return Literal(given)
