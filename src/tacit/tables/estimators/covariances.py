"""COVAR_POP, COVAR_SAMP, CORR: centred sums of x, y, xy (and x², y²) and a count of the same rows, noised jointly."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter, MissingBounds
from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.mechanisms.shared.estimate import Estimate
from tacit.tables.engines.contract import Measure, Product, Quantised, Square
from tacit.tables.estimators.base import Estimator, Noisy, Setting, Weighted
from tacit.tables.estimators.blends import chosen_count, chosen_sum
from tacit.tables.estimators.quantising import argument, centred_for_squares
from tacit.tables.expressions.tree import Call, Case, Expression
from tacit.tables.query.tree import Aggregate

__all__ = ["CORRELATION", "COVARIANCE", "COVARIANCE_POP"]

Floats = npt.NDArray[np.float64]
Ends = tuple[Floats, Floats]


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
        raise MissingBounds(y.column_name or "the second expression")
    first = replace(aggregate, argument=_where_known(y, x))
    second = replace(aggregate, argument=_where_known(x, y), bounds=aggregate.second_bounds)
    other = replace(setting, kind=setting.second_kind, granule=setting.second_granule)
    return Pair(centred_for_squares(first, setting), centred_for_squares(second, other), first, setting)


def furthest(row: Quantised) -> int:
    """The largest absolute value of a row."""
    return max(abs(row.lowest), abs(row.highest))


def _where_known(other: Expression, value: Expression) -> Expression:
    return Case(((Call("not", (Call("is_null", (other,)),)), value),))


@dataclass(frozen=True, slots=True)
class Covariance(Estimator):
    """Σxy/n - (Σx/n)(Σy/n) with x and y from the middle of their bounds; ``lost`` is 1 for the sample's n - 1.

    The interval takes all four sums within their errors at once: it covers at least as often as it says.
    """

    lost: int

    def parts(self, aggregate: Aggregate, setting: Setting) -> tuple[Weighted, ...]:
        pair = paired(aggregate, setting)
        measures = (pair.total(pair.left), pair.total(pair.right), pair.products(), pair.count())
        weights = (Fraction(1, 6), Fraction(1, 6), Fraction(1, 2), Fraction(1, 6))
        return tuple(Weighted(measure, weight) for measure, weight in zip(measures, weights, strict=True))

    def finish(self, aggregate: Aggregate, setting: Setting, noisy: tuple[Noisy, ...], beta: Fraction) -> Estimate:
        left, right, products, count = noisy
        pair = paired(aggregate, setting)
        most = float(furthest(pair.left) * furthest(pair.right))
        each = beta / 4
        few, many = (np.maximum(end, 1.0) for end in count.interval(each))
        low, high = _covariance_ends(
            left.interval(each), right.interval(each), products.interval(each), (few, many), pair, most
        )
        n = np.maximum(count.values, 1.0)
        value = np.clip(products.values / n - left.values / n * (right.values / n), -most, most)
        corrected = (self._corrected(value, n), *self._corrected_ends(low, high, few))
        step = float(pair.left.granule * pair.right.granule)
        value, low, high = (part * step for part in corrected)
        return Estimate(value, np.minimum(low, value), np.maximum(high, value), whole=False)

    def _corrected(self, population: Floats, n: Floats) -> Floats:
        """With n/(n-1) for a sample. It falls with n, from 2: a sample of fewer than two has no covariance."""
        rows = np.maximum(n, 1.0 + self.lost)
        made: Floats = population * (rows / (rows - self.lost))
        return made

    def _corrected_ends(self, low: Floats, high: Floats, few: Floats) -> Ends:
        most = self._corrected(np.ones_like(few), few)
        return np.minimum(low, low * most), np.maximum(high, high * most)

    def error(
        self, aggregate: Aggregate, setting: Setting, mechanisms: tuple[AdditiveMechanism, ...], rows: int | None
    ) -> float | None:
        if rows is None:
            return None
        pair = paired(aggregate, setting)
        wide, high = furthest(pair.left), furthest(pair.right)
        left, right, products, count = (float(one.accuracy(Fraction(1, 80))) for one in mechanisms)
        n = max(rows - count, 1.0)
        worst = (products + high * left + wide * right + 2 * wide * high * count) / n
        return min(worst, 2.0 * wide * high) * float(pair.left.granule * pair.right.granule)


class Correlation(Estimator):
    """The covariance over the square root of both variances, clipped to [-1, 1]; six sums, noised jointly."""

    def parts(self, aggregate: Aggregate, setting: Setting) -> tuple[Weighted, ...]:
        pair = paired(aggregate, setting)
        measures = (
            pair.total(pair.left),
            pair.total(pair.right),
            pair.squares(pair.left),
            pair.squares(pair.right),
            pair.products(),
            pair.count(),
        )
        weights = (Fraction(1, 8), Fraction(1, 8), Fraction(3, 16), Fraction(3, 16), Fraction(1, 4), Fraction(1, 8))
        return tuple(Weighted(measure, weight) for measure, weight in zip(measures, weights, strict=True))

    def finish(self, aggregate: Aggregate, setting: Setting, noisy: tuple[Noisy, ...], beta: Fraction) -> Estimate:
        left, right, left_squares, right_squares, products, count = noisy
        pair = paired(aggregate, setting)
        most = float(furthest(pair.left) * furthest(pair.right))
        each = beta / 6
        few, many = (np.maximum(end, 1.0) for end in count.interval(each))
        sums = left.interval(each), right.interval(each)
        together = _covariance_ends(*sums, products.interval(each), (few, many), pair, most)
        apart = [
            _variance_ends(total, squares.interval(each), (few, many), float(furthest(row)) ** 2)
            for total, squares, row in zip(sums, (left_squares, right_squares), (pair.left, pair.right), strict=True)
        ]
        low, high = _quotient(together, (apart[0][0] * apart[1][0], apart[0][1] * apart[1][1]))
        n = np.maximum(count.values, 1.0)
        x, y = left.values / n, right.values / n
        spread = np.maximum(left_squares.values / n - x**2, 0.0) * np.maximum(right_squares.values / n - y**2, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.clip(np.where(spread > 0, (products.values / n - x * y) / np.sqrt(spread), 0.0), -1.0, 1.0)
        return Estimate(value, np.minimum(low, value), np.maximum(high, value), whole=False)

    def error(
        self, aggregate: Aggregate, setting: Setting, mechanisms: tuple[AdditiveMechanism, ...], rows: int | None
    ) -> float | None:
        """Unknown whatever the rows: it depends on how far the values spread."""
        return None if rows is None else 2.0


COVARIANCE = Covariance(lost=1)
COVARIANCE_POP = Covariance(lost=0)
CORRELATION = Correlation()


def _covariance_ends(left: Ends, right: Ends, products: Ends, count: Ends, pair: Pair, most: float) -> Ends:
    """The least and the most the covariance can be with each sum within its interval."""
    x = _mean_ends(left, count, (pair.left.lowest, pair.left.highest))
    y = _mean_ends(right, count, (pair.right.lowest, pair.right.highest))
    xy = _mean_ends(products, count, (-most, most))
    corners = [a * b for a in x for b in y]
    low = np.clip(xy[0] - np.maximum.reduce(corners), -most, most)
    return low, np.clip(xy[1] - np.minimum.reduce(corners), -most, most)


def _variance_ends(total: Ends, squares: Ends, count: Ends, most: float) -> Ends:
    mean, second = (
        _mean_ends(total, count, (-math.sqrt(most), math.sqrt(most))),
        _mean_ends(squares, count, (0.0, most)),
    )
    spans_zero = (mean[0] <= 0) & (mean[1] >= 0)
    near = np.where(spans_zero, 0.0, np.minimum(np.abs(mean[0]), np.abs(mean[1])))
    far = np.maximum(np.abs(mean[0]), np.abs(mean[1]))
    return np.clip(second[0] - far**2, 0.0, most), np.clip(second[1] - near**2, 0.0, most)


def _mean_ends(total: Ends, count: Ends, bounds: tuple[float, float]) -> Ends:
    """The least and the most a sum over a count can be, which lies between bounds."""
    few, many = count
    low = np.where(total[0] < 0, total[0] / few, total[0] / many)
    high = np.where(total[1] > 0, total[1] / few, total[1] / many)
    return np.clip(low, *bounds), np.clip(high, *bounds)


def _quotient(covariance: Ends, spread: Ends) -> Ends:
    """Between -1 and 1; the whole range where a variance may be nothing."""
    least, most = np.sqrt(spread[0]), np.sqrt(spread[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(covariance[0] < 0, covariance[0] / least, covariance[0] / most)
        high = np.where(covariance[1] > 0, covariance[1] / least, covariance[1] / most)
    unknown = ~(least > 0)
    return np.clip(np.where(unknown, -1.0, low), -1.0, 1.0), np.clip(np.where(unknown, 1.0, high), -1.0, 1.0)
