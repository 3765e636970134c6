"""A query against the policy: names, roles, kinds, bounds. What passes can be planned; nothing here sees data."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import singledispatch

from tacit.errors import InvalidParameter, MissingBounds, NotPrivate
from tacit.tables.check.names import Names, unit_names
from tacit.tables.check.public_values import MOST_KEYS, Domains, named_lists, public_groups, typed_lists
from tacit.tables.check.relations import view_of
from tacit.tables.check.row_work import admit_row_work, aggregating
from tacit.tables.check.rows import View
from tacit.tables.check.types import Typing, Words, column_kind, declared_range, quoted, range_of, refuse_no_rows
from tacit.tables.expressions.intervals import Range
from tacit.tables.expressions.kinds import Kind, bounds_of
from tacit.tables.expressions.tree import Call, Column, Expression, Grouping, Key, Literal
from tacit.tables.policy.limits import Limits
from tacit.tables.policy.policy import Policy
from tacit.tables.query.canonical import tidy
from tacit.tables.query.limits import admit_relation
from tacit.tables.query.tree import Aggregate, Output, Query

__all__ = ["Checked", "check"]

_COUNTS = ("count_rows", "count", "count_units", "count_distinct")
_PAIRS = ("covariance", "covariance_pop", "correlation")
_NUMERIC = ("sum", "mean", "variance", "variance_pop", "stddev", "stddev_pop", *_PAIRS, "quantile")
_OF_TRUTH = ("sum", "mean", "variance", "variance_pop", "stddev", "stddev_pop")
_FIRST_DAY = datetime.date(2000, 1, 1)
_DAYS = (Fraction(-36_524), Fraction(36_524))
"""Within which the least and the greatest day is looked for: 1900 to 2099, whatever the data hold."""
_FINEST_LEVEL = 10**6
_MOST_SHARE = Fraction(9, 10)
Bounds = tuple[Fraction, Fraction]
_LARGEST = Fraction(10) ** 150


@dataclass(frozen=True, slots=True)
class Checked:
    """A query that obeys the policy: columns by the policy's names, each aggregate with the bounds it will use."""

    query: Query
    kinds: Mapping[Expression, Kind]
    """Of every expression in the query that is not NULL."""
    key_domains: Domains
    """Per key, the values it can have if they are public; None: they pass a private selection."""
    view: View | None = None
    """What the question is about, if not the table itself."""

    def seen(self, policy: Policy) -> Policy:
        """The policy as the question sees it: of the table, or of what is computed from it."""
        return policy if self.view is None else self.view.over(policy, self.query.keys)


def check(query: Query, policy: Policy) -> Checked:
    """The query as it will be run, or an error that says what to change."""
    if query.table.lower() != policy.table.lower():
        raise NotPrivate(f"The table that may be asked about is {policy.table}, not {query.table}.")
    admit_relation(query.source)
    limits = Limits(1, 1) if policy.unit.is_row else policy.limits
    who, units = "row" if policy.unit.is_row else str(policy.unit.column), unit_names(query.source, policy)
    query = replace(query, options=query.options.within(limits, who, units))
    if query.source is None:
        _admit_work(query, 1)
        return _check(query, policy, None)
    view = view_of(tidy(query).source or query.source, policy)
    _admit_work(query, view.rows)
    return _check(replace(query, source=view.relation), view.over(policy), view)


def _admit_work(query: Query, rows: int) -> None:
    """Refuse to do too much with each of the rows that become of one."""
    found = query.aggregates()
    arguments = [argument for one in found for argument in one.arguments()]
    besides = aggregating((one.estimator for one in found), max(len(query.sets), 1))
    admit_row_work(rows, (query.where, *query.keys, *arguments), besides)


def _check(query: Query, policy: Policy, view: View | None) -> Checked:
    """Against the policy of what the question sees."""
    resolved = _resolved(query, policy)
    kinds: dict[Expression, Kind] = {}
    rows = Typing(lambda leaf: column_kind(leaf, policy), kinds)
    where = None if resolved.where is None else rows.condition(resolved.where, "WHERE")
    keys = tuple(rows.typed(key) for key in resolved.keys)
    if resolved.sets and resolved.options.listed:
        allowed = "one GROUP BY beside a list of groups; or public keys in the policy"
        raise InvalidParameter("groups", given=Words("GROUPING SETS"), allowed=allowed)
    options, domains = public_groups(typed_lists(resolved.options, keys, rows), keys, policy)
    for one in resolved.sets or (range(len(keys)),):
        _few_enough(tuple(domains[at] for at in one))
    settled = {one: _Settling(policy, rows, view).settled(one) for one in resolved.aggregates()}
    key_kinds = [rows.kind(key) for key in keys]
    released = Typing(lambda leaf: _released_kind(leaf, key_kinds, kinds), kinds)

    def finished(expression: Expression) -> Expression:
        return released.typed(_replaced(expression, settled))

    having = None if resolved.having is None else _replaced(resolved.having, settled)
    checked = replace(
        resolved,
        outputs=tuple(Output(one.name, finished(one.expression)) for one in resolved.outputs),
        where=where,
        keys=keys,
        having=None if having is None else released.condition(having, "HAVING"),
        order=tuple(replace(term, expression=finished(term.expression)) for term in resolved.order),
        options=options,
    )
    return Checked(checked, kinds, domains, view)


def _resolved(query: Query, policy: Policy) -> Query:
    """In its one form, within the limits of size, with the policy's names; roles obeyed."""
    refuse_no_rows(query.limit)
    names = Names(policy)
    keys = tuple(names.in_rows(key, "GROUP BY") for key in tidy(query).keys)
    query = tidy(query)
    known = {one: names.in_aggregate(one) for one in query.aggregates()}
    return replace(
        query,
        table=policy.table,
        outputs=tuple(Output(one.name, _replaced(one.expression, known)) for one in query.outputs),
        where=None if query.where is None else names.in_rows(query.where, "WHERE"),
        keys=keys,
        having=None if query.having is None else _replaced(query.having, known),
        order=tuple(replace(term, expression=_replaced(term.expression, known)) for term in query.order),
        options=named_lists(query.options, names),
    )


def _replaced(expression: Expression, known: Mapping[Aggregate, Expression]) -> Expression:
    return expression.changed(Aggregate, known.__getitem__)


@singledispatch
def _released_kind(leaf: Expression, keys: Sequence[Kind | None], kinds: Mapping[Expression, Kind]) -> Kind | None:
    raise InvalidParameter("expression", given=type(leaf).__name__, allowed="keys, aggregates and constants")


@_released_kind.register
def _(leaf: Key, keys: Sequence[Kind | None], kinds: Mapping[Expression, Kind]) -> Kind | None:
    return keys[leaf.index]  # `tidy` has refused any other place


@_released_kind.register
def _(leaf: Grouping, keys: Sequence[Kind | None], kinds: Mapping[Expression, Kind]) -> Kind | None:
    return Kind.INTEGER


@_released_kind.register
def _(leaf: Aggregate, keys: Sequence[Kind | None], kinds: Mapping[Expression, Kind]) -> Kind | None:
    if leaf.estimator in ("mode", "top"):
        return None if leaf.argument is None else kinds.get(leaf.argument)
    return Kind.INTEGER if leaf.estimator in _COUNTS else Kind.REAL


@dataclass(frozen=True, slots=True)
class _Settling:
    """Aggregates with their arguments typed and their bounds found."""

    policy: Policy
    rows: Typing
    view: View | None

    def settled(self, one: Aggregate) -> Expression:
        """The aggregate as it will be estimated; of days, in days that are counted and made a date again."""
        if one.argument is None or one.estimator != "quantile":
            return self.aggregate(one)
        if self.rows.kind(self.rows.typed(one.argument)) is not Kind.DATE or one.bounds is not None:
            return self.aggregate(one)
        days = Call("date_diff", (Literal("day"), Literal(_FIRST_DAY), one.argument))
        share = Fraction(0) if one.interval_share is None else one.interval_share
        counted = self.aggregate(replace(one, argument=days, bounds=_DAYS, interval_share=share))
        return Call(
            "to_date", (Call("date_add", (Literal("day"), Call("to_integer", (counted,)), Literal(_FIRST_DAY))),)
        )

    def aggregate(self, one: Aggregate) -> Aggregate:
        """The aggregate as it will be estimated, a number."""
        _check_share(one)
        if one.estimator == "count_rows":
            return Aggregate("count_rows", group_bounds=self._count_bounds(one))
        if one.argument is None:
            raise InvalidParameter(one.estimator, given=None, allowed="a column or an expression of columns")
        argument = self.rows.typed(one.argument)
        if one.estimator in _COUNTS:
            if one.estimator == "count_distinct":
                _no_bounds(one)
                return Aggregate(one.estimator, argument)
            return Aggregate(one.estimator, argument, group_bounds=self._count_bounds(one))
        if one.estimator == "mode":
            _no_bounds(one)
            return Aggregate("mode", argument)
        if one.estimator == "top":
            _no_bounds(one)
            return Aggregate("top", argument, rank=one.rank)
        if one.estimator not in _NUMERIC:
            allowed = ", ".join((*_COUNTS, *_NUMERIC, "mode"))
            raise InvalidParameter("aggregate", given=one.estimator, allowed=allowed)
        if self.rows.kind(argument) is Kind.BOOLEAN and one.estimator in _OF_TRUTH:
            argument = self.rows.typed(Call("to_integer", (argument,)))  # 1 where it is true, 0 where it is false
            is_open = one.bounds is None and one.group_bounds is None
            one = replace(one, bounds=(Fraction(0), Fraction(1))) if is_open else one
        self._must_be_number(replace(one, argument=argument), self.rows.kind(argument))
        one = _leveled(replace(one, argument=argument))
        if one.estimator in _PAIRS:
            return self._pair(one)
        return _computable(self._bounded(replace(one, second=None, second_bounds=None)))

    def _pair(self, one: Aggregate) -> Aggregate:
        """A statistic of two numbers: each with its own bounds."""
        if one.second is None:
            raise InvalidParameter(quoted(one), given="one value", allowed="two columns or expressions of columns")
        second = self.rows.typed(one.second)
        other = replace(one, argument=second, bounds=one.second_bounds, second=None, second_bounds=None)
        self._must_be_number(other, self.rows.kind(second))
        bounds = _computable(self._bounded(other)).bounds
        first = _computable(self._bounded(one))
        return replace(first, second=second, second_bounds=bounds)

    def _must_be_number(self, one: Aggregate, kind: Kind | None) -> None:
        if kind is not None and kind.is_number:
            return
        assert one.argument is not None
        what = quoted(one.argument)
        if kind is None:
            hint = "Name a column."
        elif kind is Kind.BOOLEAN:
            hint = f"Write COUNT(*) FILTER (WHERE {what}), or CAST({what} AS BIGINT) for 0 and 1."
        elif kind is Kind.TEXT:
            hint = f"Write COUNT({what}) to count it, or CAST({what} AS DOUBLE) if its texts are numbers."
        else:
            hint = f"Write DATE_DIFF('day', DATE '2000-01-01', {what}) for a number of days."
            hint = f"Write CAST({what} AS DATE), to the day." if one.estimator == "quantile" else hint
        given = Words("NULL" if kind is None else str(kind))
        raise InvalidParameter(quoted(replace(one, bounds=None)), given=given, allowed="a number", hint=hint)

    def _bounded(self, one: Aggregate) -> Aggregate:
        if one.estimator == "mean" and one.bounds is None and self._rows() == 1:  # the row is the unit's average
            one = replace(one, bounds=one.group_bounds, group_bounds=None)
        if one.group_bounds is not None and one.estimator != "sum":
            hint = "Write contribution_bounds_per_row, which clamps each row."
            if one.estimator == "mean":
                hint += " AVG is of rows here, not of each unit's own average."
            raise InvalidParameter("group bounds", given=Words(quoted(one)), allowed="bounds of SUM", hint=hint)
        if one.bounds is not None:
            return replace(one, bounds=_pair(one.bounds), group_bounds=_pair_or_none(one.group_bounds))
        column = _column_behind(one.argument)
        declared = None if column is None else self.policy.columns[column]
        if one.group_bounds is not None:
            return replace(one, bounds=self._range(one), group_bounds=_pair(one.group_bounds))
        group = declared.group_bounds if declared is not None and one.estimator == "sum" else None
        bounds = self._range(one)
        if bounds is None and group is None:
            raise self._missing(one)
        return replace(one, bounds=bounds, group_bounds=group)

    def _count_bounds(self, one: Aggregate) -> Bounds | None:
        """Within the rows of a unit that the policy lets count; None where they say the same."""
        if one.group_bounds is None or one.bounds is not None or one.estimator == "count_units":
            _no_bounds(one)
            return None
        low, high = _pair(one.group_bounds)
        unit = self.policy.unit.column
        most = self._rows()
        if low < 0 or high < 1 or low.denominator > 1 or high.denominator > 1:
            allowed = "two whole numbers, the lower at least 0, the higher at least 1"
            raise InvalidParameter("bounds", given=Words(quoted(one)), allowed=allowed)
        if high > most:
            raise NotPrivate(
                f"{quoted(one)}: under the policy one {unit or 'row'} counts with at most {most} rows in a group. A "
                f"statement may ask for less, never for more: write contribution_bounds_per_group => (0, {most}), or "
                "leave it out. Nothing was spent."
            )
        return None if (low, high) == (Fraction(0), Fraction(most)) else (low, high)

    def _rows(self) -> int:
        """How many rows of a unit the policy lets count in a group."""
        return 1 if self.policy.unit.is_row else self.policy.limits.rows

    def _range(self, one: Aggregate) -> Bounds | None:
        assert one.argument is not None
        found = range_of(one.argument, self._declared)
        return (Fraction(0), Fraction(0)) if found is None else found.bounds

    def _declared(self, column: Column) -> Range:
        return declared_range(column, self.policy)

    def _missing(self, one: Aggregate) -> MissingBounds:
        assert one.argument is not None
        column = next((node for node in one.argument.nodes(Column) if self._is_open(node)), None)
        here = quoted(one)[:-1] + ", contribution_bounds_per_row => (low, high))"
        if column is None:
            return MissingBounds(quoted(one.argument), f"Its ends are not known from the columns': write {here}.")
        name = column.name
        if self.view is not None:
            return MissingBounds(
                name, f"It is computed for each {self.view.unit}, and so not in the policy: write {here}."
            )
        return MissingBounds(
            name,
            f"Add bounds = [low, high] to {name} in the policy file, bounds={{{name!r}: (low, high)}} in Python, "
            f"or write {here}.",
        )

    def _is_open(self, column: Column) -> bool:
        return self.policy.columns[column.name].kind.is_number and self._declared(column).bounds is None


def _leveled(one: Aggregate) -> Aggregate:
    """A quantile with its level, any other aggregate without one."""
    if one.estimator != "quantile":
        return replace(one, level=None)
    level = one.level
    if level is None or not 0 <= level <= 1 or level.denominator > _FINEST_LEVEL:
        allowed = "a share of the rows between 0 and 1, of at most six decimals"
        raise InvalidParameter("quantile", given=None if level is None else Words(str(level)), allowed=allowed)
    return one


def _check_share(one: Aggregate) -> None:
    """Only the interval of a quantile has a price of its own."""
    share = one.interval_share
    if share is None:
        return
    if one.estimator != "quantile":
        what = Words(quoted(replace(one, interval_share=None)))
        hint = "Other intervals are free: leave interval_share out."
        raise InvalidParameter("interval_share", given=what, allowed="MEDIAN, quantiles, MIN and MAX", hint=hint)
    if not isinstance(share, Fraction) or not 0 <= share <= _MOST_SHARE or share.denominator > _FINEST_LEVEL:
        allowed = "a share of the price from 0, for no interval, to 0.9; of at most six decimals"
        raise InvalidParameter("interval_share", given=Words(str(share)[:40]), allowed=allowed)


def _no_bounds(one: Aggregate) -> None:
    if one.bounds is not None or one.group_bounds is not None:
        hint = "A unit counts for as many rows as the policy's limits say."
        raise InvalidParameter("bounds", given=Words(quoted(one)), allowed="none for counts", hint=hint)


def _column_behind(argument: Expression | None) -> str | None:
    """The name of the column itself, also if only some rows count (FILTER)."""
    if argument is not None and argument.filtered is not None:
        argument = argument.filtered[1]
    return None if argument is None else argument.column_name


def _computable(one: Aggregate) -> Aggregate:
    """An aggregate whose bounds, and their squares, are numbers that doubles can hold."""
    for low, high in (pair for pair in (one.bounds, one.group_bounds) if pair is not None):
        if max(abs(low), abs(high)) > _LARGEST or 0 < high - low < 1 / _LARGEST:
            allowed = "ends between -1e150 and 1e150, equal or at least 1e-150 apart"
            raise InvalidParameter("bounds", given=Words(quoted(one)), allowed=allowed)
    return one


def _pair(bounds: Bounds) -> Bounds:
    if not isinstance(bounds, tuple) or len(bounds) != 2 or not all(isinstance(end, Fraction | int) for end in bounds):
        raise InvalidParameter("bounds", given=bounds, allowed="a lower and an upper end")
    return bounds_of(Fraction(bounds[0]), Fraction(bounds[1]))


def _pair_or_none(bounds: Bounds | None) -> Bounds | None:
    return None if bounds is None else _pair(bounds)


def _few_enough(found: Domains) -> None:
    sizes = [len(one) for one in found if one is not None]
    if len(sizes) == len(found) and math.prod(sizes) > MOST_KEYS:
        given = Words(f"{' × '.join(str(size) for size in sizes)} groups")
        hint = "Group by fewer keys, or by coarser ones."
        raise InvalidParameter("GROUP BY", given=given, allowed=f"at most {MOST_KEYS} public groups", hint=hint)
