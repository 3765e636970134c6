"""k-ary randomized response as a local protocol: the report is a category."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.local.categories.estimates import Support
from tacit.local.categories.frequency import FrequencyRandomizer, Places, pure_promise, ratio_up
from tacit.local.protocol import Reports
from tacit.local.shuffle.blanket import Blanket
from tacit.local.wire import Whole
from tacit.mechanisms.responses.randomized_response import RandomizedResponse
from tacit.mechanisms.shared.promise import PriceLike
from tacit.noise.entropy import BitSource
from tacit.privacy import Guarantee

__all__ = ["KaryResponse"]


class KaryResponse(FrequencyRandomizer):
    """The truth with probability e^ε/(e^ε+k-1), else another category: the law of `RandomizedResponse`.

    A report is the place of a category in ``categories``. The best of all for few categories or a large ε.
    Proof: docs/proofs/local_frequencies.md.

    >>> r = KaryResponse(epsilon=1, categories=["no", "yes"])
    >>> reports = r.randomize(["yes"] * 300 + ["no"] * 700)
    >>> bool(0 < r.estimate(reports).values[1] < 0.7)
    True
    """

    __slots__ = ("_response",)

    proof: ClassVar[str] = "proofs/local_frequencies.md"

    def __init__(
        self,
        *,
        categories: object,
        unknown: Any = None,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
    ) -> None:
        asked = pure_promise("KaryResponse", epsilon, delta, rho, mu, promise)
        self._set(asked, categories, unknown)
        self._response = RandomizedResponse(promise=asked, categories=self.categories)

    @property
    def shape(self) -> Whole:
        return Whole((len(self._answers) - 1).bit_length())

    @property
    def support(self) -> Support:
        truth = self._response.truth
        return Support(truth, (1 - truth) / (len(self._answers) - 1))

    @property
    def blanket(self) -> Blanket:
        return Blanket.of_subsets(self.epsilon, len(self._answers), 1)

    def _pair(self) -> tuple[list[Fraction], list[Fraction]]:
        ratio, rest = ratio_up(self.epsilon), Fraction(len(self._answers) - 2)
        return [ratio, Fraction(1), rest], [Fraction(1), ratio, rest]

    def _draw(self, places: Places, bits: BitSource) -> Reports:
        return self._response.respond(places, bits)

    def _valid(self, reports: Reports) -> npt.NDArray[np.bool_]:
        return reports <= len(self._answers) - 1

    def _empty(self) -> npt.NDArray[np.int64]:
        return np.zeros(len(self._answers), dtype=np.int64)

    def _tally(self, reports: Reports) -> npt.NDArray[np.int64]:
        return np.bincount(reports, minlength=len(self._answers))

    def _supports(self, tally: npt.NDArray[Any], count: int) -> npt.NDArray[np.int64]:
        return tally
