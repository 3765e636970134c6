"""Blocks of neighbours along one ordered key that add up: least squares block by block, for thousands of cells.

Post-processing of released numbers: nothing here sees data or costs anything. Proof: docs/proofs/consistency.md.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.tables.estimators.noise import spread
from tacit.tables.fitting.least_squares import combination_errors
from tacit.tables.fitting.levels import Level

__all__ = ["Runs", "rounded_up"]

Floats = npt.NDArray[np.float64]

_SMALL = ((0.04, 1.25), (0.25, 1.06))
"""Weights below such a part of the largest are rounded up to powers of such a number: fewer kinds, shared laws."""
_NO_MORE = 1.005
"""By this factor variances may grow for it."""


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Levels of ever longer runs of neighbouring cells, the cells themselves first, each level with its own noise.

    Every run of a level is made of whole runs of the level before it.
    """

    levels: tuple[Level, ...]
    noise: tuple[AdditiveMechanism, ...]
    """One mechanism per level."""
    cells: Floats
    """From all released numbers, level by level, to the cells that fit them best: a row per cell."""

    @classmethod
    def of(cls, levels: tuple[Level, ...], noise: tuple[AdditiveMechanism, ...]) -> Runs:
        """The fit of these levels."""
        assert levels[0].width == 1
        assert all(b.width % a.width == 0 for a, b in itertools.pairwise(levels))
        variances = [spread(mechanism) ** 2 for mechanism in noise]
        unit = max(variances)  # no product of variances leaves the doubles
        inverse = _inverse(levels, [one / unit for one in variances])
        columns = [_added(inverse, level, axis=1) * (unit / v) for level, v in zip(levels, variances, strict=True)]
        return cls(levels, noise, np.hstack(columns))

    def fitted(self, released: Sequence[Floats]) -> list[Floats]:
        """Every level, as all of them together tell it; they add up."""
        cells = self.cells @ np.concatenate(released)
        return [_added(cells, level, axis=0) for level in self.levels]

    def error(self, at: int, beta: Fraction) -> Floats:
        """How far each number of one level is off at most, all but β of the time."""
        return _error(self, at, beta)

    def errors(self, wanted: Floats, beta: Fraction) -> Floats:
        """The same of weighted sums of the cells: a row of ``wanted`` each."""
        return self._combined(wanted @ self.cells, beta)

    def error_of_each(self, at: int, beta: Fraction) -> Floats:
        """Computed anew, once for runs that differ in their place only."""
        level, kinds = self.levels[at], self._kinds(at)
        _, first, each = np.unique(kinds, return_index=True, return_inverse=True)
        starts = first * level.width
        rows = [self.cells[start : start + level.width].sum(axis=0) for start in starts]
        found: Floats = self._combined(np.stack(rows), beta)[each]
        return found

    def _kinds(self, at: int) -> npt.NDArray[np.intp]:
        """For each run the first level at which it lies in the last run: all others of that level are alike.

        Runs are of one length but for the last of each level, so those that come before it can be exchanged.
        """
        starts = np.arange(self.levels[at].size) * self.levels[at].width
        kinds = np.full(len(starts), len(self.levels), dtype=np.intp)
        for number, level in reversed(list(enumerate(self.levels))):
            if number >= at:
                kinds[starts // level.width == level.size - 1] = number
        return kinds

    def _combined(self, weights: Floats, beta: Fraction) -> Floats:
        noise = tuple(one for level, one in zip(self.levels, self.noise, strict=True) for _ in range(level.size))
        if any(isinstance(one, DiscreteGaussian) and one.law == "rounded" for one in self.noise):
            return combination_errors(weights, noise, beta)  # by a formula: nothing to share
        each = np.repeat([spread(one) for one in self.noise], [level.size for level in self.levels])
        return combination_errors(rounded_up(weights, each), noise, beta)


def rounded_up(weights: Floats, deviations: Floats) -> Floats:
    """Small weights rounded away from 0, so that there are few different ones; rows that would grow by it are left.

    A sum of independent symmetric unimodal noises spreads further the larger its weights are: bounds stay bounds.
    """
    sizes = np.abs(weights)
    parts = sizes * deviations
    largest = parts.max(axis=1, keepdims=True)
    made = sizes.copy()
    for below, ratio in reversed(_SMALL):
        small = (parts < below * largest) & (sizes > 0)
        power = np.ceil(np.log(sizes[small]) / np.log(ratio) - 1e-9)
        made[small] = np.maximum(ratio**power, sizes[small])
    grown = ((made * deviations) ** 2).sum(axis=1) > _NO_MORE * (parts**2).sum(axis=1)
    made[grown] = sizes[grown]
    return made


@lru_cache(maxsize=32)
def _error(fit: Runs, at: int, beta: Fraction) -> Floats:
    """Once for a plan and for what is drawn by it."""
    found = fit.error_of_each(at, beta)
    found.flags.writeable = False
    return found


def _inverse(levels: Sequence[Level], variances: Sequence[float]) -> Floats:
    """(Σ over runs of 1·1ᵀ/v)⁻¹, run by run: each lies within one block of what was inverted before."""
    (size,) = levels[0].sizes
    found = np.diag(np.full(size, variances[0]))
    for level, variance in zip(levels[1:], variances[1:], strict=True):
        for start in range(0, size, level.width):
            own = slice(start, start + level.width)
            row = found[own, own].sum(axis=1)
            found[own, own] -= np.multiply.outer(row, row) / (variance + row.sum())
    return found


def _added(values: Floats, level: Level, axis: int) -> Floats:
    (size,) = level.sizes
    found: Floats = np.add.reduceat(values, np.arange(0, size, level.width), axis=axis)
    return found
