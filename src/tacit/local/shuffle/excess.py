"""An upper bound on the mean of the positive part of a sum of many independent, equally distributed numbers.

The numbers take few values. Each is moved to two neighbours on a grid in a way that keeps its mean: a convex function
of the sum can only grow by that, and the positive part is convex. The sum's law is then a power of a Fourier transform,
taken under a tilt that makes 0 its middle, so that small chances keep their digits. Proof: docs/proofs/shuffling.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["mean_excess"]

Floats = npt.NDArray[np.float64]

_SLACK = 1e-9
_FINE = 0.03  # steps of the grid, in standard deviations of one number
_LEAST, _MOST = 1 << 12, 1 << 20
_TAIL = 1e-17
_FAINT = -80.0


def mean_excess(values: Sequence[float], chances: Sequence[float], count: int) -> float:
    """At least E[max(0, Z₁ + … + Z_count)], and near it; the values need a mean of at most 0.

    >>> round(mean_excess([1.0, -1.0], [0.5, 0.5], 2), 6)      # sums 2, 0, 0, -2
    0.5
    """
    z, p = np.array(values), np.array(chances)
    if not z.max() > 0:
        return 0.0
    tilt = _tilt(z, p)
    weights = p * np.exp(tilt * (z - z.max()))
    weights /= weights.sum()
    mean = float(weights @ z)
    spread = math.sqrt(max(float(weights @ z**2) - mean**2, 0.0))
    if not spread:
        return count * max(mean, 0.0)
    reach = min(_reach(z, p, tilt, spread, count), count * float(np.abs(z).max())) + 2 * float(np.abs(z).max())
    size = _LEAST
    while size < _MOST and 2 * reach / size > _FINE * spread:
        size *= 2
    if tilt * max(2 * reach / size, float(z.max()) / 100) > 5:
        return math.inf  # the grid is too coarse for so few and so large numbers to say anything
    return _on_grid(z, p, count, tilt, reach, size)


def _on_grid(z: Floats, p: Floats, count: int, tilt: float, reach: float, size: int) -> float:
    step = 2 * reach / size
    places = np.floor(z / step).astype(np.int64)
    upper = z / step - places
    law = np.zeros(size)
    for place, part, chance in zip(places.tolist(), upper.tolist(), p.tolist(), strict=True):
        law[place % size] += chance * (1 - part) * math.exp(tilt * place * step)
        law[(place + 1) % size] += chance * part * math.exp(tilt * (place + 1) * step)
    total = law.sum()
    transform = np.fft.rfft(law / total)
    raised = np.zeros_like(transform)
    magnitudes = np.abs(transform)
    seen = magnitudes > math.exp(_FAINT / count)  # the others, to this power, are below e^-80 each
    raised[seen] = transform[seen] ** count
    sums = np.fft.irfft(raised, size)
    at = step * np.arange(1, size // 2)
    weights = at * np.exp(-tilt * at)
    # Rounding: each entry is off by at most this (a power multiplies the relative error of the transform by count).
    off = float(np.abs(raised).mean()) * (count + 64) * 4e-16 * math.log2(size) + math.exp(_FAINT)
    found = float(weights @ np.maximum(sums[1 : size // 2], 0.0)) + off * float(weights.sum())
    beyond = count * float(z.max())  # the largest sum there is; s·e^(-θs) is at most 1/(eθ)
    found += _TAIL * (min(beyond, 1 / (math.e * tilt)) if tilt > 0 else beyond)
    logs = count * math.log(total)
    if logs > 700:
        return math.inf
    return found * math.exp(logs) * (1 + _SLACK) if logs > -745 else 5e-324


def _tilt(z: Floats, p: Floats) -> float:
    """θ ≥ 0 at which numbers weighted by e^(θz) have mean 0, where the mean is below 0; any θ is right."""

    def mean(theta: float) -> float:
        weights = p * np.exp(theta * (z - z.max()))
        return float(weights @ z)

    if mean(0.0) >= 0:
        return 0.0
    high = 1 / float(z.max())
    while mean(high) < 0:
        high *= 2
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if mean(middle) < 0 else (low, middle)
    return high


def _reach(z: Floats, p: Floats, tilt: float, spread: float, count: int) -> float:
    """A distance that the tilted sum exceeds, on either side, with chance at most 10⁻¹⁷ (Chernoff).

    Moved to the grid, a number's exponential moments grow by at most a factor e^(h²s²/8) (Hoeffding): the quarter that
    is added here is far more than that.
    """

    def cumulant(s: float) -> float:
        exponents = (tilt + s) * z
        most = float(exponents.max())
        return most + math.log(float(p @ np.exp(exponents - most)))

    base, best = cumulant(0.0), math.inf
    wanted = -math.log(_TAIL)
    for side in (1, -1):
        found = math.inf
        for power in np.arange(-3, 6, 0.25):
            s = float(2.0**power) / (spread * math.sqrt(count))
            found = min(found, (count * (cumulant(side * s) - base) + wanted) / s)
        best = found if side == 1 else max(best, found)
    return 1.25 * best
