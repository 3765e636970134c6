"""Do samples follow a law? A likelihood-ratio test whose false-alarm rate is proven, not asymptotic.

With n samples in k cells of probabilities p and observed shares q, let x = n·KL(q‖p), half the G statistic.
Agrawal (2020, "Finite-sample concentration of the multinomial in relative entropy"): whatever n and p are,

    P[x ≥ t] ≤ e^(-t)·(e·t/(k-1))^(k-1)      for t ≥ k-1.

So cells may be as small as one likes, and `ALARM` is what it says. `test_fit.py` checks the bound by enumeration.
A run of the tests makes fewer than 500 comparisons that are expected to hold: a false alarm has probability
below 5·10⁻⁷ per run, and none where the bits come from `tacit.testing.seeded`.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.statistical.laws import Law

__all__ = ["ALARM", "fits", "fits_cells", "fits_fields", "histogram", "p_bound"]

ALARM = 1e-9
"""A comparison fails when samples this unlikely, or less likely still, are seen."""


def p_bound(counts: Sequence[int] | npt.NDArray[np.int64], probabilities: Sequence[float]) -> float:
    """An upper bound on the probability of a fit at least as bad as that of ``counts``."""
    observed = [int(count) for count in counts]
    total = sum(observed)
    if any(count and not p > 0 for count, p in zip(observed, probabilities, strict=True)):
        return 0.0
    divergence = math.fsum(
        count * math.log(count / (total * p)) for count, p in zip(observed, probabilities, strict=True) if count
    )
    freedom = sum(p > 0 for p in probabilities) - 1
    if freedom == 0 or divergence <= freedom:
        return 1.0
    return math.exp(-divergence + freedom + freedom * math.log(divergence / freedom))


def fits_cells(counts: Sequence[int] | npt.NDArray[np.int64], probabilities: Sequence[float]) -> bool:
    """Whether the counts are believable under the probabilities."""
    return p_bound(counts, probabilities) >= ALARM


def fits(samples: npt.NDArray[Any], law: Law, *, cells: int = 24) -> bool:
    """Whether integer samples are believable under the law, by its quantile cells.

    >>> from fractions import Fraction
    >>> from tests.statistical.laws import DiscreteLaplaceLaw
    >>> coins = np.arange(-500, 500) % 2
    >>> fits(coins, DiscreteLaplaceLaw(Fraction(1)))
    False
    """
    edges = law.edges(cells)
    return fits_cells(histogram(samples, edges), law.cells(edges))


def fits_fields(samples: npt.NDArray[Any], law: Law, fields: Sequence[tuple[int, int]], *, cells: int = 8) -> bool:
    """Whether bit fields (shift, width) of the samples are uniform, jointly with the quantile cells.

    Assumes a law that changes little over the widest field: by less than 2⁻¹⁴ of itself.
    """
    edges = law.edges(cells)
    place = np.searchsorted(np.asarray(edges, dtype=np.int64), samples, side="right")
    patterns = 1
    for shift, width in fields:
        place = (place << width) | ((samples >> shift) & ((1 << width) - 1))
        patterns <<= width
    shares = [p / patterns for p in law.cells(edges) for _ in range(patterns)]
    return fits_cells(np.bincount(place.astype(np.int64), minlength=len(shares)), shares)


def histogram(samples: npt.NDArray[Any], edges: Sequence[int]) -> npt.NDArray[np.int64]:
    """How many samples lie below the first edge, between neighbouring edges, and from the last edge on."""
    if samples.dtype == object:
        place = np.array([bisect_right(edges, int(sample)) for sample in samples], dtype=np.int64)
    else:
        place = np.searchsorted(np.asarray(edges, dtype=np.int64), samples, side="right")
    return np.bincount(place, minlength=len(edges) + 1)
