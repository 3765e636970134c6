"""Unary encoding: one bit for each category, each flipped with a chance of its own."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.local.columns import column_sums
from tacit.local.estimates import Support
from tacit.local.frequency import FrequencyRandomizer, Places, pure_promise, ratio_up
from tacit.local.protocol import Reports
from tacit.local.wire import BitRows
from tacit.mechanisms.promise import PriceLike
from tacit.noise.entropy import BitSource
from tacit.noise.packed import packed_coins
from tacit.noise.truths import OddsTruth, Truth
from tacit.privacy import Guarantee

__all__ = ["OPTIMISED", "SYMMETRIC", "UnaryEncoding"]

SYMMETRIC, OPTIMISED = "symmetric", "optimised"


class UnaryEncoding(FrequencyRandomizer):
    """A bit for each category: 1 with chance p for the person's own and q for the others; ε = ln(p(1-q)/((1-p)q)).

    ``kind="optimised"`` has p = ½ and q = 1/(e^ε+1), the least error for rare categories; ``"symmetric"`` has
    p = 1-q = e^(ε/2)/(e^(ε/2)+1). k bits a report. Proof: docs/proofs/local_frequencies.md.

    >>> r = UnaryEncoding(epsilon=1, categories=range(20))
    >>> r.randomize(3).shape, r.report_bytes
    ((3,), 7)
    """

    __slots__ = ("_kind", "_other", "_own")

    proof: ClassVar[str] = "proofs/local_frequencies.md"

    def __init__(
        self,
        *,
        categories: object,
        kind: str = OPTIMISED,
        unknown: Any = None,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
    ) -> None:
        asked = pure_promise("UnaryEncoding", epsilon, delta, rho, mu, promise)
        self._set(asked, categories, unknown)
        if kind not in (SYMMETRIC, OPTIMISED):
            raise InvalidParameter("kind", given=kind, allowed=f"{SYMMETRIC!r} or {OPTIMISED!r}")
        self._kind = kind
        of_own, of_other = (0 * asked.eps, -asked.eps) if kind == OPTIMISED else (asked.eps / 2, -asked.eps / 2)
        self._own: Truth = OddsTruth(of_own, 1)
        self._other: Truth = OddsTruth(of_other, 1)

    @property
    def kind(self) -> str:
        """Which chances the bits have."""
        return self._kind

    @property
    def shape(self) -> BitRows:
        return BitRows(len(self._answers))

    @property
    def support(self) -> Support:
        return Support(self._own.probability, self._other.probability)

    def _pair(self) -> tuple[list[Fraction], list[Fraction]]:
        if self._kind == OPTIMISED:
            one, ratio = Fraction(1), ratio_up(self.epsilon)
            return [one, ratio, one, ratio], [one, one, ratio, ratio]
        root = ratio_up(self.epsilon / 2)
        return [root, root**2, Fraction(1), root], [root, Fraction(1), root**2, root]

    def _draw(self, places: Places, bits: BitSource) -> Reports:
        rows = packed_rows(self._other, places.size, self.shape, bits)
        own = self._own.draw(places.size, bits)
        set_bits(rows, places, own)
        return rows

    def _valid(self, reports: Reports) -> npt.NDArray[np.bool_]:
        return np.ones(len(reports), dtype=np.bool_)

    def _empty(self) -> npt.NDArray[np.int64]:
        return np.zeros(len(self._answers), dtype=np.int64)

    def _tally(self, reports: Reports) -> npt.NDArray[np.int64]:
        return column_sums(reports, len(self._answers))

    def _supports(self, tally: npt.NDArray[Any], count: int) -> npt.NDArray[np.int64]:
        return tally

    def _details(self) -> str:
        return f", kind={self._kind!r}"


def packed_rows(truth: Truth, count: int, shape: BitRows, bits: BitSource) -> npt.NDArray[np.uint8]:
    """Rows of coins of one chance, as many as there are columns; the bits after the last are 0."""
    size = count * shape.width
    rows = packed_coins(truth, -(-size // 8), bits).view(np.uint8)[:size].reshape(count, shape.width)
    rows[:, -1] &= shape.last
    return rows


def set_bits(rows: npt.NDArray[np.uint8], places: Places, ones: npt.NDArray[np.bool_]) -> None:
    """In each row, write one bit at its place."""
    flat = rows.reshape(-1)
    at = np.arange(0, flat.size, rows.shape[1]) + (places >> 3)
    down = (7 - (places & 7)).astype(np.uint8)
    flat[at] = (flat[at] & ~(np.uint8(1) << down)) | (ones.view(np.uint8) << down)
