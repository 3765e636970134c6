"""COUNT(DISTINCT x): how many different values a group's units hold, of each unit at most so many."""

from __future__ import annotations

from fractions import Fraction

from tacit.tables.engines.contract import Distinct
from tacit.tables.estimators.base import Setting, Weighted
from tacit.tables.estimators.counts import OneCount
from tacit.tables.estimators.quantising import argument
from tacit.tables.query.tree import Aggregate

__all__ = ["COUNT_DISTINCT"]


class CountDistinct(OneCount):
    """A number of values. A unit may hold as many as it may have rows in a group; which ones, a keyed hash decides."""

    def parts(self, aggregate: Aggregate, setting: Setting) -> tuple[Weighted, ...]:
        return (Weighted(Distinct(argument(aggregate), setting.rows), Fraction(1)),)


COUNT_DISTINCT = CountDistinct()
