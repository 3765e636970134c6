"""Guesses at what noise was added to, and how much: values of the input, scales that people write."""

from __future__ import annotations

import math
from collections.abc import Sized
from typing import Any

import numpy as np

from tacit.auditing.calls.inputs import Again
from tacit.auditing.claims import Profile
from tacit.auditing.reading.items import read_item
from tacit.auditing.reading.outcomes import Reals

__all__ = ["locations", "scales"]

_MULTIPLES = (1, 2, 3, 4, 5, 8, 10)
_WITHIN = 0.08  # of the scale seen, for numbers that are written with three digits


def locations(pair: tuple[Any, Any], width: int) -> list[tuple[int, float, float]]:
    """(coordinate, value under the first neighbour, under the second), where they differ."""
    read = [[float(leaf) for leaf in read_item(data).leaves] for data in map(_kept, pair)]
    found: list[tuple[int, float, float]] = []
    if len(read[0]) == len(read[1]) == width:
        found += [(j, a, b) for j, (a, b) in enumerate(zip(*read, strict=True))]
    elif width == 1:
        sums = [sum(values) for values in read]
        sizes = [float(len(data)) if isinstance(data, Sized) else math.nan for data in pair]
        means = [total / len(values) if values else math.nan for total, values in zip(sums, read, strict=True)]
        found += [(0, a, b) for a, b in (sizes, sums, means) if a != b]
    return [(j, a, b) for j, a, b in found if math.isfinite(a) and math.isfinite(b)]


def _kept(data: Any) -> Any:
    """What was in an iterator."""
    return data.items if isinstance(data, Again) else data


def scales(columns: tuple[Reals, Reals], values: tuple[float, float], profile: Profile, median: float) -> list[float]:
    """Scales near the one seen: what the claim asks for at this distance, and round numbers and their inverses.

    ``median`` is that of the noise's size at scale 1.
    """
    seen = _seen(columns, values) / median
    if not seen or not math.isfinite(seen):
        return []
    distance = abs(values[0] - values[1]) or 1.0
    asked = []
    for point in profile.points:
        if point.epsilon:
            shape = math.sqrt(2 * math.log(1.25 / point.delta)) if point.delta else 1.0
            asked += [k * d * shape / point.epsilon for k in _MULTIPLES for d in (distance, 1.0)]
    round_ones = [*_round_near(seen), *(1 / one for one in _round_near(1 / seen))]
    close = [one for one in [*asked, *round_ones] if abs(one / seen - 1) < _WITHIN]
    return list(dict.fromkeys(close))


def _seen(columns: tuple[Reals, Reals], values: tuple[float, float]) -> float:
    """The median of the distances, which a few wild ones do not move."""
    off = np.concatenate([np.abs(column - value) for column, value in zip(columns, values, strict=True)])
    off = off[np.isfinite(off)]
    return float(np.median(off)) if off.size else 0.0


def _round_near(number: float) -> list[float]:
    """Decimals of one, two and three digits near a number, the shortest first."""
    found: dict[float, None] = {}
    for digits in (1, 2, 3):
        unit = 10.0 ** (math.floor(math.log10(number)) - digits + 1)
        for k in range(math.floor(number * (1 - _WITHIN) / unit), math.ceil(number * (1 + _WITHIN) / unit) + 1):
            if k > 0:
                found[float(f"{k * unit:.12g}")] = None
    return list(found)
