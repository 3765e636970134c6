"""Pure differential privacy: decimal prices, groups, the stated conversions."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tacit.errors import InvalidParameter
from tacit.privacy import REPLACE, ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP


def test_a_tenth_is_a_tenth() -> None:
    assert PureDP(0.1) == PureDP("0.1") == PureDP(Fraction(1, 10))
    assert PureDP(0.1).eps == Fraction(1, 10)
    assert PureDP(epsilon=0.1) == PureDP(0.1)
    assert repr(PureDP(0.1)) == "PureDP(0.1)"
    assert repr(PureDP(2.0)) == "PureDP(2)"
    assert repr(PureDP("1/3")) == 'PureDP("1/3")'
    assert repr(PureDP(1, neighbours=REPLACE)) == "PureDP(1, neighbours=Neighbours.REPLACE)"


@pytest.mark.parametrize("epsilon", [-0.1, math.nan, math.inf, True, None, "x", 1j, [1]])
def test_no_epsilon(epsilon: object) -> None:
    with pytest.raises(InvalidParameter, match=r"epsilon: given .*; allowed: a finite number, 0 or more"):
        PureDP(epsilon)


def test_groups_and_replacement() -> None:
    assert PureDP("0.1").group(3) == PureDP("0.3")
    assert PureDP("0.1").to_replace() == PureDP("0.2", neighbours=REPLACE)


def test_stated_conversions() -> None:
    assert PureDP("0.2").to(ZCDP) == ZCDP("0.02")
    assert PureDP(1).to(ApproxDP) == ApproxDP(1, 0)
    assert PureDP(1).to(GaussianDP).mu == pytest.approx(1.2320353853449, rel=1e-12)
    divergence = math.log((math.e**2 + math.e**-1) / (1 + math.e))
    assert float(PureDP(1).to(RenyiDP, alpha=2).eps) == pytest.approx(divergence, rel=1e-12)


def test_order() -> None:
    assert PureDP("0.1") <= PureDP("0.1") < PureDP("0.2")
    assert PureDP(1) <= ApproxDP(1, 1e-9)
    assert PureDP(1) <= ZCDP("0.5")
    assert not PureDP(1) <= ZCDP("0.4999")
    assert not ApproxDP(1, 1e-9) <= PureDP(100)
    assert not ZCDP("0.0001") <= PureDP(100)
