"""The distribution of a sum of grid losses: tilt, transform, power, transform back, with every error counted.

Tilting by e^(θ·loss) moves the part of the distribution that decides δ into the middle of the window, so that rounding,
which is relative to the largest masses, is relative to δ as well (Koskela, Jälkö & Honkela 2020 for the transform;
the tilt is Esscher's). Error budget: ``docs/proofs/loss_distributions.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.privacy.losses.grid import GridLoss, Places
from tacit.privacy.losses.outline import Window
from tacit.privacy.losses.pair import Floats

_UNIT = 2.0**-53
_NEGLIGIBLE = -60.0  # frequencies whose product falls below e^-60 are bounded, not followed


@dataclass(frozen=True, slots=True)
class Total:
    """The tilted masses of the total loss at bottom + step·(0 … length-1), and what bounds their errors.

    The mass at loss s is weight·exp(log_scale - tilt·s), up to ``noise`` on each weight and a factor 1 ± ``relative``.
    At most ``above`` lies beyond the window; e^``log_folded`` of tilted mass from outside may be counted inside.
    """

    bottom: float
    step: float
    spectrum: Spectrum
    tilt: float
    log_scale: float
    relative: float
    above: float
    log_folded: float
    infinite: float
    blur: float

    @property
    def length(self) -> int:
        return self.spectrum.length

    @property
    def noise(self) -> float:
        return self.spectrum.noise


@dataclass(frozen=True, slots=True)
class Spectrum:
    """``length`` weights by their transform: ``values`` at ``frequencies``, next to nothing at the others.

    ``noise`` bounds the error of every weight.
    """

    length: int
    frequencies: NDArray[np.intp]
    values: NDArray[np.complex128]
    noise: float

    def weights(self) -> Floats:
        full = np.zeros(self.length // 2 + 1, dtype=np.complex128)
        full[self.frequencies] = self.values
        return np.fft.irfft(full, self.length)


@dataclass(frozen=True, slots=True)
class _Tilted:
    weights: Floats
    places: Places
    start: int
    heaviest: int
    log_norm: float
    error: float
    variance: float


def add_up(parts: list[tuple[GridLoss, int]], tilt: float, window: Window) -> Total:
    """The total of independent losses, each part taken ``count`` times, within ``window``."""
    step = parts[0][0].step
    tilted = [_tilt(part, tilt) for part, _ in parts]
    counts = [count for _, count in parts]
    origin = math.fsum(count * part.origin for part, count in parts)
    first = math.floor((window.bottom - origin) / step)
    length = _fast_length(math.ceil((window.top - window.bottom) / step) + 2)
    lowest, highest = _range(tilted, counts)
    spectrum = _convolve(tilted, counts, length, first - lowest)
    bottom, top = origin + step * first, origin + step * (first + length - 1)
    log_scale = math.fsum(count * part.log_norm for part, count in zip(tilted, counts, strict=True))
    far = max(abs(bottom), abs(top))
    relative = math.fsum(
        count * (t.error + part.error + 8 * _UNIT * abs(t.log_norm))
        for t, (part, count) in zip(tilted, parts, strict=True)
    )
    above = fold_up = fold_down = -math.inf
    if highest >= first + length:
        beyond = _log_mgf(parts, window.up)
        above = beyond - window.up * top
        fold_up = beyond - log_scale - (window.up - tilt) * top + relative
    if lowest < first:
        fold_down = _log_mgf(parts, window.down) - log_scale + (tilt - window.down) * bottom + relative
    gone = math.fsum(count * math.log1p(-min(part.infinite, 1 - _UNIT)) for part, count in parts)
    return Total(
        bottom=bottom,
        step=step,
        spectrum=spectrum,
        tilt=tilt,
        log_scale=log_scale,
        relative=relative + 16 * _UNIT * (tilt * far + 1),
        above=math.exp(min(above, 0.0)),
        log_folded=max(fold_up, fold_down) + math.log(2),
        infinite=-math.expm1(gone),
        blur=math.fsum(count * (part.blur + 4 * _UNIT * abs(part.origin)) for part, count in parts)
        + 8 * _UNIT * (far + abs(origin)),
    )


def _tilt(part: GridLoss, tilt: float) -> _Tilted:
    """Masses times e^(tilt·loss), made to sum to 1, and the logarithm of what they summed to."""
    filled = part.masses > 0
    masses, places = part.masses[filled], part.places[filled]
    exponents = np.log(masses) + tilt * (part.origin + part.step * places)
    top = float(exponents.max())
    weights = np.exp(exponents - top)
    total = float(weights.sum())
    start = int(places[0])
    reach = tilt * part.step * int(places[-1] - start) + abs(tilt) * abs(part.origin + part.step * start)
    weights /= total
    places = places - start
    mean = float(weights @ places)
    variance = float(weights @ (places - mean) ** 2)
    heaviest = int(np.argmax(weights))
    return _Tilted(weights, places, start, heaviest, top + math.log(total), 4 * _UNIT * (reach + 760), variance)


def _range(parts: list[_Tilted], counts: list[int]) -> tuple[int, int]:
    """The smallest and the largest total on the grid, as numbers of steps."""
    lowest = sum(count * part.start for part, count in zip(parts, counts, strict=True))
    return lowest, lowest + sum(count * int(part.places[-1]) for part, count in zip(parts, counts, strict=True))


def _log_mgf(parts: list[tuple[GridLoss, int]], tilt: float) -> float:
    """An upper bound on ln E[e^(tilt·S)] of the grid losses."""
    total = 0.0
    for part, count in parts:
        filled = part.masses > 0
        losses = part.losses()[filled]
        exponents = np.log(part.masses[filled]) + tilt * losses
        top = float(exponents.max())
        log_norm = top + math.log(float(np.exp(exponents - top).sum()))
        error = 4 * _UNIT * (2 * abs(tilt) * max(abs(float(losses[0])), abs(float(losses[-1]))) + 760) + part.error
        total += count * (log_norm + error + 2.0**-44 * (1 + abs(log_norm)))
    return total


def _convolve(parts: list[_Tilted], counts: list[int], length: int, first: int) -> Spectrum:
    """The circular convolution of all parts, each to its power; index 0 is ``first`` steps above the least total."""
    active: NDArray[np.intp] = np.arange(length // 2 + 1)
    log_size, phase, doubt = np.zeros(active.size), np.zeros(active.size), np.zeros(active.size)
    left_out = 0.0
    transform_error = 16 * _UNIT * math.log2(length)
    # Parts that spread most come first: after them few frequencies are left to follow.
    order = sorted(range(len(parts)), key=lambda i: -counts[i] * parts[i].variance)
    for i in order:
        count = counts[i]
        off, error = _off_centre(parts[i], active, length)
        beyond_one = off.real * (2 + off.real) + off.imag**2  # |1 + off|² - 1
        most = max(math.exp(_NEGLIGIBLE / count) - error, 0.0) ** 2 - 16 * _UNIT
        kept = np.flatnonzero(beyond_one > most - 1)
        if kept.size < active.size:
            left_out += (active.size - kept.size) * math.exp(_NEGLIGIBLE)
            active, log_size, phase, doubt = active[kept], log_size[kept], phase[kept], doubt[kept]
            off, beyond_one = off[kept], beyond_one[kept]
        size = np.abs(1 + off) + error
        logs = np.where(size < 0.5, np.log(size), np.log1p(np.maximum(beyond_one, -0.9)) / 2 + error / size)
        angles = np.arctan2(off.imag, 1 + off.real)
        log_size += count * logs
        phase += count * angles
        doubt += count * (2 * error / size) + 16 * _UNIT * (1 + count * (np.abs(logs) + np.abs(angles)))
        lasting = log_size > _NEGLIGIBLE
        if not lasting.all():
            left_out += float(np.exp(log_size[~lasting]).sum())
            active, log_size, phase, doubt = active[lasting], log_size[lasting], phase[lasting], doubt[lasting]
    sizes = np.exp(log_size)
    doubted = float((sizes * np.minimum(2 * doubt, 2.0)).sum()) + left_out + float(sizes.sum()) * transform_error
    noise = 2 * doubted / length * (1 + 2.0**-20) + 1e-290
    centre = sum(count * int(part.places[part.heaviest]) for part, count in zip(parts, counts, strict=True))
    turns = (active * ((first - centre) % length)) % length
    return Spectrum(length, active, sizes * np.exp(1j * (phase + (2 * math.pi / length) * turns)), noise)


def _off_centre(part: _Tilted, frequencies: NDArray[np.intp], length: int) -> tuple[NDArray[np.complex128], float]:
    """The transform of the part seen from its heaviest place, less 1, and a bound on the error of each value.

    Only the other places are transformed, so that a part that is nearly one atom is known to its own small scale.
    """
    weights = np.delete(part.weights, part.heaviest)
    places = np.delete(part.places, part.heaviest) - part.places[part.heaviest]
    rest = float(weights.sum())
    if frequencies.size * weights.size <= length * math.log2(length) / 8:
        values = np.empty(frequencies.size, dtype=np.complex128)
        rows = max(1, 2**18 // max(weights.size, 1))
        for i in range(0, frequencies.size, rows):
            turns = (frequencies[i : i + rows, None] * places) % length  # angles are reduced in whole numbers
            values[i : i + rows] = (np.exp((-2j * math.pi / length) * turns) * weights).sum(axis=1)
        return values - rest, 4 * _UNIT * (weights.size + 16) * rest
    folded = np.bincount(places % length, weights, length)
    return np.fft.rfft(folded)[frequencies] - rest, 16 * _UNIT * (math.log2(length) + 4) * rest


def _fast_length(least: int) -> int:
    """The smallest even length 2^a, 3·2^a or 5·2^a that is at least ``least``."""
    sizes = [factor << max(1, (max(least, 2) - 1) // factor).bit_length() for factor in (1, 3, 5)]
    return min(size for size in sizes if size >= least)
