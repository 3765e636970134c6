"""Numbers as floats where no number may be an error: what is too large is infinite, and NaN stays."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["any_floats"]


def any_floats(values: Any) -> npt.NDArray[np.float64] | None:
    """An array of any shape, each number read on its own; None for what holds anything but numbers.

    >>> any_floats([1, 10**400, float("nan")]).tolist()
    [1.0, inf, nan]
    >>> any_floats(["1"]) is None
    True
    """
    if hasattr(values, "mask") or isinstance(values, str | bytes):
        return None
    try:
        array = np.asarray(values)
    except Exception:  # ragged lists and the like; the text of the error may show a value
        return None
    if array.dtype.kind in "biuf":
        with np.errstate(all="ignore"):
            return array.astype(np.float64)
    if array.dtype != object or not all(isinstance(item, numbers.Real) for item in array.reshape(-1)):
        return None
    return np.array([_float(item) for item in array.reshape(-1)], dtype=np.float64).reshape(array.shape)


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
