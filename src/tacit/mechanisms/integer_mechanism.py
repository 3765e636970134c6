"""What mechanisms on whole numbers share: how noise is added to one, to an array, and to the sums of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.mechanisms.adding import IntegerNoise, add_as_floats, add_to_integers
from tacit.mechanisms.base import ScaledMechanism, bits_from
from tacit.mechanisms.inputs import whole_numbers
from tacit.noise.entropy import BitSource
from tacit.privacy.sensitivity import L1, Sensitivity

__all__ = ["IntegerMechanism", "whole_steps"]


class IntegerMechanism(ScaledMechanism):
    """Integer noise of one law on whole numbers. Each release is one function of value + noise, for every value."""

    __slots__ = ("_noise",)

    _noise: IntegerNoise

    def release(self, value: Any, *, entropy: BitSource | None = None) -> Any:
        """An int of any size for an int; an int64 array for an array or a list of integers."""
        return add_to_integers(whole_numbers(value), self._noise, bits_from(entropy))

    def release_floats(self, values: npt.NDArray[Any], *, entropy: BitSource | None = None) -> npt.NDArray[np.float64]:
        """The doubles nearest to value + noise, for an array of int64 or of Python integers (objects) of any size.

        Both kinds give the same for equal sums; which of them is used must follow from public bounds.
        """
        return add_as_floats(values, self._noise, bits_from(entropy))


def whole_steps(sensitivity: Sensitivity) -> Sensitivity:
    """Refuse a sensitivity that whole numbers cannot have: their distances are whole (L1, L∞) or roots of such (L2)."""
    if sensitivity.square.denominator != 1 or (sensitivity.norm is L1 and sensitivity.value.denominator != 1):
        hint = "Whole numbers move by whole steps. For reals use the mechanism without Discrete in its name."
        raise InvalidParameter("sensitivity", given=sensitivity, allowed="a whole number", hint=hint)
    return sensitivity
