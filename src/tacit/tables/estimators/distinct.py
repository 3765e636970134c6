"""COUNT(DISTINCT x): how many different values a group's units hold, of each unit at most so many."""

from __future__ import annotations

from fractions import Fraction

from tacit.mechanisms.base import AdditiveMechanism
from tacit.tables.bounded import Distinct
from tacit.tables.estimators.base import Noisy, Part, Setting
from tacit.tables.estimators.quantising import argument
from tacit.tables.query import Aggregate
from tacit.tables.released import Estimate

__all__ = ["COUNT_DISTINCT"]


class CountDistinct:
    """A number of values. A unit may hold as many as it may have rows in a group; which ones, a keyed hash decides."""

    def parts(self, aggregate: Aggregate, setting: Setting) -> tuple[Part, ...]:
        return (Part(Distinct(argument(aggregate), setting.rows), Fraction(1)),)

    def finish(self, aggregate: Aggregate, setting: Setting, noisy: tuple[Noisy, ...], beta: Fraction) -> Estimate:
        (count,) = noisy
        low, high = count.interval(beta)
        return Estimate(count.values, low, high, whole=True)

    def error(
        self, aggregate: Aggregate, setting: Setting, mechanisms: tuple[AdditiveMechanism, ...], rows: int | None
    ) -> float | None:
        return float(mechanisms[0].accuracy("0.05"))


COUNT_DISTINCT = CountDistinct()
