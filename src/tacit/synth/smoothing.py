"""Noisy one-way counts made plausible: smooth where neighbours are alike, never below zero, of one total.

Post-processing of released numbers alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["denoised", "of_total", "total_of"]

Reals = npt.NDArray[np.float64]

THRESHOLD = 2.0
"""Wavelet coefficients of fewer standard deviations are taken for noise."""
_LEVELS = 6


def denoised(counts: Reals, scale: float, *, ordered: bool) -> Reals:
    """Counts without what noise of this scale explains, by Haar wavelets at all shifts (Coifman & Donoho 1995).

    >>> flat = denoised(np.array([9.0, 11, 10, 8, 12, 500, 10, 11]), 2.0, ordered=True)
    >>> bool(flat[:5].std() < 1.2), bool(flat[5] > 450)
    (True, True)
    """
    if not ordered or len(counts) < 4:
        return counts.copy()
    size = len(counts)
    current = np.concatenate([counts[::-1], counts, counts[::-1]])
    details: list[Reals] = []
    for level in range(min(_LEVELS, int(np.log2(size)))):
        ahead = np.roll(current, -(1 << level))
        details.append((current - ahead) / 2)
        current = (current + ahead) / 2
    for level in reversed(range(len(details))):
        spread = scale / np.sqrt(2.0 ** (level + 1))
        kept = np.where(np.abs(details[level]) > THRESHOLD * spread, details[level], 0.0)
        current = ((current + kept) + np.roll(current - kept, 1 << level)) / 2
    return current[size : 2 * size]


def of_total(counts: Reals, total: float) -> Reals:
    """The nearest counts, in squares, that are nowhere below zero and have this total.

    >>> of_total(np.array([5.0, -2.0, 3.0]), 4.0).tolist()
    [3.0, 0.0, 1.0]
    """
    down = np.sort(counts)[::-1]
    excess = (np.cumsum(down) - total) / np.arange(1, len(counts) + 1)
    last = int(np.flatnonzero(down > excess)[-1]) if total > 0 else 0
    result: Reals = np.maximum(counts - excess[last], 0.0)
    return result


def total_of(tables: Sequence[Reals], scales: Sequence[float]) -> tuple[float, float]:
    """The number of rows, from noisy tables that all count them, and its standard deviation; at least 1.

    >>> total_of([np.array([40.0, 61.0]), np.array([99.0])], [1.0, 1.0])[0]
    99.66666666666667
    """
    weights = np.array([1 / (table.size * scale**2) for table, scale in zip(tables, scales, strict=True)])
    sums = np.array([float(table.sum()) for table in tables])
    return max(1.0, float(weights @ sums / weights.sum())), float(1 / np.sqrt(weights.sum()))
