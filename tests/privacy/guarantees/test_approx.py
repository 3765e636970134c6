"""Approximate differential privacy: parameters, groups, order."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy import REPLACE, ZCDP, ApproxDP, GaussianDP, PureDP


def test_parameters_are_exact() -> None:
    promise = ApproxDP(1, 1e-6)
    assert (promise.eps, promise.dlt) == (Fraction(1), Fraction(1, 10**6))
    assert repr(promise) == "ApproxDP(1, 1e-06)"
    assert ApproxDP(epsilon=1, delta=1e-6) == promise


@pytest.mark.parametrize("delta", [-0.1, 1, 1.0, 2, math.nan, math.inf, True, None, "x"])
def test_no_delta(delta: object) -> None:
    with pytest.raises(InvalidParameter, match=r"delta: given .*; allowed: a number from 0"):
        ApproxDP(1, delta)


def test_replacement_is_two_epsilon_and_one_plus_e_to_the_epsilon_times_delta() -> None:
    replaced = ApproxDP(1, "1e-6").to_replace()
    assert replaced.eps == 2
    assert float(replaced.dlt) == pytest.approx((1 + math.e) * 1e-6, rel=1e-12)
    assert replaced.neighbours is REPLACE


def test_a_group_is_never_charged_more_than_the_textbook_says() -> None:
    for k in (2, 3, 7):
        group = ApproxDP("0.5", "1e-9").group(k)
        assert group.eps == Fraction(k, 2)
        assert 1e-9 < float(group.dlt) <= k * math.exp((k - 1) * 0.5) * 1e-9
    assert ApproxDP(0, "1e-3").group(5) == ApproxDP(0, "0.005")
    assert ApproxDP(1, 0).group(5) == ApproxDP(5, 0)


@pytest.mark.parametrize("promise", [ApproxDP(1, "0.5"), ApproxDP("1e99", "1e-300"), ApproxDP(0, "0.2")])
def test_a_group_whose_delta_reaches_one_is_refused(promise: ApproxDP) -> None:
    with pytest.raises(NotPrivate, match="reach 1"):
        promise.group(6)


def test_evaluated_elsewhere() -> None:
    moved = ApproxDP(1, "1e-6").to(ApproxDP, delta="1e-3")
    assert moved.dlt == Fraction(1, 1000)
    assert float(moved.eps) == pytest.approx(math.log(math.e - (1e-3 - 1e-6) * (1 + math.e)), rel=1e-6)
    with pytest.raises(NotPrivate, match="larger delta"):
        ApproxDP(1, "1e-6").to(ApproxDP, delta="1e-7")
    with pytest.raises(InvalidParameter, match=r"to\(ApproxDP, delta=1e-6\)"):
        ZCDP(1).to(ApproxDP)


def test_order_across_kinds() -> None:
    target = ApproxDP(1, 1e-6)
    assert ZCDP("0.01") <= target
    assert not ZCDP("0.1") <= target
    assert GaussianDP("0.2") <= target
    assert not GaussianDP("0.25") <= target
    assert 9 * PureDP("0.1") <= target
    assert not 20 * PureDP("0.1") <= target
    assert ApproxDP("0.9", "1e-7") <= target
    assert not ApproxDP("0.9", "2e-6") <= target


def test_a_record_released_with_probability_delta_is_0_delta() -> None:
    """Why δ must be far below 1/n: (0, δ) allows releasing one record outright with probability δ."""
    delta = Fraction(1, 100)
    silent, first, second = 0, 1, 2
    worlds = {first: [1 - delta, delta, 0], second: [1 - delta, 0, delta]}
    gap = sum(max(p - q, 0) for p, q in zip(worlds[first], worlds[second], strict=True))
    assert gap == delta
    assert worlds[first][silent] == worlds[second][silent]
    assert ApproxDP(0, gap).delta(0) == 0.01
