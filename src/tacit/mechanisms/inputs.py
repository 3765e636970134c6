"""Reading what is to be released: whole numbers or reals, one or an array, checked before any noise is drawn.

Errors describe the kind of thing that was given, never a value of it.
"""

from __future__ import annotations

import math
import numbers
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter

__all__ = ["exact_floats", "real_numbers", "whole_numbers"]

INT64_MAX = (1 << 63) - 1
_EXACT_IN_FLOAT = 1 << 53
_WHOLE = "whole numbers: an int, or an array of an integer dtype"
_REALS = "finite numbers, neither NaN nor infinite: an int, a float, or an array of them"


def whole_numbers(value: object) -> int | npt.NDArray[np.int64]:
    """A Python integer of any size, or an int64 array; unsigned values beyond int64 are clamped to it.

    Clamping moves two values no further apart, so that no sensitivity grows.
    """
    if isinstance(value, numbers.Integral):
        return int(value)
    array = _as_array(value, _WHOLE)
    if array.dtype.kind not in "iub":
        hint = "For reals use the mechanism without Discrete in its name." if array.dtype.kind == "f" else ""
        raise InvalidParameter("value", given=_Kind(value), allowed=_WHOLE, hint=hint)
    if array.dtype == np.uint64:
        array = np.minimum(array, np.uint64(INT64_MAX))
    return array.astype(np.int64, copy=False)


def real_numbers(value: object) -> float | Fraction | npt.NDArray[Any]:
    """A float, an exact number, or an array of float64 or of integers; NaN and infinity are refused."""
    if type(value) is float:
        return _finite(value)
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, float) or (isinstance(value, np.floating) and value.dtype.itemsize <= 8):
        return _finite(float(value))
    array = _as_array(value, _REALS)
    if array.dtype.kind in "iub":
        return array
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:
        raise InvalidParameter("value", given=_Kind(value), allowed=_REALS)
    floats = array.astype(np.float64, copy=False)
    if floats.size and not bool(np.isfinite(floats).all()):
        raise InvalidParameter("value", given=_Kind(value), allowed=_REALS)
    return floats


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise InvalidParameter("value", given=_Kind(value), allowed=_REALS)
    return value


def exact_floats(array: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    """The array as float64, and the indices of integers that float64 cannot hold exactly (zero there)."""
    if array.dtype.kind == "f":
        return array, np.empty(0, dtype=np.intp)
    floats = array.astype(np.float64)
    if array.dtype.itemsize < 8:
        return floats, np.empty(0, dtype=np.intp)
    wide = np.flatnonzero(np.abs(floats) > _EXACT_IN_FLOAT)
    floats[wide] = 0
    return floats, wide


def _as_array(value: object, allowed: str) -> npt.NDArray[Any]:
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, list | tuple) or hasattr(value, "__array__"):
        try:
            return np.asarray(value)
        except (ValueError, TypeError):
            pass
    raise InvalidParameter("value", given=_Kind(value), allowed=allowed)


class _Kind:
    """What kind of thing was given, for an error that must not show the thing itself."""

    def __init__(self, value: object) -> None:
        dtype = getattr(value, "dtype", None)
        shape = getattr(value, "shape", None)
        if dtype is not None and shape:
            self._text = f"an array of {dtype}"
        elif dtype is not None:
            self._text = f"a {dtype}"
        else:
            self._text = f"a value of type {type(value).__name__}"

    def __repr__(self) -> str:
        return self._text
