"""Private values of players, each read on its own: clamped to the public range, NaN as 0, never an error."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.mechanisms.scores import kind_of

__all__ = ["Reals", "read_shares"]

Reals = npt.NDArray[np.float64]


def read_shares(values: Any, top: float) -> Reals:
    """Each value as a share of ``top``, from 0 to 1; a value that is missing or below 0 counts as 0.

    >>> read_shares([0.5, 7, float("nan"), -1], 2.0).tolist()
    [0.25, 1.0, 0.0, 0.0]
    """
    array = _listed(values) if isinstance(values, list | tuple) else np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "iubf" or hasattr(values, "mask"):
        raise InvalidParameter("values", given=kind_of(values), allowed="a list or a one-dimensional array of numbers")
    with np.errstate(all="ignore"):
        shares: Reals = array.astype(np.float64) / top
    return np.clip(np.nan_to_num(shares, nan=0.0, posinf=1.0, neginf=0.0), 0.0, 1.0)


def _listed(values: list[Any] | tuple[Any, ...]) -> npt.NDArray[Any]:
    if not all(isinstance(value, numbers.Real) for value in values):
        raise InvalidParameter("values", given=kind_of(values), allowed="numbers")
    return np.array([_float(value) for value in values], dtype=np.float64)


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
