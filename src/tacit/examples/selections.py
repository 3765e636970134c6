"""The mechanisms that select, threshold, respond or count on, with examples of each and how it is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.errors import InvalidParameter
from tacit.examples.many_counts import count_totals
from tacit.examples.many_quantiles import quantiles_releases
from tacit.examples.many_selections import best_of_each
from tacit.examples.many_streams import numeric_answers, side_by_side
from tacit.examples.subject import TOGETHER, Pair, Subject
from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.ranks.propose_test_release import ProposeTestRelease
from tacit.mechanisms.ranks.quantile import Quantile
from tacit.mechanisms.ranks.quantiles import Quantiles
from tacit.mechanisms.ranks.sample_and_aggregate import SampleAndAggregate
from tacit.mechanisms.ranks.smooth_median import SmoothMedian
from tacit.mechanisms.responses.randomized_response import RandomizedResponse
from tacit.mechanisms.selection.exponential import Exponential
from tacit.mechanisms.selection.noisy_max import EXPONENTIAL, GUMBEL, LAPLACE, NoisyMax
from tacit.mechanisms.selection.permute_and_flip import PermuteAndFlip
from tacit.mechanisms.selection.private_selection import GEOMETRIC, PrivateSelection
from tacit.mechanisms.selection.scores import read_scores
from tacit.mechanisms.selection.top_k import TopK
from tacit.mechanisms.shared.base import bits_from
from tacit.mechanisms.streams.above_threshold import AboveThreshold
from tacit.mechanisms.streams.continual_count import ContinualCount
from tacit.mechanisms.streams.factorisations import SQUARE_ROOT
from tacit.mechanisms.streams.gaussian_threshold import GaussianAboveThreshold
from tacit.mechanisms.streams.naive_threshold import NaiveThreshold
from tacit.mechanisms.streams.numeric_sparse import NumericSparse
from tacit.mechanisms.streams.sparse_vector import SparseVector
from tacit.mechanisms.streams.splits import IMPROVED
from tacit.noise.entropy import BitSource
from tacit.privacy import REPLACE, ZCDP, Guarantee, LInf, PureDP

__all__ = ["SELECTIONS", "Selection"]

Run = Callable[[Any, Any, BitSource | None], Any]
Many = Callable[[Any, Any, int, BitSource | None], Any]


@dataclass(frozen=True, slots=True)
class Selection:
    """Examples of one kind of mechanism, how to run them, and two neighbouring inputs that should look alike."""

    examples: tuple[Callable[[], Any], ...]
    run: Run
    """(mechanism, input, entropy) → what is released."""
    neighbours: Pair
    """Inputs that one unit can turn into each other under the relation and sensitivity of every example."""
    many: Many | None = None
    """(mechanism, input, count, entropy) → that many independent outcomes of `run`, where there is an array path."""

    def knows(self, mechanism: object) -> bool:
        """Whether some example is of the same class and monotony."""
        made = (example() for example in self.examples)
        return any(type(one) is type(mechanism) and _monotone(one) == _monotone(mechanism) for one in made)

    def subject(self, mechanism: Any, entropy: BitSource | None) -> Subject:
        """A mechanism as something to audit, on the neighbours of this kind at its sensitivity and threshold."""
        run, many = self.run, self.many
        return Subject(
            name=repr(mechanism),
            run=lambda data: run(mechanism, data, entropy),
            claim=mechanism.guarantee,
            pairs=(_at_sensitivity(self.neighbours, mechanism),),
            batch=1 if many is None else TOGETHER,
            distribution=getattr(mechanism, "probabilities", None),
            repeated=None if many is None else lambda data, count: many(mechanism, data, count, entropy),
        )


def _monotone(mechanism: Any) -> bool:
    return bool(getattr(mechanism, "monotone", False))


def _at_sensitivity(pair: Pair, mechanism: Any) -> Pair:
    """The neighbours of a kind are for a sensitivity of 1 and a threshold of 0: stretch and shift them."""
    stated = getattr(mechanism, "sensitivity", None)
    size = getattr(stated, "value", None)
    if size is None or isinstance(stated, Fraction):
        return pair
    shift = Fraction(getattr(mechanism, "threshold", 0))
    if size == 1 and not shift:
        return pair
    if not all(isinstance(data, list) for data in pair):
        raise InvalidParameter("mechanism", given=mechanism, allowed="one whose neighbours are known", hint="")
    moved = tuple([_plain(shift + size * value) for value in data] for data in pair)
    return moved[0], moved[1]


def _plain(exact: Fraction) -> Fraction | int:
    return exact.numerator if exact.denominator == 1 else exact


def _index(mechanism: Any, scores: Any, entropy: BitSource | None) -> Any:
    return mechanism.index(scores, entropy=entropy)


def _many_indices(mechanism: Any, scores: Any, count: int, entropy: BitSource | None) -> Any:
    return mechanism._picks(read_scores(scores), count, bits_from(entropy))


def _indices(mechanism: Any, scores: Any, entropy: BitSource | None) -> Any:
    return tuple(mechanism.indices(scores, entropy=entropy))


def _release(mechanism: Any, values: Any, entropy: BitSource | None) -> Any:
    return mechanism.release(values, entropy=entropy)


def _many_releases(mechanism: Any, values: Any, count: int, entropy: BitSource | None) -> Any:
    return mechanism._releases(values, count, bits_from(entropy))


def _answers(mechanism: Any, values: Any, entropy: BitSource | None) -> Any:
    return tuple(mechanism.start(entropy=entropy).ask_many(values).tolist())


def _many_answers(mechanism: Any, values: Any, count: int, entropy: BitSource | None) -> Any:
    bits = bits_from(entropy)
    return side_by_side(mechanism.start(entropy=bits), values, count, bits)


def _report(mechanism: Any, value: Any, entropy: BitSource | None) -> Any:
    return mechanism.randomize(value, entropy=entropy)


def _many_reports(mechanism: Any, value: Any, count: int, entropy: BitSource | None) -> Any:
    return mechanism.randomize(np.full(count, value) if type(value) is bool else [value] * count, entropy=entropy)


def _totals(mechanism: Any, increments: Any, entropy: BitSource | None) -> Any:
    return tuple(mechanism.start(entropy=entropy).add_many(increments).tolist())


def _many_totals(mechanism: Any, increments: Any, count: int, entropy: BitSource | None) -> Any:
    return count_totals(mechanism, increments, count, bits_from(entropy))


def _many_numeric_answers(mechanism: Any, values: Any, count: int, entropy: BitSource | None) -> Any:
    return numeric_answers(mechanism, values, count, bits_from(entropy))


def _many_quantiles(mechanism: Any, values: Any, count: int, entropy: BitSource | None) -> Any:
    return quantiles_releases(mechanism, values, count, bits_from(entropy))


def _mean(rows: Any) -> float:
    return float(sum(rows)) / len(rows)


def _aggregate(mechanism: Any, rows: Any, entropy: BitSource | None) -> Any:
    return mechanism.release(rows, _mean, entropy=entropy)


def _many_aggregates(mechanism: Any, rows: Any, count: int, entropy: BitSource | None) -> Any:
    return mechanism._releases(rows, _mean, count, bits_from(entropy))


_NOISE_OF_A_RUN: Mapping[type[Guarantee], Any] = {PureDP: DiscreteLaplace, ZCDP: DiscreteGaussian}


def _best_of_tuned(mechanism: Any, count: Any, entropy: BitSource | None) -> Any:
    """A count, clamped low or high, with noise at the price of each run; the larger the better."""
    noise = _NOISE_OF_A_RUN[type(mechanism.each)](promise=mechanism.each, sensitivity=1)

    def tuned(most: int) -> tuple[int, int]:
        (released,) = noise.release(np.array([min(count, most)]), entropy=entropy)  # the bits that an array takes
        return int(released), most

    best = mechanism.select([lambda: tuned(1), lambda: tuned(3)], entropy=entropy)
    return best.score, best.result


def _many_bests_of_tuned(mechanism: Any, value: Any, count: int, entropy: BitSource | None) -> Any:
    noise = _NOISE_OF_A_RUN[type(mechanism.each)](promise=mechanism.each, sensitivity=1)
    bits = bits_from(entropy)

    def tuned(size: int, most: int) -> Any:
        released = noise.release(np.full(size, min(value, most)), entropy=bits)
        return np.stack((released, np.full(size, most)), axis=1)

    return best_of_each(mechanism, [lambda size: tuned(size, 1), lambda size: tuned(size, 3)], count, bits)


SELECTIONS: Mapping[str, Selection] = {
    "scores": Selection(
        examples=(
            lambda: Exponential(epsilon=1, sensitivity=1),
            lambda: Exponential(rho=0.125, sensitivity=1),
            lambda: PermuteAndFlip(epsilon=1, sensitivity=1),
            lambda: NoisyMax(epsilon=1, sensitivity=1, noise=LAPLACE),
            lambda: NoisyMax(epsilon=1, sensitivity=1, noise=EXPONENTIAL),
            lambda: NoisyMax(epsilon=1, sensitivity=1, noise=GUMBEL),
            lambda: Exponential(epsilon=1, sensitivity=LInf(1, neighbours=REPLACE)),
        ),
        run=_index,
        many=_many_indices,
        neighbours=([0, 4, 4], [1, 3, 3]),
    ),
    "monotone scores": Selection(
        examples=(
            lambda: Exponential(epsilon=1, sensitivity=1, monotone=True),
            lambda: PermuteAndFlip(epsilon=1, sensitivity=1, monotone=True),
            lambda: NoisyMax(epsilon=1, sensitivity=1, monotone=True, noise=LAPLACE),
        ),
        run=_index,
        many=_many_indices,
        neighbours=([0, 1, 1], [0, 0, 0]),
    ),
    "top-k": Selection(
        examples=(
            lambda: TopK(2, epsilon=1, sensitivity=1),
            lambda: TopK(2, epsilon=1, sensitivity=1, noise=GUMBEL),
            lambda: TopK(2, rho=0.25, sensitivity=1),
        ),
        run=_indices,
        many=_many_indices,
        neighbours=([0, 0, 5], [1, 1, 4]),
    ),
    "quantile": Selection(
        examples=(
            lambda: Quantile(0.5, bounds=(0, 15), granule=1, epsilon=1),
            lambda: Quantile(0.9, bounds=(0, 15), granule=1, epsilon=1),
            lambda: Quantile(0, bounds=(0, 15), granule=1, rho=0.125),
        ),
        run=_release,
        many=_many_releases,
        neighbours=([1, 2, 2, 9], [1, 2, 2, 9, 15]),
    ),
    "quantiles": Selection(
        examples=(
            lambda: Quantiles([0.25, 0.5, 0.75], bounds=(0, 7), granule=1, epsilon=1),
            lambda: Quantiles([0.25, 0.75], bounds=(0, 7), granule=1, rho=0.125),
        ),
        run=lambda m, values, entropy: tuple(m.release(values, entropy=entropy).tolist()),
        many=_many_quantiles,
        neighbours=([1, 2, 2, 6], [1, 2, 2, 6, 7]),
    ),
    "thresholds": Selection(
        examples=(
            lambda: AboveThreshold(epsilon=1, threshold=0, sensitivity=1),
            lambda: AboveThreshold(epsilon=1, threshold=0, sensitivity=1, split=IMPROVED),
            lambda: SparseVector(epsilon=1, threshold=0, sensitivity=1, hits=2),
            lambda: SparseVector(epsilon=1, threshold=0, sensitivity=1, hits=2, split=IMPROVED),
            lambda: GaussianAboveThreshold(epsilon=1, delta="0.01", threshold=0, sensitivity=1, length=10),
            lambda: NaiveThreshold(epsilon=1, threshold=0, sensitivity=1, length=10),
        ),
        run=_answers,
        many=_many_answers,
        neighbours=([0, 0, 0, 0, 0, 2], [1, 1, 1, 1, 1, 1]),
    ),
    "numeric thresholds": Selection(
        examples=(lambda: NumericSparse(epsilon=1, threshold=0, sensitivity=1, hits=2),),
        run=_answers,
        many=_many_numeric_answers,
        neighbours=([0, 0, 0, 0, 0, 2], [1, 1, 1, 1, 1, 1]),
    ),
    "responses": Selection(
        examples=(
            lambda: RandomizedResponse(epsilon=1),
            lambda: RandomizedResponse.two_coins(),
            lambda: RandomizedResponse.one_in(3),
            lambda: RandomizedResponse(epsilon=1, categories=(False, True, None)),
        ),
        run=_report,
        many=_many_reports,
        neighbours=(True, False),
    ),
    "running totals": Selection(
        examples=(
            lambda: ContinualCount(horizon=4, epsilon=1, sensitivity=1),
            lambda: ContinualCount(horizon=4, rho=0.5, sensitivity=1),
            lambda: ContinualCount(horizon=4, mu=1, sensitivity=1, factorisation=SQUARE_ROOT),
        ),
        run=_totals,
        many=_many_totals,
        neighbours=([1, 0, 0, 0], [0, 0, 0, 0]),
    ),
    "best of tuned": Selection(
        examples=(
            lambda: PrivateSelection(epsilon=1, runs=4),
            lambda: PrivateSelection(epsilon=1, runs=4, stopping=GEOMETRIC),
            lambda: PrivateSelection(epsilon=3, delta="0.001", runs=4),
        ),
        run=_best_of_tuned,
        many=_many_bests_of_tuned,
        neighbours=(1, 2),
    ),
    "smooth median": Selection(
        examples=(
            lambda: SmoothMedian(n=3, bounds=(0, 15), granule=1, epsilon=1),
            lambda: SmoothMedian(n=3, bounds=(0, 15), granule=1, epsilon=2, decay="0.5"),
            lambda: SmoothMedian.textbook(n=3, bounds=(0, 15), granule=1, epsilon=1),
        ),
        run=_release,
        many=_many_releases,
        neighbours=([4, 7, 8], [4, 7, 0]),
    ),
    "propose test release": Selection(
        examples=(lambda: ProposeTestRelease(n=9, bounds=(0, 15), bound=2, granule=1, epsilon=2, delta="0.05"),),
        run=_release,
        many=_many_releases,
        neighbours=([5, 6, 6, 7, 7, 8, 8, 9, 9], [5, 6, 6, 7, 7, 8, 8, 9, 0]),
    ),
    "sample and aggregate": Selection(
        examples=(
            lambda: SampleAndAggregate(blocks=3, bounds=(0, 15), granule=1, epsilon=1),
            lambda: SampleAndAggregate(blocks=2, bounds=(0, 15), granule=1, rho=0.125),
        ),
        run=_aggregate,
        many=_many_aggregates,
        neighbours=([1, 2, 9], [1, 15, 9]),
    ),
}
