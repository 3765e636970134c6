"""How noise meets a value: in integers, clamped last; or on a lattice, by rounding the ideal sum.

For reals the release is floor((x + noise)/g + ½)·g with *continuous* noise of which only as many bits are drawn as
the floor needs: a function of the ideal x + noise, so nothing is lost by the lattice (post-processing).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.shared.inputs import INT64_MAX, exact_floats, exact_item
from tacit.noise.entropy import BitSource
from tacit.noise.floors import chunks
from tacit.noise.lattice import LARGEST, Lattice

__all__ = ["IntegerNoise", "RoundedNoise", "add_as_floats", "add_to_integers", "nearest_float", "round_onto_lattice"]

Integers = npt.NDArray[np.int64]


class IntegerNoise(Protocol):
    """A sampler of whole numbers."""

    def array(self, count: int, entropy: BitSource, /) -> Any: ...

    def one(self, entropy: BitSource, /) -> int: ...


class RoundedNoise(Protocol):
    """A sampler of floor(noise + rest + ½), the rest exact in (-½, 1)."""

    def array(self, rests: npt.NDArray[np.float64], entropy: BitSource, /) -> Any: ...

    def one(self, rest: Fraction | float, entropy: BitSource, /) -> int: ...


def add_to_integers(value: int | npt.NDArray[Any], noise: IntegerNoise, entropy: BitSource) -> int | Integers:
    """value + noise: a Python integer of any size for one, int64 for an array, cut off silently at the ends of int64.

    One function of value + noise: added without bounds, clamped last. The type of the values alone says which.
    """
    if not isinstance(value, np.ndarray):
        return value + noise.one(entropy)
    out = np.empty(value.shape, dtype=np.int64)
    flat_in, flat_out = value.reshape(-1), out.reshape(-1)
    for where in chunks(value.size):
        part = flat_in[where]
        flat_out[where] = _saturating_sum(part, noise.array(part.size, entropy))
    return out


def add_as_floats(values: npt.NDArray[Any], noise: IntegerNoise, entropy: BitSource) -> npt.NDArray[np.float64]:
    """The double nearest to each value + noise, for int64 or Python integers; the largest one for what lies beyond.

    One function of value + noise, the same for both kinds of array: whatever int64 cannot hold is added without bounds.
    """
    out = np.empty(values.shape, dtype=np.float64)
    flat_in, flat_out = values.reshape(-1), out.reshape(-1)
    for where in chunks(values.size):
        part = flat_in[where]
        drawn = noise.array(part.size, entropy)
        if part.dtype == object or drawn.dtype == object:
            flat_out[where] = [nearest_float(one) for one in part.astype(object) + drawn]
            continue
        added, wrapped = _wrapping_sum(part, drawn)
        flat_out[where] = added
        for i in np.flatnonzero(wrapped).tolist():
            flat_out[where.start + i] = nearest_float(int(part[i]) + int(drawn[i]))
    return out


def nearest_float(whole: int) -> float:
    """The double nearest to a whole number (of two, the even one, as everywhere); beyond the floats, the largest."""
    try:
        return float(whole)
    except OverflowError:
        return LARGEST if whole > 0 else -LARGEST


def _saturating_sum(values: npt.NDArray[Any], noise: npt.NDArray[Any]) -> Integers:
    if values.dtype == object or noise.dtype == object:  # wider than int64: add in Python integers, clamp last
        sums = values.astype(object) + noise
        clamped: Integers = np.clip(sums, -INT64_MAX - 1, INT64_MAX).astype(np.int64)
        return clamped
    if values.dtype == np.uint64:
        above = values > INT64_MAX - noise.view(np.uint64)  # the difference is between 0 and 2⁶⁴ - 1: exact
        with np.errstate(over="ignore"):
            added: Integers = values.view(np.int64) + noise
        added[above] = INT64_MAX
        return added
    added, wrapped = _wrapping_sum(values, noise)
    if bool(wrapped.any()):
        added[wrapped] = np.where(noise[wrapped] > 0, INT64_MAX, -INT64_MAX - 1)
    return added


def _wrapping_sum(values: Integers, noise: Integers) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """values + noise modulo 2⁶⁴, and where that is not the sum."""
    with np.errstate(over="ignore"):
        added: Integers = values + noise
    return added, ((values ^ added) & (noise ^ added)) < 0


def round_onto_lattice(
    value: float | Fraction | npt.NDArray[Any], lattice: Lattice, noise: RoundedNoise, entropy: BitSource
) -> float | npt.NDArray[np.float64]:
    """The multiple of the granule nearest to value + ideal noise, as a float or an array of them."""
    if not isinstance(value, np.ndarray):
        return lattice.value(_one_multiple(value, lattice, noise, entropy))
    out = np.empty(value.shape, dtype=np.float64)
    flat_in, flat_out = value.reshape(-1), out.reshape(-1)
    for where in chunks(value.size):
        part = flat_in[where]
        floats, wide = exact_floats(part)
        floors, rests, odd = lattice.split(floats)
        drawn = noise.array(rests, entropy)
        if drawn.dtype == object:
            flat_out[where] = [lattice.value(int(k) + int(n)) for k, n in zip(floors, drawn, strict=True)]
        else:
            drawn += floors
            flat_out[where] = lattice.values(drawn)
        for i in {*wide.tolist(), *odd.tolist()}:
            flat_out[where.start + i] = lattice.value(_one_multiple(exact_item(part, i), lattice, noise, entropy))
    return out


def _one_multiple(value: float | Fraction, lattice: Lattice, noise: RoundedNoise, entropy: BitSource) -> int:
    whole, rest = lattice.split_one(value)
    return whole + noise.one(rest, entropy)
