"""Losses by their residuals: whole numbers, cut to each row's limit, from nothing but that row and public tables."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.learn.columns import Codes
from tacit.learn.linear.links import RESIDUAL, logistic_table, places

__all__ = ["Logistic"]

Reals = npt.NDArray[np.float64]


class Logistic:
    """ln(1 + e^(-margin)) for the second of two classes: the residual is the mean less the label."""

    outputs = 1
    curvature = 0.25

    def residuals(self, margins: Reals, target: Codes, limits: Reals, pure: bool) -> Reals:
        found: Reals = logistic_table()[places(margins)] - RESIDUAL * (target == 1)
        return np.clip(found, -limits, limits)
