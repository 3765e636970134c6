"""Two facilities on a line: privacy makes lies worth little, and a rare punishing draw makes them cost more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.games.values import read_reals
from tacit.mechanisms.selection.scores import Described, read_count
from tacit.mechanisms.selection.selecting import float_above, regret
from tacit.mechanisms.shared.base import bits_from, meaning
from tacit.mechanisms.shared.lazy_losses import loss_distribution
from tacit.noise.coins import bernoulli, uniform_below
from tacit.noise.entropy import BitSource
from tacit.noise.lottery import Tickets, draw, draws
from tacit.privacy import REPLACE, Guarantee, PureDP
from tacit.privacy.prices import Price, price, round_up, source

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["Placement", "TwoFacilities"]

Reals = npt.NDArray[np.float64]

_MOST_PROFILES = 500_000
_DIGITS = 10**6
_SLACK = 1e-9
"""Floats of expected costs are off by far less; q is raised by as much, so that truth stays strictly best."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the two facilities were put, and whether it was the punishing draw: all of it public."""

    facilities: tuple[float, float]
    punishing: bool

    def serves(self, report: float) -> float:
        """The facility for somebody who reported this place; in the punishing draw she has no other choice."""
        return min(self.facilities, key=lambda place: (abs(place - report), place))


class TwoFacilities:
    """ε-DP places for two facilities among public places, where telling the truth is strictly best for everybody.

    n people, n public, report where they are. With chance 1 - q the pair is chosen by the exponential mechanism on
    minus the sum of distances, and each uses the nearer one; with chance q it is a uniform pair, and each is served
    by the one nearest to her *report*. By default q is the least, to six digits, at which no lie is as good as the
    truth, for any profile and player, found by enumeration. Reports are moved to the nearest place; NaN is the first.
    Proof: docs/proofs/facilities.md.

    >>> m = TwoFacilities([0, 0.25, 0.5, 0.75, 1], n=20, epsilon=0.5)
    >>> round(float(m.q), 3), round(m.general_q, 2)
    (0.091, 0.88)
    >>> m.guarantee
    PureDP(0.5, neighbours=Neighbours.REPLACE)
    """

    __slots__ = ("_guarantee", "_n", "_places", "_q")

    proof: ClassVar[str] = "proofs/facilities.md"

    def __init__(self, places: Any, *, n: int, epsilon: Price, q: Price | None = None) -> None:
        self._places = _read_places(places)
        self._n = read_count(n, "n")
        self._guarantee = PureDP(epsilon, neighbours=REPLACE)
        if not self._guarantee.eps:
            raise InvalidParameter("epsilon", given=epsilon, allowed="a finite number above 0")
        self._q = _least_q(self._places, self._n, self._guarantee.eps) if q is None else _read_q(q)

    @property
    def guarantee(self) -> Guarantee:
        """What is promised about the placement, for any two profiles that differ in one report."""
        return self._guarantee

    @property
    def n(self) -> int:
        """The number of people, which is public."""
        return self._n

    @property
    def q(self) -> Fraction:
        """The chance of the punishing draw."""
        return self._q

    @property
    def pairs(self) -> list[tuple[float, float]]:
        """The candidates: all pairs of places, with repetition."""
        return [(float(self._places[a]), float(self._places[b])) for a, b in _pairs(len(self._places))]

    @property
    def general_q(self) -> float:
        """The q that the bound tanh(ε/4) asks for without looking at the game any closer: t/(t + least punishment)."""
        gain = math.tanh(float(self._guarantee.eps) / 4)
        return gain / (gain + _least_punishment(self._places))

    @property
    def loss(self) -> LossDistribution:
        """That of any ε-DP mechanism; the mixture has less."""
        return loss_distribution().pure(float_above(self._guarantee.eps), REPLACE)

    def place(self, reports: Any, *, entropy: BitSource | None = None) -> Placement:
        """Where the facilities go. Draws nothing if the reports cannot be used."""
        tickets = self._tickets(reports)
        bits = bits_from(entropy)
        punishing = bool(bernoulli(self._q, 1, bits)[0])
        chosen = int(uniform_below(len(self.pairs), 1, bits)[0]) if punishing else draw(tickets, bits)
        return Placement(self.pairs[chosen], punishing)

    def _releases(self, reports: Any, count: int, entropy: BitSource) -> npt.NDArray[np.int64]:
        """The pair and the kind of many independent placements as one number each: what an audit draws."""
        tickets = self._tickets(reports)
        punishing = bernoulli(self._q, count, entropy)
        size = len(self.pairs)
        uniform = uniform_below(size, int(punishing.sum()), entropy).astype(np.int64)
        chosen = np.empty(count, dtype=np.int64)
        chosen[punishing] = uniform + size
        chosen[~punishing] = draws(tickets, int((~punishing).sum()), entropy)
        return chosen

    def _tickets(self, reports: Any) -> Tickets:
        counts = self._counts(reports)
        distances, unit = _distances(self._places)
        scores = -(counts @ distances)
        # One report moves a score by at most the widest distance, which is the range of the places.
        return Tickets(scores, self._guarantee.eps / (2 * unit))

    def _counts(self, reports: Any) -> npt.NDArray[np.int64]:
        array = read_reals(reports, "reports")
        if array.size != self._n:
            given = Described(f"{array.size} reports")
            raise InvalidParameter("reports", given=given, allowed=f"{self._n}: their number is public")
        at = np.array([float(p) for p in self._places])
        inside = np.clip(np.nan_to_num(array, nan=at[0]), at[0], at[-1])
        nearest = np.abs(inside[:, None] - at).argmin(axis=1)
        return np.bincount(nearest, minlength=len(self._places))

    def probabilities(self, reports: Any) -> Reals:
        """The chance of each pair in the ordinary draw; not private."""
        tickets = self._tickets(reports)
        logs = np.asarray(tickets.scores, dtype=np.float64) * float(tickets.factor)
        masses = np.exp(logs - logs.max())
        return np.asarray(masses / masses.sum(), dtype=np.float64)

    def cost(self, reports: Any) -> float:
        """The expected mean distance, punishing draw included, if all tell the truth; not private."""
        counts = self._counts(reports)
        distances, unit = _distances(self._places)
        means = counts @ distances / (unit * self._n) * float(self._places[-1] - self._places[0])
        return float((1 - float(self._q)) * (self.probabilities(reports) @ means) + float(self._q) * means.mean())

    def best_cost(self, reports: Any) -> float:
        """The least mean distance of any pair; not private."""
        distances, unit = _distances(self._places)
        sums = self._counts(reports) @ distances
        return float(sums.min() / (unit * self._n) * float(self._places[-1] - self._places[0]))

    def accuracy(self, beta: Price) -> float:
        """How far the mean distance is above the best, but for a probability β plus q, whatever the reports."""
        width = self._places[-1] - self._places[0]
        return round_up(Fraction(regret(self._guarantee.eps / 2, beta, Fraction(len(self.pairs)))) * width / self._n)

    def explain(self) -> str:
        """Two sentences for someone who has to decide."""
        return (
            f"Replacing one report changes the chance of any placement {meaning(self._guarantee)}."
            f" With chance {float(self._q):.3g} the places are drawn at random and people are served by their reports,"
            " so that no lie is as good as the truth."
        )

    def __repr__(self) -> str:
        places = [float(p) for p in self._places]
        epsilon = source(self._guarantee.eps)
        return f"TwoFacilities({places!r}, n={self._n}, epsilon={epsilon}, q={source(self._q)})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and repr(other) == repr(self)

    def __hash__(self) -> int:
        return hash(repr(self))


def _pairs(places: int) -> list[tuple[int, int]]:
    return list(combinations_with_replacement(range(places), 2))


@lru_cache(maxsize=64)
def _distances(places: tuple[Fraction, ...]) -> tuple[npt.NDArray[np.int64], int]:
    """Whole distances of each place from the nearer of each pair, and the whole range of the places."""
    unit = math.lcm(*(p.denominator for p in places))
    whole = [int(p * unit) for p in places]
    table = [[min(abs(t - whole[a]), abs(t - whole[b])) for a, b in _pairs(len(places))] for t in whole]
    return np.array(table, dtype=np.int64), whole[-1] - whole[0]


def _punishments(places: tuple[Fraction, ...]) -> Reals:
    """By type and report: how much further the uniform pair is on average than with the truth, in widths."""
    pairs = [Placement((float(places[a]), float(places[b])), True) for a, b in _pairs(len(places))]
    at = [float(p) for p in places]
    means = np.array([[sum(abs(t - pair.serves(r)) for pair in pairs) / len(pairs) for r in at] for t in at])
    return np.asarray((means - means.diagonal()[:, None]) / (at[-1] - at[0]), dtype=np.float64)


def _least_punishment(places: tuple[Fraction, ...]) -> float:
    table = _punishments(places)
    return float(table[~np.eye(len(places), dtype=bool)].min())


def gains(places: tuple[Fraction, ...], n: int, epsilon: Fraction) -> Reals:
    """By type and report: the largest gain of the lie under the exponential mechanism, over all profiles of others."""
    count = len(places)
    size = math.comb(n - 1 + count - 1, count - 1)
    if size > _MOST_PROFILES:
        given = Described(f"{size:,} profiles of the others")
        raise InvalidParameter(
            "n", given=given, allowed=f"at most {_MOST_PROFILES:,}", hint="Pass q=, or fewer places."
        )
    distances, unit = _distances(places)
    others = _profiles(n - 1, count)
    shares = distances / unit
    factor = float(epsilon) / (2 * unit)
    expected = np.empty((count, len(others), count))
    for report in range(count):
        logs = -factor * ((others @ distances) + distances[report])
        masses = np.exp(logs - logs.max(axis=1, keepdims=True))
        masses /= masses.sum(axis=1, keepdims=True)
        expected[report] = masses @ shares.T
    return np.array([[(expected[t][:, t] - expected[r][:, t]).max() for r in range(count)] for t in range(count)])


def _profiles(people: int, places: int) -> npt.NDArray[np.int64]:
    """All ways to put so many people into places, as counts."""
    if places == 1:
        return np.array([[people]], dtype=np.int64)
    bars = np.array(list(combinations_with_replacement(range(people + 1), places - 1)), dtype=np.int64)
    edges = np.concatenate((np.zeros((len(bars), 1), np.int64), bars, np.full((len(bars), 1), people)), axis=1)
    return np.diff(edges, axis=1)


@lru_cache(maxsize=64)
def _least_q(places: tuple[Fraction, ...], n: int, epsilon: Fraction) -> Fraction:
    """The least q, rounded up to six digits, with (1-q)·gain < q·punishment for every type and report."""
    won, lost = gains(places, n, epsilon), _punishments(places)
    apart = ~np.eye(len(places), dtype=bool)
    if float(lost[apart].min()) <= _SLACK:
        hint = "Leave out a place, or use other distances."
        allowed = "places where the uniform pair punishes every lie"
        raise InvalidParameter("places", given=[float(p) for p in places], allowed=allowed, hint=hint)
    gain = np.maximum(won[apart], 0) + _SLACK
    return Fraction(math.ceil(float((gain / (gain + lost[apart])).max()) * _DIGITS) + 1, _DIGITS)


def _read_places(places: Any) -> tuple[Fraction, ...]:
    allowed = "at least two different places, as numbers"
    try:
        read = sorted({price(place, "places") for place in places})
    except TypeError:
        raise InvalidParameter("places", given=places, allowed=allowed) from None
    if len(read) < 2 or len(read) > 64:
        raise InvalidParameter("places", given=places, allowed=allowed + ", and at most 64")
    return tuple(read)


def _read_q(q: Price) -> Fraction:
    allowed = "a probability from 0 to 1"
    exact = price(q, "q", allowed=allowed)
    if not 0 <= exact <= 1:
        raise InvalidParameter("q", given=q, allowed=allowed)
    return exact
