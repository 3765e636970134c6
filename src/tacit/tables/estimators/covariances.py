"""COVAR_POP, COVAR_SAMP, CORR: centred sums of x, y, xy (and x², y²) and a count of the same rows, noised jointly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from tacit.tables.estimators.noise import Noise
from tacit.tables.estimators.quantising import argument, centred_for_squares
from tacit.tables.expressions.tree import Call, Case, Expression
from tacit.tables.query.tree import Aggregate

__all__ = ["CORRELATION", "COVARIANCE", "COVARIANCE_POP"]

Floats = npt.NDArray[np.float64]
_FAR = 1e100
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

    def units(self, many: int) -> list[int]:
        """How far one row takes Σx, Σy, Σxy, n, Σx² and Σy², as many of them."""
        x, y = furthest(self.left), furthest(self.right)
        return [x, y, x * y, 1, x * x, y * y][:many]


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

    The interval holds all covariances that make the sums plausible, with some plausible means.
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
        few = np.maximum(count.interval(beta * _OF_MEAN)[0], 1.0)
        rest = beta * (1 - self.lost * _OF_MEAN)
        low, high = (end * most for end in covariance_ends(_Sums.of(noisy, pair.units(4)), rest))
        n = np.maximum(count.values, 1.0)
        with np.errstate(over="ignore"):
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
        ordered = (left, right, products, count, left_squares, right_squares)
        low, high = correlation_ends(_Sums.of(ordered, pair.units(6)), beta)
        n = np.maximum(count.values, 1.0)
        x, y = (np.clip(one.values / n, -_FAR, _FAR) for one in (left, right))  # of noise alone; squares stay finite
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            spread = np.maximum(left_squares.values / n - x**2, 0.0) * np.maximum(right_squares.values / n - y**2, 0.0)
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


_OF_MEAN = Fraction(1, 20)
"""The share of β for where a mean lies, or how many rows there are."""
_CELLS = 4
"""Into so many parts the range of each mean is cut."""
_ROUNDS = 4


@dataclass(frozen=True, slots=True)
class _Sums:
    """Σx, Σy, Σxy, n, and for a correlation Σx² and Σy², with noise: x and y in units of how far they can lie out."""

    values: Floats
    units: Floats
    scales: Floats
    noise: Noise

    @classmethod
    def of(cls, noisy: Sequence[Noisy], units: Sequence[int]) -> _Sums:
        column = np.array([float(max(one, 1)) for one in units])[:, None]
        scales = np.array([one.mechanism.scale for one in noisy])[:, None]
        return cls(np.stack([one.values for one in noisy]) / column, column, scales, noisy[0].noise)

    def tiled(self, times: int) -> _Sums:
        """Each group so many times."""
        return replace(self, values=np.tile(self.values, times))

    def off(self, weights: Mapping[int, float | Floats], beta: Fraction) -> Floats:
        """How far a sum of some of them is off at most, all but β of the time."""
        size, at = self.values.shape[1], list(weights)
        column = np.stack([np.broadcast_to(np.abs(weights[one]), size) for one in at])
        return self.noise.furthest(column / self.units[at], self.scales[at], float(beta))

    def no_row(self, beta: Fraction) -> npt.NDArray[np.bool_]:
        """Whether there may be none."""
        found: npt.NDArray[np.bool_] = self.values[_N] <= self.off({_N: 1.0}, beta)
        return found


_X, _Y, _XY, _N, _XX, _YY = range(6)


def _mean_ends(sums: _Sums, of: int, beta: Fraction) -> Ends:
    """Where a mean lies: all m for which Σx - m·n is noise that is not too large, whatever m of the range it is."""
    n = np.maximum(sums.values[_N], np.finfo(float).tiny)
    low, high = np.full_like(n, -1.0), np.ones_like(n)
    for _ in range(_ROUNDS):
        off = sums.off({of: 1.0, _N: np.maximum(np.abs(low), np.abs(high))}, beta)
        low, high = _cut(low, high, sums.values[of], sums.values[of], off, n)
    blind = sums.no_row(beta) | (low > high)
    return np.where(blind, -1.0, low), np.where(blind, 1.0, high)


def _cut(low: Floats, high: Floats, least: Floats, most: Floats, off: Floats, n: Floats) -> Ends:
    """What is left of a range in which v·n is between two sums, but for noise."""
    with np.errstate(over="ignore"):
        low, high = np.maximum(low, (least - off) / n), np.minimum(high, (most + off) / n)
    return np.minimum(low, 1.0), np.maximum(high, -1.0)


def _cells(ends: Ends, before: int, after: int) -> Ends:
    """A range in parts, with so many cells of other ranges before and after each."""
    edges = ends[0] + (ends[1] - ends[0]) * np.linspace(0.0, 1.0, _CELLS + 1)[:, None]
    every = [np.tile(np.repeat(side, before, axis=0).ravel(), after) for side in (edges[:-1], edges[1:])]
    return every[0], every[1]


def _within(low: Floats, high: Floats, blind: npt.NDArray[np.bool_], cells: int) -> Ends:
    """The least and the most over all cells that are not empty; everything where nothing can be told."""
    empty = (low > high).reshape(cells, -1)
    least = np.where(empty, np.inf, low.reshape(cells, -1)).min(axis=0)
    most = np.where(empty, -np.inf, high.reshape(cells, -1)).max(axis=0)
    blind = blind | (least > most)
    return np.where(blind, -1.0, least), np.where(blind, 1.0, most)


@np.errstate(over="ignore")
def covariance_ends(sums: _Sums, beta: Fraction) -> Ends:
    """The least and the most that a covariance can be, as a part of the largest.

    Were c the covariance around the true means m and k, Σ(x - m)(y - k) - c·n would be noise alone: for means in ranges
    that hold them but for β/20 each, in cells, all c are left out for which that takes more noise than there is.
    """
    aside = beta * _OF_MEAN
    means = _mean_ends(sums, _X, aside), _mean_ends(sums, _Y, aside)
    blind = sums.no_row(aside)
    m, k = _cells(means[0], 1, _CELLS), _cells(means[1], _CELLS, 1)
    wide = sums.tiled(_CELLS**2)
    corners = [(one, other) for one in m for other in k]
    found = [_around(wide, *corner) for corner in corners]
    least, most, n = np.minimum.reduce(found), np.maximum.reduce(found), np.maximum(wide.values[_N], 1e-300)
    low, high = np.full_like(n, -1.0), np.ones_like(n)
    for _ in range(_ROUNDS):
        rows = np.maximum.reduce([np.abs(one * other - c) for one, other in corners for c in (low, high)])
        weights = {_XY: 1.0, _X: np.maximum(*map(np.abs, k)), _Y: np.maximum(*map(np.abs, m)), _N: rows}
        low, high = _cut(low, high, least, most, wide.off(weights, beta - 2 * aside), n)
    return _within(low, high, blind, _CELLS**2)


def _around(sums: _Sums, m: Floats, k: Floats) -> Floats:
    """Σ(x - m)(y - k)."""
    values = sums.values
    made: Floats = values[_XY] - k * values[_X] - m * values[_Y] + m * k * values[_N]
    return made


def _variance_ends(sums: _Sums, mean: Ends, of: int, squares: int, beta: Fraction) -> Ends:
    """The least and the most that a variance can be, around a mean in a range: as of a covariance, in one cell."""
    values, n = sums.values, np.maximum(sums.values[_N], 1e-300)
    turn = np.clip(np.where(values[_N] > 0, values[of] / n, mean[0]), *mean)
    found = [values[squares] - 2 * m * values[of] + m**2 * values[_N] for m in (*mean, turn)]
    low, high, far = np.zeros_like(n), np.ones_like(n), np.maximum(*map(np.abs, mean))
    for _ in range(_ROUNDS):
        weights = {squares: 1.0, of: 2 * far, _N: np.maximum(far**2, high)}
        off = sums.off(weights, beta)
        low, high = _cut(low, high, np.minimum.reduce(found), np.maximum.reduce(found), off, n)
    return np.maximum(low, 0.0), high


@np.errstate(over="ignore")
def correlation_ends(sums: _Sums, beta: Fraction) -> Ends:
    """The least and the most that a correlation can be.

    √(VW) is the least of (λV + W/λ)/2, at λ = √(W/V). Were r the correlation, with the true means and that λ,
    Σ(x - m)(y - k) - r·(λΣ(x - m)² + Σ(y - k)²/λ)/2 would be noise alone. Means and λ are in ranges that hold them but
    for β/20 each; around the true λ the sum is flat, so that its range costs next to nothing.
    """
    aside = beta * _OF_MEAN
    means = _mean_ends(sums, _X, aside), _mean_ends(sums, _Y, aside)
    first = _variance_ends(sums, means[0], _X, _XX, aside)
    second = _variance_ends(sums, means[1], _Y, _YY, aside)
    blind = sums.no_row(aside) | ~(first[0] > 0) | ~(second[0] > 0) | (first[0] > first[1]) | (second[0] > second[1])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratios = np.sqrt(second[0] / first[1]), np.sqrt(second[1] / first[0])
    ratios = np.where(blind, 1.0, ratios[0]), np.where(blind, 1.0, ratios[1])
    wide = sums.tiled(_CELLS**3)
    m, k = _cells(means[0], 1, _CELLS**2), _cells(means[1], _CELLS, _CELLS)
    ratio = _cells(ratios, _CELLS**2, 1)
    together = [_around(wide, one, other) for one in m for other in k]
    least, most = np.minimum.reduce(together), np.maximum.reduce(together)
    spread = _spread_ends(wide, (m, k), ratio)
    low, high = np.full_like(least, -1.0), np.ones_like(least)
    for _ in range(_ROUNDS):
        off = wide.off(_correlation_weights((m, k), ratio, (low, high)), beta - 4 * aside)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ends = [(end + sign * off) / one for end, sign in ((least, -1), (most, 1)) for one in spread]
        low = np.maximum(low, np.where(spread[0] > 0, np.minimum(ends[0], ends[1]), -1.0))
        high = np.minimum(high, np.where(spread[0] > 0, np.maximum(ends[2], ends[3]), 1.0))
        low, high = np.minimum(low, 1.0), np.maximum(high, -1.0)
    return _within(low, high, blind, _CELLS**3)


def _spread_ends(sums: _Sums, means: tuple[Ends, Ends], ratio: Ends) -> Ends:
    """The least and the most of (λΣ(x - m)² + Σ(y - k)²/λ)/2 over cells."""
    ends = []
    for (first, last), of, squares in ((means[0], _X, _XX), (means[1], _Y, _YY)):
        values = sums.values
        turn = np.clip(values[of] / np.maximum(values[_N], 1e-300), first, last)
        found = [values[squares] - 2 * m * values[of] + m**2 * values[_N] for m in (first, last, turn)]
        ends.append((np.minimum.reduce(found), np.maximum.reduce(found)))
    (one, one_most), (other, other_most) = ends
    least = np.minimum.reduce([(part * one + other / part) / 2 for part in ratio])
    inside = np.sqrt(np.maximum(one, 0.0) * np.maximum(other, 0.0))  # the least over all λ
    most = np.maximum.reduce([(part * one_most + other_most / part) / 2 for part in ratio])
    return np.minimum(least, inside), most


def _correlation_weights(means: tuple[Ends, Ends], ratio: Ends, r: Ends) -> Mapping[int, float | Floats]:
    """The largest absolute weight of each sum over cells: linear in each of r, λ, 1/λ and the means, but for n."""
    (m, k), part, over = means, ratio, tuple(1 / one for one in ratio)
    far = np.maximum(*map(np.abs, r))
    x = [-other + c * one * by for other in k for c in r for one in m for by in part]
    y = [-one + c * other * by for one in m for c in r for other in k for by in over]
    square, other_square = (np.maximum(*(one**2 for one in side)) for side in (m, k))
    rows = np.maximum.reduce([np.abs(one * other) for one in m for other in k])
    return {
        _XY: 1.0,
        _X: np.maximum.reduce([np.abs(one) for one in x]),
        _Y: np.maximum.reduce([np.abs(one) for one in y]),
        _XX: far * np.maximum(*part) / 2,
        _YY: far * np.maximum(*over) / 2,
        _N: rows + far / 2 * (np.maximum(*part) * square + np.maximum(*over) * other_square),
    }
