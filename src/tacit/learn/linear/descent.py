"""Second-order private descent: a noisy matrix of second moments once, then noisy gradients that it preconditions.

Everything that meets the rows is a whole number; everything else is a function of what was released.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tacit.learn.columns import MISSING, Codes
from tacit.learn.linear.clipping import largest_factors
from tacit.learn.linear.design import UNIT, Design, Prepared
from tacit.learn.linear.links import RESIDUAL, WEIGHT
from tacit.learn.rows import Chunk, InMemoryRows, Rows
from tacit.learn.spending import Spending

__all__ = ["Batch", "Fitted", "Loss", "Settings", "descend"]

Reals = npt.NDArray[np.float64]
Read = Callable[[], Iterator["Batch"]]

ROWS = 1 << 20
"""Rows multiplied at a time. An entry and a factor are below 2¹⁵ each, so that no sum of sizes reaches 2⁵³."""

_HEAVIEST = 1 << 24  # the largest weight, in whole numbers


class Loss(Protocol):
    """What makes residuals of margins and targets, in whole numbers, row by row."""

    outputs: int
    """How many margins a row has."""

    curvature: float
    """The most that a second derivative by a margin is."""

    def residuals(self, margins: Reals, target: Codes, limits: Reals, pure: bool) -> Reals:
        """The derivatives of each row's loss by its margins; together, in L2 (in L1 if pure), at most its limit."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a fit is free to choose, from public numbers alone.

    ``clip`` is the most that a unit's gradient can be, ``ridge`` how strongly the preconditioner follows the noise,
    ``moments`` the share of the budget that buys the second moments.
    """

    steps: int
    clip: float
    ridge: float
    moments: Fraction


@dataclass(frozen=True, slots=True)
class Fitted:
    """The weights, a row for each output, and what else was released: second moments, and the noise of a step."""

    weights: Reals
    moments: Reals
    noise: float


@dataclass(frozen=True, slots=True, repr=False)
class Batch:
    """Rows with what is to be learned and how large each row's factors may be; private."""

    rows: Prepared
    target: Codes
    limits: Reals


def descend(design: Design, rows: Rows, spending: Spending, loss: Loss, settings: Settings) -> Fitted:
    """The mean of the later half of the steps, each along a noisy gradient of all rows."""
    limit = int(settings.clip * UNIT * RESIDUAL) // rows.limit
    read = _reader(design, rows, limit, pure=spending.budget.pure)
    moments, blur = _moments(design, rows.limit, read, spending, settings.moments)
    reach = limit * rows.limit
    mechanism = spending.buy("gradients", spending.left, l1=reach, l2_squared=reach**2, times=settings.steps)
    noise = mechanism.scale / (UNIT * RESIDUAL)
    solve = _preconditioner(moments, loss.curvature, settings.ridge * (loss.curvature * blur + noise))
    heaviest = min(_HEAVIEST, ((1 << 53) - 1) // design.most[0])
    weights = np.zeros((loss.outputs, design.width))
    later = np.zeros_like(weights)
    for step in range(settings.steps):
        whole = np.clip(np.round(weights * WEIGHT), -heaviest, heaviest)
        total = _gradient(design, loss, read, whole, pure=spending.budget.pure)
        gradient = mechanism.release_floats(total, entropy=spending.bits) / (UNIT * RESIDUAL)
        weights = np.clip(weights - solve(gradient), -heaviest / WEIGHT, heaviest / WEIGHT)
        if step >= settings.steps // 2:
            later += weights
    return Fitted(later / (settings.steps - settings.steps // 2), moments, noise)


def _gradient(design: Design, loss: Loss, read: Read, whole: Reals, *, pure: bool) -> npt.NDArray[Any]:
    """The sum of the rows' gradients: exact in each chunk, and added up in Python's integers."""
    total = np.zeros(whole.shape, dtype=object)
    for batch in read():
        margins = np.stack([batch.rows.margins(design, one) for one in whole])
        factors = loss.residuals(margins, batch.target, batch.limits, pure)
        sums = np.stack([batch.rows.sums(design, one) for one in factors])
        total += sums.astype(np.int64).astype(object)
    return total


def _reader(design: Design, rows: Rows, limit: int, *, pure: bool) -> Read:
    """All rows, again and again; those in memory are prepared once."""

    def read() -> Iterator[Batch]:
        for chunk in rows.chunks():
            for start in range(0, chunk.size, ROWS):
                yield _batch(design, chunk, slice(start, start + ROWS), limit, pure=pure)

    if isinstance(rows, InMemoryRows):
        held = list(read())
        return lambda: iter(held)
    return read


def _batch(design: Design, chunk: Chunk, part: slice, limit: int, *, pure: bool) -> Batch:
    """A row whose target is unknown has a limit of 0: it contributes nothing."""
    assert chunk.target is not None
    prepared, target = design.prepare(chunk.codes[part]), chunk.target[part]
    sizes, squares = prepared.norms(design)
    limits = limit // sizes if pure else largest_factors(limit**2, squares)
    limits[target == MISSING] = 0
    return Batch(prepared, target, limits.astype(np.float64))


def _moments(design: Design, rows: int, read: Read, spending: Spending, share: Fraction) -> tuple[Reals, float]:
    """The noisy matrix of second moments, its eigenvalues not below 0, and the size of its noise as a matrix.

    A pure promise buys the diagonal alone: the L1 norm of the whole grows with the square of the number of terms.
    """
    _, squares, fourths = design.most
    pure = spending.budget.pure
    upper = np.diag_indices(design.width) if pure else np.triu_indices(design.width)
    total = np.zeros(upper[0].size, dtype=object)
    for batch in read():
        found = batch.rows.squares(design) if pure else batch.rows.products(design)[upper]
        total += found.astype(np.int64).astype(object)
    mechanism = spending.buy(
        "second moments", share, l1=rows * squares, l2_squared=rows**2 * ((squares**2 + fourths + 1) // 2)
    )
    released = mechanism.release_floats(total, entropy=spending.bits) / UNIT**2
    matrix = np.zeros((design.width, design.width))
    matrix[upper] = released
    matrix.T[upper] = released
    blur = mechanism.scale / UNIT**2
    return matrix, blur if pure else blur * float(np.sqrt(design.width))


def _preconditioner(moments: Reals, curvature: float, ridge: float) -> Callable[[Reals], Reals]:
    values, vectors = np.linalg.eigh(moments)
    held = curvature * np.maximum(values, 0) + ridge

    def solve(gradient: Reals) -> Reals:
        found: Reals = ((gradient @ vectors) / held) @ vectors.T
        return found

    return solve
