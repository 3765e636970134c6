"""Aggregates in Python: ``tacit.mean("age")`` builds the tree that ``AVG(age)`` does in SQL."""

from __future__ import annotations

from fractions import Fraction

from tacit.errors import InvalidParameter
from tacit.privacy.prices import price, times
from tacit.tables.expressions.kinds import bounds_of
from tacit.tables.expressions.operators import OPERATORS
from tacit.tables.expressions.tree import Column, Expression
from tacit.tables.python.arrays import Several
from tacit.tables.python.columns import Term, expression_of
from tacit.tables.query.canonical import has_aggregate
from tacit.tables.query.functions import geometric_mean as logarithmic_mean
from tacit.tables.query.tree import Aggregate

__all__ = [
    "correlation",
    "count",
    "count_distinct",
    "count_units",
    "covariance",
    "covariance_pop",
    "geometric_mean",
    "max",
    "mean",
    "median",
    "min",
    "mode",
    "quantile",
    "quantiles",
    "stddev",
    "stddev_pop",
    "sum",
    "top",
    "top_k",
    "variance",
    "variance_pop",
]

Bounds = tuple[object, object]
_MOST_TILES = 10**6


def count(of: str | Term | None = None, *, group_bounds: Bounds | None = None) -> Term:
    """The number of rows, or of rows in which the column (or expression) is known.

    ``group_bounds`` say how many of one unit count in one group, within the policy's rows.

    >>> count(), count("spend")
    (COUNT(*), COUNT(spend))
    """
    clamp = _bounds(group_bounds)
    if of is None:
        return Term(Aggregate("count_rows", group_bounds=clamp))
    value = _argument(of)
    if value.called and OPERATORS[value.called].is_condition:
        hint = "How many rows meet it: tacit.count().filter(condition); what share of them: tacit.mean(condition)."
        raise InvalidParameter("count", given=of, allowed="a column, or nothing for all rows", hint=hint)
    return Term(Aggregate("count", value, group_bounds=clamp))


def count_units() -> Term:
    """The number of protected units (people) in the group: COUNT(DISTINCT unit)."""
    return Term(Aggregate("count_units"))


def sum(of: str | Term, *, bounds: Bounds | None = None, group_bounds: Bounds | None = None) -> Term:
    """The sum; each row is clamped to ``bounds``, or what one unit adds to one group to ``group_bounds``."""
    return Term(Aggregate("sum", _argument(of), _bounds(bounds), _bounds(group_bounds)))


def mean(of: str | Term, *, bounds: Bounds | None = None, group_bounds: Bounds | None = None) -> Term:
    """The mean of the known values, each clamped to ``bounds``; or ``group_bounds``, where a unit has one row."""
    return Term(Aggregate("mean", _argument(of), _bounds(bounds), _bounds(group_bounds)))


def variance(of: str | Term, *, bounds: Bounds | None = None) -> Term:
    """The variance of a sample (n - 1 below): VAR_SAMP."""
    return Term(Aggregate("variance", _argument(of), _bounds(bounds)))


def variance_pop(of: str | Term, *, bounds: Bounds | None = None) -> Term:
    """The variance of all there is (n below): VAR_POP."""
    return Term(Aggregate("variance_pop", _argument(of), _bounds(bounds)))


def stddev(of: str | Term, *, bounds: Bounds | None = None) -> Term:
    """The standard deviation of a sample: STDDEV_SAMP."""
    return Term(Aggregate("stddev", _argument(of), _bounds(bounds)))


def stddev_pop(of: str | Term, *, bounds: Bounds | None = None) -> Term:
    """The standard deviation of all there is: STDDEV_POP."""
    return Term(Aggregate("stddev_pop", _argument(of), _bounds(bounds)))


def covariance(
    of: str | Term, other: str | Term, *, bounds: Bounds | None = None, other_bounds: Bounds | None = None
) -> Term:
    """The covariance of a sample (n - 1 below), over the rows in which both are known: COVAR_SAMP."""
    return Term(Aggregate("covariance", _argument(of), _bounds(bounds), None, _argument(other), _bounds(other_bounds)))


def covariance_pop(
    of: str | Term, other: str | Term, *, bounds: Bounds | None = None, other_bounds: Bounds | None = None
) -> Term:
    """The covariance of all there is (n below): COVAR_POP."""
    pair = _bounds(bounds), None, _argument(other), _bounds(other_bounds)
    return Term(Aggregate("covariance_pop", _argument(of), *pair))


def correlation(
    of: str | Term, other: str | Term, *, bounds: Bounds | None = None, other_bounds: Bounds | None = None
) -> Term:
    """Pearson's correlation, over the rows in which both are known: CORR."""
    return Term(Aggregate("correlation", _argument(of), _bounds(bounds), None, _argument(other), _bounds(other_bounds)))


def geometric_mean(of: str | Term, *, bounds: Bounds | None = None) -> Term:
    """The geometric mean of the positive values: EXP(AVG(LN(x))); ``bounds`` are those of the column, above 0.

    >>> geometric_mean("pay")
    EXP(AVG(LN(pay)))
    """
    return Term(logarithmic_mean(_argument(of), _bounds(bounds)))


def count_distinct(of: str | Term) -> Term:
    """The number of different values, of each unit at most as many as it may have rows in a group."""
    return Term(Aggregate("count_distinct", _argument(of)))


def quantile(of: str | Term, level: object, *, bounds: Bounds | None = None, interval_share: object = None) -> Term:
    """The value that a share of the rows, between 0 and 1, lies below.

    Its interval is chosen with it, or after it for ``interval_share`` of the price: at 0 the value gets all, and it is
    the whole range between the bounds.

    >>> quantile("age", 0.9), quantile("age", 0.5, interval_share=0)
    (QUANTILE(age, 0.9), MEDIAN(age, interval_share => 0))
    """
    share = price(level, "level")
    if not 0 <= share <= 1:
        raise InvalidParameter("level", given=level, allowed="a share of the rows, from 0 to 1")
    paid = None if interval_share is None else price(interval_share, "interval_share")
    return Term(Aggregate("quantile", _argument(of), _bounds(bounds), level=share, interval_share=paid))


def quantiles(of: str | Term, count: int, *, bounds: Bounds | None = None, interval_share: object = None) -> Several:
    """The ends of so many parts of equally many rows: count + 1 columns, the first the smallest value.

    >>> quantiles("age", 4)
    [MIN(age), QUANTILE(age, 0.25), MEDIAN(age), …]
    >>> quantiles("age", 100)[90]
    QUANTILE(age, 0.9)
    """
    paid = None if interval_share is None else price(interval_share, "interval_share")
    made = Aggregate("quantile", _argument(of), _bounds(bounds), interval_share=paid)
    return Several(made, _at_most(count, "count"))


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


def top_k(of: str | Term, k: int) -> Several:
    """The k most frequent values of a column whose values are public, best first: k columns.

    >>> top_k("city", 3)[0]
    TOP_K(city, 3)[ORDINAL(1)]
    """
    return Several(Aggregate("top", _argument(of)), _at_most(k, "k"))


def _at_most(count: int, name: str) -> int:
    found = times(count, name, least=1)
    if found > _MOST_TILES:
        raise InvalidParameter(name, given=count, allowed=f"at most {_MOST_TILES}")
    return found


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
