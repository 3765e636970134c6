"""From bounds to integers: the granule, the centre, and the row value that an engine adds up."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from tacit.errors import InvalidParameter, MissingBounds
from tacit.privacy.prices import text
from tacit.tables.check.types import Words
from tacit.tables.engines.contract import Quantised
from tacit.tables.estimators.base import Setting
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Column, Expression
from tacit.tables.query.tree import Aggregate

__all__ = ["LARGEST", "argument", "centred", "centred_for_squares", "granule_for", "row_bounds", "uncentred"]

LARGEST = 1 << 62
"""No measure of one unit may reach this many granules: sums over units then fit 128 bits with room to spare."""

_STEPS = 20
_WIDEST_WHOLE = 1 << 32


def granule_for(low: Fraction, high: Fraction, setting: Setting) -> Fraction:
    """The step values are rounded to: 1 for integers, else a power of two near a millionth of the range; or as told.

    >>> from tacit.tables.expressions.kinds import Kind
    >>> granule_for(Fraction(0), Fraction(200), Setting(1, False, Kind.REAL))
    Fraction(1, 8192)
    """
    if setting.granule is not None:
        return setting.granule
    span = max(high - low, abs(low), abs(high))
    if not span or (setting.kind is Kind.INTEGER and span <= _WIDEST_WHOLE):
        return Fraction(1)
    power = math.floor(math.log2(span.numerator) - math.log2(span.denominator)) - _STEPS
    return Fraction(2) ** power


def centred(aggregate: Aggregate, setting: Setting) -> Quantised:
    """The argument in granules from the middle of its bounds: the smallest reach.

    The granule is one for the width of the range, however far from 0 that lies.

    >>> from tacit.tables.expressions.kinds import Kind
    >>> far = Aggregate("mean", Column("x"), bounds=(Fraction(10**9), Fraction(10**9 + 200)))
    >>> centred(far, Setting(1, False, Kind.REAL)).granule
    Fraction(1, 8192)
    """
    low, high = row_bounds(aggregate)
    if low == high and setting.granule is None:
        return _centred(aggregate, abs(low) or Fraction(1))
    return _centred(aggregate, granule_for(Fraction(0), high - low, setting))


def centred_for_squares(aggregate: Aggregate, setting: Setting) -> Quantised:
    """As `centred`, in a granule coarse enough for the squares of a unit's rows to be added up, unless it was told.

    >>> from tacit.tables.expressions.kinds import Kind
    >>> wide = Aggregate("variance", Column("x"), bounds=(Fraction(0), Fraction(2**32)))
    >>> [int(centred_for_squares(wide, Setting(rows, True, Kind.INTEGER)).granule) for rows in (1, 3, 9)]
    [2, 2, 4]
    """
    row = centred(aggregate, setting)
    while setting.granule is None and setting.rows * max(row.lowest**2, row.highest**2) >= LARGEST:
        row = _centred(aggregate, 2 * row.granule)
    return row


def _centred(aggregate: Aggregate, granule: Fraction) -> Quantised:
    return _around_middle(argument(aggregate), row_bounds(aggregate), granule)


@lru_cache(maxsize=256)
def _around_middle(inner: Expression, bounds: tuple[Fraction, Fraction], granule: Fraction) -> Quantised:
    """Many plans of one statement are compared."""
    low, high = bounds
    centre = granule * math.floor((low + high) / 2 / granule + Fraction(1, 2))
    row = Quantised(inner, low, high, centre, granule)
    if row.lowest > row.highest:  # no step lies in the range, and what one row moves would not be what its ends say
        step = text(granule)
        allowed = f"a range with a multiple of the granule, {step}, in it: make it wider, or the granule finer"
        raise InvalidParameter("bounds", given=Words("a range between two multiples"), allowed=allowed)
    return row


def uncentred(aggregate: Aggregate, setting: Setting) -> Quantised:
    """The argument in granules from 0."""
    low, high = row_bounds(aggregate)
    return Quantised(argument(aggregate), low, high, Fraction(0), granule_for(low, high, setting))


def argument(aggregate: Aggregate) -> Expression:
    """What the aggregate is of."""
    if aggregate.argument is None:
        raise InvalidParameter(aggregate.estimator, given="nothing", allowed="a column or an expression")
    return aggregate.argument


def row_bounds(aggregate: Aggregate) -> tuple[Fraction, Fraction]:
    """The public range of the argument."""
    if aggregate.bounds is None:
        inner = argument(aggregate)
        raise MissingBounds(inner.name if isinstance(inner, Column) else "the expression")
    return aggregate.bounds
