"""What the leaves of a tree say: noisy counts of classes, those that drown in noise drawn towards their parents'."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

__all__ = ["shares_of_classes"]

Reals = npt.NDArray[np.float64]


def shares_of_classes(noisy: Reals, scale: float) -> Reals:
    """The share of each class in each leaf, from noisy counts alone; ``scale`` is the size of their noise.

    A node's shares are its own counts, beside as many rows of its parent's shares as the noise of its counts is large.

    >>> shares_of_classes(np.array([[900.0, 100.0], [2.0, 3.0]]), 20.0).round(2).tolist()
    [[0.9, 0.1], [0.81, 0.19]]
    """
    leaves, classes = noisy.shape
    levels = [noisy]
    while len(levels[0]) > 1:
        levels.insert(0, levels[0].reshape(-1, 2, classes).sum(axis=1))
    shares = np.full((1, classes), 1 / classes)
    for level, counts in enumerate(levels):
        parents = shares if not level else np.repeat(shares, 2, axis=0)
        weight = scale * math.sqrt(classes * leaves / len(counts)) + 1e-9
        kept = np.maximum(counts, 0)
        shares = (kept + weight * parents) / (kept.sum(axis=1, keepdims=True) + weight)
    return shares
