"""Two arguments of one row: each taken where the other is known, so that all sums are over the same rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tacit.errors import InvalidParameter, MissingBounds
from tacit.tables.engines.contract import Measure, Product, Quantised, Square
from tacit.tables.estimators.base import Setting
from tacit.tables.estimators.blends import chosen_count, chosen_sum
from tacit.tables.estimators.quantising import argument, centred_for_squares
from tacit.tables.expressions.tree import Call, Case, Column, Expression
from tacit.tables.query.tree import Aggregate

__all__ = ["Pair", "paired"]


@dataclass(frozen=True, slots=True)
class Pair:
    """The two values of a row in granules from the middle of their bounds; each null where the other is."""

    left: Quantised
    right: Quantised
    first: Aggregate
    setting: Setting

    def total(self, of: Quantised) -> Measure:
        """Σ of one of them."""
        return chosen_sum(of, self.setting)

    def squares(self, of: Quantised) -> Measure:
        """Σ of the squares of one of them."""
        return Measure(Square(of), 0, self.setting.rows * furthest(of) ** 2, chosen=self.setting.chosen)

    def products(self) -> Measure:
        """Σ of the products."""
        most = self.setting.rows * furthest(self.left) * furthest(self.right)
        return Measure(Product(self.left, self.right), -most, most, chosen=self.setting.chosen)

    def count(self) -> Measure:
        """The number of rows in which both are known."""
        return chosen_count(self.first, self.setting)


def paired(aggregate: Aggregate, setting: Setting) -> Pair:
    """The arguments of a statistic of two columns."""
    x, y = argument(aggregate), aggregate.second
    if y is None:
        raise InvalidParameter(aggregate.estimator, given="one value", allowed="two columns or expressions")
    if aggregate.second_bounds is None:
        raise MissingBounds(y.name if isinstance(y, Column) else "the second expression")
    first = replace(aggregate, argument=_where_known(y, x))
    second = replace(aggregate, argument=_where_known(x, y), bounds=aggregate.second_bounds)
    other = replace(setting, kind=setting.second_kind, granule=setting.second_granule)
    return Pair(centred_for_squares(first, setting), centred_for_squares(second, other), first, setting)


def furthest(row: Quantised) -> int:
    """The largest absolute value of a row."""
    return max(abs(row.lowest), abs(row.highest))


def _where_known(other: Expression, value: Expression) -> Expression:
    return Case(((Call("not", (Call("is_null", (other,)),)), value),))
