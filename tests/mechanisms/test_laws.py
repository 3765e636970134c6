"""The laws that releases are compared with agree with plain sums of their definitions."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tests.mechanisms.laws import ConditionedLaw, ReleaseLaw, StaircaseLaw, hockey_stick, largest_ratio, masses
from tests.statistical.laws import DiscreteLaplaceLaw, ball


@pytest.mark.parametrize(("low", "high"), [(-5, 5), (0, 9), (-3, 12)])
def test_conditioned_law_is_a_share_of_the_whole(low: int, high: int) -> None:
    scale = Fraction(5, 2)
    weights = {k: math.exp(-abs(k) / scale) for k in range(low, high + 1)}
    total = math.fsum(weights.values())
    law = ReleaseLaw(ConditionedLaw(DiscreteLaplaceLaw(scale), low, high), 100)
    found = masses(law, 90, 120)
    for k in range(90, 121):
        assert float(found[k]) == pytest.approx(weights.get(k - 100, 0) / total, abs=1e-15)


@pytest.mark.parametrize(("period", "upper"), [(1, 1), (5, 1), (6, 2), (4, 4)])
def test_staircase_law_falls_by_one_factor_per_period(period: int, upper: int) -> None:
    epsilon = Fraction(3, 4)

    def weight(k: int) -> float:
        step, place = divmod(abs(k), period)
        return math.exp(-epsilon * (step + (place >= upper)))

    total = math.fsum(weight(k) for k in range(-600, 601))
    found = masses(ReleaseLaw(StaircaseLaw(epsilon, period, upper), -3), -40, 40)
    for k in range(-40, 41):
        assert float(found[k]) == pytest.approx(weight(k + 3) / total, rel=1e-9)
    assert float(sum(found.values(), ball(0))) == pytest.approx(1)


def test_quantiles_and_errors_of_a_release() -> None:
    law = ReleaseLaw(DiscreteLaplaceLaw(Fraction(2)), 10)
    assert law.quantile(0.5) == 10
    assert float(law.below(law.quantile(0.9))) < 0.9 <= float(law.below(law.quantile(0.9) + 1))
    inside = sum(float(p) for k, p in masses(law, 0, 20).items() if abs(k - Fraction(21, 2)) <= 3)
    assert float(law.beyond(Fraction(21, 2), Fraction(3))) == pytest.approx(1 - inside)


def test_divergences_of_two_coins() -> None:
    first, second = (
        {0: ball(Fraction(3, 4)), 1: ball(Fraction(1, 4))},
        {0: ball(Fraction(1, 4)), 1: ball(Fraction(3, 4))},
    )
    assert float(hockey_stick(first, second, Fraction(0))) == pytest.approx(0.5)
    assert float(hockey_stick(first, second, Fraction(1))) == pytest.approx(0.75 - math.e / 4)
    assert float(largest_ratio(first, second)) == pytest.approx(math.log(3))
