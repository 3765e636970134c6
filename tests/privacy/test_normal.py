"""Normal tails enclose the truth (Arb) from the centre to a hundred standard deviations."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.privacy.normal import density, density_up, log_tail, mills, mills_down, mills_up, profile_up
from tests.privacy.oracle import arb, digits, tail

POINTS = ["0", "1e-50", "1e-9", "0.1", "1", "2.5", "2.999999", "3", "3.000001", "4", "7", "12", "26.5", "38", "100"]
places = st.decimals(min_value=0, max_value=120, allow_nan=False, places=20)


def check_mills(x: Decimal) -> None:
    low, high = mills(x)
    with digits(3200):  # Φ(-120) is near 10^-3127
        t = arb(x)
        truth = tail(t) * (t * t / 2).exp() * (2 * flint.arb.pi()).sqrt()
        assert arb(low) <= truth <= arb(high)
    assert high - low <= high * Decimal("1e-24")


@pytest.mark.parametrize("x", POINTS)
def test_mills_ratio_at_chosen_points(x: str) -> None:
    check_mills(Decimal(x))


@given(places)
def test_mills_ratio_encloses_the_truth(x: Decimal) -> None:
    check_mills(x)


@given(st.one_of(places, st.sampled_from([Decimal(x) for x in POINTS])))
def test_one_bound_alone_is_that_of_the_two(x: Decimal) -> None:
    assert (mills_down(x), mills_up(x)) == mills(x)
    assert density_up(x) == density(x)[1]


@given(places)
def test_densities_and_tails_enclose_the_truth(x: Decimal) -> None:
    with digits(3300):
        t = arb(x)
        phi = (-t * t / 2).exp() / (2 * flint.arb.pi()).sqrt()
        low, high = density(x)
        assert arb(low) <= phi <= arb(high)
        log_low, log_high = log_tail(x)
        truth = tail(t).log()
        assert arb(log_low) <= truth <= arb(log_high)
    assert high - low <= high * Decimal("1e-30")
    assert log_high - log_low <= Decimal("1e-22")


def test_tails_exist_where_nothing_can_be_represented() -> None:
    low, high = log_tail(Decimal("1e30"))
    assert Decimal("-5.0000001e59") < low <= high < Decimal("-4.999999e59")


@given(
    a=st.decimals(min_value=-3, max_value=40, places=12, allow_nan=False),
    mu=st.one_of(
        st.decimals(min_value=Decimal("1e-9"), max_value=8, places=12, allow_nan=False),
        st.integers(-60, 0).map(lambda power: Decimal(10) ** power),
    ),
)
def test_the_profile_is_above_the_truth_and_close(a: Decimal, mu: Decimal) -> None:
    """Φ(-a) - e^ε·Φ(-a-μ) with ε = (a+μ/2)·μ, where it is a profile (ε ≥ 0)."""
    a = max(a, -mu / 2)
    bound = profile_up(a, mu)
    with digits(900):
        x, m = arb(a), arb(mu)
        truth = tail(x) - ((x + m / 2) * m).exp() * tail(x + m)
        assert truth <= arb(bound)
        assert arb(bound) <= truth * (1 + arb(Fraction(1, 10**12)))
