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
from tacit.mechanisms.base import bits_from, meaning
from tacit.mechanisms.promise import PriceLike, read_promise
from tacit.mechanisms.scores import kind_of
from tacit.mechanisms.selecting import float_above
from tacit.noise.coins import uniform_below
from tacit.noise.entropy import BitSource
from tacit.noise.truths import ExactTruth, OddsTruth, Truth
from tacit.privacy import REPLACE, Guarantee, PureDP
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.prices import Price, price, round_up
from tacit.privacy.rounding import decimal_up, ln_up

__all__ = ["RandomizedResponse", "ResponseEstimate"]

Reals = npt.NDArray[np.float64]


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


class RandomizedResponse:
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

    __slots__ = ("_categories", "_guarantee", "_places", "_truth")

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
        assert isinstance(asked, PureDP)
        self._set(asked, categories, None)

    def _set(self, guarantee: PureDP, categories: Sequence[Any], truth: Fraction | None) -> None:
        self._categories = _distinct(categories)
        self._places = {category: place for place, category in enumerate(self._categories)}
        self._guarantee = guarantee
        others = len(self._categories) - 1
        self._truth: Truth = OddsTruth(guarantee.eps, others) if truth is None else ExactTruth(truth)

    @classmethod
    def telling_truth(cls, probability: Price, *, categories: Sequence[Any] = (False, True)) -> RandomizedResponse:
        """The truth with exactly this probability, otherwise one of the others: ε = ln(p(k-1)/(1-p))."""
        others = len(_distinct(categories)) - 1
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
        return self._categories

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
        return (1 - self.truth) / (len(self._categories) - 1)

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
        return LossDistribution.randomized_response(float_above(self._guarantee.eps), len(self._categories), REPLACE)

    def randomize(self, values: Any, *, entropy: BitSource | None = None) -> Any:
        """The report of one person, or an array of reports, one for each value. Unknown values are refused first."""
        if self._categories == (False, True) and isinstance(values, np.ndarray) and values.dtype == np.bool_:
            truths = self._truth.draw(values.size, bits_from(entropy)).reshape(values.shape)
            np.equal(values, truths, out=truths)  # True where the truth is told of True, or a lie of False
            return truths
        place = self._place(values.item() if isinstance(values, np.generic) else values)
        if place is not None:
            return self._categories[int(self._responses(np.array([place]), bits_from(entropy))[0])]
        array = _as_array(values)
        if array is None:
            raise self._unknown(values)
        told = self._responses(self._lookup(array.reshape(-1)), bits_from(entropy))
        return self._array()[told].reshape(array.shape)

    def _place(self, value: Any) -> int | None:
        try:
            return self._places.get(value)
        except TypeError:  # an array, or anything else that cannot be a category
            return None

    def _responses(self, places: npt.NDArray[np.int64], entropy: BitSource) -> npt.NDArray[np.int64]:
        lies = np.flatnonzero(~self._truth.draw(places.size, entropy))
        told = places.copy()
        steps = 1 + uniform_below(len(self._categories) - 1, lies.size, entropy)
        told[lies] = (told[lies] + steps) % len(self._categories)
        return told

    def _lookup(self, values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        if values.dtype == object:
            known, inverse = values, np.arange(values.size)
        else:
            known, inverse = np.unique(values, return_inverse=True)
        places = [self._place(item) for item in known.tolist()]
        if any(place is None for place in places):
            raise self._unknown(values)
        return np.array(places, dtype=np.int64)[inverse]

    def _array(self) -> npt.NDArray[Any]:
        """The categories as an array of a dtype that depends on them alone."""
        kinds = {type(category) for category in self._categories}
        if len(kinds) == 1 and kinds <= {bool, int, float, str}:
            return np.array(self._categories)
        return _listed(self._categories)

    def _unknown(self, values: object) -> InvalidParameter:
        allowed = f"the {len(self._categories)} categories of this response, {self._categories!r}"
        return InvalidParameter("values", given=kind_of(values), allowed=allowed)

    def estimate(self, reports: Any) -> ResponseEstimate:
        """The share of each category among the true answers, unbiased: (share of reports - lie)/(truth - lie)."""
        gain = self._gain()
        found = _as_array(reports)
        if found is None or not found.size:
            raise InvalidParameter("reports", given=kind_of(reports), allowed="at least one report, in a list or array")
        array = found.reshape(-1)
        shares = np.bincount(self._lookup(array), minlength=len(self._categories)) / array.size
        likely = np.clip(shares, self._lie, self.truth)  # where the mean of the reports certainly lies
        errors = np.sqrt(likely * (1 - likely) / array.size) / gain
        return ResponseEstimate(self._categories, (shares - self._lie) / gain, errors, int(array.size))

    def explain(self) -> str:
        """Two sentences for someone who has to decide."""
        return (
            f"Whatever a person's true answer, it changes the chance of any report {meaning(self._guarantee)}."
            f" The report is true {100 * self.truth:.3g}% of the time, and the collector cannot tell when."
        )

    def __repr__(self) -> str:
        exact = f", truth={self._truth!r}" if isinstance(self._truth, ExactTruth) else ""
        return f"RandomizedResponse(promise={self._guarantee!r}, categories={self._categories!r}{exact})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RandomizedResponse) and repr(other) == repr(self)

    def __hash__(self) -> int:
        return hash(repr(self))


def _as_array(values: Any) -> npt.NDArray[Any] | None:
    """Several values as an array that keeps each as it is; None for what is not several values."""
    if isinstance(values, list | tuple):
        return _listed(values)
    array = np.asarray(values) if hasattr(values, "__array__") else None
    return array if array is not None and array.ndim else None


def _listed(values: Sequence[Any]) -> npt.NDArray[Any]:
    out = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        out[i] = value.item() if isinstance(value, np.generic) else value
    return out


def _distinct(categories: object) -> tuple[Any, ...]:
    allowed = "a list of at least two different answers"
    if not isinstance(categories, Sequence | np.ndarray | range) or isinstance(categories, str):
        raise InvalidParameter("categories", given=categories, allowed=allowed)
    listed = tuple(categories.tolist() if isinstance(categories, np.ndarray) else categories)
    if len(listed) < 2 or len(set(listed)) != len(listed):
        raise InvalidParameter("categories", given=categories, allowed=allowed)
    return listed
