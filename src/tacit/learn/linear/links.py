"""Links as public tables: a margin's place on a grid gives a whole number, the same for every row."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tacit.learn.linear.design import UNIT

__all__ = ["RESIDUAL", "WEIGHT", "exponentials", "logistic_table", "places", "ramp_table", "steps_below"]

Reals = npt.NDArray[np.float64]

WEIGHT = 1 << 16
"""The whole number that stands for a weight of 1."""

RESIDUAL = 1 << 14
"""The whole number that stands for a residual of 1."""

_FINE = 1 << 10  # places of the grid for a margin of 1
_FARTHEST = 16  # beyond this margin the value is that of the end
_LARGE = 1 << 20  # the exponential of 0, in whole numbers


def places(margins: Reals) -> npt.NDArray[np.intp]:
    """The place of each margin (in units of UNIT·WEIGHT) on the grid."""
    scaled = margins * (_FINE / (UNIT * WEIGHT))  # a power of two: exact
    np.clip(scaled, -_FARTHEST * _FINE, _FARTHEST * _FINE, out=scaled)
    found: npt.NDArray[np.intp] = np.floor(scaled, out=scaled).astype(np.intp)
    found += _FARTHEST * _FINE
    return found


def steps_below(differences: Reals) -> npt.NDArray[np.intp]:
    """How many places a margin is below the largest of its row, 16 at most; the differences are at most 0."""
    scaled = differences * (-_FINE / (UNIT * WEIGHT))
    np.minimum(scaled, _FARTHEST * _FINE, out=scaled)
    return scaled.astype(np.intp)


def _grid() -> Reals:
    """The margin in the middle of each place."""
    return (np.arange(2 * _FARTHEST * _FINE + 1) - _FARTHEST * _FINE + 0.5) / _FINE


@lru_cache(maxsize=1)
def logistic_table() -> Reals:
    """The logistic mean of each place, in units of RESIDUAL: whole numbers.

    >>> table = logistic_table()
    >>> float(table[0]), float(table[len(table) // 2]), float(table[-1])
    (0.0, 8194.0, 16384.0)
    """
    return _public(np.round(RESIDUAL / (1 + np.exp(-_grid()))))


@lru_cache(maxsize=1)
def ramp_table() -> Reals:
    """The slope of a rounded hinge at each place: -1 up to a margin of ½, 0 from 1½ on, a straight line between."""
    return _public(np.round(-RESIDUAL * np.clip(1.5 - _grid(), 0, 1)))


@lru_cache(maxsize=1)
def exponentials() -> Reals:
    """e^(-t) for every number of places below the largest: whole numbers, the first of them 2²⁰."""
    return _public(np.round(_LARGE * np.exp(-np.arange(_FARTHEST * _FINE + 1) / _FINE)))


def _public(table: Reals) -> Reals:
    table.setflags(write=False)
    return table
