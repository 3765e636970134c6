"""What noises, slips and decisions tell together, added up by hand: δ at an ε, without the accounting of the package.

Losses of discrete Laplace noise are laid on a fine grid and convolved; Gaussian noise enters at the end by its closed
form. What comes out is what there is, to a thousandth or so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

__all__ = ["Told", "laplace_alone", "total"]

Floats = npt.NDArray[np.float64]
_CELLS = 1 << 18
"""Of the grid, from the least to the largest loss that there can be."""


@dataclass
class Told:
    """What one unit more or less makes of all that is drawn."""

    laplace: list[tuple[int, float]] = field(default_factory=list)
    """Integers that moved, each with the scale of its noise."""
    square: float = 0.0
    """Σ moved²/σ² of Gaussian noise."""
    slip: float = 0.0
    """How often a key that one table alone has is shown."""
    coins: list[tuple[float, float]] = field(default_factory=list)
    """Decisions that are yes with these chances in the two tables."""

    def delta(self, epsilon: float) -> float:
        """The larger of both directions."""
        return max(self._delta(epsilon, turned) for turned in (False, True))

    def _delta(self, epsilon: float, turned: bool) -> float:
        never = 1.0  # the chance that nothing was seen which the other table cannot show
        laws = list[tuple[Floats, Floats]]()
        for moved, scale in self.laplace:
            if moved:
                laws.append(_of_laplace(abs(moved), scale))
        for pair in self.coins:
            mine, other = reversed(pair) if turned else pair
            losses, chances = [], []
            for one, two in ((mine, other), (1 - mine, 1 - other)):
                if one > 0 and two > 0:
                    losses.append(math.log(one / two))
                    chances.append(one)
                elif one > 0:
                    never *= 1 - one
            laws.append((np.array(losses), np.array(chances)))
        spread = sum(float(np.abs(losses).max(initial=0.0)) for losses, _ in laws)
        step = max(2 * spread / (_CELLS - 4 * len(laws) - 4), 1e-300)
        whole, offset = np.ones(1), 0
        for losses, chances in laws:
            places = np.floor(losses / step).astype(np.int64)
            above = losses / step - places  # shared by two cells, so that the mean stays where it is
            first = int(places.min(initial=0))
            own = np.zeros(int(places.max(initial=0)) - first + 2)
            np.add.at(own, places - first, chances * (1 - above))
            np.add.at(own, places - first + 1, chances * above)
            whole, offset = _convolved(whole, own), offset + first
        at = (np.arange(whole.size) + offset) * step
        seen = float(np.dot(whole, _of_gaussian(epsilon - at, math.sqrt(self.square))))
        return seen + (1 - never) + self.slip


def _of_laplace(moved: int, scale: float) -> tuple[Floats, Floats]:
    """Losses and their chances: P[X = x] is (1-q)/(1+q)·q^|x|, and the other table has X around ``moved``."""
    x = np.arange(moved + 1, dtype=np.float64)
    least = -math.expm1(-1 / scale) / (1 + math.exp(-1 / scale))
    chances = least * np.exp(-x / scale)
    chances[0] = 1 / (1 + math.exp(-1 / scale))  # of 0 and less
    chances[-1] = math.exp(-moved / scale) / (1 + math.exp(-1 / scale))  # of ``moved`` and more
    return (moved - 2 * x) / scale, chances


def _of_gaussian(epsilons: Floats, mu: float) -> Floats:
    """δ at each ε of N(0, 1) against N(μ, 1)."""
    if mu == 0:
        return np.asarray(np.maximum(-np.expm1(np.minimum(epsilons, 0)), 0))

    def tail(z: float) -> float:
        return math.erfc(z / math.sqrt(2)) / 2

    def scaled(z: float, log: float) -> float:
        """e^log times the tail at z, where either alone may be beyond floats."""
        if z < 25:
            return math.exp(min(log, 700)) * tail(z)
        return math.exp(log - z * z / 2 - math.log(z * math.sqrt(2 * math.pi)))

    return np.array([max(tail(one / mu - mu / 2) - scaled(one / mu + mu / 2, one), 0.0) for one in epsilons.tolist()])


def _convolved(one: Floats, other: Floats) -> Floats:
    if min(one.size, other.size) < 4:  # a few coins: exact
        return np.convolve(one, other)
    size = one.size + other.size - 1
    power = 1 << (size - 1).bit_length()
    made = np.fft.irfft(np.fft.rfft(one, power) * np.fft.rfft(other, power), power)[:size]
    return np.maximum(made, 0)


def total(parts: Iterable[Told]) -> Told:
    """All of them together."""
    found = Told()
    for one in parts:
        found.laplace += one.laplace
        found.coins += one.coins
        found.square += one.square
        found.slip += one.slip
    return found


def laplace_alone(moved: Sequence[int], scale: float, epsilon: float) -> float:
    """δ of a few coordinates by all combinations of outcomes: for tests of the above."""
    outcomes = [(0.0, 1.0)]
    for one in moved:
        losses, chances = _of_laplace(one, scale)
        outcomes = [
            (loss + own, chance * part)
            for loss, chance in outcomes
            for own, part in zip(losses.tolist(), chances.tolist(), strict=True)
        ]
    return math.fsum(chance * max(-math.expm1(epsilon - loss), 0) for loss, chance in outcomes)
