"""Row-wise expressions as SQL; the forms of operators are each engine's own.

Nothing here looks at data; an expression that is not well-typed is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch

from tacit.errors import InvalidParameter
from tacit.tables.engines.chain.dialect import Dialect
from tacit.tables.engines.chain.form import Given
from tacit.tables.engines.chain.terms import Term, identifier
from tacit.tables.expressions.kinds import Kind, common_kind
from tacit.tables.expressions.operator import constants_of
from tacit.tables.expressions.operators import OPERATORS, TIME_UNITS
from tacit.tables.expressions.tree import Call, Case, Column, Expression, Literal

__all__ = ["render"]

Kinds = Mapping[str, Kind]
Tables = Mapping[str, str]


def render(expression: Expression, kinds: Kinds, dialect: Dialect, tables: Tables | None = None) -> Term:
    """The SQL of an expression over the columns of ``rows``, whose kinds are given; or of the table of each column."""
    return _render(expression, kinds, dialect, tables or {})


@singledispatch
def _render(expression: Expression, kinds: Kinds, dialect: Dialect, tables: Tables) -> Term:
    raise _refused(type(expression).__name__, "an expression over the rows of the table")


@_render.register
def _(expression: Column, kinds: Kinds, dialect: Dialect, tables: Tables) -> Term:
    name = expression.name
    if name not in kinds:
        raise _refused(name, "a column of the table")
    sql, kind = f"{tables.get(name, 'rows')}.{identifier(name)}", kinds[name]
    return Term(dialect.column(sql, kind), kind)


@_render.register
def _(expression: Literal, kinds: Kinds, dialect: Dialect, tables: Tables) -> Term:
    return dialect.literal(expression.value)


@_render.register
def _(expression: Case, kinds: Kinds, dialect: Dialect, tables: Tables) -> Term:
    branches = [
        (_render(test, kinds, dialect, tables), _render(result, kinds, dialect, tables))
        for test, result in expression.branches
    ]
    otherwise = _render(expression.otherwise, kinds, dialect, tables)
    kind = common_kind((*(result.kind for _, result in branches), otherwise.kind))
    if kind is None or any(condition.kind not in (None, Kind.BOOLEAN) for condition, _ in branches):
        raise _refused("CASE", "conditions, and results of one kind")
    arms = " ".join(f"WHEN {dialect.as_kind(c, Kind.BOOLEAN)} THEN {dialect.as_kind(r, kind)}" for c, r in branches)
    return Term(f"CASE {arms} ELSE {dialect.as_kind(otherwise, kind)} END", kind)


@_render.register
def _(expression: Call, kinds: Kinds, dialect: Dialect, tables: Tables) -> Term:
    name, arguments = expression.operator, expression.arguments
    terms = [_render(argument, kinds, dialect, tables) for argument in arguments]
    operator = OPERATORS.get(name)
    if operator is None:
        raise _refused(name, "an operator of the allow-list")
    kind = operator.gives(tuple(term.kind for term in terms))
    if kind is None or not all(part.is_literal for part in operator.literals.of(arguments)):
        raise _refused(name, operator.takes)
    constants = constants_of(arguments)
    if operator.unit_first and constants[0] not in TIME_UNITS:
        raise _refused(constants[0], "a unit of time: " + ", ".join(TIME_UNITS))
    return Term(dialect.forms[name](Given(terms, kind, constants, dialect)), kind)


def _refused(given: object, allowed: str) -> InvalidParameter:
    return InvalidParameter("expression", given=given, allowed=allowed)
