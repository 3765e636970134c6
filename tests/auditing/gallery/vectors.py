"""Many numbers, of which a few give the secret away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.auditing.gallery.exhibit import Exhibit, lap, laps, rng


def one_of(count: int, place: int, scale: float = 0.5) -> Callable[[int], np.ndarray[Any, Any]]:
    """The input in one coordinate, at ε = 1/scale, among others that know nothing."""

    def function(x: int) -> np.ndarray[Any, Any]:
        out = laps(1, count)
        out[place] = x + lap(scale)
        return out

    return function


def reused(count: int, place: int, other: int) -> Callable[[list[float]], np.ndarray[Any, Any]]:
    """Two coordinates share their noise: their difference is exact."""

    def function(values: list[float]) -> np.ndarray[Any, Any]:
        noise = laps(2, count)
        noise[other] = noise[place]
        return np.asarray(values) + noise

    return function


def fine_in(count: int, place: int) -> Callable[[float], np.ndarray[Any, Any]]:
    def function(x: float) -> np.ndarray[Any, Any]:
        out = laps(1, count)
        out[place] = x + rng.laplace(0, 1)
        return out

    return function


def spread(x: int) -> np.ndarray[Any, Any]:
    """A little in each of fifty: ε 1/10 fifty times over, sold as 1."""
    return x + laps(10, 50)


def mirrored(values: list[float]) -> list[float]:
    noise = lap(2)
    return [values[0] + noise, values[1] - noise]


def histogram(counts: list[int], *, scale: float) -> list[float]:
    return (np.asarray(counts) + laps(scale, len(counts))).tolist()


_ONE_MOVED = ([5] * 100, [5] * 54 + [6] + [5] * 45)
BROKEN = [
    Exhibit("a leak at coordinate 77 of 100", one_of(100, 77), before=False),
    Exhibit("the 100th of 200 numbers", one_of(200, 99), before=False),
    Exhibit(
        "noise reused in coordinates 17 and 18 of 40",
        reused(40, 17, 18),
        ([0] * 40, [0] * 18 + [1] + [0] * 21),
        before=False,
    ),
    Exhibit("noise reused in coordinates 3 and 54 of 100", reused(100, 3, 54), _ONE_MOVED, before=False),
    Exhibit("low bits in coordinate 5 of 8", fine_in(8, 5), (0.0, 1.0)),
    Exhibit("low bits in coordinate 61 of 80", fine_in(80, 61), (0.0, 1.0), before=False),
    Exhibit("fifty coordinates that each cost a tenth", spread, before=False),
    Exhibit("noise reused with the other sign", mirrored, ([0, 0], [1, 0])),
    Exhibit("a histogram at 2ε", lambda c: histogram(c, scale=0.5), ([3, 4, 5, 6], [3, 4, 6, 6])),
]
SOUND = [
    Exhibit("coordinate 77 of 100 at ε 1", one_of(100, 77, 1.0), before=False),
    Exhibit("a histogram", lambda c: histogram(c, scale=1), ([3, 4, 5, 6], [3, 4, 6, 6])),
    Exhibit("a histogram of 100", lambda c: histogram(c, scale=1), _ONE_MOVED, before=False),
    Exhibit("two hundred numbers of nothing", lambda x: laps(1, 200), (0, 1), before=False),
]
