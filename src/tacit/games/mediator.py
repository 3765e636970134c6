"""A large game played by a mediator for everybody: she sees loads through noise, and suggests an action to each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.games.swap_regret import SwapDynamics, blocks
from tacit.games.values import Reals, clipped
from tacit.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from tacit.mechanisms.selection.scores import Described, kind_of, read_count
from tacit.mechanisms.shared.any_floats import any_floats
from tacit.mechanisms.shared.base import bits_from, meaning
from tacit.mechanisms.shared.promise import read_promise
from tacit.noise.coins import uniform_below
from tacit.noise.entropy import BitSource
from tacit.privacy import L2, REPLACE, ApproxDP, GaussianDP, Guarantee, Sensitivity
from tacit.privacy.loss_distribution import LossDistribution
from tacit.privacy.prices import Price, price, source

__all__ = ["Mediator", "Play"]

Integers = npt.NDArray[np.int64]

_PARTS = 1 << 20
"""A strategy is rounded to so many parts, which add up exactly."""

_STEP = 16
"""Times the step of the theorem: its bound is for the worst game, and ours are not that."""


@dataclass(frozen=True, slots=True)
class Play:
    """What came out. ``loads`` may be shown to everybody; a suggestion only to its own player; the rest to nobody."""

    loads: Reals
    """The noisy loads of every round, in players: all that anybody's suggestion depends on beside her own tastes."""
    suggestions: npt.NDArray[np.intp]
    """An action for each player: of one round, drawn for all together."""
    followed: Reals
    """How often each player is told each action, on average over the rounds. Not private."""
    crowding: Reals
    """By player, action told and action done: the expected part of the cost that the others cause. Not private."""
    weight: float

    def gains(self, tastes: Any) -> Reals:
        """The most that each player, whose tastes these are, saves by disobeying: some other action for each told."""
        costs = self._costs(_tastes(tastes))
        told = np.einsum("iaa->ia", costs)
        gains: Reals = (told - costs.min(axis=2)).sum(axis=1)
        return gains

    def cost(self, player: int, tastes: Any) -> float:
        """What a player with these tastes pays if she does what she is told."""
        return float(np.trace(self._costs_of(player, tastes)))

    def best_cost(self, player: int, tastes: Any) -> float:
        """What she pays if she does the best instead, for every action told."""
        return float(self._costs_of(player, tastes).min(axis=1).sum())

    def _costs(self, tastes: Reals) -> Reals:
        own: Reals = (1 - self.weight) * self.followed[:, :, None] * tastes[:, None, :]
        return own + self.crowding

    def _costs_of(self, player: int, tastes: Any) -> Reals:
        own = (1 - self.weight) * np.outer(self.followed[player], _tastes(tastes))
        costs: Reals = own + self.crowding[player]
        return costs


class Mediator:
    """Joint (ε, δ)-DP suggestions that are nearly a correlated equilibrium, n players, n public, one replaced.

    The cost of an action is (1 - weight)·taste + weight·(what loads make of it), both from 0 to 1; ``effects[a][b]``
    is the cost to those who do a of everybody doing b, by default congestion: 1 on the diagonal. The mediator plays
    no-swap-regret dynamics for all; in each round she sees the loads through Gaussian noise, rounded to whole parts,
    all rounds together at (ε, δ). What the others are told depends on a player's tastes through these loads alone.
    Proof: docs/proofs/large_games.md.

    >>> m = Mediator(players=200, actions=2, rounds=20, epsilon=1, delta="1e-6")
    >>> play = m.play([[0, 0.2]] * 100 + [[0.2, 0]] * 100)
    >>> play.suggestions.shape, m.guarantee
    ((200,), ApproxDP(1, 1e-06, neighbours=Neighbours.REPLACE))
    """

    __slots__ = ("_actions", "_effects", "_guarantee", "_mu", "_players", "_rounds", "_step", "_weight")

    proof: ClassVar[str] = "proofs/large_games.md"

    def __init__(
        self,
        *,
        players: int,
        actions: int,
        rounds: int = 100,
        epsilon: Price | None = None,
        delta: Price | None = None,
        promise: Guarantee | None = None,
        weight: Price = "0.5",
        effects: Any = None,
        step: Price = _STEP,
    ) -> None:
        self._players = read_count(players, "players", most=10**7)
        self._actions = read_count(actions, "actions", most=64)
        self._rounds = read_count(rounds, "rounds", most=10**5)
        asked = read_promise("Mediator", (ApproxDP,), REPLACE, epsilon, delta, None, None, promise)
        assert isinstance(asked, ApproxDP)
        self._guarantee = asked
        self._mu = _each_round(asked, self._rounds)
        self._weight = price(weight, "weight", allowed="a number from 0 to 1")
        if not 0 <= self._weight <= 1:
            raise InvalidParameter("weight", given=weight, allowed="a number from 0 to 1")
        self._step = price(step, "step", allowed="a number above 0")
        if self._step <= 0:
            raise InvalidParameter("step", given=step, allowed="a number above 0")
        self._effects = np.eye(self._actions) if effects is None else _read_effects(effects, self._actions)

    @property
    def guarantee(self) -> Guarantee:
        """What is promised about all noisy loads, and so about what any other players are told and do."""
        return self._guarantee

    @property
    def scale(self) -> float:
        """The spread of the noise on a load, in players."""
        return math.sqrt(2) / float(self._mu)

    @property
    def learning_rate(self) -> float:
        """``step`` times √(8k·ln k/T), which is best for the theorem."""
        k = self._actions
        return float(self._step) * math.sqrt(8 * k * math.log(max(k, 2)) / self._rounds)

    @property
    def loss(self) -> LossDistribution:
        """That of any mechanism with this promise."""
        stated = self._guarantee
        assert isinstance(stated, ApproxDP)
        return LossDistribution.approximate(float(stated.eps), float(stated.dlt), REPLACE)

    def play(self, tastes: Any, *, entropy: BitSource | None = None) -> Play:
        """All rounds, and a suggestion for each player. Tastes: a row per player, a cost from 0 to 1 per action."""
        read = self._read(tastes)
        bits = bits_from(entropy)
        noise = self._noise()
        shown = int(uniform_below(self._rounds, 1, bits)[0])
        dynamics = SwapDynamics(self._players, self._actions, self.learning_rate)
        own = float(1 - self._weight) * read
        tally = _Tally(self._players, self._effects, float(self._weight))
        loads, suggestions = [], np.zeros(self._players, dtype=np.intp)
        for turn in range(self._rounds):
            strategies = dynamics.play()
            parts = _whole_parts(strategies)
            totals = parts.sum(axis=0)
            noisy = np.clip(noise.release(totals, entropy=bits), 0, self._players * _PARTS) / _PARTS
            loads.append(noisy)
            dynamics.observe(own + float(self._weight) * (self._effects @ noisy) / self._players)
            tally.add(strategies, totals / _PARTS)
            if turn == shown:
                suggestions = _drawn(parts, bits)
        return Play(np.array(loads), suggestions, *tally.means(self._rounds), float(self._weight))

    def _noise(self) -> DiscreteGaussian:
        """For parts: a strategy is _PARTS of them, so replacing one moves them by at most √2·_PARTS."""
        moved: Sensitivity = L2.sqrt(2 * _PARTS**2, neighbours=REPLACE)
        return DiscreteGaussian(promise=GaussianDP(self._mu, neighbours=REPLACE), sensitivity=moved)

    def disobedience_bound(self, beta: Price = "0.05") -> float:
        """What no player gains by disobeying, but for a probability β: the theorem's, at this step, and the noise.

        At 16 times the theorem's step it says little (the measured gains are far below), at 1 it is the theorem's.
        """
        k, rate = self._actions, self.learning_rate
        regret = k * math.log(max(k, 2)) / (rate * self._rounds) + rate / 8
        draws = self._rounds * k
        reach = self.scale * math.sqrt(2 * math.log(2 * draws / float(price(beta, "beta")))) + 1
        widest = float(np.abs(self._effects).sum(axis=1).max())
        return min(1.0, regret + 2 * float(self._weight) * widest * (reach + 1) / self._players)

    def misreport_bound(self, gain: float) -> float:
        """What lying about tastes and disobeying can bring where disobeying alone brings ``gain``."""
        stated = self._guarantee
        assert isinstance(stated, ApproxDP)
        grown = math.exp(min(float(stated.eps), 700))
        return min(1.0, gain + (grown - 1 + 2 * float(stated.dlt)) / (grown + 1))

    def explain(self) -> str:
        """Two sentences for someone who has to decide."""
        return (
            f"Replacing one player's tastes changes the chance of what all others are told {meaning(self._guarantee)}."
            f" Loads are seen with noise of {self.scale:.3g} of {self._players} players."
        )

    def _read(self, tastes: Any) -> Reals:
        read = _tastes(tastes)
        if read.shape != (self._players, self._actions):
            given = Described(f"{kind_of(tastes)!r} of shape {read.shape}")
            allowed = f"{self._players} rows of {self._actions} numbers: both are public"
            raise InvalidParameter("tastes", given=given, allowed=allowed)
        return read

    def __repr__(self) -> str:
        effects = (
            "" if bool((self._effects == np.eye(self._actions)).all()) else f", effects={self._effects.tolist()!r}"
        )
        return (
            f"Mediator(players={self._players}, actions={self._actions}, rounds={self._rounds},"
            f" promise={self._guarantee!r}, weight={source(self._weight)}{effects}, step={source(self._step)})"
        )

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and repr(other) == repr(self)

    def __hash__(self) -> int:
        return hash(repr(self))


class _Tally:
    """Sums over the rounds of how often actions are told, and of what the others make of each action done instead."""

    def __init__(self, players: int, effects: Reals, weight: float) -> None:
        self._effects, self._per = effects, weight / players
        self._told = np.zeros((players, len(effects)))
        self._crowding = np.zeros((players, len(effects), len(effects)))

    def add(self, strategies: Reals, loads: Reals) -> None:
        """One round: a player meets the others' loads, without her own strategy, and herself where she goes."""
        everybody = self._effects @ loads + self._effects.diagonal()
        self._told += strategies
        for where in blocks(len(strategies)):
            caused = self._per * (everybody - strategies[where] @ self._effects.T)
            self._crowding[where] += strategies[where, :, None] * caused[:, None, :]

    def means(self, rounds: int) -> tuple[Reals, Reals]:
        return self._told / rounds, self._crowding / rounds


def _tastes(tastes: Any) -> Reals:
    """Numbers from 0 to 1, NaN as 0; nothing, for what holds anything but numbers."""
    reals = any_floats(tastes)
    return np.empty(0) if reals is None else clipped(reals)


def _each_round(total: ApproxDP, rounds: int) -> Fraction:
    """A μ, rounded down, such that so many rounds of it keep the total: μ√T is Gaussian DP, all rounds adaptive."""
    if not total.dlt:
        raise InvalidParameter("delta", given=0, allowed="a number above 0: Gaussian noise keeps no pure ε")

    def kept(mu: Fraction) -> bool:
        return price(GaussianDP(mu, neighbours=REPLACE).delta(total.eps)) <= total.dlt

    low, high = Fraction(0), Fraction(1)
    while kept(high) and high < 2**20:
        low, high = high, 2 * high
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if kept(middle) else (low, middle)
    root = Fraction(math.isqrt(rounds * 10**24) + 1, 10**12)
    return Fraction(int(low / root * 2**60), 2**60)


def _whole_parts(strategies: Reals) -> Integers:
    """Each strategy as whole parts that add up to all: differences of rounded running sums."""
    marks = np.floor(strategies.cumsum(axis=1) * _PARTS + 0.5).astype(np.int64)
    marks = np.clip(np.maximum.accumulate(marks, axis=1), 0, _PARTS)
    marks[:, -1] = _PARTS
    return np.diff(marks, axis=1, prepend=0)


def _drawn(parts: Integers, entropy: BitSource) -> npt.NDArray[np.intp]:
    """An action for each player by her parts, exactly."""
    places = uniform_below(_PARTS, len(parts), entropy).astype(np.int64)
    chosen: npt.NDArray[np.intp] = (parts.cumsum(axis=1) <= places[:, None]).sum(axis=1)
    return chosen


def _read_effects(effects: Any, actions: int) -> Reals:
    allowed = f"{actions} rows of {actions} numbers from 0 to 1"
    try:
        read = np.array(effects, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameter("effects", given=effects, allowed=allowed) from None
    if read.shape != (actions, actions) or not bool(((read >= 0) & (read <= 1)).all()):
        raise InvalidParameter("effects", given=effects, allowed=allowed)
    return read
