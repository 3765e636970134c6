"""Margins of a full product of public keys that add up: least squares in closed form, however many cells there are.

Post-processing of released numbers: nothing here sees data or costs anything. Proof: docs/proofs/grouping_sets.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.tables.estimators.noise import spread
from tacit.tables.fitting.least_squares import combination_errors

__all__ = ["Margins"]

Floats = npt.NDArray[np.float64]
Axes = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Margins:
    """Sums of the cells of a product of ``sizes``, by several sets of its axes, each with noise of its own.

    What they have in common splits into effects: of a set T of axes, the part that varies with each axis of T and
    averages to 0 along it. Each margin by a set S that contains T tells the effect with a variance of its own, and the
    best estimate is their mean, weighted with the inverse variances.
    """

    sizes: tuple[int, ...]
    sets: tuple[Axes, ...]
    noise: tuple[AdditiveMechanism, ...]
    """One mechanism per set."""

    def fitted(self, released: Sequence[Floats]) -> list[Floats]:
        """Every margin, as all of them together tell it; they add up."""
        precisions, found = self._precisions(), []
        for kept in self.sets:
            total = np.zeros(self._shape(kept))
            for own, values, variance in zip(self.sets, released, self._variances(), strict=True):
                seen = self._moved(values, own, kept) / variance
                for effect in _subsets([axis for axis in own if axis in kept]):
                    total += _projected(seen, kept, effect) / precisions[effect]
            found.append(total.reshape(-1))
        return found

    def error(self, at: int, beta: Fraction) -> float:
        """How far a number of one set is off at most, all but β of the time: the same for each of them."""
        return _error(self, at, beta)

    def errors(self, wanted: Floats, beta: Fraction) -> Floats:
        """The same of weighted sums of the cells: a row of ``wanted`` each."""
        precisions, weights, noise = self._precisions(), list[Floats](), list[AdditiveMechanism]()
        shaped, every = wanted.reshape(-1, *self.sizes), tuple(range(len(self.sizes)))
        for own, mechanism in zip(self.sets, self.noise, strict=True):
            total, dropped = np.zeros_like(shaped), tuple(axis + 1 for axis in every if axis not in own)
            for effect in _subsets(own):
                total += _projected(shaped, every, effect, first=1) / precisions[effect]
            row = total.sum(axis=dropped).reshape(len(wanted), -1) / spread(mechanism) ** 2
            weights.append(row)
            noise += [mechanism] * row.shape[1]
        return combination_errors(np.concatenate(weights, axis=1), tuple(noise), beta)

    def exact_error(self, at: int, beta: Fraction) -> float:
        """The same, computed anew."""
        weights, noise, precisions = [], list[AdditiveMechanism](), self._precisions()
        for own, mechanism in zip(self.sets, self.noise, strict=True):
            row = self._weights(self.sets[at], own, spread(mechanism) ** 2, precisions)
            weights.append(row)
            noise += [mechanism] * len(row)
        return float(combination_errors(np.concatenate(weights)[None, :], tuple(noise), beta)[0])

    def _variances(self) -> list[float]:
        return [spread(mechanism) ** 2 for mechanism in self.noise]

    def _shape(self, kept: Axes) -> tuple[int, ...]:
        return tuple(size if axis in kept else 1 for axis, size in enumerate(self.sizes))

    def _cells(self, axes: Sequence[int]) -> int:
        return math.prod(self.sizes[axis] for axis in axes)

    def _precisions(self) -> dict[Axes, float]:
        """Of each effect that is told: Σ over the sets that tell it of (cells per block)/variance."""
        every, found = range(len(self.sizes)), dict[Axes, float]()
        for own, variance in zip(self.sets, self._variances(), strict=True):
            told = self._cells([axis for axis in every if axis not in own]) / variance
            for effect in _subsets(own):
                found[effect] = found.get(effect, 0.0) + told
        return found

    def _moved(self, values: Floats, own: Axes, kept: Axes) -> Floats:
        """A margin by ``own``, each number put into all cells of its block, summed by ``kept``."""
        shaped = values.reshape(self._shape(own))
        dropped = tuple(axis for axis in own if axis not in kept)
        shaped = shaped.sum(axis=dropped, keepdims=True) if dropped else shaped
        neither = [axis for axis in range(len(self.sizes)) if axis not in own and axis not in kept]
        return np.broadcast_to(shaped * self._cells(neither), self._shape(kept))

    def _weights(self, kept: Axes, own: Axes, variance: float, precisions: Mapping[Axes, float]) -> Floats:
        """What each number of the margin by ``own`` counts for in the first number of the margin by ``kept``."""
        both = [axis for axis in own if axis in kept]
        neither = [axis for axis in range(len(self.sizes)) if axis not in own and axis not in kept]
        told = self._cells(neither) / variance
        counts = np.array([told / precisions[effect] for effect in _subsets_in_order(both)]).reshape((2,) * len(both))
        for axis in both:  # each step takes the first axis away and puts the key's values last
            counts = np.tensordot(counts, _kernel(self.sizes[axis]), axes=([0], [0]))
        shaped = counts.reshape([self.sizes[axis] if axis in kept else 1 for axis in own])
        return np.broadcast_to(shaped, [self.sizes[axis] for axis in own]).reshape(-1)


def _projected(values: Floats, kept: Axes, effect: Axes, first: int = 0) -> Floats:
    """The part that averages to 0 along the axes of the effect, and does not vary along the others that are kept."""
    for axis in kept:
        middle = values.mean(axis=axis + first, keepdims=True)
        values = values - middle if axis in effect else middle
    return values


@lru_cache(maxsize=256)
def _kernel(size: int) -> Floats:
    """What a key's values count for in the first of them: an effect that is the same for all, and one that varies."""
    average = np.full(size, 1 / size)
    return np.stack([average, np.eye(size)[0] - average])


@lru_cache(maxsize=256)
def _error(margins: Margins, at: int, beta: Fraction) -> float:
    return margins.exact_error(at, beta)


def _subsets_in_order(axes: Sequence[int]) -> Iterator[Axes]:
    """All subsets, the last axis counting fastest."""
    for chosen in itertools.product((False, True), repeat=len(axes)):
        yield tuple(itertools.compress(axes, chosen))


def _subsets(axes: Sequence[int]) -> Iterator[Axes]:
    for size in range(len(axes) + 1):
        yield from itertools.combinations(axes, size)
