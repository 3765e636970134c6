"""Randomized response: each person answers with the truth or with chance, so that the collector need not be trusted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.mechanisms.responses.answers import UNKNOWN, Answers, listed, several
from tacit.mechanisms.selection.scores import kind_of
from tacit.mechanisms.selection.selecting import float_above
from tacit.mechanisms.shared.base import bits_from, meaning
from tacit.mechanisms.shared.promise import PriceLike, read_promise
from tacit.mechanisms.shared.value_by_repr import ValueByRepr
from tacit.noise.coins import uniform_places
from tacit.noise.entropy import BitSource
from tacit.noise.truths import ExactTruth, OddsTruth, Truth
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.neighbours import REPLACE
from tacit.privacy.prices import Price, price, round_up
from tacit.privacy.rounding import decimal_up, ln_up

__all__ = ["RandomizedResponse", "ResponseEstimate"]

Reals = npt.NDArray[np.float64]

_CHUNK = 1 << 15


@dataclass(frozen=True, slots=True)
class ResponseEstimate:
    """The estimated share of each category among those who answered, unbiased, and its standard error.

    The error covers the randomized answers only, not the choice of who was asked. An unbiased share may lie outside
    [0, 1].
    """

    categories: tuple[Any, ...]
    values: Reals
    standard_errors: Reals
    count: int


class RandomizedResponse(ValueByRepr):
    """ε-DP for each person on their own device: the truth with probability e^ε/(e^ε+k-1), any one lie equally likely.

    The promise compares two answers of one person (replace); every report of one person costs ε again.
    ``two_coins()`` is the classic with ε = ln 3, ``one_in(t)`` answers at random one time in t, ``warner(p)`` and
    ``telling_truth(p)`` state the probability of the truth. Proof: docs/proofs/randomized_response.md.

    >>> m = RandomizedResponse(epsilon=1, categories=["red", "green", "blue"])
    >>> m.randomize("red") in m.categories, round(m.truth, 4)
    (True, 0.5761)
    >>> RandomizedResponse.two_coins().truth, RandomizedResponse.one_in(2).truth
    (0.75, 0.75)
    """

    __slots__ = ("_answers", "_guarantee", "_truth")

    proof: ClassVar[str] = "proofs/randomized_response.md"

    def __init__(
        self,
        *,
        categories: Sequence[Any] = (False, True),
        epsilon: PriceLike = None,
        delta: PriceLike = None,
        rho: PriceLike = None,
        mu: PriceLike = None,
        promise: Guarantee | None = None,
    ) -> None:
        asked = read_promise("RandomizedResponse", (PureDP,), REPLACE, epsilon, delta, rho, mu, promise)
        self._set(asked, categories, None)

    def _set(self, guarantee: PureDP, categories: Sequence[Any], truth: Fraction | None) -> None:
        self._answers = Answers(categories)
        self._guarantee = guarantee
        others = len(self._answers) - 1
        self._truth: Truth = OddsTruth(guarantee.eps, others) if truth is None else ExactTruth(truth)

    @classmethod
    def telling_truth(cls, probability: Price, *, categories: Sequence[Any] = (False, True)) -> RandomizedResponse:
        """The truth with exactly this probability, otherwise one of the others: ε = ln(p(k-1)/(1-p))."""
        others = len(Answers(categories)) - 1
        allowed = f"a probability of the truth from 1/{others + 1} up to, but not including, 1"
        exact = price(probability, "probability", allowed=allowed)
        if not Fraction(1, others + 1) <= exact < 1:
            raise InvalidParameter("probability", given=probability, allowed=allowed)
        odds = exact * others / (1 - exact)
        made = cls.__new__(cls)
        made._set(PureDP(round_up(Fraction(ln_up(decimal_up(odds)))), neighbours=REPLACE), categories, exact)
        return made

    @classmethod
    def warner(cls, probability: Price) -> RandomizedResponse:
        """Warner (1965): truth with probability p > ½, else the opposite; ε = ln(p/(1-p))."""
        return cls.telling_truth(probability)

    @classmethod
    def two_coins(cls) -> RandomizedResponse:
        """Tails: the truth. Heads: a second coin decides. ε = ln 3.

        >>> round(RandomizedResponse.two_coins().guarantee.epsilon(), 6)
        1.098612
        """
        return cls.one_in(2)

    @classmethod
    def one_in(cls, t: Price) -> RandomizedResponse:
        """At random with probability 1∧1/t, else the truth: ε = ln(2t-1) for t > 1; for t ≤ 1 ε = 0 and no estimate.

        >>> round(RandomizedResponse.one_in(3).guarantee.epsilon(), 6), RandomizedResponse.one_in(1).guarantee
        (1.609438, PureDP(0, neighbours=Neighbours.REPLACE))
        """
        exact = price(t, "t", allowed="a finite number above 0")
        if exact <= 0:
            raise InvalidParameter("t", given=t, allowed="a finite number above 0")
        return cls.telling_truth(1 - min(Fraction(1), 1 / exact) / 2)

    @property
    def guarantee(self) -> PureDP:
        """What is promised to each person about one report."""
        return self._guarantee

    @property
    def categories(self) -> tuple[Any, ...]:
        """The possible answers."""
        return self._answers.listed

    @property
    def truth(self) -> float:
        """The probability of the true answer."""
        return self._truth.probability

    @property
    def scale(self) -> float:
        """The standard error that one report adds to a share near 0, in shares."""
        lie = self._lie
        gain = self._gain()
        return math.sqrt(lie * (1 - lie)) / gain

    @property
    def _lie(self) -> float:
        """The probability of any one false answer."""
        return (1 - self.truth) / (len(self._answers) - 1)

    def _gain(self) -> float:
        gain = self.truth - self._lie
        if gain <= 0:
            hint = "Raise t above 1, or the probability of the truth above chance."
            allowed = "a response that depends on the truth: this one is pure chance, and nothing can be estimated"
            raise InvalidParameter("estimate", given=self, allowed=allowed, hint=hint)
        return gain

    @property
    def loss(self) -> LossDistribution:
        """That of randomized response with this many answers."""
        return LossDistribution.randomized_response(float_above(self._guarantee.eps), len(self._answers), REPLACE)

    def randomize(self, values: Any, *, entropy: BitSource | None = None) -> Any:
        """The report of one person, or an array of reports, one for each value. Unknown values are refused first."""
        if self.categories == (False, True) and isinstance(values, np.ndarray) and values.dtype == np.bool_:
            truths = self._truth.draw(values.size, bits_from(entropy)).reshape(values.shape)
            np.equal(values, truths, out=truths)  # True where the truth is told of True, or a lie of False
            return truths
        place = self._answers.place(values)
        if place != UNKNOWN:
            return self.categories[int(self.respond(np.array([place]), bits_from(entropy))[0])]
        array = several(values)
        if array is None:
            raise self._unknown(values)
        flat = array.reshape(-1)
        told = np.empty(flat.size, dtype=np.int64)
        for start in range(0, flat.size, _CHUNK):  # all are looked up first: nothing is drawn if one is unknown
            told[start : start + _CHUNK] = self._lookup(flat[start : start + _CHUNK])
        self.respond(told, bits_from(entropy), out=told)
        return self._told(told).reshape(array.shape)

    def respond(
        self, places: npt.NDArray[np.int64], entropy: BitSource, *, out: npt.NDArray[np.int64] | None = None
    ) -> npt.NDArray[np.int64]:
        """The places of the reports for the places of the true answers among the categories."""
        told = np.empty_like(places) if out is None else out
        for start in range(0, places.size, _CHUNK):
            part = places[start : start + _CHUNK]
            truths = self._truth.draw(part.size, entropy)
            others = (part + uniform_places(len(self._answers) - 1, part.size, entropy) + 1).view(np.uint64)
            np.minimum(others, others - np.uint64(len(self._answers)), out=others)  # less than 0 wraps to the largest
            told[start : start + _CHUNK] = np.where(truths, part, others.view(np.int64))
        return told

    def _lookup(self, values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        places = self._answers.places(values)
        if places.size and int(places.min()) == UNKNOWN:
            raise self._unknown(values)
        return places

    def _told(self, places: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """The categories at these places, in an array of a dtype that depends on all the categories alone."""
        if self.categories == tuple(range(len(self._answers))):
            return places
        kinds = {type(category) for category in self.categories}
        if len(kinds) == 1 and kinds <= {bool, int, float, str}:
            return np.array(self.categories)[places]
        return listed(self.categories)[places]

    def _unknown(self, values: object) -> InvalidParameter:
        allowed = f"the {len(self._answers)} categories of this response, {self.categories!r}"
        return InvalidParameter("values", given=kind_of(values), allowed=allowed)

    def estimate(self, reports: Any) -> ResponseEstimate:
        """The share of each category among the true answers, unbiased: (share of reports - lie)/(truth - lie)."""
        gain = self._gain()
        found = several(reports)
        if found is None or not found.size:
            raise InvalidParameter("reports", given=kind_of(reports), allowed="at least one report, in a list or array")
        array = found.reshape(-1)
        shares = np.bincount(self._lookup(array), minlength=len(self._answers)) / array.size
        likely = np.clip(shares, self._lie, self.truth)  # where the mean of the reports certainly lies
        errors = np.sqrt(likely * (1 - likely) / array.size) / gain
        return ResponseEstimate(self.categories, (shares - self._lie) / gain, errors, int(array.size))

    def explain(self) -> str:
        """Two sentences for someone who has to decide."""
        return (
            f"Whatever a person's true answer, it changes the chance of any report {meaning(self._guarantee)}."
            f" The report is true {100 * self.truth:.3g}% of the time, and the collector cannot tell when."
        )

    def __repr__(self) -> str:
        exact = f", truth={self._truth!r}" if isinstance(self._truth, ExactTruth) else ""
        return f"RandomizedResponse(promise={self._guarantee!r}, categories={self.categories!r}{exact})"
