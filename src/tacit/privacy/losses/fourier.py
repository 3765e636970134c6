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

from tacit.privacy.losses.grid import GridLoss
from tacit.privacy.losses.outline import Window
from tacit.privacy.losses.pair import Floats

_UNIT = 2.0**-53
_NEGLIGIBLE = -60.0  # frequencies whose product falls below e^-60 are bounded, not followed


@dataclass(frozen=True, slots=True)
class Total:
    """The tilted masses of the total loss on an even grid, and what bounds their errors.

    The mass at loss s is weights·exp(log_scale - tilt·s), up to ``noise`` on each weight and a factor 1 ± ``relative``.
    At most ``above`` lies beyond the window; e^``log_folded`` of tilted mass from outside may be counted inside.
    """

    losses: Floats
    step: float
    weights: Floats
    tilt: float
    log_scale: float
    noise: float
    relative: float
    above: float
    log_folded: float
    infinite: float
    blur: float


@dataclass(frozen=True, slots=True)
class _Tilted:
    weights: Floats
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
    weights, noise = _convolve(tilted, counts, length)
    shift = (first - sum(count * part.start for part, count in parts)) % length
    weights = np.roll(weights, -shift)
    losses: Floats = origin + step * np.arange(first, first + length, dtype=np.float64)
    log_scale = math.fsum(count * part.log_norm for part, count in zip(tilted, counts, strict=True))
    far = max(abs(float(losses[0])), abs(float(losses[-1])))
    relative = math.fsum(
        count * (t.error + part.error + 8 * _UNIT * abs(t.log_norm))
        for t, (part, count) in zip(tilted, parts, strict=True)
    )
    bottom, top = float(losses[0]), float(losses[-1])
    lowest, highest = _range(parts)
    above = fold_up = fold_down = -math.inf
    if highest >= first + length:
        beyond = _log_mgf(parts, window.up)
        above = beyond - window.up * top
        fold_up = beyond - log_scale - (window.up - tilt) * top + relative
    if lowest < first:
        fold_down = _log_mgf(parts, window.down) - log_scale + (tilt - window.down) * bottom + relative
    gone = math.fsum(count * math.log1p(-min(part.infinite, 1 - _UNIT)) for part, count in parts)
    return Total(
        losses=losses,
        step=step,
        weights=weights,
        tilt=tilt,
        log_scale=log_scale,
        noise=noise,
        relative=relative + 16 * _UNIT * (tilt * far + 1),
        above=math.exp(min(above, 0.0)),
        log_folded=max(fold_up, fold_down) + math.log(2),
        infinite=-math.expm1(gone),
        blur=math.fsum(count * (part.blur + 4 * _UNIT * abs(part.origin)) for part, count in parts)
        + 8 * _UNIT * (far + abs(origin)),
    )


def _tilt(part: GridLoss, tilt: float) -> _Tilted:
    """Masses times e^(tilt·loss), made to sum to 1, and the logarithm of what they summed to."""
    with np.errstate(divide="ignore"):
        exponents = np.log(part.masses) + tilt * part.losses()
    top = float(exponents.max())
    weights = np.exp(exponents - top)
    total = float(weights.sum())
    reach = tilt * part.step * part.masses.size + abs(tilt) * abs(part.origin + part.step * part.start)
    weights /= total
    places = np.arange(weights.size)
    mean = float((weights * places).sum())
    variance = float((weights * (places - mean) ** 2).sum())
    return _Tilted(weights, top + math.log(total), 4 * _UNIT * (reach + 760), variance)


def _range(parts: list[tuple[GridLoss, int]]) -> tuple[int, int]:
    """The smallest and the largest total on the grid, as numbers of steps."""
    lowest = highest = 0
    for part, count in parts:
        filled = np.flatnonzero(part.masses)
        lowest += count * (part.start + int(filled[0]))
        highest += count * (part.start + int(filled[-1]))
    return lowest, highest


def _log_mgf(parts: list[tuple[GridLoss, int]], tilt: float) -> float:
    """An upper bound on ln E[e^(tilt·S)] of the grid losses."""
    total = 0.0
    for part, count in parts:
        t = _tilt(part, tilt)
        total += count * (t.log_norm + t.error + part.error + 2.0**-44 * (1 + abs(t.log_norm)))
    return total


def _convolve(parts: list[_Tilted], counts: list[int], length: int) -> tuple[Floats, float]:
    """The circular convolution of all parts, each to its power, and a bound on the error of every entry."""
    active: NDArray[np.intp] = np.arange(length // 2 + 1)
    log_size, phase, doubt = np.zeros(active.size), np.zeros(active.size), np.zeros(active.size)
    left_out = 0.0
    transform_error = 16 * _UNIT * math.log2(length)
    # Parts that spread most come first: after them few frequencies are left to follow.
    order = sorted(range(len(parts)), key=lambda i: -counts[i] * parts[i].variance)
    for i in order:
        weights, count = parts[i].weights, counts[i]
        if active.size * weights.size <= length * math.log2(length) / 8:
            values, error = _direct(weights, active, length), 4 * _UNIT * (weights.size + 16)
        else:
            values, error = np.fft.rfft(_fold(weights, length))[active], transform_error + 64 * _UNIT
        size = np.abs(values) + error
        kept = size > math.exp(_NEGLIGIBLE / count)
        if not kept.all():
            left_out += float(kept.size - np.count_nonzero(kept)) * math.exp(_NEGLIGIBLE)
            active, log_size, phase, doubt = active[kept], log_size[kept], phase[kept], doubt[kept]
            values, size = values[kept], size[kept]
        log_size += count * np.log(size)
        phase += count * np.angle(values)
        doubt += count * (error / size + 16 * _UNIT)
        kept = log_size > _NEGLIGIBLE
        if not kept.all():
            left_out += float(np.exp(log_size[~kept]).sum())
            active, log_size, phase, doubt = active[kept], log_size[kept], phase[kept], doubt[kept]
    sizes = np.exp(log_size)
    spectrum = np.zeros(length // 2 + 1, dtype=np.complex128)
    spectrum[active] = sizes * np.exp(1j * phase)
    doubted = float((sizes * np.minimum(2 * doubt, 2.0)).sum()) + left_out + float(sizes.sum()) * transform_error
    return np.fft.irfft(spectrum, length), 2 * doubted / length * (1 + 2.0**-20) + 1e-290


def _direct(weights: Floats, frequencies: NDArray[np.intp], length: int) -> NDArray[np.complex128]:
    """The transform at few frequencies, by its definition; angles are reduced in whole numbers."""
    places = np.arange(weights.size)
    values = np.empty(frequencies.size, dtype=np.complex128)
    rows = max(1, 2**18 // weights.size)
    for i in range(0, frequencies.size, rows):
        turns = (frequencies[i : i + rows, None] * places) % length
        values[i : i + rows] = (np.exp((-2j * math.pi / length) * turns) * weights).sum(axis=1)
    return values


def _fold(weights: Floats, length: int) -> Floats:
    """Masses of equal index modulo ``length`` added up, which the transform would do anyway."""
    padded = np.zeros(-(-weights.size // length) * length)
    padded[: weights.size] = weights
    result: Floats = padded.reshape(-1, length).sum(axis=0)
    return result


def _fast_length(least: int) -> int:
    """The smallest even length 2^a, 3·2^a or 5·2^a that is at least ``least``."""
    sizes = [factor << max(1, (max(least, 2) - 1) // factor).bit_length() for factor in (1, 3, 5)]
    return min(size for size in sizes if size >= least)
