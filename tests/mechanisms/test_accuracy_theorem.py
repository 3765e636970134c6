"""The accuracy theorem as an experiment: k-dimensional releases off by more than ln(k/β)·Δ/ε, at most β of them."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.additive.gaussian import Gaussian
from tacit.mechanisms.additive.laplace import Laplace
from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.testing import seeded
from tests.mechanisms.leaks import lower_limit, upper_limit

TRIALS = 20_000
SURE = math.log(1e9)


def limits(m: AdditiveMechanism, size: int, bound: float, *, at_least: bool = False) -> tuple[float, float]:
    """What is proven of the chance that one of ``size`` errors is beyond the bound."""
    errors = np.abs(m.release(np.zeros((TRIALS, size), dtype=np.int64), entropy=seeded(size))).max(axis=1)
    count = np.array([int((errors >= bound if at_least else errors > bound).sum())])
    return float(lower_limit(count, TRIALS, SURE)[0]), float(upper_limit(count, TRIALS, SURE)[0])


@pytest.mark.parametrize("size", [1, 5, 40])
@pytest.mark.parametrize("beta", [0.3, 0.1, 0.02])
def test_the_theorem_holds_and_is_nearly_reached(size: int, beta: float) -> None:
    m = Laplace(epsilon="0.5", sensitivity=3)
    bound = math.log(size / beta) * 3 / 0.5
    low, high = limits(m, size, bound)
    exact = 1 - (1 - beta / size) ** size
    assert low <= exact <= high
    assert exact <= beta * (1 + 1e-12)
    assert exact >= beta * (1 - beta / 2) - 1e-12
    # Planted: a tenth more noise breaks the bound, a tenth less does not nearly reach it.
    louder, quieter = (Laplace.of_scale(6 * factor, sensitivity=3) for factor in (1.2, 0.8))
    assert limits(louder, size, bound)[0] > beta
    assert limits(quieter, size, bound)[1] < exact


@pytest.mark.parametrize("size", [1, 5, 40])
def test_the_stated_accuracy_is_the_exact_quantile(size: int) -> None:
    """Sharper than the theorem: `accuracy` uses 1 - (1-β)^(1/k) where the union bound has β/k."""
    beta = 0.1
    for m in (Laplace(epsilon=1, sensitivity=1), Gaussian(rho="0.5", sensitivity=1)):
        stated = m.accuracy(beta, size=size)
        low, high = limits(m, size, stated)
        assert low <= beta <= high
        assert limits(m, size, 0.9 * stated)[0] > beta
    assert Laplace(epsilon=1, sensitivity=1).accuracy(beta, size=size) <= math.log(size / beta) + 1e-6


@pytest.mark.parametrize("size", [1, 5, 40])
@pytest.mark.parametrize("steps", [1, 3])
def test_whole_numbers_have_a_bound_of_their_own(size: int, steps: int) -> None:
    """Where ln(k/β)/ε is whole, the continuous bound fails on integers; theirs holds, and fails a step below."""
    beta = 0.1
    epsilon = round(math.log(size / beta) / steps, 12)
    m = DiscreteLaplace(epsilon=epsilon, sensitivity=1)
    assert limits(m, size, steps - 1e-6, at_least=True)[0] > beta
    each = 2 * math.exp(-steps * epsilon) / (1 + math.exp(-epsilon))
    low, high = limits(m, size, steps, at_least=True)
    assert low <= 1 - (1 - each) ** size <= high
    stated = m.accuracy(beta, size=size)
    assert limits(m, size, stated)[0] <= beta
    assert limits(m, size, stated - 1)[1] > beta


def test_gaussian_error_grows_slower_with_the_dimension() -> None:
    """The mean of n×d bits: d/(nε) for Laplace, √(d·ln(1/δ))/(nε) for Gauss; they cross below d = 100."""
    rows = 1000
    ratios = []
    for dimension in (1, 10, 100, 1000):
        laplace = Laplace(epsilon=1, sensitivity=dimension / rows)
        gaussian = Gaussian(epsilon=1, delta="1e-6", sensitivity=math.sqrt(dimension) / rows)
        errors = [np.abs(m.release(np.zeros(20_000), entropy=seeded(dimension))).mean() for m in (laplace, gaussian)]
        assert errors[0] == pytest.approx(dimension / rows, rel=0.06)
        ratios.append(errors[0] / errors[1])
    assert ratios[0] < 0.5
    assert ratios[-1] > 5
    assert all(b / a == pytest.approx(math.sqrt(10), rel=0.1) for a, b in pairwise(ratios))
