"""A lottery: index i with probability exactly ∝ weight·e^(factor·score), drawn with one uniform number.

The masses are summed in float64 with an error bound, and the uniform number picks the place where its share of the
total falls. If the bound does not settle the place, `tacit.noise.exact` sums again in ball arithmetic and draws as many
further secret bits as it takes: a ticket of mass e⁻⁵⁰⁰⁰ keeps exactly its chance. Error budget: docs/proofs/lottery.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.noise.entropy import BitSource
from tacit.noise.exact import LazyUniform, flint, rational, working_precision
from tacit.noise.floors import Reals, Words
from tacit.noise.race import ScoreArray, exact_score, relative_scores

__all__ = ["Tickets", "Weights", "draw", "draws"]

Weights = npt.NDArray[np.int64] | npt.NDArray[np.float64] | Sequence[Fraction]

_BLOCK = 1024
_SLACK = 2.0**-38  # of the total: masses, sums and the share of the uniform number together stay below half of it
_SLACK_PER_TICKET = 2.0**-61
_LIGHTEST, _HEAVIEST = 2.0**-100, 2.0**100  # weights beyond these are left to ball arithmetic


@dataclass(frozen=True, slots=True)
class Tickets:
    """What takes part: finite scores, a factor > 0, and weights ≥ 0 (all one if there are none)."""

    scores: ScoreArray
    factor: Fraction
    weights: Weights | None = None

    def masses(self) -> Reals | None:
        """weight·e^(factor·(score - largest)) within 2⁻⁴⁰ of each, or None where floats will not do."""
        with np.errstate(all="ignore"):
            masses: Reals = np.exp(relative_scores(self.scores, self.factor))
            if self.weights is None:
                return masses
            weights = _floats(self.weights)
            used = weights[weights > 0]
            if used.size == 0 or not (used.min() >= _LIGHTEST and used.max() <= _HEAVIEST):
                return None
            masses *= weights
            # The largest score may belong to a ticket of weight 0, and all the others underflow.
            return masses if masses.max() >= _LIGHTEST else None

    def exact(self) -> list[tuple[Fraction, Fraction]]:
        """(factor·score, weight) of every ticket."""
        weights = [Fraction(1)] * len(self.scores) if self.weights is None else [exact_score(w) for w in self.weights]
        return [(exact_score(score) * self.factor, weight) for score, weight in zip(self.scores, weights, strict=True)]


def draw(
    tickets: Tickets, entropy: BitSource, *, beyond: float = 0.0, rest: Callable[[], Tickets] | None = None
) -> int:
    """The index of the ticket that wins; at least one has a weight above zero.

    Where ``rest`` is given, its tickets take part too, after the others, with a total mass of at most ``beyond`` (in
    units of e^(factor·largest score) of ``tickets``): it is called only if they may have won.

    >>> from tacit.testing import seeded
    >>> draw(Tickets(np.array([0, 1000, 3]), Fraction(1)), seeded(1))
    1
    """
    coin = entropy.word()
    masses = tickets.masses()
    index = None if masses is None else _settled(masses, coin, beyond)
    if index is not None:
        return index
    parts = tickets.exact() + (rest().exact() if rest is not None else [])
    return _settle(parts, LazyUniform(coin, 64, entropy))


def draws(tickets: Tickets, count: int, entropy: BitSource) -> npt.NDArray[np.intp]:
    """The winners of this many independent lotteries with the same tickets."""
    masses = tickets.masses()
    if masses is None or masses.size > _BLOCK:  # the error bound below is that of one block
        return np.array([draw(tickets, entropy) for _ in range(count)], dtype=np.intp)
    coins = entropy.words(count)
    winners, still_open = _settled_many(masses, coins)
    parts = tickets.exact() if bool(still_open.any()) else []
    for i in np.flatnonzero(still_open):
        winners[i] = _settle(parts, LazyUniform(int(coins[i]), 64, entropy))
    return winners


def _settled_many(masses: Reals, coins: Words) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    """The index for each coin, and where the error bound leaves more than one."""
    places = masses.cumsum()
    total = float(places[-1])
    slack = total * (_SLACK + masses.size * _SLACK_PER_TICKET)
    target = (coins.astype(np.float64) + 0.5) * (2.0**-64 * total)
    found = places.searchsorted(target - slack, side="right")
    inside = np.minimum(found, masses.size - 1)
    return inside, (found == masses.size) | ~(places[inside] > target + slack)


def _settled(masses: Reals, coin: int, beyond: float) -> int | None:
    """The index, if the error bound leaves only one."""
    rows = -(-masses.size // _BLOCK)
    if rows == 1:
        return _settled_in_one(masses, coin, beyond)
    if rows * _BLOCK != masses.size:
        padded = np.zeros(rows * _BLOCK)
        padded[: masses.size] = masses
    else:
        padded = masses
    blocks = padded.reshape(rows, _BLOCK)
    marks = np.cumsum(blocks.sum(axis=1))
    total = float(marks[-1])
    slack = total * (_SLACK + masses.size * _SLACK_PER_TICKET)
    share = (coin + 0.5) * 2.0**-64
    low = share * total - slack
    high = share * (total + beyond) + slack
    row = int(np.searchsorted(marks, low, side="right"))
    if row == rows:
        return None
    places = np.cumsum(blocks[row])
    if row:
        places += marks[row - 1]
    place = int(np.searchsorted(places, low, side="right"))
    if place == _BLOCK or not places[place] > high:
        return None
    return row * _BLOCK + place


def _settled_in_one(masses: Reals, coin: int, beyond: float) -> int | None:
    """The same for a single block: the common case of few tickets."""
    places = masses.cumsum()
    total = float(places[-1])
    slack = total * (_SLACK + masses.size * _SLACK_PER_TICKET)
    share = (coin + 0.5) * 2.0**-64
    place = int(places.searchsorted(share * total - slack, side="right"))
    if place == masses.size or not places[place] > share * (total + beyond) + slack:
        return None
    return place


def _settle(parts: list[tuple[Fraction, Fraction]], coin: LazyUniform) -> int:
    """The index, in ball arithmetic, with as many bits as it takes."""
    top = max(exponent for exponent, weight in parts if weight)
    last = max(i for i, (_, weight) in enumerate(parts) if weight)
    while True:
        with working_precision(coin.known + 128):
            found = _placed(_marks(parts, top), coin.ball(), last)
        if found is not None:
            return found
        coin.refine()


def _marks(parts: list[tuple[Fraction, Fraction]], top: Fraction) -> list[Any]:
    """The sums of the first masses, as balls."""
    arb = flint().arb
    powers: dict[Fraction, Any] = {}
    marks = []
    total = arb(0)
    for exponent, weight in parts:
        power = powers.get(exponent)
        if power is None:
            power = powers[exponent] = arb(rational(exponent - top)).exp()
        total += power * rational(weight)
        marks.append(total)
    return marks


def _placed(marks: list[Any], share: Any, last: int) -> int | None:
    """The first mark that is certainly above the share, if the one before it is certainly below."""
    target = share * marks[-1]
    low, high = -1, last
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if marks[middle] < target else (low, middle)
    if high == last or marks[high] > target:
        return high
    return None


def _floats(weights: Weights) -> Reals:
    if isinstance(weights, np.ndarray):
        return weights.astype(np.float64, copy=False)
    return np.array([_float(weight) for weight in weights])


def _float(weight: Fraction) -> float:
    try:
        return float(weight)
    except OverflowError:
        return float("inf")
