"""A window of cells that are e^ε times as likely as the others: what piecewise means and square waves draw from."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tacit.local.categories.frequency import ratio_up
from tacit.noise.coins import uniform_places
from tacit.noise.entropy import BitSource
from tacit.noise.truths import OddsTruth, Truth
from tacit.privacy import REPLACE

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["Window"]

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Window:
    """One of ``cells`` cells; the ``width`` cells from the start on are e^ε times as likely as any other."""

    epsilon: Fraction
    cells: int
    width: int
    _inside: Truth = field(init=False)

    def __post_init__(self) -> None:
        others = Fraction(self.cells - self.width, self.width)
        object.__setattr__(self, "_inside", OddsTruth(self.epsilon, others))

    @property
    def starts(self) -> int:
        """How many places a window can start at."""
        return self.cells - self.width + 1

    @property
    def inside(self) -> float:
        """The chance of the window as a whole."""
        return self._inside.probability

    @property
    def high(self) -> float:
        """The chance of a cell of the window."""
        return self.inside / self.width

    @property
    def low(self) -> float:
        """The chance of any other cell."""
        return (1 - self.inside) / (self.cells - self.width)

    @property
    def slope(self) -> float:
        """How far the mean cell moves when the window moves by one."""
        return self.width * (self.high - self.low)

    @property
    def mean(self) -> float:
        """The mean cell of a window that starts at 0."""
        return self.low * self.cells * (self.cells - 1) / 2 + (self.high - self.low) * self.width * (self.width - 1) / 2

    def variance(self, start: float) -> float:
        """Of the cell, for a window from ``start`` on; between two places, that of a start drawn from both."""
        below = min(int(start), self.starts - 1)
        part = start - below
        seconds = [self._second(below + step) for step in ((0, 1) if part else (0,))]
        second = seconds[0] if not part else (1 - part) * seconds[0] + part * seconds[1]
        return second - (self.mean + self.slope * start) ** 2

    def _second(self, start: int) -> float:
        every = (self.cells - 1) * self.cells * (2 * self.cells - 1) / 6
        last = start + self.width - 1
        window = (last * (last + 1) * (2 * last + 1) - (start - 1) * start * (2 * start - 1)) / 6
        return self.low * every + (self.high - self.low) * window

    @property
    def loss(self) -> LossDistribution:
        """Of one report: for the two windows that overlap least."""
        from tacit.privacy.loss_distribution import LossDistribution

        ratio, apart = ratio_up(self.epsilon), min(self.width, self.starts - 1)
        both, rest = (self.width - apart) * ratio, Fraction(self.cells - self.width - apart)
        one = [apart * ratio, Fraction(apart), both, rest]
        other = [one[1], one[0], both, rest]
        return LossDistribution.finite([w / sum(one) for w in one], [w / sum(other) for w in other], neighbours=REPLACE)

    def draw(self, starts: Integers, bits: BitSource) -> Integers:
        """One cell for each start; the same bits are drawn whether it falls inside or not."""
        inside = self._inside.draw(starts.size, bits)
        near = starts + uniform_places(self.width, starts.size, bits)
        far = uniform_places(self.cells - self.width, starts.size, bits)
        far += np.where(far >= starts, self.width, 0)
        return np.where(inside, near, far)
