"""Zero-concentrated differential privacy, with and without a δ."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tacit.errors import InvalidParameter, NotPrivate
from tacit.privacy import REPLACE, ZCDP, ApproxDP, GaussianDP, RenyiDP


def test_parameters() -> None:
    assert ZCDP(0.1).rho == Fraction(1, 10)
    assert ZCDP(rho="0.1", delta="1e-9").dlt == Fraction(1, 10**9)
    assert repr(ZCDP(0.1)) == "ZCDP(0.1)"
    assert repr(ZCDP(0.1, 1e-9)) == "ZCDP(0.1, 1e-09)"
    for rho in (-1, math.nan, True, "x"):
        with pytest.raises(InvalidParameter, match="rho: given"):
            ZCDP(rho)
    with pytest.raises(InvalidParameter, match="delta: given"):
        ZCDP(1, 1)


def test_groups() -> None:
    assert ZCDP("0.1").group(3) == ZCDP("0.9")
    assert ZCDP("0.1").to_replace() == ZCDP("0.4", neighbours=REPLACE)
    assert ZCDP("0.1", "1e-9").group(1) == ZCDP("0.1", "1e-9")
    with pytest.raises(NotPrivate, match=r"to\(ApproxDP, delta=...\)"):
        ZCDP("0.1", "1e-9").group(2)
    with pytest.raises(NotPrivate):
        ZCDP("0.1", "1e-9").to_replace()


def test_conversions() -> None:
    assert ZCDP("0.1").to(RenyiDP, alpha=8) == RenyiDP(8, "0.8")
    assert float(ZCDP("0.05").to(ApproxDP, delta=1e-6).eps) == pytest.approx(1.4715947505, rel=1e-9)
    assert ZCDP("0.05") <= ZCDP("0.05", "1e-9")
    assert not ZCDP("0.05", "1e-9") <= ZCDP("0.05")
    assert GaussianDP(1) <= ZCDP("0.5")
