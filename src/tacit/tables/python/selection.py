"""A question in Python: the chain ``.where(…).join(…).group_by(…).agg(…)`` that builds the tree SQL builds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import singledispatch, singledispatchmethod
from typing import Generic, TypeVar

from tacit.errors import InvalidParameter, TacitError
from tacit.tables.expressions.tree import Call, Column, Expression
from tacit.tables.python.arrays import Several
from tacit.tables.python.columns import Ordering, Term, col, condition_of, expression_of
from tacit.tables.python.group_terms import KeySets
from tacit.tables.python.options import listed_groups, stated
from tacit.tables.python.other_names import OtherNames
from tacit.tables.python.selection_joins import join_of, joined, listed, match_of
from tacit.tables.python.selection_rows import (
    computed,
    own_name,
    per_unit,
    refuse_aggregates,
    row_wise,
    spelled,
    stacked,
    unnamed,
)
from tacit.tables.query.canonical import check_labels, default_name, folded, make_query
from tacit.tables.query.key_sets import crossed, cube_of, rollup_of
from tacit.tables.query.limits import Sizes
from tacit.tables.query.options import NO_OPTIONS, Options
from tacit.tables.query.refusals import NotUnderstood, not_yet
from tacit.tables.query.relations import MOST_LEVELS, levels_of
from tacit.tables.query.rows import Catalogue, Rows, conjoined
from tacit.tables.query.to_sql import to_sql
from tacit.tables.query.tree import Aggregate, Order, Query
from tacit.tables.sql.parse import parse_condition, parse_released

__all__ = ["Other", "PerUnitSelection", "Selection"]

Asked = TypeVar("Asked")
Named = tuple[str | None, Expression]


@dataclass(frozen=True, slots=True, repr=False)
class Selection(OtherNames, Generic[Asked]):
    """A question being written; `agg` finishes it and hands the tree to ``ask``. Each step returns a new selection.

    What is said of rows (`where`, `join`, `union`, `select`, `with_columns`, `per`) applies in the order in which it is
    said, each step to what the steps before have made.

    >>> from tacit.tables.python.aggregates import count, sum
    >>> visits = Selection("visits", to_sql, {"visits": ("user_id", "city", "age"), "regions": ("city", "region")})
    >>> visits.where(col("age") > 40).group_by("city").agg(n=count())
    'SELECT city, COUNT(*) AS n FROM visits WHERE age > 40 GROUP BY city'
    >>> visits.per("user_id").agg(years=sum("age")).agg(total=sum("years", bounds=(0, 500)))
    'SELECT SUM(years, contribution_bounds_per_row => (0, 500)) AS total FROM (SELECT user_id, SUM(age) AS years ...'
    >>> visits.join("regions", on="city").group_by("region")
    Selection('SELECT regions_region AS region, … FROM (SELECT visits.city AS city, regions.city AS regions_city, ...
    """

    table: str
    ask: Callable[[Query], Asked]
    tables: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The columns of all tables that may be named, by the name of each."""
    source: Rows | None = None
    """The rows by now; None: those of the table."""
    keys: tuple[Named, ...] = ()
    terms: tuple[tuple[tuple[int, ...], ...], ...] = ()
    """The sets of keys that each term of GROUP BY stands for, by the places of the keys."""
    held: tuple[Expression, ...] = ()
    order: tuple[Ordering, ...] = ()
    most: int | None = None
    skipped: int = 0
    said: Options = NO_OPTIONS

    @property
    def rows(self) -> Rows:
        """What the question is about so far."""
        return Rows(frozenset((self.table.lower(),))) if self.source is None else self.source

    def of_table(self, name: str) -> Selection[Asked]:
        """Another table of the policy."""
        if not isinstance(name, str):
            raise InvalidParameter("table", given=name, allowed="the name of a table")
        if self.source is not None:
            hint = f'Write table.table("{name}"), and join or union it.'
            raise InvalidParameter("table", given="after a step about rows", allowed="before all of them", hint=hint)
        self._of_rows("table")
        return replace(self, source=self._other(name))

    def where(self, condition: str | Term) -> Selection[Asked]:
        """Only rows for which the condition holds: SQL, or an expression of columns."""
        if isinstance(condition, str):
            found = parse_condition(condition, self.table, self.rows)
        else:
            found = row_wise(condition_of(condition, "where"), self.rows, self._catalogue, "WHERE")
        both = conjoined([self.rows.where, found])
        assert both is not None
        Sizes().of(both)
        return replace(self, source=replace(self.rows, where=both))

    def join(
        self,
        other: Other[Asked],
        on: str | Term | Sequence[str | Term] | None = None,
        *,
        left_on: str | Sequence[str] | None = None,
        right_on: str | Sequence[str] | None = None,
        how: str = "inner",
        name: str | None = None,
    ) -> Selection[Asked]:
        """A row for each match with another table: one of the policy, by its name; a selection; or lists by column.

        ``on`` names columns that both have, or is a condition; ``left_on`` and ``right_on`` name them on each side.
        ``how="left"`` keeps rows without a match. ``name`` is what the other is called here: ``col("name.column")``.
        """
        self._of_rows("join")
        right, match = self._other(other, name), match_of(on, left_on, right_on, self._catalogue)
        return replace(self, source=joined(self.rows, right, join_of(how), match, self._catalogue))

    def union(self, other: Other[Asked]) -> Selection[Asked]:
        """The rows of both, all of them: UNION ALL. Columns go by their names, which must be the same."""
        self._of_rows("union")
        return replace(self, source=stacked(self.rows, self._other(other), self._catalogue))

    def select(self, *columns: str | Term, **named: str | Term) -> Selection[Asked]:
        """Rows with these columns alone: by their names, or computed and named."""
        return self._computed("select", columns, named, everything=False)

    def with_columns(self, *columns: Term, **named: str | Term) -> Selection[Asked]:
        """Rows with further columns; one of a name that there is takes its place."""
        return self._computed("with_columns", columns, named, everything=True)

    def per(self, *keys: str | Term, **named: str | Term) -> PerUnitSelection[Asked]:
        """For each unit, and each combination of further keys: ``per("user_id").agg(total=sum("spend"))``."""
        self._of_rows("per")
        return PerUnitSelection(self, tuple(_labelled(self._named(keys, named), 'month=col("day").month()')))

    def group_by(self, *keys: str | Term | KeySets, **named: str | Term) -> Selection[Asked]:
        """Groups of rows that agree on all keys: names of columns, or expressions (which are best named).

        `tacit.rollup`, `tacit.cube` and `tacit.grouping_sets` stand for several sets of keys.
        """
        found, terms = list(self.keys), list(self.terms)

        def place(key: str | Term, name: str | None = None) -> int:
            ((label, expression),) = self._named((key,), {}) if name is None else ((name, _expression(key)),)
            Sizes().of(expression)
            refuse_aggregates(expression, "GROUP BY")
            known = [folded(one) for _, one in found]
            if (label is None or label in [one for one, _ in found]) and folded(expression) in known:
                return known.index(folded(expression))
            found.append((label, expression))
            return len(found) - 1

        terms += [tuple(key.sets(place)) if isinstance(key, KeySets) else ((place(key),),) for key in keys]
        terms += [((place(key, name),),) for name, key in named.items()]
        return replace(self, keys=tuple(found), terms=tuple(terms))

    def rollup(self) -> Selection[Asked]:
        """Totals as well: groups by all keys, by all but the last, and so on, and one of everything."""
        return replace(self, terms=(tuple(rollup_of([(at,) for at in range(len(self.keys))])),))

    def cube(self) -> Selection[Asked]:
        """Groups by every choice of the keys."""
        return replace(self, terms=(tuple(cube_of([(at,) for at in range(len(self.keys))])),))

    def grouping_sets(self, *sets: Sequence[str]) -> Selection[Asked]:
        """Groups by each of these lists of keys, which go by their names: ``grouping_sets(["city"], ["plan"], [])``."""
        names = [default_name(key, ()) if name is None else name for name, key in self.keys]
        if not sets or any(isinstance(one, str) or any(key not in names for key in one) for one in sets):
            raise InvalidParameter("grouping_sets", given=sets, allowed=f"lists of keys: {', '.join(names)}")
        return replace(self, terms=(tuple(tuple(names.index(key) for key in one) for one in sets),))

    def public_groups(self, **values: Sequence[object]) -> Selection[Asked]:
        """Groups that this question lists: all are shown, no other is. ``public_groups(city=["Lund", "Gent"])``."""
        return replace(self, said=listed_groups(self.said, values))

    def options(
        self,
        *,
        epsilon: object = None,
        delta: object = None,
        max_groups_contributed: int | None = None,
        max_rows_contributed: int | None = None,
        min_privacy_units_per_group: int | None = None,
        group_selection_strategy: str | None = None,
        privacy_unit_column: str | None = None,
    ) -> Selection[Asked]:
        """What SQL says with OPTIONS(…): limits below the policy's, the price; by the names that it has there."""
        found = stated(
            self.said,
            epsilon=epsilon,
            delta=delta,
            groups=max_groups_contributed,
            rows=max_rows_contributed,
            least_units=min_privacy_units_per_group,
            selecting=group_selection_strategy,
            unit=privacy_unit_column,
        )
        return replace(self, said=found)

    def having(self, condition: str | Term) -> Selection[Asked]:
        """Only groups whose released values fulfil the condition; outputs go by their names."""
        if isinstance(condition, str):
            return replace(self, held=(*self.held, parse_released(condition, self.table, self.rows)))
        return replace(self, held=(*self.held, condition_of(condition, "having")))

    def order_by(self, *terms: str | Term | Ordering) -> Selection[Asked]:
        """Groups in the order of released values: names of outputs, terms, or ``tacit.col("n").desc()``."""
        return replace(self, order=(*self.order, *(_ordering(term) for term in terms)))

    def limit(self, count: int, offset: int = 0) -> Selection[Asked]:
        """At most so many groups, after leaving out the first ``offset``."""
        for name, value in (("limit", count), ("offset", offset)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise InvalidParameter(name, given=value, allowed="a whole number from 0 on")
        return replace(self, most=count, skipped=offset)

    def agg(self, *terms: Term | Several, **outputs: Term | Several) -> Asked:
        """The statistics to compute, by name; the keys come first in the answer."""
        return self.ask(self.query(*terms, **outputs))

    def query(self, *terms: Term | Several, **outputs: Term | Several) -> Query:
        """The tree."""
        if self.said.listed and not (self.rows.relation is None and self.rows.everything and not self.rows.columns):
            instead = f"Write FROM {self.table}, with the conditions in WHERE."
            raise not_yet("a list of public groups beside a subquery", instead)
        if levels_of(self.rows.relation) > MOST_LEVELS:
            raise NotUnderstood("subqueries", f"stand in each other more than {MOST_LEVELS} deep", "Take fewer steps.")
        shown = [*self.keys, *_shown(terms, outputs)]
        named = {name.lower(): expression for name, expression in shown if name is not None}
        sizes = Sizes()

        def meant(expression: Expression) -> Expression:
            sizes.of(expression)
            found = self.rows.meaning(spelled(expression, self.rows, self._catalogue))
            sizes.of(found)
            return found

        def aliased(expression: Expression) -> Expression:
            return expression.changed(Column, lambda column: named.get((column.bare_name or "").lower(), column))

        for one in (*self.held, *(term.expression for term in self.order)):
            sizes.of(one)
        held = None if not self.held else self.held[0] if len(self.held) == 1 else Call("and", self.held)
        return make_query(
            self.table,
            [(name, meant(one)) for name, one in shown],
            where=self.rows.where,
            keys=[meant(key) for _, key in self.keys],
            having=None if held is None else meant(aliased(held)),
            order=[Order(meant(aliased(one.expression)), one.descending, one.nulls_first) for one in self.order],
            limit=self.most,
            offset=self.skipped,
            options=self.said,
            source=self.rows.relation,
            sets=crossed(self.terms),
        )

    def __repr__(self) -> str:
        """What is asked so far; released values are not named yet."""
        try:
            text = to_sql(replace(self, held=(), order=()).query(n=Term(Aggregate("count_rows"))))
        except (TacitError, RecursionError):
            return f"Selection({self.table!r}, …)"
        return f"Selection({text.replace('COUNT(*) AS n', '…', 1)!r})"

    @property
    def _catalogue(self) -> Catalogue:
        return Catalogue(self.table, self.tables)

    def _computed(
        self, what: str, columns: Sequence[str | Term], named: Mapping[str, str | Term], *, everything: bool
    ) -> Selection[Asked]:
        self._of_rows(what)
        found = dict(_labelled(self._named(columns, named), 'decade=col("age") // 10'))
        if not found:
            raise InvalidParameter(what, given="no column", allowed="at least one")
        return replace(self, source=computed(self.rows, found, self._catalogue, everything=everything))

    def _named(self, given: Sequence[str | Term], named: Mapping[str, str | Term]) -> list[Named]:
        """Expressions with the names that they were given; a column has its own, without that of its table."""
        found: list[Named] = []
        for one in given:
            expression = _expression(one)
            name = getattr(one, "name", None)
            if name is None and expression.column_name is not None:
                name = own_name(expression.column_name, self.rows, self._catalogue)
            found.append((name, expression))
        return [*found, *((name, _expression(one)) for name, one in named.items())]

    def _other(self, other: Other[Asked], name: str | None = None) -> Rows:
        """What a table, a selection or lists are, by the name that is given to them."""
        if name is not None:
            check_labels([name])
        if isinstance(other, Selection):
            other._of_rows("a selection that is joined")
            if (other.table, other.tables, other.ask) != (self.table, self.tables, self.ask):
                allowed = f"one of the same open table, {self.table} and the tables of its policy"
                raise InvalidParameter("table", given=f"a selection of {other.table}", allowed=allowed)
            found = other.rows
        else:
            found = self._rows_of(other)
        return found if name is None else replace(found.settled, names=frozenset((name.lower(),)))

    @singledispatchmethod
    def _rows_of(self, other: object) -> Rows:
        allowed = "the name of a table, a selection, or lists by column"
        hint = 'A frame that anybody may know is named when the table is opened: public={"regions": frame}.'
        raise InvalidParameter("table", given=type(other).__name__, allowed=allowed, hint=hint)

    @_rows_of.register
    def _(self, other: str) -> Rows:
        found = Rows(frozenset()) if other.lower() == self.table.lower() else self._catalogue.named(other)
        return replace(found, names=frozenset((other.lower(),)))

    @_rows_of.register(Mapping)
    def _(self, other: Mapping[str, Sequence[object]]) -> Rows:
        return listed(other)

    def _of_rows(self, step: str) -> None:
        """Refuse a step that comes after groups have been named."""
        if self.keys or self.held or self.order or self.most is not None or self.said != NO_OPTIONS:
            given = "after a step about groups (group_by, having, order_by, limit, options)"
            raise InvalidParameter(step, given=given, allowed="before it", hint=f"Write .{step}(…) before it.")


@dataclass(frozen=True, slots=True)
class PerUnitSelection(Generic[Asked]):
    """Rows by unit, before it is said what is computed of each."""

    rows_of: Selection[Asked]
    keys: tuple[tuple[str, Expression], ...]

    def agg(self, *terms: Term, **values: Term) -> Selection[Asked]:
        """Rows to ask about: the keys, and these values of each unit, which are exact and never shown.

        Values are made of `count`, `count_distinct`, `sum`, `mean`, `min` and `max`; ``where`` behind it is HAVING.
        """
        below = self.rows_of
        shown = _labelled(below._named(terms, {}), 'total=tacit.sum("spend")')
        shown += [(name, expression_of(one)) for name, one in values.items()]
        return replace(below, source=per_unit(below.rows, self.keys, shown, below._catalogue))


Other = str | Selection[Asked] | Mapping[str, Sequence[object]]
"""What can be joined: a table of the policy by its name, a selection, lists by column."""


@singledispatch
def _expression(key: object) -> Expression:
    hint = 'Write col("age") // 10, or lit(1) for a constant.'
    raise InvalidParameter("column", given=key, allowed="a name, or an expression", hint=hint)


@_expression.register
def _(key: str) -> Expression:
    return Column(key)


@_expression.register
def _(key: Term) -> Expression:
    return key.expression


def _labelled(columns: Sequence[Named], example: str) -> list[tuple[str, Expression]]:
    """All with a name, as the columns of a subquery must have."""
    found = []
    for name, expression in columns:
        if name is None:
            raise unnamed(example)
        found.append((name, expression))
    return found


def _shown(terms: Sequence[Term | Several], outputs: Mapping[str, Term | Several]) -> list[Named]:
    found: list[Named] = []
    for name, one in [*((None, one) for one in terms), *outputs.items()]:
        if isinstance(one, Several):
            found += [(label, term.expression) for label, term in one.columns(name)]
        else:
            found.append((getattr(one, "name", None) if name is None else name, expression_of(one)))
    return found


@singledispatch
def _ordering(term: object) -> Ordering:
    return Ordering(expression_of(term), False, False)


@_ordering.register
def _(term: Ordering) -> Ordering:
    return term


@_ordering.register
def _(term: str) -> Ordering:
    return col(term).asc()
