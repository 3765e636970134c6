"""The lattice that released floats live on: the multiples of a granule, a power of two.

The granule is chosen from public parameters alone, so that the set of possible outputs tells nothing about the
data. `Lattice.split` takes a float apart exactly; `Lattice.nearest` rounds it, and `rounding_cost` says how far
such a rounding can move a sensitivity (spec 3.3). Charging for that is a mechanism's job.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.noise.floors import WIDEST, Integers, Reals

__all__ = ["Lattice"]

LARGEST = math.ldexp(2**53 - 1, 971)
"""The largest finite float: a release beyond it is that."""


@dataclass(frozen=True, slots=True)
class Lattice:
    """The multiples of 2**exponent.

    >>> Lattice.finer_than(Fraction(3), by=4)
    Lattice(exponent=-3)
    >>> Lattice(-2).value(5)
    1.25
    """

    exponent: int

    @classmethod
    def finer_than(cls, scale: Fraction, *, by: int) -> Lattice:
        """The granule 2^(floor(log2 scale) - by): at least 2**by granules to the scale, less than twice that."""
        exponent = scale.numerator.bit_length() - scale.denominator.bit_length()
        if _power(exponent) > scale:
            exponent -= 1
        return cls(exponent - by)

    @property
    def granule(self) -> Fraction:
        return _power(self.exponent)

    def nearest(self, value: Fraction) -> int:
        """The multiple floor(value/granule + ½). Round-half-even would cost a whole granule more."""
        return math.floor(value / self.granule + Fraction(1, 2))

    def rounding_cost(self, *, dimension: int, sensitivity: Fraction) -> Fraction:
        """How much an L1 sensitivity can grow, in granules, when `nearest` rounds each of ``dimension`` coordinates.

        Nothing for a scalar whose sensitivity is a multiple of the granule; less than one granule per coordinate
        otherwise.
        """
        steps = sensitivity / self.granule
        return Fraction(math.ceil(steps + dimension) - 1) - steps

    def value(self, multiple: int) -> float:
        """The released float nearest to multiple·granule; beyond the floats, the largest of them."""
        try:
            return math.ldexp(multiple, self.exponent) if abs(multiple) < 1 << 53 else float(multiple * self.granule)
        except OverflowError:
            return LARGEST if multiple > 0 else -LARGEST

    def split_one(self, value: float | Fraction) -> tuple[int, float | Fraction]:
        """value/granule as whole + rest with the rest in (-½, 1), exactly; the whole is chosen as `split` does."""
        if isinstance(value, float) and abs(self.exponent) < 900:
            scaled = value * 2.0**-self.exponent
            if 2.0**-100 < abs(scaled) < WIDEST:  # neither scaling nor subtracting the whole rounds here
                whole = math.floor(scaled) if abs(scaled) >= 0.5 else 0
                return whole, scaled - whole
        exact = Fraction(value) / self.granule
        floor = math.floor(exact)
        return floor, exact - floor

    def split(self, values: Reals) -> tuple[Integers, Reals, npt.NDArray[np.intp]]:
        """values/granule as whole + rest with the rest in (-½, 1), exactly, and where that left int64 or float64.

        The whole is the floor, but 0 for values between -½ and 0: one minus a small float is seldom a float. At the
        indices returned both parts are zero; `split_one` has to be used there.
        """
        with np.errstate(all="ignore"):
            scaled = np.ldexp(values, -self.exponent) if abs(self.exponent) > 900 else values * 2.0**-self.exponent
            size = np.abs(scaled)
            floors = np.floor(scaled)
            floors[size < 0.5] = 0
            rests = scaled - floors
            odd = size >= WIDEST
            if self.exponent > 0:  # scaling down may have lost bits below 2**-1074
                odd |= (size < 2.0**-900) & (values != 0)
            if bool(odd.any()):
                floors[odd] = 0
                rests[odd] = 0
                return floors.astype(np.int64), rests, np.flatnonzero(odd)
            return floors.astype(np.int64), rests, np.empty(0, dtype=np.intp)

    def values(self, multiples: Integers) -> Reals:
        """The released floats multiples·granule."""
        reals = multiples.astype(np.float64)
        with np.errstate(all="ignore"):
            if abs(self.exponent) > 900:
                reals = np.ldexp(reals, self.exponent)
                return np.clip(reals, -LARGEST, LARGEST)
            reals *= 2.0**self.exponent
        return reals


def _power(exponent: int) -> Fraction:
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)
