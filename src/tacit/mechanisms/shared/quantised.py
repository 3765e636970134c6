"""For laws that live on the lattice itself: round the value first, and charge for what that does to its sensitivity.

`Laplace` and `Gaussian` round ideal noise and need none of this. A truncated, bounded or staircase law is drawn on the
lattice directly, so the value has to be a multiple of the granule before noise is added (spec 3.3).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.mechanisms.shared.inputs import exact_floats, exact_item
from tacit.noise.lattice import Lattice
from tacit.privacy.prices import Price, price, text
from tacit.privacy.sensitivity import Sensitivity

__all__ = ["Range", "dimension_of", "lattice_for", "multiples", "range_text", "read_range", "steps", "to_floats"]

Range: TypeAlias = tuple[Price, Price]
"""A public range (low, high) of values; a float is the binary number it is."""

_FINENESS = 20
"""Granules to the smaller of scale and sensitivity per coordinate: rounding costs at most a millionth of the noise."""


def lattice_for(scale: Fraction, sensitivity: Sensitivity, dimension: int, granule: Price | None) -> Lattice:
    """The stated granule, or one so fine that rounding adds a millionth to the sensitivity."""
    if granule is None:
        return Lattice.finer_than(min(scale, sensitivity.value / dimension), by=_FINENESS)
    exact = price(granule, "granule")
    allowed = "a power of two, such as 1 for whole numbers or 0.25"
    if exact <= 0 or exact.numerator & (exact.numerator - 1) or exact.denominator & (exact.denominator - 1):
        raise InvalidParameter("granule", given=granule, allowed=allowed)
    return Lattice(exact.numerator.bit_length() - exact.denominator.bit_length())


def steps(sensitivity: Sensitivity, lattice: Lattice, dimension: int) -> int:
    """The L1 sensitivity in granules after rounding each coordinate to the nearest multiple, as a whole number."""
    exact = sensitivity.value
    return int(exact / lattice.granule + lattice.rounding_cost(dimension=dimension, sensitivity=exact))


def multiples(value: float | Fraction | npt.NDArray[Any], lattice: Lattice) -> int | npt.NDArray[Any]:
    """floor(value/granule + ½): an int, or int64, or Python integers where int64 is too narrow."""
    if not isinstance(value, np.ndarray):
        return lattice.nearest(Fraction(value))
    if value.dtype.kind == "i" and _shifts(value, lattice):
        return np.asarray(value.astype(np.int64) << -lattice.exponent)  # NumPy makes a scalar of no dimensions
    flat = value.reshape(-1)
    floats, wide = exact_floats(flat)
    floors, rests, odd = lattice.split(floats)
    floors += rests >= 0.5
    exact = {int(i): lattice.nearest(Fraction(exact_item(flat, i))) for i in {*wide.tolist(), *odd.tolist()}}
    if exact:
        widened = floors.astype(object)
        for i, multiple in exact.items():
            widened[i] = multiple
        return widened.reshape(value.shape)
    return floors.reshape(value.shape)


def _shifts(values: npt.NDArray[Any], lattice: Lattice) -> bool:
    """Whether whole numbers are multiples of the granule, and these so small that the multiples fit int64."""
    if not -61 <= lattice.exponent <= 0:
        return False
    limit = 1 << (61 + lattice.exponent)
    return not values.size or -limit < int(values.min()) <= int(values.max()) < limit


def to_floats(sums: int | npt.NDArray[Any], lattice: Lattice) -> float | npt.NDArray[np.float64]:
    """Multiples of the granule as floats."""
    if not isinstance(sums, np.ndarray):
        return lattice.value(sums)
    if sums.dtype == object:
        flat = [lattice.value(int(k)) for k in sums.reshape(-1)]
        return np.array(flat, dtype=np.float64).reshape(sums.shape)
    return lattice.values(sums)


def dimension_of(value: object) -> int:
    """How many coordinates a value has: public, unlike the value."""
    return max(1, value.size) if isinstance(value, np.ndarray) else 1


def read_range(bounds: object) -> tuple[Fraction, Fraction]:
    """A public range (low, high), floats being the binary numbers they are."""
    allowed = "a pair (low, high) of finite numbers, low < high"
    try:
        low, high = (_exact(end) for end in bounds)  # type: ignore[attr-defined]
    except (TypeError, ValueError, OverflowError):
        raise InvalidParameter("bounds", given=bounds, allowed=allowed) from None
    if not low < high:
        raise InvalidParameter("bounds", given=bounds, allowed=allowed)
    return low, high


def range_text(bounds: tuple[Fraction, Fraction]) -> str:
    """The range as `read_range` reads it back."""
    low, high = (repr(float(end)) if Fraction(float(end)) == end else f'"{text(end)}"' for end in bounds)
    return f"({low}, {high})"


def _exact(end: object) -> Fraction:
    if isinstance(end, float):
        if not math.isfinite(end):
            raise ValueError
        return Fraction(end)
    return price(end, "bounds")
