"""Quantiles of noise: upper bounds, tight, at every β."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InvalidParameter
from tacit.mechanisms.shared.tails import (
    discrete_gaussian_tail,
    discrete_laplace_tail,
    each_level,
    gaussian_quantile,
    laplace_quantile,
    largest_scale,
    least_step,
    rounded_gaussian_tail,
)
from tests.statistical.laws import ball

BETAS = ["0.99", "0.5", "0.05", "1e-9", "1e-45", "1e-300", "1e-1000"]


def as_ball(number: Decimal) -> Any:
    return ball(Fraction(number))


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("size", [1, 2, 10, 10**6, 10**18])
def test_each_level_keeps_the_joint_chance(beta: str, size: int) -> None:
    if size == 1:
        assert Fraction(each_level(beta, size)) == Fraction(beta)
        return
    with flint.ctx.workprec(8000):
        level = as_ball(each_level(beta, size))
        joint = 1 - (1 - level) ** size
        assert joint <= ball(Fraction(beta))
        assert float(joint / ball(Fraction(beta))) >= (0.999999 if float(beta) > 1e-30 else 0.99)


@pytest.mark.parametrize("beta", BETAS)
def test_quantiles_are_just_above_the_exact_ones(beta: str) -> None:
    with flint.ctx.workprec(8000):
        level = ball(Fraction(beta))
        laplace = (-as_ball(laplace_quantile(each_level(beta, 1)))).exp()
        assert laplace <= level
        assert float(laplace / level) > 1 - 1e-12
        gauss = (as_ball(gaussian_quantile(each_level(beta, 1))) / ball(Fraction(2)).sqrt()).erfc()
        assert gauss <= level
        assert float(gauss / level) > 1 - 1e-6


@pytest.mark.parametrize("scale", ["1e-3", "0.4", "1", "7/3", "1e6", "1e30"])
def test_the_integer_laplace_tail(scale: str) -> None:
    exact_scale = Fraction(scale)
    for above in (0, 1, 5, int(3 * exact_scale), int(300 * exact_scale)):
        with flint.ctx.workprec(4000):
            decay = (-ball(1 / exact_scale)).exp()
            exact = 2 * (-ball((above + 1) / exact_scale)).exp() / (1 + decay)
            found = as_ball(discrete_laplace_tail(exact_scale, above))
            assert exact <= found
            assert found <= exact * ball(1 + Fraction(1, 10**30))


@pytest.mark.parametrize("variance", ["1/10000", "1/9", "1", "30", "3000000"])
def test_the_discrete_gaussian_tail_by_sums(variance: str) -> None:
    exact_variance = Fraction(variance)
    sigma = float(exact_variance) ** 0.5
    if sigma > 100:
        places = [int(sigma * x) for x in (0.3, 1, 3)]
        for above in places:  # against the integral, which is as good to one part in σ²
            with flint.ctx.workprec(200):
                exact = float((ball(Fraction(2 * above + 1, 2)) / ball(2 * exact_variance).sqrt()).erfc())
            assert float(discrete_gaussian_tail(exact_variance, above)) == pytest.approx(exact, rel=1e-6)
        return
    with flint.ctx.workprec(6000):
        terms = [(-ball(Fraction(k * k) / (2 * exact_variance))).exp() for k in range(int(60 * sigma) + 8)]
        total = 2 * sum(terms, ball(0)) - 1
        for above in {0, 1, int(sigma), int(5 * sigma), int(36 * sigma), int(45 * sigma)}:
            exact = 2 * sum(terms[above + 1 :], ball(0)) / total
            found = as_ball(discrete_gaussian_tail(exact_variance, above))
            assert exact <= found
            assert found <= exact * ball(Fraction(11, 10)) or found < ball(Fraction(1, 10**280))


@pytest.mark.parametrize("above", [0, 100, 1500, 2000, 2001, 2500, 9000, 90_000])
def test_the_discrete_gaussian_tail_by_integrals(above: int) -> None:
    """σ slightly above 2000, where integrals take over: an upper bound on both sides of σ, and a tight one."""
    variance = Fraction(4_000_001)
    with flint.ctx.workprec(200):
        steps = range(above + 1, 24_000)
        beyond = 2 * sum(((-ball(Fraction(k * k) / (2 * variance))).exp() for k in steps), ball(0))
        exact = beyond / (2 * flint.arb.pi() * ball(variance)).sqrt()
        found = as_ball(discrete_gaussian_tail(variance, above))
        assert found >= exact * ball(1 - Fraction(1, 10**12)) if above < 20_000 else found < ball(Fraction(1, 10**300))
        if above < 20_000:
            assert float(found / exact) < 1.0001


def test_the_rounded_gaussian_tail() -> None:
    with flint.ctx.workprec(500):
        for sigma in (Fraction(1, 3), Fraction(5), Fraction(10**8)):
            for above in (0, 3, int(4 * sigma)):
                exact = (ball(Fraction(2 * above + 1, 2) / sigma) / ball(Fraction(2)).sqrt()).erfc()
                found = as_ball(rounded_gaussian_tail(sigma**2, above))
                assert exact <= found
                assert float(found / exact) < 1 + 1e-9


@given(st.integers(0, 10**6), st.floats(0, 2e6))
def test_least_step_finds_the_smallest(smallest: int, guess: float) -> None:
    found = least_step(lambda m: Decimal(0) if m >= smallest else Decimal(1), Decimal("0.5"), guess)
    assert found == smallest


def test_largest_scale() -> None:
    assert largest_scale(lambda s: s <= 12.5, 1.0, 1) == pytest.approx(12.5, rel=1e-8)
    assert largest_scale(lambda s: s <= 12.5, 1e6, 1) == pytest.approx(12.5, rel=1e-8)
    with pytest.raises(InvalidParameter, match="some amount of noise"):
        largest_scale(lambda s: False, 1.0, 1)
    with pytest.raises(InvalidParameter, match="however large"):
        largest_scale(lambda s: True, 1.0, 1)
