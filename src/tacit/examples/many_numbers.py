"""Many releases of one number side by side, by mechanisms that release one at a time: what an audit draws."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.examples.many_coins import coins_exp, coins_near
from tacit.mechanisms.additive.bounded_laplace import BoundedLaplace
from tacit.mechanisms.additive.staircase import Staircase
from tacit.noise.coins import uniform_below
from tacit.noise.entropy import BitSource
from tacit.noise.laplace import DiscreteLaplaceSampler, GeometricSampler

__all__ = ["bounded_laplace_releases", "staircase_releases"]

_WIDE = 1 << 61  # from here on points are drawn as Python integers


def bounded_laplace_releases(
    m: BoundedLaplace, value: float, count: int, entropy: BitSource
) -> npt.NDArray[np.float64]:
    """Many independent releases of one value."""
    centre = m._centre(value)
    if max(map(abs, m._domain)) >= _WIDE:
        return np.array([m._lattice.value(m._draw(centre, entropy)) for _ in range(count)])
    return m._lattice.values(_bounded_draws(m, centre, count, entropy))


def _bounded_draws(m: BoundedLaplace, centre: int, count: int, entropy: BitSource) -> npt.NDArray[np.int64]:
    """What `_draw` gives, many times: all that are missing are proposed at once, and the rejected again."""
    low, high = m._domain
    flat = high - low < m._units
    sampler = DiscreteLaplaceSampler(m._units)
    out = np.empty(count, dtype=np.int64)
    missing = np.arange(count)
    while missing.size:
        if flat:
            points = low + uniform_below(high - low + 1, missing.size, entropy)
            kept = coins_exp(np.abs(points - centre).astype(np.int64), m._units, entropy)
        else:
            points = centre + sampler.array(missing.size, entropy)
            kept = (points >= low) & (points <= high)
        out[missing[kept]] = points[kept]
        missing = missing[~kept]
    return out


def staircase_releases(m: Staircase, value: float, count: int, entropy: BitSource) -> npt.NDArray[np.float64]:
    """Many independent releases of one value."""
    centre = m._lattice.nearest(Fraction(value))
    if abs(centre) >= _WIDE or m._period / m._guarantee.eps >= 1 << 50:
        return np.array([m._lattice.value(centre + m._draw(entropy)) for _ in range(count)])
    return m._lattice.values(centre + _staircase_draws(m, count, entropy))


def _staircase_draws(m: Staircase, count: int, entropy: BitSource) -> npt.NDArray[np.int64]:
    """What `_draw` gives, many times: the rejected zeros are drawn again."""
    steps_down = GeometricSampler(1 / m._guarantee.eps)
    out = np.empty(count, dtype=np.int64)
    missing = np.arange(count)
    while missing.size:
        negative = (entropy.words(missing.size) & np.uint64(1)).astype(np.bool_)
        sizes = steps_down.array(missing.size, entropy) * m._period
        sizes = sizes.astype(np.int64) + _staircase_places(m, missing.size, entropy)
        out[missing] = np.where(negative, -sizes, sizes)
        missing = missing[negative & (sizes == 0)]
    return out


def _staircase_places(m: Staircase, count: int, entropy: BitSource) -> npt.NDArray[np.int64]:
    """What `_place` gives, many times."""
    upper, lower = m._upper, m._period - m._upper
    chance = upper / (upper + lower * math.exp(-min(float(m._guarantee.eps), 700.0)))
    is_upper = coins_near(np.full(count, chance), entropy, lambda _: m._is_upper)
    out = np.empty(count, dtype=np.int64)
    for chosen, start, size in ((is_upper, 0, upper), (~is_upper, upper, lower)):
        rows = np.flatnonzero(chosen)
        if rows.size:
            out[rows] = start + uniform_below(size, rows.size, entropy)
    return out
