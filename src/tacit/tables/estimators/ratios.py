"""Where a mean or a variance lies, given sums with noise: what would make the sums implausible is left out.

All in units of the range of the values, from 0 to 1. Proofs: docs/proofs/statements.md, docs/proofs/blends.md.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.tables.estimators.base import Noisy, Reading, Weights

__all__ = ["Ends", "mean_ends", "means", "no_row", "rows_ends", "variance_ends", "variance_weights"]

Floats = npt.NDArray[np.float64]
Ends = tuple[Floats, Floats]

_HALVINGS = 44
_CELLS = 6
"""Into so many parts the range of the mean is cut where the variance is looked for."""
_ROUNDS = 4
_LARGEST = 0.25
"""The largest variance of numbers between 0 and 1."""
_OF_MEAN = Fraction(1, 10)
"""The share of β for where the mean lies; the rest is for the variance around it."""


def means(sums: Noisy, reading: Reading) -> Floats:
    """Σt over how many, of at least one row."""
    made: Floats = np.clip(sums.read(reading.total) / np.maximum(sums.read(reading.known), 1.0), 0.0, 1.0)
    return made


def no_row(sums: Noisy, reading: Reading, beta: Fraction) -> npt.NDArray[np.bool_]:
    """Whether the sums may be noise alone."""
    rows = np.maximum(sums.read(reading.known), 0.0)
    found: npt.NDArray[np.bool_] = rows <= sums.furthest(reading.known, beta)
    return found


def rows_ends(sums: Noisy, reading: Reading, beta: Fraction) -> Ends:
    """How many rows there are, at least none."""
    rows, off = sums.read(reading.known), sums.furthest(reading.known, beta)
    return np.maximum(rows - off, 0.0), np.maximum(rows + off, 0.0)


def mean_ends(sums: Noisy, reading: Reading, middle: Floats, beta: Fraction) -> Ends:
    """The ends of {m : P[|Σ(t - m) of noise| > |Σ(t - m) of the sums|] ≥ β}; all of it where there may be no row."""
    blind = no_row(sums, reading, beta)

    def outward(end: float) -> Floats:
        """The last plausible m from the middle to an end: that end, or found by halving."""
        last = np.full_like(middle, end)
        inside, outside = middle.copy(), last.copy()
        for _ in range(_HALVINGS):
            between = (inside + outside) / 2
            out = _implausible(sums, reading, between, float(beta))
            inside, outside = np.where(out, inside, between), np.where(out, between, outside)
        return np.where(_implausible(sums, reading, last, float(beta)) & ~blind, outside, last)

    return outward(0.0), outward(1.0)


def _implausible(sums: Noisy, reading: Reading, m: Floats, beta: float) -> npt.NDArray[np.bool_]:
    """Whether, if m were the mean, the noise would have to be larger than it is but β of the time."""
    weights = _column(reading.total) - m * _column(reading.known)
    gap = np.abs((weights * sums.values).sum(axis=0))
    return sums.noise.unlikely(gap, weights, sums.mechanism.scale, beta)


def variance_ends(sums: Noisy, reading: Reading, beta: Fraction) -> Ends:
    """The least and the most the (population) variance can be.

    Were v the variance around the true mean m, Σ(t - m)² - v·n would be noise alone. For m in a range that holds it but
    for a tenth of β, in cells, all v are left out for which that would take more noise than there is but for the rest
    of β: no v and m of a cell have larger weights than the largest in it, which get smaller as v is narrowed down.
    """
    aside = beta * _OF_MEAN
    blind = no_row(sums, reading, aside)
    first, last = mean_ends(sums, reading, means(sums, reading), aside)
    edges = first + (last - first) * np.linspace(0.0, 1.0, _CELLS + 1)[:, None]
    left, right = edges[:-1].ravel(), edges[1:].ravel()
    known, total, squares = (np.tile(sums.read(one), _CELLS) for one in (reading.known, reading.total, reading.squares))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        turn = np.clip(np.where(known > 0, total / known, left), left, right)
    around = [squares - 2 * m * total + m**2 * known for m in (left, turn, right)]
    fewest, most = np.minimum.reduce(around), np.maximum.reduce(around)
    n = np.maximum(known, np.finfo(float).tiny)
    low, high = np.zeros_like(n), np.full_like(n, _LARGEST)
    for _ in range(_ROUNDS):
        weights = _largest_weights(reading, (left, right), (low, high))
        off = sums.noise.furthest(weights, sums.mechanism.scale, float(beta - aside))
        with np.errstate(over="ignore"):
            low, high = np.maximum(low, (fewest - off) / n), np.minimum(high, (most + off) / n)
        low, high = np.minimum(low, _LARGEST), np.maximum(high, 0.0)
    empty = (low > high).reshape(_CELLS, -1)
    least = np.where(empty, np.inf, low.reshape(_CELLS, -1)).min(axis=0)
    largest = np.where(empty, -np.inf, high.reshape(_CELLS, -1)).max(axis=0)
    return np.where(blind, 0.0, least), np.where(blind, _LARGEST, largest)


def variance_weights(reading: Reading, mean: float, variance: float) -> Weights:
    """Σ(t - m)² - v·n, as weights of the parts."""
    m, v = Fraction(mean), Fraction(variance)
    parts = zip(reading.squares, reading.total, reading.known, strict=True)
    return tuple(second - 2 * m * first + (m**2 - v) * known for second, first, known in parts)


def _largest_weights(reading: Reading, mean: Ends, variance: Ends) -> Floats:
    """Of each part the largest absolute weight over a cell: it is a parabola in m and a line in v."""
    found = []
    for second, first, known in zip(reading.squares, reading.total, reading.known, strict=True):
        turn = np.clip(float(first / known) if known else 0.0, *mean)
        tried = [
            np.abs(float(second) - 2 * m * float(first) + (m**2 - v) * float(known))
            for m in (*mean, turn)
            for v in variance
        ]
        found.append(np.maximum.reduce(tried))
    return np.stack(found)


def _column(weights: Weights) -> Floats:
    return np.array(weights, dtype=np.float64)[:, None]
