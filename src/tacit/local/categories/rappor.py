"""RAPPOR: a permanent noisy copy of the value's bits, made once, and a fresh noisy copy of that in every report."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.local.categories.bit_reports import BitRandomizer, packed_rows, set_bits
from tacit.local.categories.estimates import Support
from tacit.local.categories.frequency import Places, pure_promise, ratio_up
from tacit.local.protocol import Reports
from tacit.mechanisms.shared.base import bits_from
from tacit.mechanisms.shared.promise import PriceLike
from tacit.noise.entropy import BitSource
from tacit.noise.truths import ExactTruth, OddsTruth, Truth
from tacit.privacy import REPLACE, Guarantee, PureDP
from tacit.privacy.losses.pair import LARGEST_LOSS
from tacit.privacy.prices import Price, price, round_up
from tacit.privacy.rounding import decimal_up, ln_up

__all__ = ["Rappor", "RapporDevice"]


class Rappor(BitRandomizer):
    """Basic RAPPOR (Erlingsson, Pihur & Korolova 2014): ε for all reports ever made about one value of one person.

    The permanent bits are those of a symmetric `UnaryEncoding` of ε. Each report shows every permanent 1 as 1 with
    chance ``shown``, every 0 with chance ``made_up``: ``one_report`` is what a single report reveals. ``device(value)``
    keeps permanent bits between reports; ``randomize`` makes them anew. Proof: docs/proofs/local_frequencies.md.

    >>> r = Rappor(epsilon=4, categories=["a", "b", "c"])
    >>> round(r.one_report.epsilon(), 3), r.device("a").report().shape
    (1.604, (1,))
    """

    __slots__ = ("_made_up", "_permanent", "_shown")

    proof: ClassVar[str] = "proofs/local_frequencies.md"

    def __init__(
        self,
        *,
        categories: object,
        shown: Price = Fraction(3, 4),
        made_up: Price = Fraction(1, 4),
        unknown: Any = None,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
    ) -> None:
        asked = pure_promise("Rappor", epsilon, delta, rho, mu, promise)
        self._set(asked, categories, unknown)
        high, low = price(shown, "shown"), price(made_up, "made_up")
        if not 0 < low < high < 1:
            allowed = "chances strictly between 0 and 1, that of a permanent 1 above that of a 0"
            raise InvalidParameter("shown", given=(shown, made_up), allowed=allowed)
        self._shown, self._made_up = ExactTruth(high), ExactTruth(low)
        self._permanent: Truth = OddsTruth(asked.eps / 2, 1)

    @property
    def one_report(self) -> PureDP:
        """What is promised about a single report, and holds for the first one alone."""
        weights = self._pair()[0]
        largest = Fraction(ln_up(decimal_up(weights[1] / weights[2])))
        return PureDP(round_up(min(largest, self.epsilon)), neighbours=REPLACE)

    @property
    def support(self) -> Support:
        kept, high, low = self._permanent.probability, float(self._shown.chance), float(self._made_up.chance)
        return Support(kept * high + (1 - kept) * low, (1 - kept) * high + kept * low)

    def _pair(self) -> tuple[list[Fraction], list[Fraction]]:
        high, low = self._shown.chance, self._made_up.chance
        p, q = high, low  # of a device whose permanent bits never lie: no pair of ours reveals more
        if self.epsilon / 2 <= LARGEST_LOSS:
            root = ratio_up(self.epsilon / 2)
            p, q = (root * high + low) / (root + 1), (high + root * low) / (root + 1)
        one = [p * q, p * (1 - q), (1 - p) * q, (1 - p) * (1 - q)]
        return one, [one[0], one[2], one[1], one[3]]

    def device(self, value: Any, *, entropy: BitSource | None = None) -> RapporDevice:
        """A person's device, which holds this value: its permanent bits are drawn now."""
        bits = bits_from(entropy)
        one = np.empty(1, dtype=object)
        one[0] = value
        return RapporDevice(self, self._permanent_bits(self._places(one, bits), bits))

    def _permanent_bits(self, places: Places, bits: BitSource) -> npt.NDArray[np.uint8]:
        lies = OddsTruth(-self.epsilon / 2, 1)
        rows = packed_rows(lies, places.size, self.shape, bits)
        set_bits(rows, places, self._permanent.draw(places.size, bits))
        return rows

    def _instant(self, permanent: npt.NDArray[np.uint8], bits: BitSource) -> Reports:
        ones = packed_rows(self._shown, len(permanent), self.shape, bits)
        zeros = packed_rows(self._made_up, len(permanent), self.shape, bits)
        return (permanent & ones) | (~permanent & zeros)

    def _draw(self, places: Places, bits: BitSource) -> Reports:
        return self._instant(self._permanent_bits(places, bits), bits)

    def _details(self) -> str:
        return f", shown={str(self._shown.chance)!r}, made_up={str(self._made_up.chance)!r}"


class RapporDevice:
    """The permanent bits of one value on one device; any number of reports about it cost ε together."""

    __slots__ = ("_permanent", "_randomizer")

    def __init__(self, randomizer: Rappor, permanent: npt.NDArray[np.uint8]) -> None:
        self._randomizer = randomizer
        self._permanent = permanent

    @property
    def guarantee(self) -> Guarantee:
        """What is promised about all reports together, for as long as the value stays."""
        return self._randomizer.guarantee

    def report(self, *, entropy: BitSource | None = None) -> Reports:
        """A fresh report from the same permanent bits."""
        found: Reports = self._randomizer._instant(self._permanent, bits_from(entropy))[0]
        return found

    def __repr__(self) -> str:
        return f"<device of {self._randomizer!r}>"
