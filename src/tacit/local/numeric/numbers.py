"""Numbers on a device: a public range, a public grid, and what happens to what is no number."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.local.categories.estimates import two_sided
from tacit.local.protocol import Randomizer, Reports
from tacit.mechanisms.responses.answers import several
from tacit.mechanisms.shared.base import bits_from
from tacit.mechanisms.shared.estimate import BETA
from tacit.mechanisms.shared.quantised import read_range
from tacit.mechanisms.shared.tails import read_beta
from tacit.noise.entropy import BitSource
from tacit.privacy import Guarantee
from tacit.privacy.prices import Price, price

__all__ = ["Bounds", "MeanEstimate", "MeanRandomizer", "NumberRandomizer", "read_reals", "rounded"]

Reals = npt.NDArray[np.float64]

_CHUNK = 1 << 14
_HUGE = 10**308  # beyond all bounds, and still a float


@dataclass(frozen=True, slots=True)
class Bounds:
    """The public range of a number, and the point of it that stands for what is no number."""

    low: Fraction
    high: Fraction
    unknown: Fraction

    @classmethod
    def read(cls, bounds: object, unknown: Price | None) -> Bounds:
        """From what was typed; without ``unknown``, the middle."""
        low, high = read_range(bounds)
        if max(abs(low), abs(high)) > 10**300 or (high - low) * 10**300 < 1:
            raise InvalidParameter("bounds", given=bounds, allowed="bounds within ±10^300, at least 10^-300 apart")
        point = (low + high) / 2 if unknown is None else price(unknown, "unknown", allowed="a point of the range")
        if not low <= point <= high:
            raise InvalidParameter("unknown", given=unknown, allowed="a point of the range")
        return cls(low, high, point)

    @property
    def width(self) -> Fraction:
        """From end to end."""
        return self.high - self.low

    def units(self, values: Reals) -> Reals:
        """Values as parts of the way from the lower to the upper bound, cut to [0, 1]; NaN at the stated point."""
        with np.errstate(over="ignore", invalid="ignore"):
            units = (values - float(self.low)) / float(self.width)
        point = float((self.unknown - self.low) / self.width)
        return np.clip(np.where(np.isnan(units), point, units), 0.0, 1.0)

    def __repr__(self) -> str:
        return f"bounds=({str(self.low)!r}, {str(self.high)!r}), unknown={str(self.unknown)!r}"


class NumberRandomizer(Randomizer[Any]):
    """Reports about one number of a public range; beyond it the nearer bound counts, for no number a stated point."""

    __slots__ = ("_bounds",)

    _bounds: Bounds

    @property
    def bounds(self) -> tuple[Fraction, Fraction]:
        """The public range."""
        return self._bounds.low, self._bounds.high

    @property
    def epsilon(self) -> Fraction:
        """The ε of one report."""
        return self._guarantee.main

    def randomize(self, values: Any, *, entropy: BitSource | None = None) -> Any:
        """The report of one person, or an array of reports, one for each value. Never raises because of a value."""
        bits = bits_from(entropy)
        flat, shape = read_reals(values)
        reports = self.shape.new(flat.size)
        for start in range(0, flat.size, _CHUNK):
            part = self._bounds.units(flat[start : start + _CHUNK])
            reports[start : start + _CHUNK] = self._draw(part, bits)
        return reports[0] if shape is None else reports.reshape(shape)

    @abstractmethod
    def _draw(self, units: Reals, bits: BitSource) -> Reports:
        """One report for each number in [0, 1]."""

    def _details(self) -> str:
        return ""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(promise={self._guarantee!r}, {self._bounds!r}{self._details()})"


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """An unbiased mean and its standard error, from the spread of the reports, at least that of the coins.

    The error is that of the mean of a population of which those who reported are a random sample; for the mean of just
    these people it is too large by what their values differ.
    """

    value: float
    standard_error: float
    count: int

    def interval(self, beta: Price = BETA) -> tuple[float, float]:
        """Misses with probability about β."""
        z = two_sided(read_beta(beta))
        return self.value - z * self.standard_error, self.value + z * self.standard_error


class MeanRandomizer(NumberRandomizer):
    """One from whose reports a mean can be estimated without bias."""

    __slots__ = ()

    def _set(self, promise: Guarantee, bounds: object, unknown: Price | None) -> None:
        self._guarantee = promise
        self._bounds = Bounds.read(bounds, unknown)

    @abstractmethod
    def _moments(self, tally: npt.NDArray[Any], count: int) -> tuple[float, float]:
        """The mean, and the mean square, of what the reports stand for, as parts of the range."""

    @abstractmethod
    def variance(self, unit: float) -> float:
        """Of what one report stands for, as a part of the range squared, for a number this part of the way up."""

    @property
    def scale(self) -> float:
        """The largest standard error of one report, in the units of the value."""
        return float(self._bounds.width) * math.sqrt(max(self.variance(i / 64) for i in range(65)))

    def standard_error(self, count: int) -> float:
        """At most so large is the error of the mean of ``count`` people's values, whatever these are."""
        return self.scale / math.sqrt(count)

    def _finish(self, tally: npt.NDArray[Any], count: int) -> MeanEstimate:
        mean, square = self._moments(tally, count)
        least = min(self.variance(i / 64) for i in range(65)) / count  # so much whatever the values are
        spread = max((square - mean * mean) / max(count - 1, 1), least, 0.0)
        width = float(self._bounds.width)
        return MeanEstimate(float(self._bounds.low) + width * mean, width * math.sqrt(spread), count)


def rounded(units: Reals, steps: int, bits: BitSource) -> npt.NDArray[np.int64]:
    """Numbers of [0, 1] on the grid of 0..steps: up with the chance that keeps the mean, down otherwise."""
    scaled = units * steps
    below = np.minimum(np.floor(scaled), steps - 1)
    coins = (bits.words(units.size) >> np.uint64(11)) * 2.0**-53
    return (below + (coins < scaled - below)).astype(np.int64)


def read_reals(values: Any) -> tuple[Reals, tuple[int, ...] | None]:
    """Values as floats in a flat array, with its shape; None for one value. What is no number is NaN."""
    try:
        array = several(values)
    except Exception:  # a device reports whatever it is given
        array = None
    if array is None:
        return np.array([_real(values)]), None
    if array.dtype.kind in "biuf":
        with np.errstate(over="ignore"):
            return array.astype(np.float64).reshape(-1), array.shape
    return np.array([_real(value) for value in array.reshape(-1)], dtype=np.float64), array.shape


def _real(value: Any) -> float:
    if isinstance(value, str | bytes | bytearray | complex | np.complexfloating | np.ndarray):
        return math.nan
    try:
        if isinstance(value, int | Fraction):
            return float(min(max(value, -_HUGE), _HUGE))
        return float(value)
    except Exception:  # no number, whatever it raises
        return math.nan
