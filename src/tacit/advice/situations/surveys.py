"""Surveys of people who keep their answers to themselves: shares of categories."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from tacit.advice.options import LeftOut, Way
from tacit.advice.paste import sensitivity_text
from tacit.advice.situations.devices import SEARCHED_FROM, DeviceSum, per_person, soon
from tacit.advice.situations.trust import CURATOR, NOBODY, SHUFFLER, Trust, read_trust
from tacit.errors import InvalidParameter
from tacit.local.categories.estimates import two_sided
from tacit.local.categories.frequency import FrequencyRandomizer
from tacit.local.categories.hadamard import HadamardResponse
from tacit.local.categories.hashing import LocalHashing
from tacit.local.categories.kary import KaryResponse
from tacit.local.categories.subset import SubsetSelection
from tacit.local.categories.unary import UnaryEncoding
from tacit.local.shuffle.binary_sum import ShuffledHistogram
from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.selection.scores import read_count
from tacit.privacy.guarantees.approx import ApproxDP
from tacit.privacy.guarantees.gaussian import GaussianDP
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.guarantees.zcdp import ZCDP
from tacit.privacy.neighbours import REPLACE, Neighbours
from tacit.privacy.query_sensitivity import histogram
from tacit.privacy.sensitivity import L1, L2

__all__ = ["NO_LOCAL", "Survey"]

_PURE = (PureDP,)
_THE_OTHER = "the other is what is left of the people, who are counted in public"
NO_LOCAL = LeftOut("local protocols", "there is somebody to trust, and they would cost the root of the people")


@dataclass(frozen=True, slots=True)
class Survey:
    """The shares of ``categories`` answers among ``people`` people, who trust nobody unless ``trusted`` says so."""

    categories: int
    people: int
    trusted: Trust = NOBODY

    def __post_init__(self) -> None:
        read_count(self.categories, "categories", most=10**6)
        if self.categories < 2:
            raise InvalidParameter("categories", given=self.categories, allowed="at least two answers to choose from")
        read_count(self.people, "people", most=10**12)
        object.__setattr__(self, "trusted", read_trust(self.trusted))

    @property
    def neighbours(self) -> Neighbours:
        return REPLACE

    def title(self) -> str:
        return f"shares of {self.categories:,} answers of {self.people:,} people who trust {self._whom()}"

    def _whom(self) -> str:
        return {NOBODY: "nobody", SHUFFLER: "a shuffler", CURATOR: "a curator"}[self.trusted]

    def measured_as(self, beta: str) -> str:
        return f"the error of a share, over all categories, exceeded with probability {beta}"

    def ways(self) -> Iterable[Way]:
        return {NOBODY: self._local, SHUFFLER: self._shuffled, CURATOR: self._central}[self.trusted]()

    def _local(self) -> Iterable[Way]:
        every = f"range({self.categories})"
        for kind, grows, why in (
            (KaryResponse, "like √k", "tells the truth most often, which is best for few categories"),
            (SubsetSelection, "not with k, from k = e^ε on", "names several categories, hers likelier than others"),
            (LocalHashing, "not with k", "hashes the answer first: short reports, however many categories"),
            (UnaryEncoding, "not with k", "sends a noisy bit for every category"),
            (HadamardResponse, "not with k", "sends one row of a matrix: shortest and fastest to read"),
        ):
            yield Way(
                kind.__name__,
                _PURE,
                functools.partial(self._randomizer, kind),
                self._share_error,
                f"tacit.local.{kind.__name__}({{price}}, categories={every}{self._size(kind)})",
                f"{grows}; like 1/√n in people",
                why,
                details=lambda made: str(getattr(made, "size", "")),
            )

    def _randomizer(self, kind: Any, promise: Any) -> FrequencyRandomizer:
        if kind is not SubsetSelection:
            made: FrequencyRandomizer = kind(promise=promise, categories=range(self.categories))
            return made
        return SubsetSelection(promise=promise, categories=range(self.categories), size=self._best_size(promise.eps))

    def _size(self, kind: object) -> str:
        return ", size={made}" if kind is SubsetSelection else ""

    def _best_size(self, epsilon: Fraction) -> int:
        """How many categories a report should name so that the error over all of them is least."""
        return _best_size(self.categories, float(epsilon))

    def _share_error(self, made: FrequencyRandomizer, beta: Fraction) -> float:
        """Variance is linear in the share and shares add up to 1: the mean over categories is that of share 1/k."""
        return two_sided(beta) * made.standard_error(self.people, 1 / self.categories)

    def _shuffled(self) -> Iterable[Way]:
        if self.categories == 2:
            yield from self._one_sum()
        yield Way(
            "ShuffledHistogram",
            (ApproxDP,),
            lambda promise: ShuffledHistogram(promise=soon(promise), n=self.people, categories=range(self.categories)),
            lambda made, beta: two_sided(beta) * made.standard_error / self.people,
            f"tacit.local.ShuffledHistogram({{price}}, n={self.people}, categories=range({self.categories}))",
            "not with k; like 1/n in people",
            "hides everybody among noise bits, two messages for each person and category",
            scale=lambda made: float(made.standard_error),
            searched_from=SEARCHED_FROM,
        )
        yield from self._local()

    def _one_sum(self) -> Iterable[Way]:
        """Of two answers one is counted, as a sum of bits."""
        for way in DeviceSum(self.people, bits=True, trusted=SHUFFLER).ways():
            if way.name in ("BinarySum", "ShuffledSum"):
                yield replace(
                    way,
                    error=per_person(way.error, self.people),
                    grows="like 1/n in people",
                    why=f"{way.why}; {_THE_OTHER}; divide the sum by the people",
                )

    def _central(self) -> Iterable[Way]:
        l1, l2 = (histogram(norm=norm, neighbours=REPLACE) for norm in (L1, L2))
        why = "counts every answer with noise of two people"
        if self.categories == 2:
            l1, l2, why = L1(1, neighbours=REPLACE), L2(1, neighbours=REPLACE), f"counts one answer; {_THE_OTHER}"
        yield Way(
            "DiscreteLaplace",
            _PURE,
            lambda promise: DiscreteLaplace(promise=promise, sensitivity=l1),
            lambda made, beta: made.accuracy(beta) / self.people,
            f"tacit.DiscreteLaplace({{price}}, sensitivity={sensitivity_text(l1)})",
            "not with k; like 1/n in people",
            why,
        )
        yield Way(
            "DiscreteGaussian",
            (ApproxDP, ZCDP, GaussianDP),
            lambda promise: DiscreteGaussian(promise=promise, sensitivity=l2),
            lambda made, beta: made.accuracy(beta) / self.people,
            f"tacit.DiscreteGaussian({{price}}, sensitivity={sensitivity_text(l2)})",
            "not with k; like 1/n in people",
            "pays by the L2 distance",
        )

    def never(self) -> Iterable[LeftOut]:
        if self.trusted is CURATOR:
            yield NO_LOCAL
            return
        yield LeftOut("Rappor", "it is for asking the same people again and again; for once it is UnaryEncoding")
        yield LeftOut("CountMeanSketch", "it is for more categories than can be listed, at the price of collisions")
        if self.trusted is SHUFFLER and self.categories > 2:
            yield LeftOut(
                "ShuffledSum", "one sum says both of two answers; nothing of ours prices a sum for each of more"
            )
        if self.trusted is SHUFFLER:
            yield LeftOut(
                "amplified reports",
                "one message for each person: tacit.local.largest_epsilon0(...) finds their ε₀ in a second",
            )


@lru_cache(maxsize=1024)
def _best_size(categories: int, epsilon: float) -> int:
    """The size of the least mean variance, in floats: any size keeps the promise."""
    grown = math.exp(min(epsilon, 500.0))

    def variance(size: int) -> float:
        own = size * grown / (size * grown + categories - size)
        other = (own * (size - 1) + (1 - own) * size) / (categories - 1)
        mixed = own * (1 - own) + (categories - 1) * other * (1 - other)
        return mixed / categories / (own - other) ** 2

    about = max(1, min(categories - 1, round(categories / (1 + grown))))
    near = range(max(1, about - 3), min(categories - 1, about + 3) + 1)
    return min(near, key=variance)
