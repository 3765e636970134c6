"""Rényi curves against direct numerical integration of their definitions."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from tacit.errors import InvalidParameter
from tacit.privacy import renyi_curves as curves
from tests.privacy.losses import oracle

ORDERS = [1.01, 1.5, 2, 2.5, 3, 8, 17.25, 64]


def _from_moment(mgf, order: float) -> float:
    return math.log(mgf(np.array([order - 1 + 0j]))[0].real) / (order - 1)


@pytest.mark.parametrize("order", ORDERS)
def test_closed_forms(order):
    for c in (0.05, 0.7, 3.0):
        assert curves.laplace(order, c) == pytest.approx(_from_moment(oracle.laplace(c), order), rel=1e-9)
        assert curves.gaussian(order, c) == pytest.approx(order * c * c / 2, rel=1e-12)
        for k in (2, 5):
            assert curves.randomized_response(order, c, k) == pytest.approx(
                _from_moment(oracle.response(c, k), order), rel=1e-8
            )
        assert curves.pure(order, c) <= min(c, order * c * c / 2) * (1 + 1e-12)
        assert curves.discrete_laplace(order, c, 1) == pytest.approx(curves.randomized_response(order, c), rel=1e-12)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("shift", [1, 2, 5])
def test_discrete_laplace_by_summation(order, shift):
    x = np.arange(-400, 401)
    p, loss = np.exp(-0.3 * np.abs(x)), 0.3 * (np.abs(x - shift) - np.abs(x))
    total = (p * np.exp((order - 1) * loss)).sum() / p.sum()
    assert curves.discrete_laplace(order, 0.3, shift) == pytest.approx(math.log(total) / (order - 1), rel=1e-8)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("eta", [0.1, 1.0, 4.0])
def test_bounded_range_is_the_worst_two_point_pair(order, eta):
    t = np.linspace(1e-9, eta - 1e-9, 20_001)
    p = (math.exp(eta) - np.exp(t)) / math.expm1(eta)
    logs = np.logaddexp(np.log(p) + (order - 1) * t, np.log1p(-p) + (order - 1) * (t - eta))
    worst = float(logs.max()) / (order - 1)
    assert worst * (1 - 1e-9) <= curves.bounded_range(order, eta) <= worst * (1 + 1e-5)
    assert curves.bounded_range(order, eta) <= order * eta**2 / 8 * (1 + 1e-12)


@pytest.mark.parametrize("order", [1.2, 2, 2.5, 6, 6.75])
@pytest.mark.parametrize("q", [0.001, 0.1, 0.7])
def test_sampled_noise_by_integration(order, q):
    for mu in (0.3, 1.0):
        forward = _from_moment(oracle.sampled_gaussian(mu, q, False), order)
        backward = _from_moment(oracle.sampled_gaussian(mu, q, True), order)
        value = curves.sampled_gaussian(order, mu, q)
        assert max(forward, backward) * (1 - 1e-5) <= value
        assert value == pytest.approx(forward, rel=1e-5)
    both = [_from_moment(oracle.sampled_laplace(0.8, q, way), order) for way in (False, True)]
    assert curves.sampled_laplace(order, 0.8, q) == pytest.approx(max(both), rel=1e-5)


def test_fractional_orders_lie_between_whole_ones():
    values = [curves.sampled_gaussian(a, 0.5, 0.1) for a in (2, 2.25, 2.5, 2.75, 3)]
    assert all(a < b for a, b in pairwise(values))


@pytest.mark.parametrize("order", [2, 3, 4.5, 16])
def test_general_bounds_cover_the_tight_ones(order):
    def base(alpha: int) -> float:
        return curves.gaussian(alpha, 0.5)

    assert curves.sampled(order, base, 0.05) >= curves.sampled_gaussian(order, 0.5, 0.05)
    general = curves.sampled_without_replacement(order, base, 50, 1000)
    tight = _from_moment(oracle.fixed_size_gaussian(0.5, 0.05), order)
    assert general >= tight * (1 - 1e-9)


def test_limits():
    assert curves.sampled_gaussian(3, 1, 0) == 0
    assert curves.sampled_gaussian(3, 1, 1) == curves.gaussian(3, 1)
    assert curves.sampled_laplace(3, 1, 1) == curves.laplace(3, 1)
    assert curves.sampled_without_replacement(3, lambda a: curves.gaussian(a, 1), 10, 10) == curves.gaussian(3, 1)
    assert curves.laplace(2, 0) <= 1e-300


@pytest.mark.parametrize("order", [1, 0.5, -2, math.inf, math.nan, "x"])
def test_bad_orders(order):
    with pytest.raises(InvalidParameter, match="order"):
        curves.laplace(order, 1)


def test_other_bad_input():
    with pytest.raises(InvalidParameter, match="rate"):
        curves.sampled_gaussian(2, 1, 1.5)
    with pytest.raises(InvalidParameter, match="chosen"):
        curves.sampled_without_replacement(2, lambda a: 1.0, 11, 10)
