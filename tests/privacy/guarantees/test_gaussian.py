"""Gaussian differential privacy keeps μ² exactly."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tacit.errors import InvalidParameter
from tacit.privacy import REPLACE, GaussianDP


def test_squares_are_exact() -> None:
    assert GaussianDP("0.1").mu_squared == Fraction(1, 100)
    assert (GaussianDP(1) + GaussianDP(1)).to(GaussianDP).mu_squared == 2
    assert GaussianDP.of_square(2).mu ** 2 >= 2
    assert GaussianDP.of_square(2).mu == pytest.approx(math.sqrt(2), rel=1e-15)
    assert GaussianDP("0.3").mu == 0.3
    assert GaussianDP.of_square("0.09") == GaussianDP("0.3")


def test_they_print_as_they_are() -> None:
    assert repr(GaussianDP(1)) == "GaussianDP(1)"
    assert repr(GaussianDP.of_square(2)) == "GaussianDP.of_square(2)"


@pytest.mark.parametrize("mu", [-1, math.nan, math.inf, True, "x", None])
def test_no_mu(mu: object) -> None:
    with pytest.raises(InvalidParameter, match="mu: given"):
        GaussianDP(mu)
    with pytest.raises(InvalidParameter, match="mu_squared: given"):
        GaussianDP.of_square(mu)


def test_groups() -> None:
    assert GaussianDP("0.5").group(3) == GaussianDP("1.5")
    assert GaussianDP("0.5").to_replace() == GaussianDP(1, neighbours=REPLACE)
    assert GaussianDP("0.5") < GaussianDP("0.51")
