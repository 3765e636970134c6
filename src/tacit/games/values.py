"""Private values of players, each read on its own: clamped to the public range, NaN as 0, never an error."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.mechanisms.selection.scores import kind_of
from tacit.mechanisms.shared.any_floats import any_floats

__all__ = ["Reals", "clipped", "read_reals", "read_shares"]

Reals = npt.NDArray[np.float64]


def read_reals(values: Any, name: str = "values") -> Reals:
    """The numbers as floats, infinity where they are too large; NaN stays."""
    reals = any_floats(values)
    if reals is None or reals.ndim != 1:
        raise InvalidParameter(name, given=kind_of(values), allowed="a list or a one-dimensional array of numbers")
    return reals


def read_shares(values: Any, top: float) -> Reals:
    """Each value as a share of ``top``, from 0 to 1; a value that is missing or below 0 counts as 0.

    >>> read_shares([0.5, 7, float("nan"), -1], 2.0).tolist()
    [0.25, 1.0, 0.0, 0.0]
    """
    return clipped(read_reals(values) / top)


def clipped(reals: Reals) -> Reals:
    """The numbers from 0 to 1, NaN as 0."""
    found: Reals = np.clip(np.nan_to_num(reals, nan=0.0, posinf=1.0, neginf=0.0), 0.0, 1.0)
    return found
