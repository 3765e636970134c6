"""Means from one bit: round to an end of the range by chance, then randomized response."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.local.categories.frequency import pure_promise
from tacit.local.numeric.numbers import MeanRandomizer, Reals, rounded
from tacit.local.protocol import Reports
from tacit.local.wire import Whole
from tacit.mechanisms.responses.randomized_response import RandomizedResponse
from tacit.mechanisms.shared.promise import PriceLike
from tacit.noise.entropy import BitSource
from tacit.privacy import Guarantee

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["Duchi"]


class Duchi(MeanRandomizer):
    """One bit about a number (Duchi, Jordan & Wainwright 2018): the best there is for small ε.

    The number is rounded to an end of its range, up with a chance that keeps the mean, and `RandomizedResponse` reports
    the end. Proof: docs/proofs/local_numbers.md.

    >>> r = Duchi(epsilon=1, bounds=(0, 100))
    >>> ages = r.randomize(np.full(10_000, 40.0))
    >>> low, high = r.estimate(ages).interval("1e-6")
    >>> low < 40 < high
    True
    """

    __slots__ = ("_response",)

    proof: ClassVar[str] = "proofs/local_numbers.md"

    def __init__(
        self,
        *,
        bounds: object,
        unknown: Any = None,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
    ) -> None:
        asked = pure_promise("Duchi", epsilon, delta, rho, mu, promise)
        self._set(asked, bounds, unknown)
        self._response = RandomizedResponse(promise=asked, categories=range(2))

    @property
    def shape(self) -> Whole:
        return Whole(1)

    @property
    def loss(self) -> LossDistribution:
        return self._response.loss

    @property
    def stretch(self) -> float:
        """How far apart what the two reports stand for is, as a multiple of the range."""
        return 1 / (2 * self._response.truth - 1)

    def variance(self, unit: float) -> float:
        half = 2 * unit - 1
        return (self.stretch**2 - half**2) / 4

    def _draw(self, units: Reals, bits: BitSource) -> Reports:
        return self._response.respond(rounded(units, 1, bits), bits)

    def _valid(self, reports: Reports) -> npt.NDArray[np.bool_]:
        return reports <= 1

    def _empty(self) -> npt.NDArray[np.int64]:
        return np.zeros(1, dtype=np.int64)

    def _tally(self, reports: Reports) -> npt.NDArray[np.int64]:
        return np.array([reports.sum(dtype=np.int64)])

    def _moments(self, tally: npt.NDArray[Any], count: int) -> tuple[float, float]:
        high, low = (1 + self.stretch) / 2, (1 - self.stretch) / 2
        share = int(tally[0]) / count
        return share * high + (1 - share) * low, math.fsum((share * high**2, (1 - share) * low**2))
