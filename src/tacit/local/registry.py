"""Every randomizer, with examples of it: joining this list runs the contract suite and `tacit audit --all` on it.

A newcomer adds its class here, its page under docs/proofs/, and its name to `tacit.local`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.local.attributes import Sample, Split
from tacit.local.duchi import Duchi
from tacit.local.hadamard import HadamardResponse
from tacit.local.hashing import LocalHashing
from tacit.local.hybrid import Hybrid
from tacit.local.kary import KaryResponse
from tacit.local.piecewise import Piecewise
from tacit.local.prefix_tree import PrefixTree
from tacit.local.protocol import Randomizer
from tacit.local.ranges import RangeTree
from tacit.local.rappor import Rappor
from tacit.local.sketch import CountMeanSketch
from tacit.local.square_wave import SquareWave
from tacit.local.subset import SubsetSelection
from tacit.local.unary import SYMMETRIC, UnaryEncoding

__all__ = ["RANDOMIZERS", "Entry"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One randomizer, examples of it, and two values of a person that should look alike."""

    randomizer: type[Randomizer[Any]]
    examples: tuple[Callable[[], Randomizer[Any]], ...]
    neighbours: tuple[Any, Any] = (0, 1)
    repeat: Callable[[Any, int], Any] = lambda value, count: np.full(count, value)
    """(value, count) → that many people with this value, as `randomize` takes them."""
    revealing: bool = True
    """Whether the auditor, with few samples, can see most of what the examples reveal of these two values."""


RANDOMIZERS: tuple[Entry, ...] = (
    Entry(
        KaryResponse,
        (
            lambda: KaryResponse(epsilon=1, categories=range(2)),
            lambda: KaryResponse(epsilon=0.8, categories=range(5), unknown=4),
        ),
    ),
    Entry(
        UnaryEncoding,
        (
            lambda: UnaryEncoding(epsilon=1, categories=range(3)),
            lambda: UnaryEncoding(epsilon=2, categories=range(6), kind=SYMMETRIC),
        ),
    ),
    Entry(
        LocalHashing,
        (
            lambda: LocalHashing(epsilon=1, categories=range(4)),
            lambda: LocalHashing(epsilon=0.9, categories=range(6), buckets=2),
        ),
    ),
    Entry(
        HadamardResponse,
        (
            lambda: HadamardResponse(epsilon=1, categories=range(3)),
            lambda: HadamardResponse(epsilon=0.8, categories=range(8), unknown=0),
        ),
    ),
    Entry(
        SubsetSelection,
        (
            lambda: SubsetSelection(epsilon=1, categories=range(5)),
            lambda: SubsetSelection(epsilon=0.8, categories=range(9), size=3),
        ),
    ),
    Entry(Rappor, (lambda: Rappor(epsilon=2, categories=range(3)),)),
    Entry(CountMeanSketch, (lambda: CountMeanSketch(epsilon=1, categories=range(6), hashes=2, buckets=8),)),
    Entry(
        PrefixTree,
        (lambda: PrefixTree(epsilon=2, hashes=2, buckets=4),),
        neighbours=(3, (1 << 63) + 77),
        repeat=lambda value, count: np.full(count, value, dtype=np.uint64),
        revealing=False,
    ),
    Entry(Duchi, (lambda: Duchi(epsilon=1, bounds=(0, 1)), lambda: Duchi(epsilon=0.8, bounds=(0, 1), unknown=0))),
    Entry(
        Piecewise,
        (lambda: Piecewise(epsilon=2, bounds=(0, 1)), lambda: Piecewise(epsilon=1, bounds=(0, 1), cells=8)),
    ),
    Entry(Hybrid, (lambda: Hybrid(epsilon=2, bounds=(0, 1), cells=64), lambda: Hybrid(epsilon=0.6, bounds=(0, 1)))),
    Entry(SquareWave, (lambda: SquareWave(epsilon=1, bounds=(0, 1), buckets=8),)),
    Entry(RangeTree, (lambda: RangeTree(epsilon=1, bounds=(0, 1), leaves=4),)),
    Entry(
        Split,
        (lambda: Split({"x": Duchi(epsilon=1, bounds=(0, 1)), "y": KaryResponse(epsilon=1, categories=range(3))}),),
        neighbours=({"x": 0, "y": 0}, {"x": 1, "y": 1}),
        repeat=lambda value, count: {name: np.full(count, one) for name, one in value.items()},
    ),
    Entry(
        Sample,
        (lambda: Sample({"x": Duchi(epsilon=1, bounds=(0, 1)), "y": UnaryEncoding(epsilon=1, categories=range(3))}),),
        neighbours=({"x": 0, "y": 0}, {"x": 1, "y": 1}),
        repeat=lambda value, count: {name: np.full(count, one) for name, one in value.items()},
    ),
)
