"""How far can the median of *these* values move: locally, within k replacements, and smoothly.

Values are whole numbers between ``low`` and ``high``, n of them, n public, one replaced between neighbours. All results
are exact. They depend on the values: none of them may be released. Proof: docs/proofs/noise_that_follows.md.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.mechanisms.ranks.line import Line
from tacit.mechanisms.ranks.quantile import sorted_values
from tacit.mechanisms.selection.scores import Described
from tacit.mechanisms.shared.quantised import multiples
from tacit.noise.lattice import Lattice

__all__ = ["MOST_STEPS", "middle", "replacements_until", "smooth_sensitivity", "sorted_points", "swing"]

Integers = npt.NDArray[np.int64]

MOST_STEPS = 4096
"""Beyond so many replacements the median is taken to move by the whole range: public, and bounds the work."""


def sorted_points(values: Any, n: int, lattice: Lattice, line: Line) -> Integers:
    """The n values in order, as points of the line. NaN is the lower end: a value that is missing is not an error."""
    ordered = sorted_values(values)
    given = len(values)
    if given != n:
        raise InvalidParameter("values", given=Described(f"{given} values"), allowed=f"{n}: their number is public")
    points = multiples(ordered, lattice)
    assert isinstance(points, np.ndarray)
    missing = np.full(n - ordered.size, line.low, dtype=np.int64)
    return np.concatenate((missing, line.clamped(points)))


def middle(points: Integers) -> int:
    """The place of the median from 0 on; of two in the middle, the lower."""
    return (points.size - 1) // 2


def swing(points: Integers, line: Line, k: int) -> int:
    """The largest local sensitivity of the median among all values that k replacements lead to.

    >>> swing(np.array([1, 4, 9]), Line(0, 15), 0), swing(np.array([1, 4, 9]), Line(0, 15), 1)
    (5, 11)
    """
    highest = middle(points) + np.arange(k + 2)
    return int((_at(points, line, highest) - _at(points, line, highest - k - 1)).max())


def smooth_sensitivity(points: Integers, line: Line, decay: Fraction) -> Fraction:
    """The largest decay^k·swing(k): at least the local sensitivity, and a neighbour's differs by a factor ≤ 1/decay.

    >>> smooth_sensitivity(np.array([1, 4, 9]), Line(0, 15), Fraction(1, 2))
    Fraction(11, 2)
    """
    width = line.high - line.low
    steps = min(points.size, MOST_STEPS)
    # All over decay.denominator^k, so that nothing but integers is compared and no fraction has to be reduced.
    best, power, scale = 0, 1, 1
    for k in range(steps):
        if power * width <= best:
            return Fraction(best, scale)
        best = max(best, power * swing(points, line, k))
        best, power, scale = best * decay.denominator, power * decay.numerator, scale * decay.denominator
    return Fraction(max(best, power * width), scale)


def replacements_until(points: Integers, line: Line, bound: int) -> int:
    """The fewest replacements after which the local sensitivity is above the bound; bound < the range.

    >>> [replacements_until(np.array([1, 4, 9]), Line(0, 15), bound) for bound in (4, 5, 14)]
    [0, 1, 3]
    """
    low, high = 0, points.size  # with all n replaced the swing is the whole range
    while low < high:
        tried = (low + high) // 2
        low, high = (low, tried) if swing(points, line, tried) > bound else (tried + 1, high)
    return low


def _at(points: Integers, line: Line, places: npt.NDArray[np.intp]) -> Integers:
    """The values at these places; the lower end before the first, the upper end after the last."""
    inside: Integers = points[np.clip(places, 0, points.size - 1)]
    return np.where(places < 0, line.low, np.where(places >= points.size, line.high, inside))
