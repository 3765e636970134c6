"""Learning from local reports: each person answers one statistical query, with noise from her own device."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.learn.finite.hypotheses import (
    Booleans,
    Conjunction,
    Threshold,
    Thresholds,
    read_labels,
    read_numbers,
    read_table,
)
from tacit.mechanisms.responses.randomized_response import RandomizedResponse
from tacit.mechanisms.selection.scores import Described, read_count
from tacit.mechanisms.shared.base import bits_from
from tacit.mechanisms.shared.tails import read_beta
from tacit.noise.entropy import BitSource
from tacit.privacy import Guarantee
from tacit.privacy.prices import Price, price

__all__ = ["LocalConjunctions", "LocalThresholds", "StatisticalQueries"]

Integers = npt.NDArray[np.int64]
Question = Callable[[Integers], Booleans]
"""Whether something holds of each of these people."""


@dataclass(frozen=True, slots=True)
class StatisticalQueries:
    """Shares of a population, each from the randomized responses of other people, so that nobody answers twice.

    Proof: docs/proofs/learnability.md.

    >>> queries = StatisticalQueries(epsilon=1)
    >>> queries.people_for(10, tolerance=0.05, beta=0.05)
    56120
    >>> round(queries.tolerance(56120, 10, beta=0.05), 4)
    0.05
    """

    epsilon: Price
    proof: ClassVar[str] = "proofs/learnability.md"

    @property
    def response(self) -> RandomizedResponse:
        """What runs on a person's device."""
        return RandomizedResponse(epsilon=self.epsilon)

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to each person, who need not trust the collector."""
        return self.response.guarantee

    @property
    def _gain(self) -> float:
        """2p - 1, p being the chance of the truth: what is left of a difference in shares."""
        return 2 * self.response.truth - 1

    def tolerance(self, people: int, queries: int, beta: Price) -> float:
        """All estimates are this close to the population's shares, with probability 1 - β (Hoeffding)."""
        each = read_count(people, "people") // read_count(queries, "queries")
        if not each:
            raise InvalidParameter("people", given=people, allowed=f"at least {queries}: one per query")
        return math.sqrt(math.log(2 * queries / float(read_beta(beta))) / (2 * each)) / self._gain

    def people_for(self, queries: int, tolerance: Price, beta: Price) -> int:
        """How many people it takes for so many estimates, all within the tolerance."""
        allowed = "a number above 0"
        close = float(price(tolerance, "tolerance", allowed=allowed))
        if close <= 0:
            raise InvalidParameter("tolerance", given=tolerance, allowed=allowed)
        count = read_count(queries, "queries")
        each = math.log(2 * count / float(read_beta(beta))) / (2 * (close * self._gain) ** 2)
        return count * math.ceil(each * (1 + 1e-12))

    def estimate(self, people: Integers, question: Question, entropy: BitSource) -> float:
        """The share of the population for whom it holds, from the reports of these people: unbiased."""
        reports = self.response.randomize(np.asarray(question(people), dtype=np.bool_), entropy=entropy)
        return float((reports.mean() - (1 - self.response.truth)) / self._gain)


class _LocalLearner:
    """Deals people to queries in secret random order."""

    __slots__ = ("_queries",)

    proof: ClassVar[str] = "proofs/learnability.md"

    _queries: StatisticalQueries

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to each person, who need not trust the collector."""
        return self._queries.guarantee

    def _groups(self, people: int, count: int, entropy: BitSource) -> Sequence[Integers]:
        if people < count:
            given = Described(f"{people} people")
            raise InvalidParameter("examples", given=given, allowed=f"at least {count}: one per query")
        order = entropy.words(people).argsort(kind="stable")
        return np.array_split(order, count)


class LocalThresholds(_LocalLearner):
    """A threshold from local reports, where some threshold is never wrong: a binary search of ⌈log₂ m⌉ queries.

    >>> learner = LocalThresholds(range(64), epsilon=2)
    >>> learner.people(alpha=0.1, beta=0.05)
    11340
    """

    __slots__ = ("_cuts",)

    def __init__(self, cuts: Any, *, epsilon: Price) -> None:
        self._cuts = Thresholds(cuts).cuts
        self._queries = StatisticalQueries(epsilon)
        _ = self.guarantee

    @property
    def queries(self) -> int:
        """How many questions are asked, each of other people."""
        return max(1, math.ceil(math.log2(len(self._cuts))))

    def people(self, alpha: Price, beta: Price) -> int:
        """So many suffice for an error of at most α with probability 1 - β."""
        return self._queries.people_for(self.queries, _share(alpha) / 2, beta)

    def learn(self, examples: Any, labels: Any, *, alpha: Price, entropy: BitSource | None = None) -> Threshold:
        """The largest cut below which hardly anybody is positive: at most α/2, as far as reports tell."""
        numbers = read_numbers(examples)
        yes = read_labels(labels, len(numbers))
        close = _share(alpha) / 2
        bits = bits_from(entropy)
        groups = self._groups(len(numbers), self.queries, bits)
        low, high = (
            0,
            len(self._cuts),
        )  # positive below cuts[low] are few; below cuts[high] they are not, or it is no cut
        for group in groups:
            if high - low == 1:
                break
            middle = (low + high) // 2
            cut = self._cuts[middle]
            share = self._queries.estimate(group, lambda i, cut=cut: yes[i] & ~(numbers[i] >= cut), bits)  # type: ignore[misc]
            low, high = (middle, high) if share <= close else (low, middle)
        return Threshold(float(self._cuts[low]))


class LocalConjunctions(_LocalLearner):
    """A conjunction of d features from local reports, where some conjunction is never wrong: 2d queries, not 3^d.

    >>> LocalConjunctions(3, epsilon=2).queries
    6
    """

    __slots__ = ("_features",)

    def __init__(self, features: int, *, epsilon: Price) -> None:
        self._features = read_count(features, "features", most=10**6)
        self._queries = StatisticalQueries(epsilon)
        _ = self.guarantee

    @property
    def queries(self) -> int:
        """How many questions are asked, each of other people."""
        return 2 * self._features

    def people(self, alpha: Price, beta: Price) -> int:
        """So many suffice for an error of at most α with probability 1 - β."""
        return self._queries.people_for(self.queries, _share(alpha) / (2 * self.queries), beta)

    def learn(self, examples: Any, labels: Any, *, alpha: Price, entropy: BitSource | None = None) -> Conjunction:
        """All literals that hardly any positive example contradicts: at most α/4d, as far as reports tell."""
        holds = read_table(examples, self._features)
        yes = read_labels(labels, len(holds))
        close = _share(alpha) / (2 * self.queries)
        bits = bits_from(entropy)
        groups = self._groups(len(holds), self.queries, bits)
        kept: tuple[list[int], list[int]] = ([], [])
        for query, group in enumerate(groups):
            feature, forbidden = divmod(query, 2)
            against = holds[:, feature] == bool(forbidden)
            if self._queries.estimate(group, lambda i, against=against: yes[i] & against[i], bits) <= close:  # type: ignore[misc]
                kept[forbidden].append(feature)
        return Conjunction(tuple(kept[0]), tuple(kept[1]))


def _share(alpha: Price) -> float:
    allowed = "an error strictly between 0 and 1"
    exact = price(alpha, "alpha", allowed=allowed)
    if not 0 < exact < 1:
        raise InvalidParameter("alpha", given=alpha, allowed=allowed)
    return float(exact)
