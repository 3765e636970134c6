"""What every mechanism that picks one of several candidates offers: a promise, a price per score, a choice."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self, TypeVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter, NotPrivate
from tacit.mechanisms.selection.scores import read_candidates, read_count, read_scores
from tacit.mechanisms.shared.base import bits_from, meaning
from tacit.mechanisms.shared.tails import read_beta, read_error
from tacit.noise.entropy import BitSource
from tacit.noise.race import ScoreArray
from tacit.privacy.composition import Guarantee
from tacit.privacy.guarantees.pure import PureDP
from tacit.privacy.neighbours import ADD_REMOVE, REPLACE, Neighbours
from tacit.privacy.prices import Price, round_up, six_digits
from tacit.privacy.rounding import UP, ZERO, decimal_up, ln_up
from tacit.privacy.sensitivity import LInf, Sensitivity

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = [
    "SelectionMechanism",
    "both_ways",
    "cheapest",
    "float_above",
    "read_field",
    "regret",
    "stated",
]

T = TypeVar("T")
M = TypeVar("M")


class SelectionMechanism(ABC):
    """Picks a candidate by noisy scores and releases which one, never a score.

    ``sensitivity`` is how far one unit can move *each* score. ``monotone=True`` states that adding a unit moves all
    scores weakly the same way (counts do), which halves the noise; it is refused for the replace relation.
    The candidates are public, or paid for elsewhere: the distinct values of a private column are neither.
    """

    __slots__ = ("_factor", "_guarantee", "_monotone", "_sensitivity")

    proof: ClassVar[str]
    """The page that proves the promise, below docs/."""

    _guarantee: Guarantee
    _sensitivity: Sensitivity
    _monotone: bool
    _factor: Fraction

    @abstractmethod
    def __init__(self, *, sensitivity: object, promise: Guarantee | None = None, monotone: bool = False) -> None: ...

    def _set(self, guarantee: Guarantee, sensitivity: Sensitivity, monotone: bool, loss_range: Fraction) -> None:
        if not loss_range:
            allowed = "a price above 0: at 0 nothing may be learned"
            raise InvalidParameter("price", given=guarantee, allowed=allowed)
        self._guarantee = guarantee
        self._sensitivity = sensitivity
        self._monotone = monotone
        self._factor = loss_range / (both_ways(monotone) * sensitivity.value)

    @property
    def guarantee(self) -> Guarantee:
        """What is promised for any two neighbours, whatever the scores."""
        return self._guarantee

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one unit may move each score, as stated by the caller."""
        return self._sensitivity

    @property
    def monotone(self) -> bool:
        """Whether the caller stated that one unit moves all scores the same way."""
        return self._monotone

    @property
    def scale(self) -> float:
        """The spread of the noise on a score, in the units of the scores."""
        return float(1 / self._factor)

    @property
    @abstractmethod
    def loss(self) -> LossDistribution:
        """The loss of one choice as a distribution, which prices plans fixed in advance more tightly than ε does."""

    @classmethod
    def for_accuracy(
        cls,
        error: Price,
        beta: Price,
        *,
        candidates: int,
        optimal: int = 1,
        sensitivity: object,
        monotone: bool = False,
    ) -> Self:
        """The most private choice that is further than ``error`` below the best with probability at most β.

        >>> from tacit import Exponential, PermuteAndFlip
        >>> Exponential.for_accuracy(10, 0.05, candidates=100, sensitivity=1).guarantee
        PureDP(1.52019)
        >>> PermuteAndFlip.for_accuracy(10, 0.05, candidates=100, sensitivity=1).guarantee
        PureDP(1.37955)
        """
        read = stated(sensitivity, monotone)
        return cheapest(
            lambda promise: cls(sensitivity=read, promise=promise, monotone=monotone),
            lambda made: made.accuracy(beta, candidates=candidates, optimal=optimal),
            error,
            read.neighbours,
        )

    def select(self, candidates: Sequence[T], scores: object, *, entropy: BitSource | None = None) -> T:
        """The candidate that was picked. Draws nothing if the scores cannot be used."""
        read = read_scores(scores)
        chosen: T = read_candidates(candidates, len(read))[self._pick(read, bits_from(entropy))]
        return chosen

    def index(self, scores: object, *, entropy: BitSource | None = None) -> int:
        """The position of the score that was picked."""
        return self._pick(read_scores(scores), bits_from(entropy))

    @abstractmethod
    def _pick(self, scores: ScoreArray, entropy: BitSource) -> int: ...

    @abstractmethod
    def _picks(self, scores: ScoreArray, count: int, entropy: BitSource) -> npt.NDArray[np.intp]:
        """Many independent choices by the same scores: what an audit draws."""

    @abstractmethod
    def accuracy(self, beta: Price, *, candidates: int, optimal: int = 1) -> float:
        """How far below the best score the choice is, but for a probability β, whatever the scores."""

    def explain(self) -> str:
        """Two sentences for someone who has to decide."""
        who = "Adding or removing one unit" if self._guarantee.neighbours is ADD_REMOVE else "Replacing one unit"
        error = self.accuracy("0.05", candidates=100)
        return (
            f"{who} changes the chance of any choice {meaning(self._guarantee)}."
            f" Among a hundred candidates the choice is more than {error:.4g} below the best at most once in twenty"
            " times."
        )

    def _extras(self) -> str:
        """What the repr shows beside promise and sensitivity."""
        return ""

    def __repr__(self) -> str:
        extras = self._extras() + (", monotone=True" if self._monotone else "")
        return f"{type(self).__name__}(promise={self._guarantee!r}, sensitivity={self._sensitivity!r}{extras})"

    def _identity(self) -> tuple[object, ...]:
        """All that the mechanism is: two with the same identity are equal."""
        return (repr(self),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SelectionMechanism) and other._identity() == self._identity()

    def __hash__(self) -> int:
        return hash(self._identity())


def stated(sensitivity: object, monotone: bool) -> Sensitivity:
    """The sensitivity of each score; monotone scores exist under add-remove only."""
    read = Sensitivity.of(sensitivity, norm=LInf)
    if not isinstance(monotone, bool):
        raise InvalidParameter("monotone", given=monotone, allowed="True or False")
    if monotone and read.neighbours is REPLACE:
        raise NotPrivate(
            "monotone=True was stated for the replace relation. Replacing a unit removes one and adds another, so some"
            " scores may rise while others fall, and the factor 2 stays. Leave monotone=True out, or state an"
            " add-remove sensitivity."
        )
    return read


def both_ways(monotone: bool) -> int:
    """1 where all scores move the same way, else 2: one may rise while the others fall."""
    return 1 if monotone else 2


def float_above(exact: Fraction) -> float:
    """A float that is at least ``exact``, as a binary number."""
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


def regret(factor: Fraction, beta: Price, ratio: Fraction) -> float:
    """ln(ratio/β)/factor, rounded up, and never below 0."""
    log = ln_up(decimal_up(ratio / read_beta(beta))) if ratio else ZERO
    return round_up(Fraction(max(Decimal(0), UP.multiply(log, decimal_up(1 / factor)))))


def cheapest(at: Callable[[PureDP], M], off: Callable[[M], float], error: Price, neighbours: Neighbours) -> M:
    """The mechanism of the least ε, to six digits, that is off by at most ``error``; its error must go as 1/ε.

    ``at`` builds one from its promise, ``off`` says by how much it is off but for a probability β.
    """
    exact = read_error(error)
    unit = Fraction(off(at(PureDP(1, neighbours=neighbours))))
    if not unit:
        allowed = "nothing here: with these candidates the best is always chosen, at any price"
        raise InvalidParameter("error", given=error, allowed=allowed)
    price = unit / exact
    while True:
        made = at(PureDP(six_digits(price), neighbours=neighbours))
        if Fraction(off(made)) <= exact:
            return made
        price *= Fraction(1_000_001, 1_000_000)


def read_field(candidates: int, optimal: int) -> tuple[int, int]:
    """How many candidates there are, and how many of them share the best score."""
    count = read_count(candidates, "candidates")
    return count, read_count(optimal, "optimal", most=count)
