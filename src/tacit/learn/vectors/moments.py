"""Sums and sums of products of vectors, bought: what means, covariances and starting points are made from."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np
import numpy.typing as npt

from tacit.learn.reading.rows import Rows
from tacit.learn.spending.spending import Spending
from tacit.learn.vectors.vectors import Vectors

__all__ = ["Moments", "buy_moments", "exact_moments"]

Reals = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Moments:
    """A noisy number of rows, mean and covariance, in steps of the vectors; and the noise on a covariance."""

    count: float
    mean: Reals
    covariance: Reals
    noise: float


def constant_of(vectors: Vectors) -> int:
    """The entry that stands for the row itself beside its vector: about as large as one coordinate."""
    return max(1, isqrt(vectors.most[1] // max(1, len(vectors.columns))))


def exact_moments(vectors: Vectors, rows: Rows) -> npt.NDArray[np.object_]:
    """The upper triangle of the sum of zzᵀ over the rows, z = (constant, vector): exact, in Python's integers."""
    constant = constant_of(vectors)
    upper = np.triu_indices(vectors.width + 1)
    total = np.zeros(upper[0].size, dtype=object)
    for part, _ in vectors.parts(rows):
        wide = np.column_stack([np.full(len(part), float(constant)), part])
        total += (wide.T @ wide)[upper].astype(np.int64).astype(object)  # sums of sizes stay far below 2⁵³
    return total


def buy_moments(vectors: Vectors, rows: Rows, spending: Spending, share: Fraction, what: str) -> Moments:
    """The moments that a share of the budget buys."""
    constant = constant_of(vectors)
    first, second, fourth = vectors.most
    first, second, fourth = first + constant, second + constant**2, fourth + constant**4
    noise = spending.buy(
        what,
        share,
        l1=rows.limit * ((first**2 + second + 1) // 2),
        l2_squared=rows.limit**2 * ((second**2 + fourth + 1) // 2),
    )
    released = noise.release_floats(exact_moments(vectors, rows), entropy=spending.bits)
    width = vectors.width + 1
    matrix = np.zeros((width, width))
    upper = np.triu_indices(width)
    matrix[upper] = released
    matrix.T[upper] = released
    count = max(matrix[0, 0] / constant**2, 1.0)
    mean = matrix[0, 1:] / (constant * count)
    covariance = matrix[1:, 1:] / count - np.outer(mean, mean)
    return Moments(count, mean, covariance, noise.scale / count)
