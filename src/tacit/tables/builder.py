"""Questions in Python: aggregates, and the chain ``.where(…).group_by(…).agg(…)`` that builds the tree SQL builds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import compress, product
from typing import Generic, TypeVar

from tacit.errors import InvalidParameter
from tacit.privacy.prices import price, times
from tacit.tables.expressions import Call, Column, Expression
from tacit.tables.grouping import default_name, has_aggregate, make_query
from tacit.tables.literals import bounds_of
from tacit.tables.query import Aggregate, Order, Query
from tacit.tables.sql.parse import parse_condition, parse_released
from tacit.tables.terms import Ordering, Term, col, expression_of, when

__all__ = [
    "Selection",
    "col",
    "correlation",
    "count",
    "count_distinct",
    "count_units",
    "covariance",
    "geometric_mean",
    "max",
    "mean",
    "median",
    "min",
    "mode",
    "quantile",
    "stddev",
    "sum",
    "variance",
    "when",
]

Bounds = tuple[object, object]
Asked = TypeVar("Asked")


def count(of: str | Term | None = None) -> Term:
    """The number of rows, or of rows in which the column (or expression) is known.

    >>> count(), count("spend")
    (COUNT(*), COUNT(spend))
    """
    return Term(Aggregate("count_rows") if of is None else Aggregate("count", _argument(of)))


def count_units() -> Term:
    """The number of protected units (people) in the group: COUNT(DISTINCT unit)."""
    return Term(Aggregate("count_units"))


def sum(of: str | Term, *, bounds: Bounds | None = None, group_bounds: Bounds | None = None) -> Term:
    """The sum; each row is clamped to ``bounds``, or what one unit adds to one group to ``group_bounds``."""
    return Term(Aggregate("sum", _argument(of), _bounds(bounds), _bounds(group_bounds)))


def mean(of: str | Term, *, bounds: Bounds | None = None) -> Term:
    """The mean of the known values, each clamped to ``bounds``."""
    return Term(Aggregate("mean", _argument(of), _bounds(bounds)))


def variance(of: str | Term, *, bounds: Bounds | None = None) -> Term:
    """The variance of a sample (n - 1 below): VAR_SAMP."""
    return Term(Aggregate("variance", _argument(of), _bounds(bounds)))


def stddev(of: str | Term, *, bounds: Bounds | None = None) -> Term:
    """The standard deviation of a sample: STDDEV_SAMP."""
    return Term(Aggregate("stddev", _argument(of), _bounds(bounds)))


def covariance(
    of: str | Term, other: str | Term, *, bounds: Bounds | None = None, other_bounds: Bounds | None = None
) -> Term:
    """The covariance of a sample (n - 1 below), over the rows in which both are known: COVAR_SAMP."""
    return Term(Aggregate("covariance", _argument(of), _bounds(bounds), None, _argument(other), _bounds(other_bounds)))


def correlation(
    of: str | Term, other: str | Term, *, bounds: Bounds | None = None, other_bounds: Bounds | None = None
) -> Term:
    """Pearson's correlation, over the rows in which both are known: CORR."""
    return Term(Aggregate("correlation", _argument(of), _bounds(bounds), None, _argument(other), _bounds(other_bounds)))


def geometric_mean(of: str | Term) -> Term:
    """The geometric mean of the positive values: EXP(AVG(LN(x))).

    >>> geometric_mean("pay")
    EXP(AVG(LN(pay)))
    """
    return Term(Call("exp", (Aggregate("mean", Call("ln", (_argument(of),))),)))


def count_distinct(of: str | Term) -> Term:
    """The number of different values, of each unit at most as many as it may have rows in a group."""
    return Term(Aggregate("count_distinct", _argument(of)))


def quantile(of: str | Term, level: object, *, bounds: Bounds | None = None, interval_share: object = None) -> Term:
    """The value that a share of the rows, between 0 and 1, lies below.

    A quarter of its price goes into its interval, or ``interval_share``: at 0 the value gets all, and the interval is
    the whole range between the bounds.

    >>> quantile("age", 0.9), quantile("age", 0.5, interval_share=0)
    (QUANTILE(age, 0.9), MEDIAN(age, interval_share => 0))
    """
    share = price(level, "level")
    if not 0 <= share <= 1:
        raise InvalidParameter("level", given=level, allowed="a share of the rows, from 0 to 1")
    paid = None if interval_share is None else price(interval_share, "interval_share")
    return Term(Aggregate("quantile", _argument(of), _bounds(bounds), level=share, interval_share=paid))


def median(of: str | Term, *, bounds: Bounds | None = None, interval_share: object = None) -> Term:
    """The value in the middle: half of the rows lie below."""
    return quantile(of, "0.5", bounds=bounds, interval_share=interval_share)


def min(of: str | Term, *, bounds: Bounds | None = None, interval_share: object = None) -> Term:
    """About the smallest value: a private one lies some rows inside, for the very smallest is one person's."""
    return quantile(of, 0, bounds=bounds, interval_share=interval_share)


def max(of: str | Term, *, bounds: Bounds | None = None, interval_share: object = None) -> Term:
    """About the largest value: a private one lies some rows inside, for the very largest is one person's."""
    return quantile(of, 1, bounds=bounds, interval_share=interval_share)


def mode(of: str | Term) -> Term:
    """The most frequent value of a column whose values are public: MODE(x)."""
    return Term(Aggregate("mode", _argument(of)))


def top(of: str | Term, k: int, place: int = 1) -> Term:
    """The value at a place among the k most frequent, of a column whose values are public; all places are one choice.

    >>> top("city", 3), top("city", 3, place=2)
    (TOP_K(city, 3)[ORDINAL(1)], TOP_K(city, 3)[ORDINAL(2)])
    """
    most, at = times(k, "k", least=1), times(place, "place", least=1)
    if at > most:
        raise InvalidParameter("place", given=place, allowed=f"1 to {most}")
    return Term(Aggregate("top", _argument(of), rank=(at, most)))


def _argument(of: str | Term) -> Expression:
    expression = Column(of) if isinstance(of, str) else expression_of(of)
    if has_aggregate(expression):
        raise InvalidParameter("aggregate", given=of, allowed="a column, or an expression of columns")
    return expression


def _bounds(bounds: Bounds | None) -> tuple[Fraction, Fraction] | None:
    if bounds is None:
        return None
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise InvalidParameter("bounds", given=bounds, allowed="a lower and an upper number, as (0, 100)")
    low, high = (price(end, "bounds") for end in bounds)
    return bounds_of(low, high)


@dataclass(frozen=True, slots=True)
class Selection(Generic[Asked]):
    """A question being written; `agg` finishes it and hands the tree to ``ask``. Each step returns a new selection."""

    table: str
    ask: Callable[[Query], Asked]
    condition: Expression | None = None
    keys: tuple[tuple[str | None, Expression], ...] = ()
    held: Expression | None = None
    order: tuple[Ordering, ...] = ()
    most: int | None = None
    skipped: int = 0
    sets: tuple[tuple[int, ...], ...] = ()

    def where(self, condition: str | Term) -> Selection[Asked]:
        """Only rows for which the condition holds: SQL, or an expression of columns."""
        found = self._read(condition, "condition")
        if self.condition is not None:
            found = (Term(self.condition) & Term(found)).expression
        return replace(self, condition=found)

    def group_by(self, *keys: str | Term, **named: str | Term) -> Selection[Asked]:
        """Groups of rows that agree on all keys: names of columns, or expressions (which are best named)."""
        added = [(None, _argument(key)) for key in keys] + [(name, _argument(key)) for name, key in named.items()]
        return replace(self, keys=(*self.keys, *added))

    def rollup(self) -> Selection[Asked]:
        """Totals as well: groups by all keys, by all but the last, and so on, and one of everything."""
        return replace(self, sets=tuple(tuple(range(size)) for size in range(len(self.keys), -1, -1)))

    def cube(self) -> Selection[Asked]:
        """Groups by every choice of the keys."""
        every = range(len(self.keys))
        kept = product((True, False), repeat=len(self.keys))
        return replace(self, sets=tuple(tuple(compress(every, chosen)) for chosen in kept))

    def grouping_sets(self, *sets: Sequence[str]) -> Selection[Asked]:
        """Groups by each of these lists of keys, which go by their names: ``grouping_sets(["city"], ["plan"], [])``."""
        names = [default_name(key, ()) if name is None else name for name, key in self.keys]
        if not sets or any(isinstance(one, str) or any(key not in names for key in one) for one in sets):
            raise InvalidParameter("grouping_sets", given=sets, allowed=f"lists of keys: {', '.join(names)}")
        return replace(self, sets=tuple(tuple(names.index(key) for key in one) for one in sets))

    def having(self, condition: str | Term) -> Selection[Asked]:
        """Only groups whose released values fulfil the condition; outputs go by their names."""
        found = self._read(condition, "released condition")
        if self.held is not None:
            found = Call("and", (self.held, found))
        return replace(self, held=found)

    def order_by(self, *terms: str | Term | Ordering) -> Selection[Asked]:
        """Groups in the order of released values: names of outputs, terms, or ``tacit.col("n").desc()``."""
        return replace(self, order=(*self.order, *(_ordering(term) for term in terms)))

    def limit(self, count: int, offset: int = 0) -> Selection[Asked]:
        """At most so many groups, after leaving out the first ``offset``."""
        for name, value in (("limit", count), ("offset", offset)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise InvalidParameter(name, given=value, allowed="a whole number from 0 on")
        return replace(self, most=count, skipped=offset)

    def agg(self, **outputs: Term) -> Asked:
        """The statistics to compute, by name; the keys come first in the answer."""
        return self.ask(self.query(**outputs))

    def query(self, **outputs: Term) -> Query:
        """The tree."""
        shown = [(name, key) for name, key in self.keys]
        shown += [(name, expression_of(term)) for name, term in outputs.items()]
        named = {name.lower(): expression for name, expression in shown if name is not None}

        def meant(expression: Expression) -> Expression:
            if isinstance(expression, Column):
                return named.get(expression.name.lower(), expression)
            return expression.with_parts(tuple(meant(part) for part in expression.parts()))

        return make_query(
            self.table,
            shown,
            where=self.condition,
            keys=[key for _, key in self.keys],
            having=None if self.held is None else meant(self.held),
            order=[Order(meant(term.expression), term.descending, term.nulls_first) for term in self.order],
            limit=self.most,
            offset=self.skipped,
            sets=self.sets,
        )

    def _read(self, condition: str | Term, what: str) -> Expression:
        if not isinstance(condition, str):
            return expression_of(condition)
        return (parse_condition if what == "condition" else parse_released)(condition, self.table)


def _ordering(term: str | Term | Ordering) -> Ordering:
    if isinstance(term, Ordering):
        return term
    return col(term).asc() if isinstance(term, str) else Ordering(expression_of(term), False, False)
