"""Hadamard response: a random row of the Hadamard matrix on the right side of the person's column, mostly."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.local.categories.estimates import Support
from tacit.local.categories.frequency import FrequencyRandomizer, Places, pure_promise, ratio_up
from tacit.local.categories.gf2 import parity, walsh
from tacit.local.protocol import Reports
from tacit.local.random_words import random_words
from tacit.local.shuffle.blanket import Blanket
from tacit.local.wire import Whole
from tacit.mechanisms.shared.promise import PriceLike
from tacit.noise.entropy import BitSource
from tacit.noise.truths import OddsTruth, Truth
from tacit.privacy import Guarantee

__all__ = ["HadamardResponse"]


class HadamardResponse(FrequencyRandomizer):
    """A uniform row y, out of K = 2^b > k, with an even overlap with the person's column, or, less likely, an odd one.

    "Even" has probability e^ε/(e^ε+1). ⌈log₂(k+1)⌉ bits a report, and one transform on the server; the error is near
    the best for ε up to 1 or so (Acharya, Sun & Zhang 2019). Proof: docs/proofs/local_frequencies.md.

    >>> HadamardResponse(epsilon=1, categories=range(1000)).report_bytes
    6
    """

    __slots__ = ("_bits", "_even")

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
        asked = pure_promise("HadamardResponse", epsilon, delta, rho, mu, promise)
        self._set(asked, categories, unknown)
        self._bits = len(self._answers).bit_length()
        self._even: Truth = OddsTruth(asked.eps, 1)

    @property
    def shape(self) -> Whole:
        return Whole(self._bits)

    @property
    def support(self) -> Support:
        return Support(self._even.probability, 0.5)

    @property
    def blanket(self) -> Blanket:
        return Blanket.of_hashes(self.epsilon, 2)

    def _pair(self) -> tuple[list[Fraction], list[Fraction]]:
        one, ratio = Fraction(1), ratio_up(self.epsilon)
        return [ratio, ratio, one, one], [ratio, one, ratio, one]

    def _draw(self, places: Places, bits: BitSource) -> Reports:
        return rows_beside(places + 1, self._bits, self._even, self.shape.dtype, bits)

    def _valid(self, reports: Reports) -> npt.NDArray[np.bool_]:
        return reports <= (1 << self._bits) - 1

    def _empty(self) -> npt.NDArray[np.int64]:
        return np.zeros(1 << self._bits, dtype=np.int64)

    def _tally(self, reports: Reports) -> npt.NDArray[np.int64]:
        return np.bincount(reports, minlength=1 << self._bits)

    def _supports(self, tally: npt.NDArray[Any], count: int) -> npt.NDArray[np.int64]:
        return (walsh(tally)[1 : len(self._answers) + 1] + count) >> 1


def rows_beside(columns: Places, width: int, even: Truth, dtype: np.dtype[Any], bits: BitSource) -> Reports:
    """For each column, not 0, a uniform word of ``width`` bits whose overlap with it is even with the given chance."""
    rows = random_words(width, columns.size, dtype, bits)
    beside = columns.astype(dtype)
    wrong = parity(rows & beside).astype(np.bool_) == even.draw(columns.size, bits)
    lowest = beside & (~beside + dtype.type(1))
    found: Reports = rows ^ np.where(wrong, lowest, dtype.type(0))  # the column's lowest bit turns the overlap
    return found
