"""Many private selections side by side, among mechanisms that give whole arrays: what an audit draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.selection.private_selection import PrivateSelection
from tacit.noise.coins import uniform_below
from tacit.noise.entropy import BitSource

__all__ = ["best_of_each"]

Integers = npt.NDArray[np.int64]
ManyRuns = Callable[[int], Integers]
"""count → that many independent runs, a row (score, result) for each."""


def best_of_each(
    selection: PrivateSelection, mechanisms: Sequence[ManyRuns], count: int, entropy: BitSource
) -> Integers:
    """The (score, result) of ``count`` selections: the first run of all, then the second of those that have one, …"""
    runs = selection._stopping.draws(selection._gamma, count, entropy)
    best = np.empty((count, 2), dtype=np.int64)
    for step in range(int(runs.max(initial=0))):
        live = np.flatnonzero(runs > step)
        drawn = _each_of_one(mechanisms, live.size, entropy)
        better = drawn[:, 0] > best[live, 0] if step else np.ones(live.size, dtype=np.bool_)
        best[live[better]] = drawn[better]
    return best


def _each_of_one(mechanisms: Sequence[ManyRuns], count: int, entropy: BitSource) -> Integers:
    """A run for each row, of a mechanism drawn at random."""
    chosen = uniform_below(len(mechanisms), count, entropy)
    drawn = np.empty((count, 2), dtype=np.int64)
    for index, mechanism in enumerate(mechanisms):
        rows = np.flatnonzero(chosen == index)
        if rows.size:
            drawn[rows] = mechanism(rows.size)
    return drawn
