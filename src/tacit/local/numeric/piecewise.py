"""Means from a point near the number: the piecewise mechanism on a grid, exact and unbiased."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.local.categories.frequency import pure_promise
from tacit.local.numeric.numbers import MeanRandomizer, Reals, rounded
from tacit.local.numeric.window import Window
from tacit.local.protocol import Reports
from tacit.local.wire import Whole
from tacit.mechanisms.shared.promise import PriceLike
from tacit.noise.entropy import BitSource
from tacit.privacy import Guarantee

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["CELLS", "Piecewise"]

CELLS = 1 << 16


class Piecewise(MeanRandomizer):
    """A cell of a grid, e^ε times likelier near the number than elsewhere (Wang et al. 2019): for larger ε.

    The number is rounded to a place of the window by chance, so that the mean stays; the window has the share
    1/(e^(ε/2)+1) of the ``cells``. Proof: docs/proofs/local_numbers.md.

    >>> Piecewise(epsilon=4, bounds=(0, 1)).scale < 0.5
    True
    """

    __slots__ = ("_window",)

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
        asked = pure_promise("Piecewise", epsilon, delta, rho, mu, promise)
        self._set(asked, bounds, unknown)
        if isinstance(cells, bool) or not isinstance(cells, int) or not 4 <= cells <= CELLS:
            raise InvalidParameter("cells", given=cells, allowed=f"a whole number from 4 to {CELLS}")
        share = 1 / (math.exp(min(float(asked.eps), 100.0) / 2) + 1)
        self._window = Window(asked.eps, cells, min(max(round(cells * share), 1), cells - 1))

    @property
    def cells(self) -> int:
        """How many cells a report can name."""
        return self._window.cells

    @property
    def shape(self) -> Whole:
        return Whole((self.cells - 1).bit_length())

    @property
    def loss(self) -> LossDistribution:
        return self._window.loss

    @property
    def _steps(self) -> int:
        return self._window.starts - 1

    def variance(self, unit: float) -> float:
        return self._window.variance(unit * self._steps) / (self._window.slope * self._steps) ** 2

    def _draw(self, units: Reals, bits: BitSource) -> Reports:
        return self._window.draw(rounded(units, self._steps, bits), bits)

    def _valid(self, reports: Reports) -> npt.NDArray[np.bool_]:
        return reports <= self.cells - 1

    def _empty(self) -> npt.NDArray[np.int64]:
        return np.zeros(2, dtype=np.int64)

    def _tally(self, reports: Reports) -> npt.NDArray[np.int64]:
        wide = reports.astype(np.int64)
        return np.array([wide.sum(), (wide * wide).sum()])

    def _moments(self, tally: npt.NDArray[Any], count: int) -> tuple[float, float]:
        base, step = self._window.mean, self._window.slope * self._steps
        mean, square = int(tally[0]) / count, int(tally[1]) / count
        return (mean - base) / step, (square - 2 * base * mean + base * base) / step**2

    def _details(self) -> str:
        return f", cells={self.cells}"
