"""What mechanisms on whole numbers share: how noise is added to one, to an array, and to the sums of a table."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.shared.adding import IntegerNoise, add_as_floats, add_to_integers
from tacit.mechanisms.shared.base import ScaledMechanism, bits_from
from tacit.mechanisms.shared.inputs import whole_numbers
from tacit.noise.entropy import BitSource

__all__ = ["IntegerMechanism"]


class IntegerMechanism(ScaledMechanism):
    """Integer noise of one law on whole numbers. Each release is one function of value + noise, for every value."""

    __slots__ = ("_sampler",)

    _sampler: IntegerNoise | None

    @abstractmethod
    def _sampling(self) -> IntegerNoise:
        """The law that is drawn from."""

    @property
    def _noise(self) -> IntegerNoise:
        """The sampler, made with the first draw: plans compare many mechanisms that nobody draws from."""
        if self._sampler is None:
            self._sampler = self._sampling()
        return self._sampler

    def __getstate__(self) -> object:
        """Copies make a sampler of their own: whether one was drawn from is not told."""
        kept: dict[str, Any] = object.__getstate__(self)[1]  # type: ignore[index]
        return None, {**kept, "_sampler": None}

    def release(self, value: Any, *, entropy: BitSource | None = None) -> Any:
        """An int of any size for an int; an int64 array for an array or a list of integers."""
        return add_to_integers(whole_numbers(value), self._noise, bits_from(entropy))

    def release_floats(self, values: npt.NDArray[Any], *, entropy: BitSource | None = None) -> npt.NDArray[np.float64]:
        """The doubles nearest to value + noise, for an array of int64 or of Python integers (objects) of any size.

        Both kinds give the same for equal sums; which of them is used must follow from public bounds.
        """
        return add_as_floats(values, self._noise, bits_from(entropy))
