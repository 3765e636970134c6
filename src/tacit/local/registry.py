"""Every randomizer, with examples of it: joining this mapping runs the contract suite and `tacit audit --all` on it.

A newcomer adds its class here, its page under docs/proofs/, and its name to `tacit.local`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.examples.subject import TOGETHER, Pair, Subject
from tacit.local.categories.attributes import Sample, Split
from tacit.local.categories.hadamard import HadamardResponse
from tacit.local.categories.hashing import LocalHashing
from tacit.local.categories.kary import KaryResponse
from tacit.local.categories.prefix_tree import PrefixTree
from tacit.local.categories.rappor import Rappor
from tacit.local.categories.sketch import CountMeanSketch
from tacit.local.categories.subset import SubsetSelection
from tacit.local.categories.unary import SYMMETRIC, UnaryEncoding
from tacit.local.numeric.duchi import Duchi
from tacit.local.numeric.hybrid import Hybrid
from tacit.local.numeric.piecewise import Piecewise
from tacit.local.numeric.ranges import RangeTree
from tacit.local.numeric.square_wave import SquareWave
from tacit.local.protocol import Randomizer
from tacit.noise.entropy import BitSource

__all__ = ["RANDOMIZERS", "Entry"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One randomizer, examples of it, and two values of a person that should look alike."""

    randomizer: type[Randomizer[Any]]
    examples: tuple[Callable[[], Randomizer[Any]], ...]
    neighbours: Pair = (0, 1)
    repeat: Callable[[Any, int], Any] = lambda value, count: np.full(count, value)
    """(value, count) → that many people with this value, as `randomize` takes them."""
    revealing: bool = True
    """Whether the auditor, with few samples, can see most of what the examples reveal of these two values."""

    def knows(self, mechanism: object) -> bool:
        """Whether a randomizer is of this class."""
        return isinstance(mechanism, self.randomizer)

    def subject(self, mechanism: Any, entropy: BitSource | None) -> Subject:
        """A randomizer on two values of one person; many reports at array speed."""
        repeat = self.repeat
        return Subject(
            name=repr(mechanism),
            run=lambda value: mechanism.randomize(value, entropy=entropy),
            claim=mechanism.one_report,
            pairs=(self.neighbours,),
            batch=TOGETHER,
            repeated=lambda value, count: mechanism.randomize(repeat(value, count), entropy=entropy),
        )


RANDOMIZERS: Mapping[str, Entry] = {
    "kary-response": Entry(
        KaryResponse,
        (
            lambda: KaryResponse(epsilon=1, categories=range(2)),
            lambda: KaryResponse(epsilon=0.8, categories=range(5), unknown=4),
        ),
    ),
    "unary-encoding": Entry(
        UnaryEncoding,
        (
            lambda: UnaryEncoding(epsilon=1, categories=range(3)),
            lambda: UnaryEncoding(epsilon=2, categories=range(6), kind=SYMMETRIC),
        ),
    ),
    "local-hashing": Entry(
        LocalHashing,
        (
            lambda: LocalHashing(epsilon=1, categories=range(4)),
            lambda: LocalHashing(epsilon=0.9, categories=range(6), buckets=2),
        ),
    ),
    "hadamard-response": Entry(
        HadamardResponse,
        (
            lambda: HadamardResponse(epsilon=1, categories=range(3)),
            lambda: HadamardResponse(epsilon=0.8, categories=range(8), unknown=0),
        ),
    ),
    "subset-selection": Entry(
        SubsetSelection,
        (
            lambda: SubsetSelection(epsilon=1, categories=range(5)),
            lambda: SubsetSelection(epsilon=0.8, categories=range(9), size=3),
        ),
    ),
    "rappor": Entry(Rappor, (lambda: Rappor(epsilon=2, categories=range(3)),)),
    "count-mean-sketch": Entry(
        CountMeanSketch, (lambda: CountMeanSketch(epsilon=1, categories=range(6), hashes=2, buckets=8),)
    ),
    "prefix-tree": Entry(
        PrefixTree,
        (lambda: PrefixTree(epsilon=2, hashes=2, buckets=4),),
        neighbours=(3, (1 << 63) + 77),
        repeat=lambda value, count: np.full(count, value, dtype=np.uint64),
        revealing=False,
    ),
    "duchi": Entry(
        Duchi, (lambda: Duchi(epsilon=1, bounds=(0, 1)), lambda: Duchi(epsilon=0.8, bounds=(0, 1), unknown=0))
    ),
    "piecewise": Entry(
        Piecewise,
        (lambda: Piecewise(epsilon=2, bounds=(0, 1), cells=200), lambda: Piecewise(epsilon=1, bounds=(0, 1), cells=8)),
    ),
    "hybrid": Entry(
        Hybrid, (lambda: Hybrid(epsilon=2, bounds=(0, 1), cells=64), lambda: Hybrid(epsilon=0.6, bounds=(0, 1)))
    ),
    "square-wave": Entry(SquareWave, (lambda: SquareWave(epsilon=1, bounds=(0, 1), buckets=8),)),
    "range-tree": Entry(RangeTree, (lambda: RangeTree(epsilon=1, bounds=(0, 1), leaves=4),)),
    "split": Entry(
        Split,
        (lambda: Split({"x": Duchi(epsilon=1, bounds=(0, 1)), "y": KaryResponse(epsilon=1, categories=range(3))}),),
        neighbours=({"x": 0, "y": 0}, {"x": 1, "y": 1}),
        repeat=lambda value, count: {name: np.full(count, one) for name, one in value.items()},
    ),
    "sample": Entry(
        Sample,
        (lambda: Sample({"x": Duchi(epsilon=1, bounds=(0, 1)), "y": UnaryEncoding(epsilon=1, categories=range(3))}),),
        neighbours=({"x": 0, "y": 0}, {"x": 1, "y": 1}),
        repeat=lambda value, count: {name: np.full(count, one) for name, one in value.items()},
    ),
}
