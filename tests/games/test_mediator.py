"""Large games: gains from disobeying and misreporting beside the bounds, and why external regret is not enough."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit import REPLACE, GaussianDP, InvalidParameter, NotPrivate
from tacit.games import Mediator, mediator
from tacit.games.mediator import _drawn, _whole_parts
from tacit.games.swap_regret import SwapDynamics
from tacit.testing import seeded
from tests.mechanisms.sources import nothing_drawn

CYCLE = [[0.2, 1, 0], [0, 0.2, 1], [1, 0, 0.2]]  # each action is beaten by the next: play chases its own tail


def tastes(players: int, actions: int) -> np.ndarray:
    return np.random.default_rng(1).random((players, actions))


class External:
    """Multiplicative weights against the best *single* action: no external regret, and nothing more."""

    def __init__(self, players: int, actions: int, step: float) -> None:
        self._step = step
        self._blamed = np.zeros((players, actions))
        self.paid = np.zeros(players)

    def play(self) -> np.ndarray:
        weights = np.exp(-self._step * (self._blamed - self._blamed.min(axis=1, keepdims=True)))
        self._strategies = weights / weights.sum(axis=1, keepdims=True)
        return self._strategies

    def observe(self, costs: np.ndarray) -> None:
        self._blamed += costs
        self.paid += (self._strategies * costs).sum(axis=1)

    def regret(self) -> float:
        return float((self.paid - self._blamed.min(axis=1)).max())


def test_external_regret_for_swap_regret_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: nobody regrets a single action, and yet everybody gains by disobeying."""
    rounds = 300
    m = Mediator(players=60, actions=3, rounds=rounds, epsilon=1000, delta="1e-6", weight="0.95", effects=CYCLE, step=4)
    slight = np.tile([1.0, 0, 0], (60, 1))
    honest = m.play(slight, entropy=seeded(1)).gains(slight)
    made: list[External] = []

    def external(players: int, actions: int, step: float) -> External:
        made.append(External(players, actions, step / math.sqrt(3)))
        return made[-1]

    monkeypatch.setattr(mediator, "SwapDynamics", external)
    coarse = m.play(slight, entropy=seeded(1)).gains(slight)
    assert made[0].regret() / rounds < 0.02
    assert honest.max() < 0.02
    assert coarse.mean() > 0.1


@pytest.mark.thorough
def test_ten_thousand_players() -> None:
    m = Mediator(players=10_000, actions=4, rounds=100, epsilon=1, delta="1e-6")
    read = tastes(10_000, 4)
    gains = m.play(read, entropy=seeded(1)).gains(read)
    assert gains.mean() <= 0.01
    assert gains.max() <= 0.015
    silent = Mediator(players=10_000, actions=4, rounds=100, epsilon=10**5, delta="1e-6")
    assert silent.scale < 0.3
    without = silent.play(read, entropy=seeded(1)).gains(read)
    assert abs(gains.mean() - without.mean()) <= 0.002
    assert abs(gains.max() - without.max()) <= 0.002


def test_the_theorem_at_its_own_step() -> None:
    m = Mediator(players=500, actions=4, rounds=100, epsilon=1, delta="1e-6", step=1)
    read = tastes(500, 4)
    gains = m.play(read, entropy=seeded(3)).gains(read)
    assert gains.max() <= m.disobedience_bound()
    assert m.disobedience_bound() < 1
    wide = Mediator(players=10**6, actions=4, rounds=100, epsilon=1, delta="1e-6", step=1)
    assert wide.disobedience_bound() == pytest.approx(math.sqrt(4 * math.log(4) / 200), rel=0.01)


def test_swap_regret_bound_holds_against_costs_that_chase() -> None:
    dynamics = SwapDynamics(3, 3, step := math.sqrt(8 * 3 * math.log(3) / 400))
    draw = np.random.default_rng(2)
    swapped = np.zeros((3, 3, 3))
    for turn in range(400):
        strategies = dynamics.play()
        assert strategies.sum(axis=1) == pytest.approx(1)
        costs = np.zeros((3, 3))
        costs[np.arange(3), strategies.argmax(axis=1)] = 1  # whatever is played most costs most
        costs[:, turn % 3] = np.maximum(costs[:, turn % 3], draw.random(3))
        dynamics.observe(costs)
        swapped += strategies[:, :, None] * (costs[:, :, None] - costs[:, None, :])
    regret = swapped.max(axis=2).sum(axis=1) / 400
    assert (regret <= 3 * math.log(3) / (step * 400) + step / 8).all()


def test_gains_are_those_of_the_definition() -> None:
    """By hand: all rounds again, and every function from action told to action done."""
    m = Mediator(players=4, actions=2, rounds=5, epsilon=1, delta="0.01", weight="0.5")
    read = tastes(4, 2)
    seen: list[np.ndarray] = []

    class Watched(SwapDynamics):
        def play(self) -> np.ndarray:
            seen.append(super().play())
            return seen[-1]

    original = mediator.SwapDynamics
    mediator.SwapDynamics = Watched  # type: ignore[misc]
    try:
        play = m.play(read, entropy=seeded(2))
    finally:
        mediator.SwapDynamics = original  # type: ignore[misc]
    for i in range(4):
        options = []
        for swap in ((0, 1), (0, 0), (1, 1), (1, 0)):
            total = 0.0
            for strategies in seen:
                parts = _whole_parts(strategies).sum(axis=0) / 2**20
                for told in range(2):
                    load = parts[swap[told]] - strategies[i, swap[told]] + 1
                    total += strategies[i, told] * (0.5 * read[i, swap[told]] + 0.5 * load / 4)
            options.append(total / 5)
        assert play.cost(i, read[i]) == pytest.approx(options[0], rel=1e-9)
        assert play.best_cost(i, read[i]) == pytest.approx(min(options), rel=1e-9)
        assert play.gains(read)[i] == pytest.approx(options[0] - min(options), abs=1e-12)


def test_misreporting_brings_next_to_nothing_in_a_large_game() -> None:
    m = Mediator(players=300, actions=3, rounds=50, epsilon=1, delta="1e-6")
    read = tastes(300, 3)
    honest = m.play(read, entropy=seeded(4))
    for player in (0, 7):
        for lie in ([0, 0, 0], [1, 0, 1], [0, 1, 1]):
            told = read.copy()
            told[player] = lie
            lying = m.play(told, entropy=seeded(4))  # the same noise
            gain = honest.cost(player, read[player]) - lying.best_cost(player, read[player])
            assert gain <= m.misreport_bound(float(honest.gains(read).max()))
            assert gain < 0.03


def test_one_player_moves_the_parts_by_root_two_at_most() -> None:
    draw = np.random.default_rng(3)
    many = draw.dirichlet([0.3] * 5, 2000)
    many[:5] = np.eye(5)
    many[5] = [1e-300, 0.5, 0.5, 0, 0]
    parts = _whole_parts(many)
    assert (parts >= 0).all()
    assert (parts.sum(axis=1) == 2**20).all()
    gaps = np.linalg.norm(parts[:200, None] - parts[None, :200], axis=2)
    assert gaps.max() <= math.sqrt(2) * 2**20
    assert np.abs(parts / 2**20 - many).max() < 2.0**-19


def test_all_rounds_together_keep_the_promise() -> None:
    for epsilon, delta, rounds in ((1, "1e-6", 100), (0.1, "1e-9", 7), (5, "0.01", 1)):
        m = Mediator(players=10, actions=2, rounds=rounds, epsilon=epsilon, delta=delta)
        total = GaussianDP(float(m._mu) * math.sqrt(rounds), neighbours=REPLACE)
        assert total.delta(epsilon) <= float(delta) * (1 + 1e-6)
        assert total.delta(epsilon) >= float(delta) * 0.999
        noise = m._noise()
        assert noise.scale == pytest.approx(math.sqrt(2) * 2**20 / float(m._mu), rel=1e-6)


def test_the_others_are_told_the_same_under_the_same_loads() -> None:
    """Joint privacy: given the noisy loads, nothing about one player reaches the others' suggestions."""
    m = Mediator(players=50, actions=3, rounds=10, epsilon=1, delta="1e-6")

    class Fixed:
        def release(self, totals: np.ndarray, *, entropy: object) -> np.ndarray:
            return np.full(totals.shape, 50 * 2**20 // 3)

    read = tastes(50, 3)
    other = read.copy()
    other[9] = 1 - other[9]
    plays = []
    for table in (read, other):
        patched = Mediator(players=50, actions=3, rounds=10, epsilon=1, delta="1e-6")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Mediator, "_noise", lambda self: Fixed())
            plays.append(patched.play(table, entropy=seeded(6)))
    keep = np.arange(50) != 9
    assert (plays[0].suggestions[keep] == plays[1].suggestions[keep]).all()
    assert (plays[0].suggestions[~keep] != plays[1].suggestions[~keep]).any() or (
        plays[0].followed[9] != plays[1].followed[9]
    ).any()
    assert m == patched


def test_suggestions_follow_the_parts() -> None:
    parts = np.tile(_whole_parts(np.array([[0.1, 0.6, 0.3]])), (60_000, 1))
    seen = np.bincount(_drawn(parts, seeded(8)), minlength=3) / 60_000
    assert seen == pytest.approx([0.1, 0.6, 0.3], abs=0.013)  # 6.5 standard deviations


def test_odd_tastes_are_no_error() -> None:
    m = Mediator(players=3, actions=2, rounds=2, epsilon=1, delta="0.01")
    play = m.play([[math.nan, 5], [-3, math.inf], [0, -(10**400)]])
    assert play.suggestions.shape == (3,)


@pytest.mark.parametrize("bad", [[[0, 1]], "abc", [["a", "b"]] * 3, None, np.zeros(6)])
def test_bad_tastes_draw_nothing(bad: object) -> None:
    with nothing_drawn() as bits, pytest.raises(InvalidParameter, match="tastes"):
        Mediator(players=3, actions=2, rounds=2, epsilon=1, delta="0.01").play(bad, entropy=bits)


@pytest.mark.parametrize(
    "wrong",
    [
        {"players": 0},
        {"actions": 0},
        {"rounds": 0},
        {"weight": 2},
        {"step": 0},
        {"effects": [[1]]},
        {"effects": "x"},
        {"delta": 0},
    ],
)
def test_bad_parameters(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter):
        Mediator(**{"players": 3, "actions": 2, "epsilon": 1, "delta": 0.01} | wrong)  # type: ignore[arg-type]


def test_a_pure_price_is_refused() -> None:
    with pytest.raises(NotPrivate):
        Mediator(players=3, actions=2, epsilon=1)
