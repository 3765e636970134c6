"""Which groups of a question are public: by the policy, by the statement's own list, or none because it says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tacit.errors import InvalidParameter
from tacit.tables.check.names import Names
from tacit.tables.check.public_values import domain
from tacit.tables.check.types import Typing, Words
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.literals import is_number, kind_of_value
from tacit.tables.expressions.tree import Call, Column, Expression, Literal, Value
from tacit.tables.expressions.values import values_of
from tacit.tables.policy.policy import Policy
from tacit.tables.query.options import ListedGroups, Options, Selecting

__all__ = ["Domains", "named_lists", "public_groups", "typed_lists"]

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
    if given is None:
        hint = "A join never matches NULL: leave it out of the list."
        raise InvalidParameter(f"groups of {column}", given=None, allowed="values", hint=hint)
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
