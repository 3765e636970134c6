"""A pair of distributions (P, Q), seen only through its privacy loss L = ln(P/Q).

P is the output on the data set *with* the unit, Q on the one without (or on the two data sets, under replace). A
family is a frozen value that answers four questions about its pair; everything else, the grid, the composition,
the sampling, is built on these. Proofs: ``docs/proofs/loss_distributions.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MASS_ACCURACY = 2.0**-42
"""Every cell mass that a family returns has a relative error below this."""

RATIO_ACCURACY = 2.0**-45
"""The ratio of a cell's two masses has a relative error below this, plus 2^-50 for each unit of the loss."""

LARGEST_LOSS = 500.0
"""Losses of one use beyond this are refused: e^500 is no promise, and masses would underflow."""


@dataclass(frozen=True, slots=True)
class Cells:
    """The masses that P and Q put on consecutive ranges of the loss."""

    p: Floats
    q: Floats

    def reversed(self) -> Cells:
        """The same masses for the pair (Q, P), whose loss is -L."""
        return Cells(self.q[::-1], self.p[::-1])


class Pair(Protocol):
    """What a family of losses must tell about its pair (P, Q)."""

    @property
    def infinite(self) -> tuple[float, float]:
        """P's mass where Q has none, and Q's mass where P has none: exact, or the next float above."""

    @property
    def symmetric(self) -> bool:
        """Whether (Q, P) has the same loss distribution as (P, Q)."""

    @property
    def extremes(self) -> tuple[float, float]:
        """The infimum and the supremum of the finite losses; may be infinite."""

    @property
    def lattice(self) -> Lattice | None:
        """Where the atoms lie, so that a grid can be laid through them; None if there are no atoms."""

    def group(self, size: int) -> Pair:
        """The pair for ``size`` units at once; ``NotPrivate`` where no bound is known."""

    def reach(self, tail: float) -> tuple[float, float]:
        """(low, high) with Q(L < low) ≤ tail and P(L > high) ≤ tail, infinite losses aside."""

    def cells(self, edges: Floats) -> Cells:
        """The masses of the ranges between consecutive ``edges`` (increasing; the outer ones may be infinite).

        A loss within a few ulp of an edge may be counted on either side of it.
        """


@dataclass(frozen=True, slots=True)
class Lattice:
    """Atoms at anchor + spacing·ℤ; ``diffuse`` is the share of the mass that lies elsewhere.

    Where the loss of every atom is ``exact``, the ratio of its two masses needs no allowance for rounding.
    """

    anchor: float
    spacing: float
    diffuse: float = 0.0
    exact: bool = False


def atom_cells(losses: Floats, p: Floats, q: Floats, edges: Floats) -> Cells:
    """The cell masses of finitely many atoms, ``losses`` increasing."""
    starts = np.searchsorted(losses, edges, side="left")
    return Cells(segment_sums(p, starts), segment_sums(q, starts))


def segment_sums(masses: Floats, starts: NDArray[np.intp]) -> Floats:
    """The sums of masses[starts[i]:starts[i+1]], each with an error far below ``RATIO_ACCURACY``."""
    counts = np.diff(starts)
    sums = np.zeros(counts.size)
    filled = np.flatnonzero(counts)
    if filled.size:
        padded = np.append(masses, 0.0)
        picks = np.empty(2 * filled.size, dtype=np.intp)
        picks[0::2], picks[1::2] = starts[filled], starts[filled + 1]
        sums[filled] = np.add.reduceat(padded, picks)[0::2]
    for i in np.flatnonzero(counts > 64):  # plain summation is too rough there: sum pairwise
        sums[i] = masses[starts[i] : starts[i + 1]].sum()
    return sums
