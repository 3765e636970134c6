"""How several sets of keys share a price, where their numbers are made to add up: none is told worse than evenly.

What a set is told by others need not be measured again: a city's count is the sum of its cells. So shares are moved
from set to set as long as all sets together get nearer to their numbers and no set gets further from them. Shares
follow from the sizes of public keys and from prices alone. Proof: docs/proofs/grouping_sets.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

__all__ = ["Design", "all_of_them", "better_shares", "largest", "root_mean_square"]

Floats = npt.NDArray[np.float64]

_LEAST = 1 / 400
"""Of an even share: so much is left to a set that others tell better, and is next to nothing."""
_PARTS = (1.0, 0.5, 0.25, 0.125, 0.0625)
_MOST_TRIALS = 4000
_ROOM, _DEARER = 0.08, 5.0
_STEPS = 1000
"""Shares are whole numbers of such parts: the same on every machine."""


@dataclass(frozen=True, slots=True)
class Design:
    """Margins of a product of keys of some sizes by several sets of them: how well each is told by all together."""

    told: Floats
    """A row per effect, a column per set: how many cells a number of the set adds up, if it tells the effect."""
    made: Floats
    """A row per set, a column per effect: how much of the effect's variance is in a number of the set."""

    @classmethod
    def of(cls, sizes: Sequence[int], sets: Sequence[Sequence[int]]) -> Design:
        """Of public keys."""
        kept = [frozenset(one) for one in sets]
        effects = list(dict.fromkeys(frozenset(one) for own in kept for one in _subsets(sorted(own))))
        blocks = [math.prod(size for axis, size in enumerate(sizes) if axis not in own) for own in kept]
        told = [
            [float(block) if effect <= own else 0.0 for own, block in zip(kept, blocks, strict=True)]
            for effect in effects
        ]
        made = [
            [
                block * math.prod(1 - 1 / sizes[axis] if axis in effect else 1 / sizes[axis] for axis in own)
                if effect <= own
                else 0.0
                for effect in effects
            ]
            for own, block in zip(kept, blocks, strict=True)
        ]
        return cls(np.array(told), np.array(made))

    def variances(self, noise: Floats) -> Floats:
        """Of a number of each set once all fit each other, from the variances of the noise of each."""
        found: Floats = self.made @ (1 / (self.told @ (1 / noise)))
        return found


Aim = Callable[[Floats, Floats], float]
"""What is to be small, of the variances of the sets and of those at even shares; infinite where they must not be."""


def all_of_them(found: Floats, even: Floats) -> float:
    """Every set counts the same, and none may be told worse than at even shares.

    Sums of fewer noises have longer tails: what a set should gain at least counts more, so that intervals gain as well.
    """
    if (found > even * (1 + 1e-12)).any():
        return math.inf
    logs = np.log(found / even)
    return float((logs + _DEARER * np.maximum(logs + _ROOM, 0.0)).sum())


def largest(found: Floats, even: Floats) -> float:
    """The error of the set that is told worst."""
    return math.log(found.max() / even.max())


def root_mean_square(sizes: Sequence[int]) -> Aim:
    """Over all numbers, of which each set has so many."""

    def aim(found: Floats, even: Floats) -> float:
        return math.log(float(found @ sizes) / float(even @ sizes))

    return aim


def better_shares(design: Design, even: Floats, power: int, aim: Aim = all_of_them) -> tuple[Fraction, ...]:
    """Shares that add up to 1, by the variances that noise has at even ones; they fall with this power of a share.

    From even shares on, what one set has is moved to another, all of it, then ever smaller parts, as long as it helps.
    """
    count = len(even)
    shares = np.full(count, 1 / count)
    unit = even / even.max()
    first = design.variances(unit)
    best, trials = aim(first, first), 0
    for part in _PARTS:
        improved = True
        while improved and trials < _MOST_TRIALS:
            improved = False
            for giver, taker in itertools.permutations(range(count), 2):
                moved = part * (shares[giver] - _LEAST / count)
                if moved < 1e-4 / count:
                    continue
                tried = shares.copy()
                tried[giver], tried[taker] = tried[giver] - moved, tried[taker] + moved
                score = aim(design.variances(unit / (tried * count) ** power), first)
                trials += 1
                if score < best - 1e-9:
                    shares, best, improved = tried, score, True
    whole = [max(round(float(one) * _STEPS * count), 1) for one in shares]
    return tuple(Fraction(one, sum(whole)) for one in whole)


def _subsets(axes: Sequence[int]) -> list[tuple[int, ...]]:
    return [chosen for size in range(len(axes) + 1) for chosen in itertools.combinations(axes, size)]
