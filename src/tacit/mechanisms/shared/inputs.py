"""Reading what is to be released: whole numbers or reals, one or an array, checked before any noise is drawn.

Nothing here moves a value: a conversion that would round is never made, and nothing is clamped. Errors describe the
kind of thing that was given, never a value of it.
"""

from __future__ import annotations

import math
import numbers
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter

__all__ = ["Kind", "exact_floats", "exact_item", "real_numbers", "whole_numbers"]

INT64_MAX = (1 << 63) - 1
_EXACT_IN_FLOAT = 1 << 53
_FLOATS = (float, np.float16, np.float32)
_WHOLE = "whole numbers: an int, or an array of an integer dtype"
_REALS = "finite numbers, neither NaN nor infinite: an int, a float, or an array of them"


def whole_numbers(value: object) -> int | npt.NDArray[Any]:
    """A Python integer, or an array of int64, of uint64, or (from a list) of Python integers: exactly what was given.

    Which of these it is depends on the type that was given, never on a value: nothing is clamped or narrowed here.
    """
    if isinstance(value, numbers.Integral) and not isinstance(value, np.timedelta64):
        return int(value)
    if isinstance(value, list | tuple):
        return _integers(_listed(value, _WHOLE, (numbers.Integral, np.bool_)))
    array = _as_array(value, _WHOLE)
    if array.dtype.kind not in "iub":
        hint = "For reals use the mechanism without Discrete in its name." if array.dtype.kind == "f" else ""
        raise InvalidParameter("value", given=Kind(value), allowed=_WHOLE, hint=hint)
    wide = array.dtype.kind == "u" and array.dtype.itemsize == 8
    return array.astype(np.uint64 if wide else np.int64, copy=False)


def real_numbers(value: object) -> float | Fraction | npt.NDArray[Any]:
    """A float, an exact number, or an array of float64, of integers, or of both as Python holds them.

    NaN and infinity are refused.
    """
    if type(value) is float:
        return _finite(value)
    if isinstance(value, numbers.Rational) and not isinstance(value, np.timedelta64):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, _FLOATS):
        return _finite(float(value))
    if isinstance(value, list | tuple):
        return _exactly(_listed(value, _REALS, (numbers.Rational, np.bool_, *_FLOATS)))
    array = _as_array(value, _REALS)
    if array.dtype.kind in "iub":
        return array
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:
        raise InvalidParameter("value", given=Kind(value), allowed=_REALS)
    return _all_finite(array.astype(np.float64, copy=False))


def exact_floats(array: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    """The array as float64, and the indices of numbers that float64 cannot hold exactly (zero there)."""
    if array.dtype.kind == "f":
        return array, np.empty(0, dtype=np.intp)
    if array.dtype.kind == "O":
        fits = [isinstance(x, float) or _fits_float(x) for x in array]
        reals = [float(x) if fit else 0.0 for x, fit in zip(array, fits, strict=True)]
        return np.array(reals, dtype=np.float64), np.flatnonzero(np.logical_not(fits))
    floats = array.astype(np.float64)
    if array.dtype.itemsize < 8:
        return floats, np.empty(0, dtype=np.intp)
    wide = np.flatnonzero(np.abs(floats) >= _EXACT_IN_FLOAT)  # at 2**53 stands what was rounded to it, too
    floats[wide] = 0
    return floats, wide


def exact_item(array: npt.NDArray[Any], index: int) -> Any:
    """One number of a flat array as Python holds it: nothing is rounded."""
    item = array[index]
    return item.item() if isinstance(item, np.generic) else item


def _fits_float(number: Fraction | int) -> bool:
    return -_EXACT_IN_FLOAT < number < _EXACT_IN_FLOAT and Fraction(float(number)) == number


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise InvalidParameter("value", given=Kind(value), allowed=_REALS)
    return value


def _all_finite(floats: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    if floats.size and not bool(np.isfinite(floats).all()):
        raise InvalidParameter("value", given=Kind(floats), allowed=_REALS)
    return floats


def _as_array(value: object, allowed: str) -> npt.NDArray[Any]:
    """A plain array; masked arrays are refused, because what they hide would be released with the rest."""
    if not _is_masked(value) and hasattr(value, "__array__"):
        try:
            return np.asarray(value)
        except Exception:  # whatever went wrong, its text may show a value
            pass
    raise InvalidParameter("value", given=Kind(value), allowed=allowed)


def _listed(value: list[Any] | tuple[Any, ...], allowed: str, kinds: tuple[Any, ...]) -> npt.NDArray[np.object_]:
    """A list as an array of the Python numbers in it. numpy alone would round integers that stand beside floats."""
    try:
        array: npt.NDArray[np.object_] = np.array(value, dtype=object)
    except Exception:
        array = np.array([None], dtype=object)
    found = set(map(type, array.reshape(-1)))
    numeric = all(issubclass(kind, kinds) and kind is not np.timedelta64 for kind in found)
    if not numeric or _hides(value):
        raise InvalidParameter("value", given=Kind(value), allowed=allowed)
    return array


def _is_masked(value: object) -> bool:
    return isinstance(value, np.ndarray) and hasattr(value, "mask")


def _hides(value: list[Any] | tuple[Any, ...]) -> bool:
    """Whether a masked array lies somewhere in a list, which numpy would unmask."""
    if not set(map(type, value)) - {int, float}:
        return False
    return any(_hides(item) if isinstance(item, list | tuple) else _is_masked(item) for item in value)


def _integers(array: npt.NDArray[np.object_]) -> npt.NDArray[np.object_]:
    whole = np.empty(array.size, dtype=object)
    whole[:] = [int(x) for x in array.reshape(-1)]
    return whole.reshape(array.shape)


def _exactly(array: npt.NDArray[np.object_]) -> npt.NDArray[Any]:
    """Floats as float64; with other numbers among them, Python's own floats and fractions."""
    items = array.reshape(-1)
    if all(isinstance(x, _FLOATS) for x in items):
        return _all_finite(array.astype(np.float64))
    out = np.empty(items.size, dtype=object)
    for i, x in enumerate(items):
        if isinstance(x, _FLOATS):
            out[i] = _finite(float(x))
        elif isinstance(x, numbers.Integral | np.bool_):
            out[i] = int(x)
        else:
            out[i] = Fraction(int(x.numerator), int(x.denominator))
    return out.reshape(array.shape)


class Kind:
    """What kind of thing was given, for an error that must not show the thing itself."""

    def __init__(self, value: object) -> None:
        dtype = getattr(value, "dtype", None)
        shape = getattr(value, "shape", None)
        # The width of a text dtype is the length of somebody's text.
        kind = {"U": "text", "S": "bytes", "V": "records"}.get(getattr(dtype, "kind", ""), dtype)
        if dtype is not None and shape:
            self._text = f"an array of {kind}"
        elif dtype is not None:
            self._text = f"a {kind}"
        else:
            self._text = f"a value of type {type(value).__name__}"

    def __repr__(self) -> str:
        return self._text
