"""A released number with an interval around it: what every package that releases numbers gives."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

__all__ = ["BETA", "Estimate"]

BETA = Fraction(1, 20)
"""How often an interval may miss."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """Released numbers, one entry per group: each value and an interval for its noise; NaN stands for null."""

    value: Floats
    low: Floats
    high: Floats
    whole: bool
    """Whether the values are whole numbers."""
