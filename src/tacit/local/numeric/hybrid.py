"""Means by either of two randomizers, chosen by a coin that does not look at the number."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.local.categories.frequency import pure_promise
from tacit.local.numeric.duchi import Duchi
from tacit.local.numeric.numbers import MeanRandomizer, Reals
from tacit.local.numeric.piecewise import CELLS, Piecewise
from tacit.local.protocol import Reports
from tacit.local.wire import Whole
from tacit.mechanisms.shared.promise import PriceLike
from tacit.noise.coins import bernoulli_exp
from tacit.noise.entropy import BitSource
from tacit.privacy import Guarantee

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["Hybrid"]

_ALWAYS_DUCHI = 0.61


class Hybrid(MeanRandomizer):
    """`Piecewise` with chance 1-e^(-ε/2), else `Duchi`; up to ε = 0.61 always `Duchi` (Wang et al. 2019).

    The error depends less on the number than that of either. The report says which of the two it is.
    Proof: docs/proofs/local_numbers.md.

    >>> Hybrid(epsilon=2, bounds=(-1, 1)).scale < min(m(epsilon=2, bounds=(-1, 1)).scale for m in (Duchi, Piecewise))
    True
    """

    __slots__ = ("_duchi", "_piecewise")

    proof: ClassVar[str] = "proofs/local_numbers.md"

    def __init__(
        self,
        *,
        bounds: object,
        cells: int = CELLS,
        unknown: Any = None,
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
    ) -> None:
        asked = pure_promise("Hybrid", epsilon, delta, rho, mu, promise)
        self._set(asked, bounds, unknown)
        self._duchi = Duchi(promise=asked, bounds=bounds, unknown=unknown)
        self._piecewise = Piecewise(promise=asked, bounds=bounds, unknown=unknown, cells=cells)

    @property
    def cells(self) -> int:
        """How many cells a report of `Piecewise` can name."""
        return self._piecewise.cells

    @property
    def duchi_share(self) -> float:
        """The chance of `Duchi`."""
        return 1.0 if float(self.epsilon) <= _ALWAYS_DUCHI else math.exp(-float(self.epsilon) / 2)

    @property
    def shape(self) -> Whole:
        return Whole((self.cells + 1).bit_length())

    @property
    def loss(self) -> LossDistribution:
        """That of randomized response: no ε-DP report reveals more."""
        return self._duchi.loss

    def variance(self, unit: float) -> float:
        share = self.duchi_share
        return share * self._duchi.variance(unit) + (1 - share) * self._piecewise.variance(unit)

    def _draw(self, units: Reals, bits: BitSource) -> Reports:
        """Cells first, then the two reports of `Duchi`."""
        one = self._duchi._draw(units, bits) + self.cells
        if self.duchi_share == 1.0:
            return one
        other = self._piecewise._draw(units, bits)
        return np.where(bernoulli_exp(self.epsilon / 2, units.size, bits), one, other)

    def _valid(self, reports: Reports) -> npt.NDArray[np.bool_]:
        return reports <= self.cells + 1

    def _empty(self) -> npt.NDArray[np.int64]:
        return np.zeros(4, dtype=np.int64)

    def _tally(self, reports: Reports) -> npt.NDArray[np.int64]:
        ends = reports >= self.cells
        duchi = self._duchi._tally(reports[ends] - self.cells)
        return np.array([int(ends.sum()), *duchi, *self._piecewise._tally(reports[~ends])])

    def _moments(self, tally: npt.NDArray[Any], count: int) -> tuple[float, float]:
        ends = int(tally[0])
        parts = []
        if ends:
            parts.append((ends, self._duchi._moments(tally[1:2], ends)))
        if ends < count:
            parts.append((count - ends, self._piecewise._moments(tally[2:], count - ends)))
        mean = sum(size * moments[0] for size, moments in parts) / count
        return mean, sum(size * moments[1] for size, moments in parts) / count

    def _details(self) -> str:
        return f", cells={self.cells}"
