"""No-swap-regret dynamics for many players at once: one learner per player and action (Blum & Mansour 2007)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["SwapDynamics"]

Reals = npt.NDArray[np.float64]


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
        blamed = self._blamed - self._blamed.min(axis=2, keepdims=True)
        instead = np.exp(-self._step * blamed)
        instead /= instead.sum(axis=2, keepdims=True)
        self._strategies = _left_alone(instead)
        return self._strategies

    def observe(self, costs: Reals) -> None:
        """The costs of every action to every player, from 0 to 1, in the round just played."""
        self._blamed += self._strategies[:, :, None] * costs[:, None, :]


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
