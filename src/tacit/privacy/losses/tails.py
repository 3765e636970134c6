"""The masses of a total loss by their sums from one grid point on, from weights or straight from their transform."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.privacy.losses.fourier import Total
from tacit.privacy.losses.pair import Floats

_GAIN_ERROR = 2.0**-44  # the relative error of 1 - e^-x, and of the sums
_FEW = 10  # with fewer than one in this many frequencies left, sums are faster than the transform back
_BLOCK = 256
_UNIT = 2.0**-53


class Tails(Protocol):
    """The masses of a total on its grid, by their sums from one point on."""

    def at(self, j: int) -> tuple[float, float]:
        """Σ mass·(1 - e^(loss[j]-loss)) and Σ mass·e^(loss[j]-loss) over losses from loss[j] on."""


def tails_of(total: Total, side: int) -> Tails:
    """Sums that are never below (``side`` 1) or never above (``side`` -1) the true ones."""
    falls = total.tilt * total.step * total.length  # with a smaller tilt the series end too late: large terms cancel
    if _FEW * total.spectrum.frequencies.size < total.length and falls > 5:
        return SpectralTails.of(total, side)
    return WeightedTails.of(total, side)


@dataclass(frozen=True, slots=True)
class WeightedTails:
    """The masses themselves; ``gains`` are 1 - e^(-i·step), so that no difference of near numbers is ever taken."""

    masses: Floats
    gains: Floats

    @classmethod
    def of(cls, total: Total, side: int) -> WeightedTails:
        exponent = total.log_scale - total.tilt * total.bottom + side * (total.relative + _GAIN_ERROR)
        weights = total.spectrum.weights()
        if side > 0:
            weights = np.maximum(weights, 0.0, out=weights)
            weights += total.noise
        else:
            weights -= total.noise
            np.maximum(weights, 0.0, out=weights)
        weights *= _falling(exponent, total.tilt * total.step, total.length)
        gains = 1 - _falling(0.0, total.step, total.length)
        near = min(math.ceil(1 / (64 * total.step)), total.length)  # from here on the difference keeps all but 7 bits
        gains[:near] = -np.expm1(-total.step * np.arange(near))
        return cls(weights, gains)

    def at(self, j: int) -> tuple[float, float]:
        tail = self.masses[j:]
        at = float((tail * self.gains[: tail.size]).sum())
        return at, max(float(tail.sum()) - at, 0.0)


@dataclass(frozen=True, slots=True)
class SpectralTails:
    """The same sums from few frequencies: over each of them they are geometric series (proof page, Reading).

    With z = e^((-tilt + iω)·step): Σ z^i = 1/(1-z), and Σ z^i·(1 - e^(-i·step)) = z(1-e^-step) / ((1-z)(1-z·e^-step)).
    """

    total: Total
    side: int
    gained: NDArray[np.complex128]  # values times the second series
    shrunk: NDArray[np.complex128]  # values times Σ (z·e^-step)^i
    plain_sum: float  # Σ values·Σ z^i, at index 0
    shrunk_sum: float
    doubt: tuple[float, float]  # what noise and rounding may do to each of the two sums, before scaling

    @classmethod
    def of(cls, total: Total, side: int) -> SpectralTails:
        spectrum, step, tilt = total.spectrum, total.step, total.tilt
        angles = (2 * math.pi / spectrum.length) * spectrum.frequencies.astype(np.float64)
        twice = np.where((spectrum.frequencies == 0) | (2 * spectrum.frequencies == spectrum.length), 1.0, 2.0)
        values = spectrum.values * (twice / spectrum.length)
        plain, shrunk = _one_less(tilt * step, angles), _one_less((tilt + 1) * step, angles)
        z = np.exp(-tilt * step) * np.exp(1j * angles)
        gained = values * (z * -math.expm1(-step)) / (plain * shrunk)
        plain_values, shrunk_values = values / plain, values / shrunk
        sizes = [float(np.abs(terms).sum()) for terms in (gained, shrunk_values, plain_values)]
        rounding = 16 * _UNIT * (32 + math.log2(spectrum.frequencies.size + 1))
        least, next_least = -math.expm1(-tilt * step), -math.expm1(-(tilt + 1) * step)
        # Σ e^(-tilt·step·i)·(1 - e^(-step·i)) is below this, over all i and over those in the window
        most = min(-math.expm1(-step) / (least * next_least), float(spectrum.length))
        doubt = (
            spectrum.noise * most * (1 + 2.0**-20) + rounding * (sizes[0] + 2 * sizes[2]),
            spectrum.noise / next_least * (1 + 2.0**-20) + rounding * 2 * sizes[1],
        )
        return cls(
            total, side, gained, shrunk_values, float(plain_values.real.sum()), float(shrunk_values.real.sum()), doubt
        )

    def at(self, j: int) -> tuple[float, float]:
        total, side = self.total, self.side
        left = total.step * (total.length - j)  # the series end there: what lies beyond is taken off again
        turns = (total.spectrum.frequencies * j) % total.length
        wheel = np.exp((2j * math.pi / total.length) * turns)
        end, next_end = math.exp(-total.tilt * left), math.exp(-(total.tilt + 1) * left)
        gained = float((self.gained * wheel).real.sum()) - (end * self.plain_sum - next_end * self.shrunk_sum)
        shrunk = float((self.shrunk * wheel).real.sum()) - next_end * self.shrunk_sum
        exponent = total.log_scale - total.tilt * (total.bottom + total.step * j)
        scale = math.exp(min(exponent + side * (total.relative + _GAIN_ERROR), 700.0))
        return (
            max(gained + side * self.doubt[0], 0.0) * scale,
            max(shrunk + side * self.doubt[1], 0.0) * scale,
        )


def _falling(start: float, rate: float, length: int) -> Floats:
    """e^(start - rate·i), and e^700 where it would be more; as products of two short tables where none can overflow."""
    if start > 600 or rate * _BLOCK > 40:
        steep: Floats = np.exp(np.minimum(start - rate * np.arange(length), 700.0))
        return steep
    fine = np.exp(-rate * np.arange(_BLOCK))
    coarse = np.exp(start - (rate * _BLOCK) * np.arange(-(-length // _BLOCK)))
    found: Floats = (coarse[:, None] * fine).ravel()[:length]
    return found


def _one_less(fall: float, angles: Floats) -> NDArray[np.complex128]:
    """1 - e^(-fall + i·angle), without cancellation."""
    half = np.sin(angles / 2)
    shrink = math.exp(-fall)
    real = -math.expm1(-fall) + 2 * shrink * half * half
    result: NDArray[np.complex128] = real - 1j * (shrink * np.sin(angles))
    return result
