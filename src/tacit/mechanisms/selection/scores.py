"""Reading scores and candidates: exact numbers, checked before any noise is drawn. Errors never show a score."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, cast

import numpy as np

from tacit.errors import InvalidParameter
from tacit.mechanisms.shared.inputs import INT64_MAX
from tacit.noise.lottery import Weights
from tacit.noise.race import ScoreArray

__all__ = ["Described", "kind_of", "read_base", "read_candidates", "read_count", "read_scores"]

_SCORES = "finite scores, at least one: ints, floats or Fractions, in a list or a one-dimensional array"
_BASE = "one finite weight of 0 or more per candidate, not all 0"


class Described:
    """A description of what was given, for an error that must not show the thing itself."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def kind_of(value: object) -> Described:
    """The type and shape of a value, never the value."""
    dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", ())
    if dtype is not None:
        return Described(f"{'an array' if shape else 'a number'} of {dtype}")
    return Described(f"a {type(value).__name__}")


def read_scores(scores: object, *, name: str = "scores") -> ScoreArray:
    """The scores as int64 or float64 where that is exact, otherwise as Fractions; NaN and infinity are refused."""
    read = _from_array(scores) if isinstance(scores, np.ndarray) else _from_list(scores)
    if read is None or len(read) == 0:
        raise InvalidParameter(name, given=kind_of(scores), allowed=_SCORES)
    return read


def read_base(base: object, count: int) -> Weights | None:
    """The base measure: public weights, one per candidate."""
    if base is None:
        return None
    weights = read_scores(base, name="base")
    negative = bool((weights < 0).any()) if isinstance(weights, np.ndarray) else min(weights) < 0
    zero = not weights.any() if isinstance(weights, np.ndarray) else not any(weights)
    if len(weights) != count or negative or zero:
        raise InvalidParameter("base", given=Described(f"{len(weights)} weights for {count} candidates"), allowed=_BASE)
    return weights


def read_candidates(candidates: Any, count: int) -> Sequence[Any]:
    """As many candidates as scores, in a fixed public order, to be taken by position."""
    if hasattr(candidates, "__array__") and not isinstance(candidates, np.ndarray):
        candidates = np.asarray(candidates)  # of a pandas Series, [i] would be the label i
    ordered = isinstance(candidates, Sequence) or (isinstance(candidates, np.ndarray) and candidates.ndim == 1)
    if not ordered or hasattr(candidates, "mask"):
        given = kind_of(candidates)
        allowed = "a list, a tuple or a one-dimensional array: they need an order"
        raise InvalidParameter("candidates", given=given, allowed=allowed)
    if len(candidates) != count:
        given = Described(f"{len(candidates)} candidates and {count} scores")
        raise InvalidParameter("candidates", given=given, allowed="one score per candidate")
    return cast("Sequence[Any]", candidates)


def read_count(value: object, name: str, *, most: int | None = None) -> int:
    """A whole number from 1 up."""
    count = int(value) if isinstance(value, numbers.Integral) and not isinstance(value, bool) else 0
    if count < 1 or (most is not None and count > most):
        upper = "up" if most is None else f"to {most}"
        raise InvalidParameter(name, given=value, allowed=f"a whole number from 1 {upper}")
    return count


def _from_array(array: np.ndarray[Any, Any]) -> ScoreArray | None:
    if array.ndim != 1 or hasattr(array, "mask"):  # what a mask hides would take part with the rest
        return None
    if array.dtype.kind in "ib" or (array.dtype.kind == "u" and array.dtype.itemsize < 8):
        return array.astype(np.int64, copy=False)
    if array.dtype.kind == "u":
        return array.astype(np.int64) if not array.size or array.max() <= INT64_MAX else _from_list(array.tolist())
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        floats = array.astype(np.float64, copy=False)
        return floats if bool(np.isfinite(floats).all()) else None
    return _from_list(array.tolist()) if array.dtype == object else None


def _from_list(scores: object) -> ScoreArray | None:
    if isinstance(scores, str | bytes | dict | set | frozenset) or not hasattr(scores, "__iter__"):
        return None
    items = [item.item() if isinstance(item, np.generic) else item for item in scores]
    if all(type(item) is float for item in items):
        return np.array(items, dtype=np.float64) if all(map(math.isfinite, items)) else None
    if all(isinstance(item, int) and -INT64_MAX <= item <= INT64_MAX for item in items):
        return np.array(items, dtype=np.int64)
    exact = [_exact(item) for item in items]
    return None if any(item is None for item in exact) else [item for item in exact if item is not None]


def _exact(item: object) -> Fraction | None:
    if isinstance(item, float):
        return Fraction(item) if math.isfinite(item) else None
    if isinstance(item, numbers.Rational):
        return Fraction(int(item.numerator), int(item.denominator))
    return None
