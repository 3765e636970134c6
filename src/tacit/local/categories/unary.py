"""Unary encoding: one bit for each category, each flipped with a chance of its own."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

from tacit.errors import InvalidParameter
from tacit.local.categories.bit_reports import BitRandomizer, packed_rows, set_bits
from tacit.local.categories.estimates import Support
from tacit.local.categories.frequency import Places, pure_promise, ratio_up
from tacit.local.protocol import Reports
from tacit.mechanisms.shared.promise import PriceLike
from tacit.noise.entropy import BitSource
from tacit.noise.truths import OddsTruth, Truth
from tacit.privacy import Guarantee

__all__ = ["OPTIMISED", "SYMMETRIC", "UnaryEncoding"]

SYMMETRIC, OPTIMISED = "symmetric", "optimised"


class UnaryEncoding(BitRandomizer):
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

    def _details(self) -> str:
        return f", kind={self._kind!r}"
