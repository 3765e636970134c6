"""The learners over finite classes, with examples and neighbours: the contract suite and the audits run on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.examples.selections import Selection
from tacit.learn.finite.finite_class import FiniteClassLearner
from tacit.learn.finite.hypotheses import Thresholds
from tacit.mechanisms.shared.base import bits_from
from tacit.noise.entropy import BitSource
from tacit.privacy import REPLACE

__all__ = ["LEARNERS"]


def _index(learner: Any, data: Any, entropy: BitSource | None) -> Any:
    return int(learner._picks(*data, 1, bits_from(entropy))[0])


def _many_indices(learner: Any, data: Any, count: int, entropy: BitSource | None) -> Any:
    return learner._picks(*data, count, bits_from(entropy))


LEARNERS: Mapping[str, Selection] = {
    "finite class": Selection(
        examples=(
            lambda: FiniteClassLearner(Thresholds([0, 1, 2, 3]), epsilon=1),
            lambda: FiniteClassLearner(Thresholds([0, 1, 2, 3]), rho=0.125),
        ),
        run=_index,
        many=_many_indices,
        neighbours=(([0.5, 2.5], [0, 1]), ([0.5, 2.5, 2.5], [0, 1, 0])),
    ),
    "finite class under replacement": Selection(
        examples=(lambda: FiniteClassLearner(Thresholds([0, 1, 2, 3]), epsilon=1, neighbours=REPLACE),),
        run=_index,
        many=_many_indices,
        neighbours=(([0.5, 2.5], [0, 1]), ([0.5, 2.5], [0, 0])),
    ),
}
