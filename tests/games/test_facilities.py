"""Two facilities: truth strictly best for everybody by enumeration, and the profitable lie where q is too small."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from tacit import InvalidParameter, audit_exact
from tacit.games import TwoFacilities
from tacit.games.facilities import gains
from tacit.testing import seeded
from tests.mechanisms.sources import nothing_drawn

PLACES = [0.0, 0.25, 0.5, 0.75, 1.0]


def expected(m: TwoFacilities, at: float, reports: list[float]) -> float:
    """The expected distance of somebody who is at this place and whose report comes last: from the definition."""
    pairs = [(a, b) for i, a in enumerate(PLACES) for b in PLACES[i:]]
    sums = [sum(min(abs(r - a), abs(r - b)) for r in reports) for a, b in pairs]
    masses = [math.exp(-float(m.guarantee.as_pure() or 0) / 2 * (s - min(sums))) for s in sums]
    ordinary = sum(w * min(abs(at - a), abs(at - b)) for w, (a, b) in zip(masses, pairs, strict=True)) / sum(masses)
    served = [a if abs(reports[-1] - a) <= abs(reports[-1] - b) else b for a, b in pairs]
    punishing = sum(abs(at - s) for s in served) / len(pairs)
    q = float(m.q)
    return (1 - q) * ordinary + q * punishing


def best_lie(m: TwoFacilities) -> tuple[float, tuple[float, ...], float, float]:
    """(gain, others, place, lie) where lying helps most."""
    return max(
        (expected(m, at, [*others, at]) - expected(m, at, [*others, lie]), others, at, lie)
        for others in combinations_with_replacement(PLACES, m.n - 1)
        for at in PLACES
        for lie in PLACES
        if lie != at
    )


@pytest.mark.parametrize(("n", "epsilon"), [(1, 1), (3, 2), (4, 0.5)])
def test_truth_is_strictly_best_for_every_profile_player_and_lie(n: int, epsilon: float) -> None:
    assert best_lie(TwoFacilities(PLACES, n=n, epsilon=epsilon))[0] < 0


def test_a_tenth_less_and_there_is_a_profitable_lie() -> None:
    """The planted fault."""
    m = TwoFacilities(PLACES, n=4, epsilon=0.5)
    weak = TwoFacilities(PLACES, n=4, epsilon=0.5, q=m.q * Fraction(9, 10))
    gain, others, at, lie = best_lie(weak)
    assert gain > 0
    assert expected(weak, at, [*others, lie]) < expected(weak, at, [*others, at])
    least = TwoFacilities(PLACES, n=4, epsilon=0.5, q=m.q - Fraction(1, 10**4))
    assert best_lie(least)[0] > 0


def test_the_figures_of_twenty_people() -> None:
    m = TwoFacilities(PLACES, n=20, epsilon=0.5)
    assert round(float(m.q), 3) == 0.091
    assert round(m.general_q, 2) == 0.88
    assert math.comb(19 + 4, 4) == 8855
    weak = m.q * Fraction(9, 10)
    won = gains(m._places, 20, Fraction(1, 2))
    lost = 1 / 60  # of the lie from ¼ to 0, by hand: of 15 pairs only (0, ½) serves her worse, by ¼
    assert float(1 - weak) * won[1, 0] > float(weak) * lost


def test_enumeration_agrees_with_the_definition() -> None:
    m = TwoFacilities(PLACES, n=4, epsilon=0.5, q=0)
    found = best_lie(m)
    assert gains(m._places, 4, Fraction(1, 2)).max() == pytest.approx(found[0], rel=1e-9)


def test_promise_by_exact_laws() -> None:
    m = TwoFacilities(PLACES, n=3, epsilon=2)
    for others in combinations_with_replacement(PLACES, 2):
        laws = [m.probabilities([*others, last]) for last in PLACES]
        for law in laws[1:]:
            assert not audit_exact(laws[0], law, m.guarantee).violated
    halved = TwoFacilities(PLACES, n=3, epsilon=8, q=0)  # the planted fault: four times the price
    assert audit_exact(halved.probabilities([0, 0, 0]), halved.probabilities([0, 0, 1]), m.guarantee).violated


def test_sampling_agrees_with_the_law() -> None:
    m = TwoFacilities([0, 0.5, 1], n=3, epsilon=2, q="0.3")
    drawn = m._releases([0, 0, 1], 40_000, seeded(7))
    seen = np.bincount(drawn, minlength=12)
    wanted = np.concatenate((0.7 * m.probabilities([0, 0, 1]), np.full(6, 0.05))) * 40_000
    assert ((seen - wanted) ** 2 / wanted).sum() < 62  # 11 degrees: once in 10⁸
    wrong = np.concatenate((0.72 * m.probabilities([0, 0, 1]), np.full(6, 0.28 / 6))) * 40_000
    assert ((seen - wrong) ** 2 / wrong).sum() > 62


def test_welfare_is_within_its_bound() -> None:
    m = TwoFacilities(PLACES, n=20, epsilon=0.5)
    for reports in ([0] * 10 + [1] * 10, [0.5] * 20, PLACES * 4):
        most = m.best_cost(reports) + m.accuracy(0.05) + 0.05 + float(m.q)
        assert m.best_cost(reports) <= m.cost(reports) <= most


def test_who_is_served_where() -> None:
    m = TwoFacilities(PLACES, n=2, epsilon=1, q=1)
    placed = m.place([0, 1], entropy=seeded(3))
    assert placed.punishing
    assert placed.serves(0) == min(placed.facilities)


def test_reports_are_moved_to_places() -> None:
    m = TwoFacilities(PLACES, n=5, epsilon=1)
    assert m._counts([math.nan, -math.inf, math.inf, 10**400, 0.3]).tolist() == [2, 1, 0, 0, 2]


def test_growth_with_people_and_places() -> None:
    """q grows slowly with the people, and stays far below what the general bound asks."""
    made = [TwoFacilities(PLACES, n=n, epsilon=0.5) for n in (2, 7, 20)]
    assert [m.q for m in made] == sorted({m.q for m in made})
    assert all(float(m.q) < m.general_q / 5 for m in made)
    wide = TwoFacilities(np.linspace(0, 1, 7).round(6), n=8, epsilon=0.5)
    assert 0 < float(wide.q) < wide.general_q


@pytest.mark.parametrize(
    "wrong", [{"places": [0]}, {"places": []}, {"places": 3}, {"n": 0}, {"epsilon": 0}, {"q": 2}, {"n": 10**4}]
)
def test_bad_parameters(wrong: dict[str, object]) -> None:
    options = {"places": PLACES, "n": 3, "epsilon": 1} | wrong
    places = options.pop("places")
    with pytest.raises(InvalidParameter):
        TwoFacilities(places, **options)  # type: ignore[arg-type]


def test_no_such_q_is_an_error_from_public_parameters() -> None:
    """Two places so close together that confusing them costs next to nothing."""
    far_and_near = [0, 1, 1.0000000001]
    with pytest.raises(InvalidParameter, match="punishes every lie"):
        TwoFacilities(far_and_near, n=2, epsilon=1)


def test_bad_reports_draw_nothing() -> None:
    with nothing_drawn() as bits, pytest.raises(InvalidParameter):
        TwoFacilities(PLACES, n=3, epsilon=1).place([0.5], entropy=bits)
