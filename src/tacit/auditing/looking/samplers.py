"""Could this output have come from that input? Samplers of floats leave gaps, and the gaps move with the value.

A float sampler turns a uniform number on a grid of 2^-53 into noise. Where few grid points fall on each float of the
output, most floats cannot be reached from a given value, and another value reaches others (Mironov 2012). A sampler is
presumed when it explains nearly all outputs of one input; what it then says about the other input is a feature.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.auditing.claims import Profile
from tacit.auditing.looking.bits import finest
from tacit.auditing.looking.feature import Feature
from tacit.auditing.looking.scales import locations, scales
from tacit.auditing.reading.outcomes import Codes, Outcomes, Reals

__all__ = ["sampler_features"]

_FIRST, _TRIED = 12, 64
_SIZES = _FIRST, _TRIED, 512
_EXPLAINS, _TELLS = 0.98, 0.93
_HALF_OF_GAUSSIANS = 0.674489750196
_AROUND = (0, 1, -1, 2, -2, 3, -3, 4, -4)
_MOST_PER_FLOAT = 8.0
_COORDINATES = 8
_LATTICE = 6  # last bits of a float that are zero on a lattice
_log = np.frompyfunc(math.log, 1, 1)  # the one of the C library, as samplers use it: numpy's may differ in the last bit


@dataclass(frozen=True, slots=True)
class Inverse:
    """Noise that is a function of one uniform number on a grid; ``guess`` inverts it, about."""

    name: str
    grid: float
    guess: Callable[[Reals], Reals]
    """The noise in units of its scale → the uniform number."""
    noise: Callable[[Reals, Reals], Reals]
    """The uniform number and the noise to be met → the noise, in units."""
    median: float = math.log(2)
    """Of the noise's size, in units."""
    divided: bool = False
    """Whether the noise is divided by a rate instead of multiplied by a scale."""

    def reaches(self, outputs: Reals, location: float, scale: float) -> Codes:
        """1 where the output can have come from this value, 0 where it cannot, 2 where the grid is too fine to tell."""
        with np.errstate(all="ignore"):
            units = (outputs - location) / scale
            near = np.nan_to_num(self.guess(units), nan=0.0, posinf=0.0, neginf=0.0)
            m = np.rint(near / self.grid)
            per_float = np.abs(self.guess(units + np.spacing(np.abs(outputs)) / scale) - near) / self.grid
        found = np.where(per_float > _MOST_PER_FLOAT, 2, 0)
        open_ = np.flatnonzero((found == 0) & np.isfinite(outputs))
        for around in _AROUND:
            uniform = np.maximum(m[open_] + around, 1) * self.grid
            inside = uniform < 1 + self.grid / 2
            place = open_[inside]
            noise = self.noise(uniform[inside], units[place])
            made = location + (noise / (1 / scale) if self.divided else noise * scale)
            found[place[made == outputs[place]]] = 1
            open_ = open_[found[open_] == 0]
            if not open_.size:
                break
        return found


def _two_sided(uniform: Reals, units: Reals) -> Reals:
    found: Reals = -np.copysign(1.0, units) * _logs(uniform)
    return found


def _logs(values: Reals) -> Reals:
    found: Reals = np.asarray(_log(values), dtype=np.float64)
    return found


def _gumbel(uniform: Reals, units: Reals) -> Reals:
    below = np.minimum(uniform, 1 - 2.0**-53)
    return -_logs(-_logs(below))


def _logistic(uniform: Reals, units: Reals) -> Reals:
    below = np.minimum(uniform, 1 - 2.0**-53)
    return _logs(below / (1.0 - below))


SAMPLERS: tuple[Inverse, ...] = (
    Inverse("Laplace", 2.0**-52, lambda z: np.exp(-np.abs(z)), _two_sided),
    Inverse("Laplace", 2.0**-53, lambda z: np.exp(-np.abs(z)), _two_sided),
    Inverse("Laplace", 2.0**-52, lambda z: np.exp(-np.abs(z)), _two_sided, divided=True),
    Inverse("Laplace", 2.0**-53, lambda z: np.exp(-np.abs(z)), _two_sided, divided=True),
    Inverse("Gumbel", 2.0**-53, lambda z: np.exp(-np.exp(-z)), _gumbel, 0.745),
    Inverse("logistic", 2.0**-53, lambda z: 1 / (1 + np.exp(-z)), _logistic, math.log(3)),
)


def sampler_features(first: Outcomes, second: Outcomes, pair: tuple[Any, Any], profile: Profile) -> Iterator[Feature]:
    """Reachability by every sampler that explains the outputs of one of the neighbours, with its scale."""
    if not first.width or min(len(first), len(second)) < _TRIED:
        return
    moved = [(j, value, other) for j, value, other in locations(pair, first.width) if value != other]
    for j, value, other in moved[:_COORDINATES]:
        columns = first.numbers[:, j], second.numbers[:, j]
        if not _fine(first, second, j):
            continue
        presumed = _presumed(columns, (value, other), profile)
        if presumed is not None:
            sampler, scale = presumed
            for location in (value, other):
                yield _reachable(sampler, j, location, scale, many=first.width > 1)
    yield from _circles(first, second, pair, profile)


def _fine(first: Outcomes, second: Outcomes, j: int) -> bool:
    """Whether a coordinate holds floats that use their last bits: on a lattice no sampler needs to be presumed."""
    bits = np.concatenate([first.bits[:_TRIED, j], second.bits[:_TRIED, j]])
    values = np.concatenate([first.numbers[:_TRIED, j], second.numbers[:_TRIED, j]])
    if first.whole_number[:_TRIED, j].any() or not np.isfinite(values).all():
        return False
    with np.errstate(divide="ignore"):
        unused = finest(bits) - np.floor(np.log2(np.maximum(np.abs(values), 1e-300))) + 52
    return float(np.median(unused)) < _LATTICE


def _presumed(
    columns: tuple[Reals, Reals], values: tuple[float, float], profile: Profile
) -> tuple[Inverse, float] | None:
    far = [_farthest(column, value) for column, value in zip(columns, values, strict=True)]
    for sampler in SAMPLERS:
        for scale in scales(columns, values, profile, sampler.median):
            if all(_explains(sampler, [column[:size] for column in far], values, scale) for size in _SIZES):
                return sampler, scale
    return None


def _farthest(column: Reals, value: float) -> Reals:
    """The outputs farthest from the value, where the grid has the fewest points on each float."""
    kept = column[np.isfinite(column)]
    found: Reals = kept[np.argsort(-np.abs(kept - value), kind="stable")[: _SIZES[-1]]]
    return found


def _explains(sampler: Inverse, columns: Sequence[Reals], values: tuple[float, float], scale: float) -> bool:
    """Whether nearly all outputs can be reached from their own value, and not all from the other one's."""
    for column, value in zip(columns, values, strict=True):
        if float((sampler.reaches(column, value, scale) > 0).mean()) < _EXPLAINS:
            return False
    if len(columns[0]) != _TRIED:
        return True
    crossed = [sampler.reaches(column, value, scale) for column, value in zip(columns, values[::-1], strict=True)]
    return min(float((codes > 0).mean()) for codes in crossed) < _TELLS


def _reachable(sampler: Inverse, j: int, location: float, scale: float, *, many: bool) -> Feature:
    def of(o: Outcomes) -> Codes:
        found: Codes = np.where(np.isfinite(o.numbers[:, j]), sampler.reaches(o.numbers[:, j], location, scale), 3)
        return np.where(found == 2, 1, found)

    words = ("no", "yes", "yes", "no number")
    shown = f"output[{j}]" if many else "output"
    name = f"{shown} reachable from {location:g} by {sampler.name} noise of scale {scale:.6g}"
    return Feature(name, of, ordered=False, words=lambda code: words[code], burden=3)


_WHOLE = 0.06  # how near a whole number counts as one
_SHARP = 0.04  # the error of a float's last bit that still tells


def _circles(first: Outcomes, second: Outcomes, pair: tuple[Any, Any], profile: Profile) -> Iterator[Feature]:
    """Two Gaussians of one Box-Muller draw: their radius, or their place, lies on the grid of the uniforms."""
    places = {j: (value, other) for j, value, other in locations(pair, first.width)}
    for j in range(min(first.width - 1, _COORDINATES)):
        if j not in places or j + 1 not in places:
            continue
        values = places[j], places[j + 1]
        columns = first.numbers[:, j], second.numbers[:, j]
        if not _fine(first, second, j) or (values[0][0] == values[0][1] and values[1][0] == values[1][1]):
            continue
        for scale in scales(columns, values[0], profile, _HALF_OF_GAUSSIANS)[:24]:
            for polar in (False, True):
                own = [
                    _off_grid(part.numbers[:, j : j + 2], (values[0][k], values[1][k]), scale, polar)
                    for k, part in enumerate((first, second))
                ]
                sharp = np.concatenate([off[np.isfinite(off)] for off in own])
                if sharp.size >= 12 and float((sharp < 2 * _WHOLE).mean()) > 0.9:
                    for k in range(2):
                        yield _on_circle(j, (values[0][k], values[1][k]), scale, polar)
                    return


def _off_grid(outputs: Reals, centre: tuple[float, float], scale: float, polar: bool) -> Reals:
    """How far the uniform number behind two Gaussians is from the grid, in steps; NaN where floats cannot tell."""
    with np.errstate(all="ignore"):
        z = (outputs - np.array(centre)) / scale
        square = (z**2).sum(axis=1)
        inner = np.exp(-square / 2)
        error = (np.abs(z) * np.spacing(np.abs(outputs)) / scale).sum(axis=1) + 2.0**-53 * (square + 2)
        if polar:
            place = z[:, 0] * np.sqrt(inner / np.maximum(square, 1e-300))
            steps, blur = place * 2.0**52, np.abs(place) * 2.0**52 * (error / 2 + np.spacing(1.0)) / 2
            blur = (
                blur + 2.0**52 * np.sqrt(inner / np.maximum(square, 1e-300)) * np.spacing(np.abs(outputs[:, 0])) / scale
            )
        else:
            steps, blur = inner * 2.0**53, inner * 2.0**53 * error
        off = np.abs(steps - np.rint(steps))
        found: Reals = np.where((blur < _SHARP) & (steps != 0), off, np.nan)
    return found


def _on_circle(j: int, centre: tuple[float, float], scale: float, polar: bool) -> Feature:
    def of(o: Outcomes) -> Codes:
        off = _off_grid(o.numbers[:, j : j + 2], centre, scale, polar)
        return np.where(np.isnan(off), 2, (off < 2 * _WHOLE).astype(np.int64))

    words = ("no", "yes", "too coarse to tell")
    name = f"output[{j}] and output[{j + 1}] reachable from {centre[0]:g} and {centre[1]:g} by one Box-Muller draw"
    return Feature(name, of, ordered=False, words=lambda code: words[code], burden=3)
