"""The auction: Δ by brute force, the promise by exact laws, the bound, and the halved Δ that is caught."""

from __future__ import annotations

import math
import random
from itertools import combinations_with_replacement

import numpy as np
import pytest

from tacit import InvalidParameter, NotPrivate, audit_exact
from tacit.games import DigitalGoods, optimal_revenue
from tacit.testing import seeded
from tests.mechanisms.sources import nothing_drawn

GRID = [0.0, 0.25, 0.5, 0.75, 1.0]


def profiles(n: int) -> list[tuple[float, ...]]:
    return list(combinations_with_replacement(GRID, n))


def pairs(n: int) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
    return [((*rest, a), (*rest, b)) for rest in profiles(n - 1) for a in GRID for b in GRID if a < b]


def law(bids: tuple[float, ...], per_revenue: float) -> np.ndarray:
    """From the definition."""
    revenue = np.array([p * sum(v >= p for v in bids) for p in GRID[1:]])
    mass = np.exp(per_revenue * revenue)
    return mass / mass.sum()


def worst(n: int, per_revenue: float) -> float:
    return max(float(np.abs(np.log(law(a, per_revenue) / law(b, per_revenue))).max()) for a, b in pairs(n))


@pytest.mark.parametrize("n", [1, 2, 4])
def test_another_bid_moves_all_revenues_one_way_by_at_most_the_price(n: int) -> None:
    m = DigitalGoods(n=n, epsilon=1, alpha="1/4")
    for one, other in pairs(n):
        moved = m.revenues(other) - m.revenues(one)
        assert (moved >= 0).all()
        assert (moved <= m.prices).all()


@pytest.mark.parametrize(
    "m", [DigitalGoods(n=5, epsilon=2, alpha="1/4"), DigitalGoods.textbook(n=5, epsilon=2, alpha="1/4")]
)
def test_promise_by_enumeration(m: DigitalGoods) -> None:
    per_revenue = 2.0 if "textbook" not in repr(m) else 1.0
    for bids in profiles(5)[::7]:
        assert m.probabilities(bids) == pytest.approx(law(bids, per_revenue), rel=1e-9)
    one, other = max(pairs(5), key=lambda p: float(np.abs(np.log(m.probabilities(p[0]) / m.probabilities(p[1]))).max()))
    assert not audit_exact(m.probabilities(one), m.probabilities(other), m.guarantee).violated


def test_halving_the_sensitivity_is_caught() -> None:
    """The planted fault. With the factor 2 of the textbook it would not be: the price is then spent only by half."""
    many = 12
    m = DigitalGoods(n=many, epsilon=2, alpha="1/4")
    rest = (0.25,) * (many - 1)
    halved = [law((*rest, last), 4.0) for last in (0.0, 1.0)]
    assert audit_exact(halved[0], halved[1], m.guarantee).violated
    honest = [m.probabilities((*rest, last)) for last in (0.0, 1.0)]
    assert not audit_exact(honest[0], honest[1], m.guarantee).violated
    assert worst(4, 2.0) <= 2.0  # Δ = ½ under the textbook's factor: still within ε


def test_the_promise_is_nearly_reached() -> None:
    fine = DigitalGoods(n=401, epsilon=1, alpha="0.05")
    rest = [0.05] * 400
    p, q = (fine.probabilities([*rest, last]) for last in (0.0, 1.0))
    assert 0.9 < float(np.abs(np.log(p / q)).max()) <= 1


def beta_values(n: int = 1000) -> list[float]:
    draw = random.Random(5)
    return [draw.betavariate(2, 3) for _ in range(n)]


@pytest.mark.parametrize("make", [DigitalGoods, DigitalGoods.textbook])
def test_revenue_theorem(make) -> None:
    values = beta_values()
    m = make(n=1000, epsilon=1)
    best = optimal_revenue(values)
    chances, revenues = m.probabilities(values), m.revenues(values)
    below = chances[revenues < best - m.accuracy(0.05)].sum()
    assert below <= 0.05
    steps = len(m.prices)
    per = 1 if make is DigitalGoods else 2
    assert m.accuracy(0.05) == pytest.approx(1000 / steps + per * (math.log(steps) + math.log(20)), rel=1e-6)


def test_default_step_is_the_best_for_the_bound() -> None:
    for make in (DigitalGoods, DigitalGoods.textbook):
        best = make(n=1000, epsilon=1).accuracy(0.05)
        for alpha in ("1/200", "1/400", "1/2000", "1/5000"):
            assert make(n=1000, epsilon=1, alpha=alpha).accuracy(0.05) >= best


def test_one_number_with_noise_on_the_price_is_worse_than_selection() -> None:
    """Bids 1, 1, 1, 3.01: a little above 3.01, or above 1, nearly everything is lost."""
    bids = [1, 1, 1, 3.01]
    m = DigitalGoods(n=4, top=4, alpha="1/400", epsilon=1)
    noisy = np.abs(1 + np.random.default_rng(1).laplace(0, 4, 20_000))  # Δ of the best price is the whole range
    steps = np.minimum(np.maximum(np.round(noisy * 100), 1), 400).astype(int) - 1
    by_noise = m.revenues(bids)[steps].mean()
    by_choice = float((m.probabilities(bids) * m.revenues(bids)).sum())
    assert by_choice > 1.3 * by_noise


def test_sampling_agrees_with_the_law() -> None:
    m = DigitalGoods(n=3, epsilon=3, alpha="1/4")
    bids = [0.3, 0.6, 1.0]
    seen = np.bincount(np.round(m._releases(bids, 40_000, seeded(2)) * 4).astype(int) - 1, minlength=4)
    for factor in (1.0, 1.15):
        wanted = law((0.25, 0.5, 1.0), 3.0 * factor) * 40_000
        assert (((seen - wanted) ** 2 / wanted).sum() < 38) == (factor == 1.0)  # 3 degrees: once in 10⁷


def test_values_are_clamped_and_missing_ones_are_zero() -> None:
    m = DigitalGoods(n=5, epsilon=1, alpha="1/4")
    odd = m.probabilities([math.nan, math.inf, -math.inf, 10**400, -3])
    assert (odd == m.probabilities([0, 1, 0, 1, 0])).all()


def test_one_bidder_works() -> None:
    assert DigitalGoods(n=1, epsilon=1, alpha=0.1).price([0.7]) in DigitalGoods(n=1, epsilon=1, alpha=0.1).prices


@pytest.mark.parametrize(
    "wrong",
    [{"alpha": 1.5}, {"alpha": 0}, {"n": 1, "epsilon": 0.5, "alpha": None}, {"n": 0}, {"top": 0}, {"alpha": 1e-9}],
)
def test_bad_parameters(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter):
        DigitalGoods(**{"n": 3, "epsilon": 1, "alpha": 0.1} | wrong)  # type: ignore[arg-type]


def test_default_step_above_one_is_refused_for_the_textbook_from_its_own_limit() -> None:
    with pytest.raises(InvalidParameter, match="at least 2"):
        DigitalGoods.textbook(n=3, epsilon=0.5)
    assert DigitalGoods(n=3, epsilon=0.5).alpha < 1


@pytest.mark.parametrize("bids", [[0.5], "abc", [None, 1, 2], np.zeros((3, 1)), [1 + 1j, 0, 0]])
def test_bad_bids_draw_nothing(bids: object) -> None:
    with nothing_drawn() as bits, pytest.raises(InvalidParameter):
        DigitalGoods(n=3, epsilon=1, alpha=0.1).price(bids, entropy=bits)


def test_other_promises_are_refused() -> None:
    with pytest.raises(NotPrivate):
        DigitalGoods(n=3, epsilon=1, delta=0.1)
