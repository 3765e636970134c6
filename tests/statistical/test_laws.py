"""The laws the fits compare with: their formulas agree with plain sums of the definitions."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tests.statistical.laws import (
    DiscreteGaussianLaw,
    DiscreteLaplaceLaw,
    GeometricLaw,
    Law,
    RoundedGaussianLaw,
    RoundedLaplaceLaw,
)

EDGES = list(range(-40, 41))


def brute(weights: list[float]) -> list[float]:
    """Cells at `EDGES` from unnormalised weights of -400 … 400."""
    total = math.fsum(weights)
    shares = [w / total for w in weights]
    inner = [shares[400 + k] for k in EDGES[:-1]]
    return [math.fsum(shares[: 400 - 40]), *inner, math.fsum(shares[400 + 40 :])]


SCALE = Fraction(7, 3)


@pytest.mark.parametrize(
    ("law", "weights"),
    [
        (DiscreteLaplaceLaw(SCALE), [math.exp(-abs(k) / SCALE) for k in range(-400, 401)]),
        (GeometricLaw(SCALE), [math.exp(-k / SCALE) if k >= 0 else 0.0 for k in range(-400, 401)]),
        (DiscreteGaussianLaw(SCALE), [math.exp(-k * k / (2 * SCALE)) for k in range(-400, 401)]),
    ],
)
def test_cells_are_sums_of_the_definition(law: Law, weights: list[float]) -> None:
    assert law.cells(EDGES) == pytest.approx(brute(weights), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("offset", [Fraction(0), Fraction(1, 3), Fraction(5, 4)])
def test_rounded_laws_integrate_the_density(offset: Fraction) -> None:
    def integral(density: object, low: float, high: float) -> float:
        kink, steps = 0.0, 2000
        parts = [(low, kink), (kink, high)] if low < kink < high else [(low, high)]
        total = 0.0
        for a, b in parts:
            h = (b - a) / steps
            total += h * math.fsum(density(a + (i + 0.5) * h) for i in range(steps))  # type: ignore[operator]
        return total

    s = float(SCALE)
    laplace = RoundedLaplaceLaw(SCALE, offset).cells([-3, -2, -1, 0, 1, 2, 3])[1:-1]
    normal = RoundedGaussianLaw(SCALE**2, offset).cells([-3, -2, -1, 0, 1, 2, 3])[1:-1]
    for k, p, q in zip(range(-3, 3), laplace, normal, strict=True):
        low, high = float(k - offset), float(k + 1 - offset)
        assert p == pytest.approx(integral(lambda x: math.exp(-abs(x) / s) / (2 * s), low, high), rel=1e-6)
        assert q == pytest.approx(
            integral(lambda x: math.exp(-x * x / (2 * s * s)) / (s * math.sqrt(2 * math.pi)), low, high), rel=1e-6
        )


def test_wide_discrete_gaussian_is_close_to_its_sum() -> None:
    variance = Fraction(1 << 14)
    edges = [-500, -200, -64, 0, 1, 64, 130, 500]
    assert DiscreteGaussianLaw(variance).cells(edges) == pytest.approx(
        RoundedGaussianLaw(variance).cells(edges), rel=1e-4
    )


@pytest.mark.parametrize("law", [DiscreteLaplaceLaw(SCALE), DiscreteGaussianLaw(SCALE), GeometricLaw(SCALE)])
def test_cells_sum_to_one(law: Law) -> None:
    assert math.fsum(law.cells(law.edges(24))) == pytest.approx(1, abs=1e-14)
