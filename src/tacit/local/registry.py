"""Every randomizer, with examples of it: joining this mapping runs the contract suite and `tacit audit --all` on it.

A newcomer adds its class here, its page under docs/proofs/, and its name to `tacit.local`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.examples.subject import TOGETHER, Pair, Subject
from tacit.local.hadamard import HadamardResponse
from tacit.local.hashing import LocalHashing
from tacit.local.kary import KaryResponse
from tacit.local.protocol import Randomizer
from tacit.local.rappor import Rappor
from tacit.local.sketch import CountMeanSketch
from tacit.local.subset import SubsetSelection
from tacit.local.unary import SYMMETRIC, UnaryEncoding
from tacit.noise.entropy import BitSource

__all__ = ["RANDOMIZERS", "Entry"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One randomizer, examples of it, and two values of a person that should look alike."""

    randomizer: type[Randomizer[Any]]
    examples: tuple[Callable[[], Randomizer[Any]], ...]
    neighbours: Pair = (0, 1)

    def knows(self, mechanism: object) -> bool:
        """Whether a randomizer is of this class."""
        return isinstance(mechanism, self.randomizer)

    def subject(self, mechanism: Any, entropy: BitSource | None) -> Subject:
        """A randomizer on two values of one person; many reports at array speed."""
        return Subject(
            name=repr(mechanism),
            run=lambda value: mechanism.randomize(value, entropy=entropy),
            claim=mechanism.one_report,
            pairs=(self.neighbours,),
            batch=TOGETHER,
            repeated=lambda value, count: mechanism.randomize(np.full(count, value), entropy=entropy),
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
}
