"""Every mechanism that selects, thresholds, responds or counts on, with examples: joining runs the contracts on it.

A newcomer adds its examples here, its page under docs/proofs/, and its name to `tacit.__init__`. `MECHANISMS` in
`registry` holds those that add noise to a value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tacit.mechanisms.above_threshold import AboveThreshold
from tacit.mechanisms.continual_count import ContinualCount
from tacit.mechanisms.exponential import Exponential
from tacit.mechanisms.factorisations import SQUARE_ROOT
from tacit.mechanisms.gaussian_threshold import GaussianAboveThreshold
from tacit.mechanisms.naive_threshold import NaiveThreshold
from tacit.mechanisms.noisy_max import EXPONENTIAL, GUMBEL, LAPLACE, NoisyMax
from tacit.mechanisms.numeric_sparse import NumericSparse
from tacit.mechanisms.permute_and_flip import PermuteAndFlip
from tacit.mechanisms.quantile import Quantile
from tacit.mechanisms.quantiles import Quantiles
from tacit.mechanisms.randomized_response import RandomizedResponse
from tacit.mechanisms.sparse_vector import SparseVector
from tacit.mechanisms.splits import IMPROVED
from tacit.mechanisms.top_k import TopK
from tacit.noise.entropy import BitSource
from tacit.privacy import REPLACE, LInf

__all__ = ["SELECTIONS", "Selection"]

Run = Callable[[Any, Any, BitSource | None], Any]


@dataclass(frozen=True, slots=True)
class Selection:
    """Examples of one kind of mechanism, how to run them, and two neighbouring inputs that should look alike."""

    build: tuple[Callable[[], Any], ...]
    run: Run
    """(mechanism, input, entropy) → what is released."""
    neighbours: tuple[Any, Any]
    """Inputs that one unit can turn into each other under the relation and sensitivity of every example."""


def _index(mechanism: Any, scores: Any, entropy: BitSource | None) -> Any:
    return mechanism.index(scores, entropy=entropy)


def _indices(mechanism: Any, scores: Any, entropy: BitSource | None) -> Any:
    return tuple(mechanism.indices(scores, entropy=entropy))


def _release(mechanism: Any, values: Any, entropy: BitSource | None) -> Any:
    return mechanism.release(values, entropy=entropy)


def _answers(mechanism: Any, values: Any, entropy: BitSource | None) -> Any:
    return tuple(mechanism.start(entropy=entropy).ask_many(values).tolist())


def _report(mechanism: Any, value: Any, entropy: BitSource | None) -> Any:
    return mechanism.randomize(value, entropy=entropy)


def _totals(mechanism: Any, increments: Any, entropy: BitSource | None) -> Any:
    return tuple(mechanism.start(entropy=entropy).add_many(increments).tolist())


SELECTIONS: tuple[Selection, ...] = (
    Selection(
        build=(
            lambda: Exponential(epsilon=1, sensitivity=1),
            lambda: Exponential(rho=0.125, sensitivity=1),
            lambda: PermuteAndFlip(epsilon=1, sensitivity=1),
            lambda: NoisyMax(epsilon=1, sensitivity=1, noise=LAPLACE),
            lambda: NoisyMax(epsilon=1, sensitivity=1, noise=EXPONENTIAL),
            lambda: NoisyMax(epsilon=1, sensitivity=1, noise=GUMBEL),
            lambda: Exponential(epsilon=1, sensitivity=LInf(1, neighbours=REPLACE)),
        ),
        run=_index,
        neighbours=([0, 4, 4], [1, 3, 3]),
    ),
    Selection(
        build=(
            lambda: Exponential(epsilon=1, sensitivity=1, monotone=True),
            lambda: PermuteAndFlip(epsilon=1, sensitivity=1, monotone=True),
            lambda: NoisyMax(epsilon=1, sensitivity=1, monotone=True, noise=LAPLACE),
        ),
        run=_index,
        neighbours=([0, 1, 1], [0, 0, 0]),
    ),
    Selection(
        build=(
            lambda: TopK(2, epsilon=1, sensitivity=1),
            lambda: TopK(2, epsilon=1, sensitivity=1, noise=GUMBEL),
            lambda: TopK(2, rho=0.25, sensitivity=1),
        ),
        run=_indices,
        neighbours=([0, 0, 5], [1, 1, 4]),
    ),
    Selection(
        build=(
            lambda: Quantile(0.5, bounds=(0, 15), granule=1, epsilon=1),
            lambda: Quantile(0.9, bounds=(0, 15), granule=1, epsilon=1),
            lambda: Quantile(0, bounds=(0, 15), granule=1, rho=0.125),
        ),
        run=_release,
        neighbours=([1, 2, 2, 9], [1, 2, 2, 9, 15]),
    ),
    Selection(
        build=(
            lambda: Quantiles([0.25, 0.5, 0.75], bounds=(0, 7), granule=1, epsilon=1),
            lambda: Quantiles([0.25, 0.75], bounds=(0, 7), granule=1, rho=0.125),
        ),
        run=lambda m, values, entropy: tuple(m.release(values, entropy=entropy).tolist()),
        neighbours=([1, 2, 2, 6], [1, 2, 2, 6, 7]),
    ),
    Selection(
        build=(
            lambda: AboveThreshold(epsilon=1, threshold=0, sensitivity=1),
            lambda: AboveThreshold(epsilon=1, threshold=0, sensitivity=1, split=IMPROVED),
            lambda: SparseVector(epsilon=1, threshold=0, sensitivity=1, hits=2),
            lambda: SparseVector(epsilon=1, threshold=0, sensitivity=1, hits=2, split=IMPROVED),
            lambda: NumericSparse(epsilon=1, threshold=0, sensitivity=1, hits=2),
            lambda: GaussianAboveThreshold(epsilon=1, delta="0.01", threshold=0, sensitivity=1, length=10),
            lambda: NaiveThreshold(epsilon=1, threshold=0, sensitivity=1, length=10),
        ),
        run=_answers,
        neighbours=([0, 0, 0, 0, 0, 2], [1, 1, 1, 1, 1, 1]),
    ),
    Selection(
        build=(
            lambda: RandomizedResponse(epsilon=1),
            lambda: RandomizedResponse.two_coins(),
            lambda: RandomizedResponse.one_in(3),
            lambda: RandomizedResponse(epsilon=1, categories=(False, True, None)),
        ),
        run=_report,
        neighbours=(True, False),
    ),
    Selection(
        build=(
            lambda: ContinualCount(horizon=4, epsilon=1, sensitivity=1),
            lambda: ContinualCount(horizon=4, rho=0.5, sensitivity=1),
            lambda: ContinualCount(horizon=4, mu=1, sensitivity=1, factorisation=SQUARE_ROOT),
        ),
        run=_totals,
        neighbours=([1, 0, 0, 0], [0, 0, 0, 0]),
    ),
)
