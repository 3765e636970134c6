"""The nearest centre of each row, in whole numbers: no row's choice depends on another row, nor on any order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.learn.reading.rows import Rows
from tacit.learn.vectors.vectors import HEIGHT, Vectors

__all__ = ["Nearest", "nearest_of", "sums_of_clusters"]

Reals = npt.NDArray[np.float64]
_FINEST = 10


@dataclass(frozen=True, slots=True)
class Nearest:
    """Public weights and offsets, whole numbers held as doubles: row x belongs to the k of the least offset - x·weight.

    That is the nearest centre by Euclid, up to the rounding of the weights. All sums of sizes stay below 2⁵³, so that
    products are exact in any order.
    """

    weights: Reals
    offsets: Reals

    def labels(self, part: Reals) -> npt.NDArray[np.intp]:
        """The cluster of each row."""
        found: npt.NDArray[np.intp] = (self.offsets - part @ self.weights).argmin(axis=1)
        return found


def nearest_of(vectors: Vectors, centres: Reals) -> Nearest:
    """The assignment to centres, which are in steps and between the bounds."""
    metric = (vectors.steps / vectors.steps.max()) ** 2
    fine = 2.0 ** min(_FINEST, 23 - int(vectors.width).bit_length())
    held = np.clip(centres, -(HEIGHT + 1), HEIGHT + 1)
    weights = np.round(2 * fine * metric * held)
    offsets = np.round(fine * (metric * held * held).sum(axis=1))
    return Nearest(weights.T, offsets)


def sums_of_clusters(
    vectors: Vectors, rows: Rows, nearest: Nearest, clusters: int, constant: int
) -> npt.NDArray[np.object_]:
    """For each cluster, ``constant`` for every row, and the sum of the rows' vectors: in Python's integers."""
    total = np.zeros((clusters, vectors.width + 1), dtype=object)
    for part, _ in vectors.parts(rows):
        labels = nearest.labels(part)
        member = np.zeros((len(part), clusters))
        member[np.arange(len(part)), labels] = 1
        sums = member.T @ np.column_stack([np.full(len(part), float(constant)), part])
        total += sums.astype(np.int64).astype(object)
    return total
