"""Subset selection: a random set of categories that holds the person's own more often than not."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.local.categories.bit_reports import BitRandomizer, packed_rows
from tacit.local.categories.estimates import Support
from tacit.local.categories.frequency import Places, pure_promise, ratio_up
from tacit.local.protocol import Reports
from tacit.local.shuffle.blanket import Blanket
from tacit.mechanisms.shared.promise import PriceLike
from tacit.noise.coins import uniform_places
from tacit.noise.entropy import BitSource
from tacit.noise.truths import ExactTruth, OddsTruth, Truth
from tacit.privacy import Guarantee

__all__ = ["SubsetSelection"]

_RATES = 128
_BLOCK_BYTES = 1 << 17
_AT_ONCE = 8  # attempts for every row before those that are done are left out


class SubsetSelection(BitRandomizer):
    """A uniform set of d categories with the person's own in it, or, less likely, one without it.

    "In it" has probability d·e^ε/(d·e^ε + k - d); d is the size with the least error, near k/(e^ε+1), or ``size``.
    The least error of all at every ε and k (Ye & Barg 2018), in k bits. Proof: docs/proofs/local_frequencies.md.

    >>> r = SubsetSelection(epsilon=1, categories=range(100))
    >>> r.size, int(np.bitwise_count(r.randomize(7)).sum())
    (27, 27)
    """

    __slots__ = ("_inside", "_size")

    proof: ClassVar[str] = "proofs/local_frequencies.md"

    def __init__(
        self,
        *,
        categories: object,
        size: int | None = None,
        unknown: Any = None,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
    ) -> None:
        asked = pure_promise("SubsetSelection", epsilon, delta, rho, mu, promise)
        self._set(asked, categories, unknown)
        k = len(self._answers)
        if size is not None and (isinstance(size, bool) or not isinstance(size, int) or not 1 <= size < k):
            raise InvalidParameter("size", given=size, allowed=f"a whole number from 1 to {k - 1}")
        self._size = _best_size(k, float(asked.eps)) if size is None else size
        self._inside: Truth = OddsTruth(asked.eps, Fraction(k - self._size, self._size))

    @property
    def size(self) -> int:
        """How many categories each report names."""
        return self._size

    @property
    def support(self) -> Support:
        return _support(len(self._answers), self._size, self._inside.probability)

    @property
    def blanket(self) -> Blanket:
        return Blanket.of_subsets(self.epsilon, len(self._answers), self._size)

    def _pair(self) -> tuple[list[Fraction], list[Fraction]]:
        k, d, ratio = len(self._answers), self._size, ratio_up(self.epsilon)
        both, neither = d * (d - 1) * ratio, Fraction((k - d) * (k - 1 - d))
        one, other = d * (k - d) * ratio, Fraction(d * (k - d))
        return [both, one, other, neither], [both, other, one, neither]

    def _chunk(self) -> int:
        return max(16, min(1 << 14, (1 << 21) // len(self._answers)))

    def _draw(self, places: Places, bits: BitSource) -> Reports:
        """Coins of about the right rate for all others, then uniform additions or removals until the size is right."""
        k, count = len(self._answers), places.size
        inside = self._inside.draw(count, bits)
        rate = Fraction(_rate(k, self._size), _RATES)
        rows = packed_rows(ExactTruth(rate), count, self.shape, bits)
        members = np.unpackbits(rows, axis=1, count=k)
        starts = np.arange(0, count * k, k)
        flat = members.reshape(-1)
        missing = self._size - inside.astype(np.int64) - ones_of(rows) + flat[starts + places]
        _even_out(flat, starts, places, missing, k, bits)
        flat[starts + places] = inside
        return np.packbits(members, axis=1)

    def _valid(self, reports: Reports) -> npt.NDArray[np.bool_]:
        found: npt.NDArray[np.bool_] = ones_of(reports) == self._size
        return found

    def _details(self) -> str:
        return f", size={self._size}"


def ones_of(rows: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """How many ones each row has."""
    out = np.empty(len(rows), dtype=np.int64)
    each = np.ones(rows.shape[1], dtype=np.float32)  # sums of at most 2²⁴ are exact, and faster than numpy's own
    step = max(1, _BLOCK_BYTES // rows.shape[1])
    for start in range(0, len(rows), step):
        out[start : start + step] = np.bitwise_count(rows[start : start + step]).astype(np.float32) @ each
    return out


def _even_out(
    flat: npt.NDArray[np.uint8], starts: Places, places: Places, missing: Places, k: int, bits: BitSource
) -> None:
    """Flip uniform places other than the own until each row, a stretch of k in ``flat``, has as many ones as it should.

    Each attempt is a uniform place: a one is taken away where there are too many, a zero turned where there are too
    few, anything else is left alone.
    """
    rows = np.flatnonzero(missing)
    while rows.size:
        start, own, left = starts[rows], places[rows], missing[rows]
        tries = uniform_places(k, _AT_ONCE * rows.size, bits).reshape(_AT_ONCE, rows.size)
        for place in tries:
            at = start + place
            found = flat[at]
            turn = (found == (left < 0)) & (left != 0) & (place != own)
            flat[at] = found ^ turn
            left -= np.where(turn, np.sign(left), 0)
        missing[rows] = left
        rows = rows[left != 0]


def _rate(k: int, size: int) -> int:
    """The rate of the coins, in 1/128: a little low, because adding succeeds more often than taking away."""
    mean = size / k
    low = mean - 0.5 * math.sqrt(mean * (1 - mean) / k) * (1 - 2 * mean)
    return min(max(round(low * _RATES), 0), _RATES - 1)


def _support(k: int, size: int, inside: float) -> Support:
    """Any other category is in a report with the person's own one d-1 times in k-1, in one without it d times."""
    return Support(inside, (inside * (size - 1) + (1 - inside) * size) / (k - 1))


def _best_size(k: int, epsilon: float) -> int:
    """The size with the least variance for rare categories, among those near k/(e^ε+1)."""

    def variance(size: int) -> float:
        inside = 1 / (1 + (k - size) / size * math.exp(-epsilon))
        return float(_support(k, size, inside).variance(0.0, 1))

    near = k / (1 + math.exp(epsilon)) if epsilon < 700 else 0.0
    return min({min(max(size, 1), k - 1) for size in (math.floor(near), math.ceil(near))}, key=variance)
