"""No-swap-regret dynamics for many players at once: one learner per player and action (Blum & Mansour 2007)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

__all__ = ["SwapDynamics", "blocks"]

Reals = npt.NDArray[np.float64]

_BLOCK = 2048


class SwapDynamics:
    """The mixed strategies of all players, round by round, given the costs that each was shown.

    The learner of action a gets the share p(a) of the cost, and says what to do instead of a; the strategy is the one
    that these n × actions × actions instructions leave as it is. No player wishes that she had played b whenever she
    played a, for any a and b, by more than k·ln k/(step·T) + step/8 per round on average.
    """

    def __init__(self, players: int, actions: int, step: float) -> None:
        self._step = step
        self._blamed = np.zeros((players, actions, actions))
        self._strategies = np.full((players, actions), 1 / actions)

    def play(self) -> Reals:
        """The strategies of this round, a row each."""
        played = np.empty_like(self._strategies)
        for where in blocks(len(played)):
            blamed = self._blamed[where]
            instead = np.exp(-self._step * (blamed - blamed.min(axis=2, keepdims=True)))
            instead /= instead.sum(axis=2, keepdims=True)
            played[where] = _left_alone(instead)
        self._strategies = played
        return played

    def observe(self, costs: Reals) -> None:
        """The costs of every action to every player, from 0 to 1, in the round just played."""
        for where in blocks(len(costs)):
            self._blamed[where] += self._strategies[where, :, None] * costs[where, None, :]


def blocks(players: int) -> Iterator[slice]:
    """Slices of all players whose tables stay in the cache."""
    for start in range(0, players, _BLOCK):
        yield slice(start, start + _BLOCK)


def _left_alone(instead: Reals) -> Reals:
    """For each player the p with p = p·instead: stationary, by a linear system that has one row replaced by Σp = 1."""
    players, actions, _ = instead.shape
    system = np.eye(actions) - instead.transpose(0, 2, 1)
    system[:, -1, :] = 1
    right = np.zeros((players, actions, 1))
    right[:, -1] = 1
    found = np.maximum(np.linalg.solve(system, right)[:, :, 0], 0)
    stationary: Reals = found / found.sum(axis=1, keepdims=True)
    return stationary
