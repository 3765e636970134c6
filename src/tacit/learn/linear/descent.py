"""Second-order private descent: a noisy matrix of second moments once, then noisy gradients that it preconditions.

Everything that meets the rows is in `passes`, in whole numbers; everything here is a function of what was released.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tacit.learn.linear.design import UNIT, Design
from tacit.learn.linear.links import RESIDUAL, WEIGHT
from tacit.learn.linear.passes import Loss, Passes
from tacit.learn.linear.pooling import Pool, usual_sizes
from tacit.learn.linear.settings import Settings
from tacit.learn.linear.sharpening import sharpened
from tacit.learn.spending.spending import Spending
from tacit.mechanisms.additive.integer_mechanism import IntegerMechanism

__all__ = ["Fitted", "Moments", "buy_moments", "descend"]

Reals = npt.NDArray[np.float64]

HEAVIEST = 1 << 24
"""The largest weight, in whole numbers."""


@dataclass(frozen=True, slots=True)
class Moments:
    """The released second moments, in the units of the model, and the size of their noise as a matrix.

    ``rows`` is about how many rows there are: as declared, or as released.
    """

    matrix: Reals
    blur: float
    rows: float
    noise: float
    """That of each entry of the matrix."""

    def of_constant(self) -> Moments:
        """Those of the constant term alone."""
        return Moments(self.matrix[:1, :1], self.blur, self.rows, self.noise)


@dataclass(frozen=True, slots=True)
class Fitted:
    """The weights, a row for each output; and the covariance that noise gives to those of one output."""

    weights: Reals
    moments: Moments
    noise: float
    covariance: Reals
    clip: float
    """The longest that a unit's gradient could be, in the units of the model."""

    def among(self, width: int) -> Fitted:
        """The same beside terms that have no weight, of which there are so many in all."""
        known = self.weights.shape[1]
        weights = np.zeros((len(self.weights), width))
        weights[:, :known] = self.weights
        covariance = np.zeros((width, width))
        covariance[:known, :known] = self.covariance
        return Fitted(weights, self.moments, self.noise, covariance, self.clip)


def buy_moments(
    design: Design, passes: Passes, unit_rows: int, spending: Spending, share: Fraction, declared: float | None
) -> Moments:
    """The matrix of second moments with noise. A pure promise buys its diagonal and the sums of numbers alone.

    A row's products above and on the diagonal have ((Σx²)² + Σx⁴)/2 as the sum of their squares; on the diagonal, and
    of numbers with the constant entry, they have Σx² + UNIT·Σ|x| over the numbers as the sum of their sizes. A tenth of
    the share buys the number of rows, unless it is declared.
    """
    _, squares, fourths = design.most
    width = design.width
    upper = None if spending.budget.pure else np.triu_indices(width)
    total = passes.moments(upper)
    rows, for_rows = declared, share / 10
    if rows is None:
        count = total[:1] // UNIT**2  # the constant term times itself
        rows = float(spending.release("number of rows", for_rows, count, l1=unit_rows, l2_squared=unit_rows**2)[0])
        share -= for_rows
    mechanism = spending.buy(
        "second moments",
        share,
        l1=unit_rows * (squares + UNIT * sum(design.largest)),
        l2_squared=unit_rows**2 * ((squares**2 + fourths + 1) // 2),
    )
    released = mechanism.release_floats(total, entropy=spending.bits) / UNIT**2
    blur = mechanism.scale / UNIT**2
    if upper is None:
        return Moments(as_if_independent(design, released), blur, max(rows, 1.0), blur)
    matrix = np.zeros((width, width))
    matrix[upper] = released
    matrix.T[upper] = released
    return Moments(matrix, blur * float(np.sqrt(width)), max(rows, 1.0), blur)


def as_if_independent(design: Design, released: Reals) -> Reals:
    """The second moments of columns that tell nothing of each other, from their released squares and sums.

    Of two columns n·E[x]·E[y]; of two categories of one column 0. It follows from what was released alone, and need not
    be true of the rows: it only says in which directions steps are long.
    """
    width, count = design.width, len(design.numbers)
    squares = np.maximum(released[:width], 0.0)
    rows = max(float(squares[0]), 1.0)
    means = np.minimum(squares / rows, 1.0)
    means[1 : 1 + count] = np.clip(released[width:] / rows, -1.0, 1.0)
    matrix = rows * np.outer(means, means)
    for start, block in zip(design.starts, design.blocks, strict=True):
        matrix[start : start + block.size, start : start + block.size] = 0
    matrix[np.diag_indices(width)] = np.maximum(squares, rows * means * means)
    return matrix


def descend(
    design: Design,
    passes: Passes,
    unit_rows: int,
    spending: Spending,
    loss: Loss,
    settings: Settings,
    moments: Moments,
    *,
    start: Reals | None = None,
    penalty: float = 0.0,
) -> Fitted:
    """Steps along noisy gradients, each of all rows or of a fresh sample of the units."""
    limit = max(int(settings.clip * UNIT * RESIDUAL) // unit_rows, 1)
    mechanism = _step_noise(spending, limit * unit_rows, settings)
    per_row = UNIT * RESIDUAL * float(settings.sampling)  # the public expected size of a sample, never the size drawn
    noise = mechanism.scale / per_row
    way = _way(design, loss, settings, moments, noise, penalty)
    heaviest = min(HEAVIEST, ((1 << 53) - 1) // design.most[0])
    weights = np.zeros((loss.outputs, design.width)) if start is None else start
    for _ in range(settings.steps):
        whole = np.clip(np.round(weights * WEIGHT), -heaviest, heaviest)
        total = passes.gradient(loss, whole, limit, sampling=settings.sampling, bits=spending.bits)
        gradient = mechanism.release_floats(total, entropy=spending.bits) / per_row + penalty * weights
        weights = way.step(weights, gradient)
        weights = np.clip(np.nan_to_num(weights), -heaviest / WEIGHT, heaviest / WEIGHT)  # total: no row meets a NaN
    variance = 2.0 if spending.budget.pure else 1.0  # of noise of scale 1: Laplace's, Gaussian
    return Fitted(way.found(weights), moments, noise, variance * way.covariance(), settings.clip)


def _way(design: Design, loss: Loss, settings: Settings, moments: Moments, noise: float, penalty: float) -> Way:
    """How steps follow from gradients: all of them together, or the mean of the later steps."""
    if settings.bend is None:
        return Later(loss.curvature, settings, moments, noise, penalty)
    matrix, blur = sharpened(design, moments.matrix, moments.noise)
    bend = settings.bend * loss.curvature
    return Pool(matrix, settings.doubt * blur, bend, noise, settings.steps, usual_sizes(design))


class Way(Protocol):
    """How steps follow from noisy gradients; a function of what was released."""

    def step(self, weights: Reals, gradients: Reals) -> Reals:
        """The next weights, from the gradients at these; a row for each output."""

    def found(self, last: Reals) -> Reals:
        """What was learned, when these were the last."""

    def covariance(self) -> Reals:
        """That which noise gives to the weights of one output."""


class Later:
    """Steps by a preconditioner whose ridge follows the noise; the mean of the later ones."""

    def __init__(self, curvature: float, settings: Settings, moments: Moments, noise: float, penalty: float) -> None:
        ridge = settings.ridge[0] * curvature * moments.blur + settings.ridge[1] * noise + penalty
        values, self._vectors = np.linalg.eigh(moments.matrix)
        self._bend = curvature * np.maximum(values, 0) + penalty
        self._held = curvature * np.maximum(values, 0) + ridge
        self._noise, self._steps = noise, settings.steps
        self._first = int(settings.steps * (1 - settings.later))
        self._taken, self._sum = 0, 0.0 * self._vectors[:1]

    def step(self, weights: Reals, gradients: Reals) -> Reals:
        if self._taken > self._first:
            self._sum = self._sum + weights
        self._taken += 1
        moved: Reals = ((gradients @ self._vectors) / self._held) @ self._vectors.T
        return weights - moved

    def found(self, last: Reals) -> Reals:
        mean: Reals = (self._sum + last) / (self._steps - self._first)
        return mean

    def covariance(self) -> Reals:
        variance = _noise_of_mean(self._held, self._steps, self._first, self._noise, self._bend)
        found: Reals = (self._vectors * variance) @ self._vectors.T
        return found


def _step_noise(spending: Spending, reach: int, settings: Settings) -> IntegerMechanism:
    if settings.sampling < 1:
        return spending.buy_on_samples(
            "gradients", l2_squared=reach**2, times=settings.steps, sampling=settings.sampling
        )
    return spending.buy("gradients", spending.left, l1=reach, l2_squared=reach**2, times=settings.steps)


def _noise_of_mean(held: Reals, steps: int, first: int, noise: float, bend: Reals) -> Reals:
    """The variance of the mean of the later steps along each eigenvector, if the loss bends by ``bend`` there.

    A draw of noise at step s moves step t by -(1 - bend/held)^(t-s)/held of it: linear, and exact for squares.
    """
    keep = 1 - bend / held
    variance = np.zeros_like(held)
    for drawn in range(steps):
        lags = np.arange(max(first, drawn), steps) - drawn
        if lags.size:
            moved = (keep[:, None] ** lags[None, :]).sum(axis=1) / (steps - first)
            variance += moved * moved
    return variance * (noise / held) ** 2
