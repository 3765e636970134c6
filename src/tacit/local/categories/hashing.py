"""Local hashing: a random hash of the person's own, and k-ary response on the hashed value."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.local.categories.estimates import Support
from tacit.local.categories.frequency import FrequencyRandomizer, Places, pure_promise, ratio_up
from tacit.local.categories.gf2 import hashed, sign_sums, walsh
from tacit.local.protocol import Reports
from tacit.local.random_words import random_words
from tacit.local.shuffle.blanket import Blanket
from tacit.local.wire import Whole
from tacit.mechanisms.responses.randomized_response import RandomizedResponse
from tacit.mechanisms.shared.promise import PriceLike
from tacit.noise.entropy import BitSource
from tacit.privacy import Guarantee

__all__ = ["LocalHashing", "best_bits"]

_MOST_COLUMNS, _MOST_ROWS = 24, 12
_COUNTED = 16  # reports of at most so many bits are counted before anything else


class LocalHashing(FrequencyRandomizer):
    """A random Toeplitz matrix over GF(2) hashes the value to one of g = 2^b, and k-ary response reports on that.

    Two values collide with chance exactly 1/g. g is the power of two with the least error, or ``buckets``. The report
    is the matrix and the response; the server takes one transform of a histogram instead of n·k hashes.
    Proof: docs/proofs/local_frequencies.md.

    >>> r = LocalHashing(epsilon=1, categories=range(1000))
    >>> r.buckets, r.report_bytes
    (4, 6)
    """

    __slots__ = ("_columns", "_response", "_rows")

    proof: ClassVar[str] = "proofs/local_frequencies.md"

    def __init__(
        self,
        *,
        categories: object,
        buckets: int | None = None,
        unknown: Any = None,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
    ) -> None:
        asked = pure_promise("LocalHashing", epsilon, delta, rho, mu, promise)
        self._set(asked, categories, unknown)
        self._columns = (len(self._answers) - 1).bit_length()
        self._rows = best_bits(float(asked.eps)) if buckets is None else _bits(buckets)
        if self._columns > _MOST_COLUMNS:
            hint = "Use PrefixTree for domains that cannot be listed."
            allowed = f"at most 2^{_MOST_COLUMNS} categories"
            raise InvalidParameter("categories", given=len(self._answers), allowed=allowed, hint=hint)
        self._response = RandomizedResponse(promise=asked, categories=range(self.buckets))

    @property
    def buckets(self) -> int:
        """How many values the hash has."""
        return 1 << self._rows

    @property
    def shape(self) -> Whole:
        return Whole(self._columns + 2 * self._rows - 1)

    @property
    def support(self) -> Support:
        return Support(self._response.truth, 1 / self.buckets)

    @property
    def blanket(self) -> Blanket:
        return Blanket.of_hashes(self.epsilon, self.buckets)

    def _pair(self) -> tuple[list[Fraction], list[Fraction]]:
        g, ratio = self.buckets, ratio_up(self.epsilon)
        rest = ratio + (g - 1) + (g - 1) * (g - 2)  # those who collide learn nothing
        one, other = (g - 1) * ratio, Fraction(g - 1)
        return [one, other, rest], [other, one, rest]

    def _draw(self, places: Places, bits: BitSource) -> Reports:
        matrices = random_words(self._columns + self._rows - 1, places.size, self.shape.dtype, bits)
        products = hashed(matrices, places, self._columns, self._rows)
        told = self._response.respond(products.astype(np.int64), bits).astype(self.shape.dtype)
        reports: Reports = matrices << self.shape.dtype.type(self._rows) | told
        return reports

    def _valid(self, reports: Reports) -> npt.NDArray[np.bool_]:
        return reports <= (1 << self.shape.bits) - 1

    def _empty(self) -> npt.NDArray[np.int64]:
        return np.zeros(1 << self._columns, dtype=np.int64)

    def _tally(self, reports: Reports) -> npt.NDArray[np.int64]:
        weights = None
        if self.shape.bits <= _COUNTED:
            weights = np.bincount(reports, minlength=1 << self.shape.bits).astype(np.float64)
            reports = np.arange(1 << self.shape.bits, dtype=np.uint32)
        down = reports.dtype.type(self._rows)
        products = reports & reports.dtype.type(self.buckets - 1)
        return sign_sums(reports >> down, products, weights, self._columns, self._rows)

    def _supports(self, tally: npt.NDArray[Any], count: int) -> npt.NDArray[np.int64]:
        return (walsh(tally)[: len(self._answers)] + count) >> self._rows

    def _details(self) -> str:
        return f", buckets={self.buckets}"


def best_bits(epsilon: float) -> int:
    """The b for which g = 2^b has the least variance for rare categories; the best real g is e^ε + 1."""

    def variance(bits: int) -> float:
        g = 1 << bits
        own = 1 / (1 + (g - 1) * math.exp(-epsilon))
        return (1 / g) * (1 - 1 / g) / (own - 1 / g) ** 2

    return min(range(1, _MOST_ROWS + 1), key=variance)


def _bits(buckets: object) -> int:
    allowed = f"a power of two from 2 to {1 << _MOST_ROWS}"
    if isinstance(buckets, bool) or not isinstance(buckets, int) or buckets & (buckets - 1) or buckets < 2:
        raise InvalidParameter("buckets", given=buckets, allowed=allowed)
    if buckets > 1 << _MOST_ROWS:
        raise InvalidParameter("buckets", given=buckets, allowed=allowed)
    return buckets.bit_length() - 1
