"""A released number with an interval around it: what every package that releases numbers gives."""

from __future__ import annotations

from collections.abc import Sequence
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

    def __len__(self) -> int:
        """How many groups."""
        return len(self.value)

    @classmethod
    def joined(cls, parts: Sequence[Estimate]) -> Estimate:
        """The groups of all of them, one after the other."""
        columns = zip(*((one.value, one.low, one.high) for one in parts), strict=True)
        value, low, high = (np.concatenate(own) for own in columns)
        return cls(value, low, high, all(one.whole for one in parts))
