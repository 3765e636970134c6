"""Directed rounding encloses the truth (Arb), tightly; the search returns only what it has verified."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import flint
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tacit.privacy import PureDP, conversion, normal, theorems
from tacit.privacy.bounds import responses
from tacit.privacy.rounding import (
    DOWN,
    UP,
    decimal_down,
    decimal_up,
    exp_down,
    exp_up,
    float_up,
    least,
    ln_down,
    ln_up,
    sqrt_down,
    sqrt_up,
)
from tests.privacy.oracle import arb, digits

numbers = st.decimals(min_value=Decimal("1e-60"), max_value=Decimal("1e5"), allow_nan=False, places=None)

TRUTHS: list[tuple[Callable[[Decimal], Decimal], Callable[[Decimal], Decimal], Callable[[flint.arb], flint.arb]]] = [
    (exp_down, exp_up, lambda x: x.exp()),
    (lambda x: exp_down(x.copy_negate()), lambda x: exp_up(x.copy_negate()), lambda x: (-x).exp()),
    (ln_down, ln_up, lambda x: x.log()),
    (sqrt_down, sqrt_up, lambda x: x.sqrt()),
]


@pytest.mark.parametrize("functions", TRUTHS, ids=["exp", "exp of minus", "ln", "sqrt"])
@given(x=numbers)
@example(x=Decimal(1))
@example(x=Decimal(4))
@example(x=Decimal("1e-60"))
@example(x=Decimal("0.99999999999999999999999999999999999999999"))
def test_elementary_functions_enclose_the_truth(functions: tuple, x: Decimal) -> None:
    down, up, true = functions
    low, high = down(x), up(x)
    with digits(120):
        truth = true(arb(x))
        assert not truth < arb(low)
        assert not truth > arb(high)
    assert high - low <= abs(high) * Decimal("1e-38")


@given(st.fractions())
def test_fractions_become_decimals_outward(exact: Fraction) -> None:
    assert Fraction(decimal_down(exact)) <= exact <= Fraction(decimal_up(exact))


def test_exponentials_far_out_stay_bounds() -> None:
    assert exp_down(Decimal("-1e300")) == 0
    assert 0 < exp_up(Decimal("-1e300")) < Decimal("1e-1000")


@given(st.decimals(min_value=Decimal("1e-320"), max_value=Decimal("1e300"), allow_nan=False))
def test_floats_are_above_as_binary_and_as_decimal(x: Decimal) -> None:
    found = float_up(x)
    assert Fraction(found) >= Fraction(x)
    assert Fraction(repr(found)) >= Fraction(x)
    assert found <= math.nextafter(math.nextafter(float(x), math.inf), math.inf)


def test_floats_at_the_ends() -> None:
    assert float_up(Decimal(0)) == 0.0
    assert float_up(Decimal(-3)) == 0.0
    assert float_up(Decimal("1e-400")) == 5e-324
    assert float_up(Decimal("1e400")) == math.inf


@given(
    root=st.floats(min_value=1e-12, max_value=1e12),
    steepness=st.floats(min_value=0.01, max_value=300),
    guess=st.floats(min_value=1e-12, max_value=1e12),
)
def test_the_search_finds_the_root_from_any_guess(root: float, steepness: float, guess: float) -> None:
    exact = Fraction(root)

    def bound(x: Fraction) -> Decimal:
        return exp_up(decimal_up(Fraction(steepness) * min((exact - x) / exact, Fraction(100))))

    found = least(bound, Decimal(1), guess=guess)
    assert bound(min(Fraction(found), Fraction(repr(found)))) <= 1
    assert exact <= Fraction(found) <= exact * (1 + Fraction(1, 10**12))


def test_the_search_believes_only_the_bound() -> None:
    """A step function has no slope to follow; the answer is still verified and just above the step."""

    def step(x: Fraction) -> Decimal:
        return Decimal(2) if x < Fraction(1, 3) else Decimal(0)

    found = least(step, Decimal(1), guess=100.0)
    assert Fraction(1, 3) <= Fraction(found) <= Fraction(1, 3) * (1 + Fraction(1, 10**12))
    assert least(lambda x: Decimal(0), Decimal(0), guess=1.0) == 0.0
    assert least(lambda x: Decimal(1), Decimal(0), guess=1.0) == math.inf


def test_the_callers_decimal_context_changes_nothing() -> None:
    """Neither a context of two digits nor one that forbids all rounding reaches the bounds."""

    def everything() -> list[object]:
        for cached in (
            normal.mills,
            normal.mills_up,
            normal.mills_down,
            conversion.gaussian_to_epsilon,
            conversion.pure_to_gaussian,
            responses._line,
        ):
            cached.cache_clear()
        for cached in (conversion.pure_to_renyi, conversion.zcdp_to_epsilon, responses._root):
            cached.cache_clear()
        responses.responses_epsilon.cache_clear()
        third, tiny = Fraction(1, 3), Fraction(1, 10**9)
        return [
            *normal.mills(Decimal("0.123456789012345678901234567890123456789")),
            *normal.mills(Decimal("3.123456789012345678901234567890123456789")),
            normal.mills_down(Decimal("3.123456789012345678901234567890123456789")),
            normal.mills_up(Decimal("3.123456789012345678901234567890123456789")),
            conversion.gaussian_delta_up(third, Fraction(1, 7)),
            conversion.gaussian_delta_up(third, Fraction(0)),
            conversion.gaussian_to_epsilon(third, tiny),
            conversion.pure_to_gaussian(third),
            conversion.pure_to_gaussian(7 + third),
            conversion.pure_to_renyi(third, 1 + third),
            conversion.zcdp_to_epsilon(third, tiny / 3, tiny),
            conversion.approx_to_epsilon(third, tiny / 3, tiny),
            responses.responses_epsilon(third, 50, tiny),
            theorems.advanced(PureDP(third), 7, tiny),
        ]

    usual = everything()
    with decimal.localcontext(prec=2):
        assert everything() == usual
    with decimal.localcontext(prec=2, traps=[decimal.Inexact, decimal.Rounded]):
        assert everything() == usual


def test_contexts_round_outward() -> None:
    third_up, third_down = UP.divide(Decimal(1), Decimal(3)), DOWN.divide(Decimal(1), Decimal(3))
    assert Fraction(third_down) < Fraction(1, 3) < Fraction(third_up)
    assert Fraction(DOWN.divide(Decimal(-1), Decimal(3))) < Fraction(-1, 3)
