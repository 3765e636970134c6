"""What can be gained by lying to a mechanism? Found by enumeration in finite games, and bounded by its privacy."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.mechanisms.selection.scores import Described, read_count
from tacit.privacy.prices import Price, positive

__all__ = ["FiniteGame", "Lies", "TruthBounds", "lies"]

Reals = npt.NDArray[np.float64]

_MOST_PROFILES = 2_000_000
_UP = 1 + 1e-14


@dataclass(frozen=True, slots=True)
class TruthBounds:
    """How much lying can change what a liar may expect, for utilities in [0, 1] and one report replaced.

    Proof: docs/proofs/truthfulness.md.

    >>> bounds = TruthBounds.of(0.5)
    >>> bounds.textbook, round(bounds.pure, 4), round(bounds.bounded_range, 4)
    (1.0, 0.2449, 0.1244)
    """

    epsilon: float
    colluders: int
    textbook: float | None
    """2kε, for kε ≤ 1; None beyond."""
    pure: float
    """tanh(kε/2), for every ε-DP mechanism."""
    bounded_range: float
    """tanh(kε/4), for the exponential mechanism and all others whose loss has range ε."""
    factor: float
    """e^(kε): no expected utility grows by more."""

    @classmethod
    def of(cls, epsilon: Price, *, colluders: int = 1) -> TruthBounds:
        """The bounds for a mechanism of this ε when so many players agree on their lies."""
        total = float(positive(epsilon, "epsilon")) * read_count(colluders, "colluders")
        return cls(
            epsilon=float(positive(epsilon, "epsilon")),
            colluders=colluders,
            textbook=2 * total if total <= 1 else None,
            pure=min(1.0, math.tanh(total / 2) * _UP),
            bounded_range=min(1.0, math.tanh(total / 4) * _UP),
            factor=math.exp(total) * _UP if total < 700 else math.inf,
        )


@dataclass(frozen=True, slots=True)
class FiniteGame:
    """Players with one of finitely many types, a mechanism that turns their reports into a law over outcomes.

    ``utility(type, outcome)`` lies in [0, 1]; ``law(reports)`` gives the chance of each outcome. ``anonymous=True``
    states that the law does not depend on who reports what, which leaves far fewer profiles to enumerate.
    """

    types: tuple[Any, ...]
    outcomes: tuple[Any, ...]
    utility: Callable[[Any, Any], float]
    law: Callable[[tuple[Any, ...]], Sequence[float]]
    players: int
    anonymous: bool = False


@dataclass(frozen=True, slots=True)
class Lies:
    """The most that any lie brings, the most that any lie costs, and the largest factor, over all profiles."""

    gain: float
    """The largest gain in expected utility of a liar, or of the luckiest of several colluders."""
    cost: float
    """The largest loss: every lie is within this of the truth."""
    factor: float
    """The largest ratio of expected utilities, lie to truth."""
    truth: tuple[Any, ...]
    """The true types of all players, the liars first, where the gain is largest."""
    told: tuple[Any, ...]
    """What the liars say instead."""


def lies(game: FiniteGame, *, colluders: int = 1) -> Lies:
    """All lies of all groups of so many players in all profiles, by enumeration.

    >>> def dictator_by_lot(reports):
    ...     return [reports.count(x) / 2 for x in "ab"]
    >>> fair = FiniteGame(("a", "b"), ("a", "b"), lambda t, o: float(t == o), dictator_by_lot, 2, anonymous=True)
    >>> lies(fair).gain, lies(fair).cost
    (0.0, 0.5)
    """
    group = read_count(colluders, "colluders", most=game.players)
    utilities = _utilities(game)
    known: dict[Any, Reals] = {}

    def expected(reports: tuple[int, ...]) -> Reals:
        key = frozenset(Counter(reports).items()) if game.anonymous else reports
        if key not in known:
            law = np.asarray(game.law(tuple(game.types[t] for t in reports)), dtype=np.float64)
            known[key] = utilities @ law
        return known[key]

    best = Lies(0.0, 0.0, 1.0, (), ())
    gain, cost, factor = -math.inf, 0.0, 0.0
    for place, truth, told in _profiles(game, group):
        honest, lying = expected(truth), expected(told)
        for member in (truth[i] for i in place):
            change = float(lying[member] - honest[member])
            cost = max(cost, -change)
            factor = max(factor, _ratio(float(lying[member]), float(honest[member])))
            if change > gain:
                gain = change
                first = [*place, *(i for i in range(game.players) if i not in place)]
                named = tuple(game.types[truth[i]] for i in first)
                best = Lies(gain, cost, factor, named, tuple(game.types[told[i]] for i in place))
    return Lies(max(0.0, gain), cost, factor, best.truth, best.told)


def _utilities(game: FiniteGame) -> Reals:
    if not game.types or not game.outcomes:
        raise InvalidParameter("game", given=Described("no types or no outcomes"), allowed="at least one of each")
    table = np.array([[float(game.utility(t, o)) for o in game.outcomes] for t in game.types])
    if not bool(((table >= 0) & (table <= 1)).all()):
        raise InvalidParameter("utility", given=Described("one outside [0, 1]"), allowed="utilities from 0 to 1")
    return table


def _profiles(game: FiniteGame, group: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]]:
    """(places of the liars, true types of all, reports of all) for every profile, group and joint lie."""
    count, players = len(game.types), game.players
    if game.anonymous:
        size = math.comb(players - group + count - 1, count - 1) * math.comb(group + count - 1, count - 1) ** 2
    else:
        size = count**players * math.comb(players, group) * count**group
    if size > _MOST_PROFILES:
        given = Described(f"about {size:.2g} profiles with lies")
        raise InvalidParameter("game", given=given, allowed=f"at most {_MOST_PROFILES:,}: fewer types or players")
    if game.anonymous:
        place = tuple(range(group))
        for others in combinations_with_replacement(range(count), players - group):
            for truth in combinations_with_replacement(range(count), group):
                for told in combinations_with_replacement(range(count), group):
                    yield place, truth + others, told + others
        return
    for profile in product(range(count), repeat=players):
        for place in combinations(range(players), group):
            for told in product(range(count), repeat=group):
                reports = list(profile)
                for i, report in zip(place, told, strict=True):
                    reports[i] = report
                yield place, profile, tuple(reports)


def _ratio(lying: float, honest: float) -> float:
    if honest:
        return lying / honest
    return math.inf if lying else 1.0
