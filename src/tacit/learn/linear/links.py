"""Links as public tables: a margin's place on a grid gives a whole-numbered mean, the same for every row."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tacit.learn.linear.design import UNIT

__all__ = ["RESIDUAL", "WEIGHT", "logistic_table", "places"]

Reals = npt.NDArray[np.float64]

WEIGHT = 1 << 16
"""The whole number that stands for a weight of 1."""

RESIDUAL = 1 << 14
"""The whole number that stands for a residual of 1."""

_FINE = 1 << 10  # places of the grid for a margin of 1
_FARTHEST = 16  # beyond this margin the mean is that of the end


def places(margins: Reals) -> npt.NDArray[np.intp]:
    """The place of each margin (in units of UNIT·WEIGHT) on the grid."""
    scaled = margins * (_FINE / (UNIT * WEIGHT))  # a power of two: exact
    np.clip(scaled, -_FARTHEST * _FINE, _FARTHEST * _FINE, out=scaled)
    return np.floor(scaled, out=scaled).astype(np.intp) + _FARTHEST * _FINE


@lru_cache(maxsize=1)
def logistic_table() -> Reals:
    """The logistic mean of each place, in units of RESIDUAL: whole numbers.

    >>> table = logistic_table()
    >>> table[0], table[len(table) // 2], table[-1]
    (np.float64(0.0), np.float64(8194.0), np.float64(16384.0))
    """
    grid = (np.arange(2 * _FARTHEST * _FINE + 1) - _FARTHEST * _FINE + 0.5) / _FINE
    table = np.round(RESIDUAL / (1 + np.exp(-grid)))
    table.setflags(write=False)
    return table
