"""Rényi differential privacy: orders, groups by the weak triangle inequality."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy import REPLACE, RenyiDP
from tests.privacy.oracle import Pair, arb, digits, renyi, upper
from tests.privacy.test_conversion import finite_pairs


def test_parameters() -> None:
    promise = RenyiDP(2, 0.5)
    assert (promise.alpha, promise.eps) == (2, Fraction(1, 2))
    assert RenyiDP(alpha=2, epsilon=0.5) == promise
    for alpha in (1, 0.5, -3, math.nan, math.inf, True, "x"):
        with pytest.raises(InvalidParameter, match="alpha: given"):
            RenyiDP(alpha, 1)
    with pytest.raises(InvalidParameter, match="use PureDP"):
        RenyiDP(1, 1)


def test_groups_halve_the_order() -> None:
    assert RenyiDP(8, 1).group(2) == RenyiDP(4, Fraction(13, 6))
    assert RenyiDP(8, 1).group(3) == RenyiDP(8, 1).group(4) == RenyiDP(4, Fraction(13, 6)).group(2)
    assert RenyiDP(8, 1).to_replace() == RenyiDP(4, Fraction(13, 6), neighbours=REPLACE)
    for promise, k in ((RenyiDP(2, 1), 2), (RenyiDP(4, 1), 3), (RenyiDP(8, 1), 8)):
        with pytest.raises(NotPrivate, match="order"):
            promise.group(k)


def test_groups_are_within_mironovs_factor_of_three() -> None:
    for alpha in (4, 8, 64):
        assert RenyiDP(alpha, 1).group(2).eps <= 3


@given(finite_pairs(st.just(3)), finite_pairs(st.just(3)), st.floats(2.1, 30))
def test_a_chain_of_two_keeps_the_groups_promise(first: Pair, second: Pair, alpha: float) -> None:
    """P, R, Q in a row: the divergences between neighbours bound the one between the ends."""
    with digits(60):
        chain = ((first[0], first[1]), (first[1], second[1]))
        divergence = max(upper(renyi(pair, alpha)) for pair in chain)
        group = RenyiDP(Fraction(alpha), divergence).group(2)
        assert not renyi((first[0], second[1]), group.alpha) > arb(group.eps)


def test_lower_orders_follow() -> None:
    assert RenyiDP(8, 1) <= RenyiDP(4, 1)
    assert not RenyiDP(4, 1) <= RenyiDP(8, 100)
