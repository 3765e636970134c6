"""Gains from lying, by enumeration: never above the bounds, which small games reach."""

from __future__ import annotations

import math

import pytest

from tacit import Exponential, InvalidParameter
from tacit.games import DigitalGoods, FiniteGame, TruthBounds, lies


def coin(epsilon: float) -> FiniteGame:
    """One player; what she reports comes out with chance e^ε/(1+e^ε)."""
    right = 1 / (1 + math.exp(-epsilon))
    return FiniteGame(
        (0, 1), (0, 1), lambda t, o: float(t != o), lambda r: [1 - right, right] if r[0] else [right, 1 - right], 1
    )


def election(epsilon: float, players: int) -> FiniteGame:
    """A vote under replacement by the exponential mechanism: bounded range."""
    m = Exponential(epsilon=epsilon, sensitivity=1)
    return FiniteGame(
        (0, 1, 2),
        (0, 1, 2),
        lambda t, o: (1.0, 0.6, 0.0)[(o - t) % 3],
        lambda reports: m.probabilities([reports.count(c) for c in range(3)]).tolist(),
        players,
        anonymous=True,
    )


def auction(epsilon: float, players: int) -> FiniteGame:
    m = DigitalGoods(n=players, epsilon=epsilon, alpha="1/4")
    prices = tuple(m.prices.tolist())
    return FiniteGame(
        (0.25, 0.5, 0.75, 1.0),
        prices,
        lambda v, p: max(0.0, v - p),
        lambda r: m.probabilities(r).tolist(),
        players,
        True,
    )


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_the_pure_bound_is_reached(epsilon: float) -> None:
    found = lies(coin(epsilon))
    bounds = TruthBounds.of(epsilon)
    assert found.gain == pytest.approx(bounds.pure, rel=1e-12)
    assert found.gain <= bounds.pure
    assert bounds.textbook is None or found.gain <= bounds.textbook
    assert found.factor == pytest.approx(bounds.factor, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_the_bounded_range_bound_is_reached(epsilon: float) -> None:
    m = Exponential(epsilon=epsilon, sensitivity=1)
    game = FiniteGame(
        (0, 1), (0, 1), lambda t, o: float(t != o), lambda r: m.probabilities([1 - r[0], r[0]]).tolist(), 1
    )
    assert lies(game).gain == pytest.approx(TruthBounds.of(epsilon).bounded_range, rel=1e-9)


@pytest.mark.parametrize("colluders", [1, 2, 3])
@pytest.mark.parametrize("make", [election, auction])
def test_no_lie_beats_the_bounds_and_every_lie_is_nearly_as_good_as_the_truth(make, colluders: int) -> None:
    for epsilon in (0.2, 1.0):
        found = lies(make(epsilon, 4), colluders=colluders)
        bounds = TruthBounds.of(epsilon, colluders=colluders)
        assert (make is election and colluders == 1) or found.gain > 0
        assert found.gain <= bounds.bounded_range
        assert 0 < found.cost <= bounds.bounded_range
        assert 1 <= found.factor <= bounds.factor


def test_half_the_price_breaks_the_bounds() -> None:
    """The planted fault: a coin of 2ε sold as ε."""
    found = lies(coin(2.0))
    assert found.gain > TruthBounds.of(1).pure
    assert found.factor > TruthBounds.of(1).factor


def test_anonymous_and_plain_enumeration_agree() -> None:
    for colluders in (1, 2):
        quick = election(1.0, 3)
        plain = FiniteGame(quick.types, quick.outcomes, quick.utility, quick.law, 3)
        one, other = lies(quick, colluders=colluders), lies(plain, colluders=colluders)
        assert (one.gain, one.cost, one.factor) == pytest.approx((other.gain, other.cost, other.factor), rel=1e-12)


def test_the_lie_shown_brings_the_gain() -> None:
    game = auction(2.0, 3)
    found = lies(game)
    liar, others = found.truth[0], found.truth[1:]
    honest, lying = game.law(found.truth), game.law((*found.told, *others))
    change = sum((q - p) * game.utility(liar, o) for p, q, o in zip(honest, lying, game.outcomes, strict=True))
    assert change == pytest.approx(found.gain, rel=1e-12)
    assert found.told[0] < liar


def test_the_largest_of_two_colluders_gains_less_than_twice() -> None:
    assert TruthBounds.of(0.5, colluders=2).pure == pytest.approx(math.tanh(0.5))
    assert TruthBounds.of(0.6, colluders=2).textbook is None


def test_large_prices_stay_finite() -> None:
    bounds = TruthBounds.of(10**6)
    assert (bounds.pure, bounds.bounded_range, bounds.factor) == (1.0, 1.0, math.inf)


@pytest.mark.parametrize(
    "game",
    [
        FiniteGame((), (0,), lambda t, o: 0.0, lambda r: [1.0], 1),
        FiniteGame((0,), (), lambda t, o: 0.0, lambda r: [], 1),
        FiniteGame((0,), (0,), lambda t, o: 2.0, lambda r: [1.0], 1),
        FiniteGame(tuple(range(10)), (0,), lambda t, o: 0.0, lambda r: [1.0], 9),
    ],
)
def test_bad_games(game: FiniteGame) -> None:
    with pytest.raises(InvalidParameter):
        lies(game)


def test_more_colluders_than_players() -> None:
    with pytest.raises(InvalidParameter, match="colluders"):
        lies(coin(1.0), colluders=2)
