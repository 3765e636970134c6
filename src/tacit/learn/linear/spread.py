"""How far weights may be from those of all people: what columns leave of the target, and residuals that were cut."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from tacit.learn.linear.descent import Fitted

__all__ = ["cut_normal", "unexplained"]

_LEAST = 1 / 20
"""At least this part of the target's spread is taken to be left."""


def unexplained(fitted: Fitted, spread: float) -> float:
    """The spread of a target that its columns leave, at most all of it; from what was released alone.

    The weights explain wᵀCw of the variance, with the covariance C of the terms. Noise in w makes that larger, by its
    own variance on average, which is taken away; noise in C by about √2·‖w‖², which is as well.
    """
    moments, weights = fitted.moments, fitted.weights[0]
    rows = max(float(moments.matrix[0, 0]), 1.0)
    means = moments.matrix[0] / rows
    covariance = moments.matrix / rows - np.outer(means, means)
    explained = float(weights @ covariance @ weights) - max(float((covariance * fitted.covariance).sum()), 0.0)
    size = float(weights @ weights)
    doubt = moments.noise * (math.sqrt(2) * size + 2 * abs(float(means @ weights)) * math.sqrt(size)) / rows
    left = spread**2 - max(explained - doubt, 0.0) if math.isfinite(explained - doubt) else spread**2
    return math.sqrt(min(max(left, (_LEAST * spread) ** 2), spread**2))


def cut_normal(reach: float) -> tuple[float, float]:
    """Of normal residuals cut at ±``reach`` standard deviations: how many are whole, and the mean of their squares.

    >>> cut_normal(100), [round(one, 3) for one in cut_normal(1)]
    ((1.0, 1.0), [0.683, 0.516])
    """
    normal = NormalDist()
    beyond = normal.cdf(-reach)
    square = 1 - 2 * beyond - 2 * reach * normal.pdf(reach) + 2 * reach * reach * beyond if reach < 1e3 else 1.0
    return max(1 - 2 * beyond, 1e-3), min(max(square, 0.0), 1.0)
