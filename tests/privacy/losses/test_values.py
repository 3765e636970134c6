"""Values computed apart from any grid: the moment generating function, integrated and inverted along a line."""

from __future__ import annotations

import pytest

from tacit.privacy.loss_distribution import LossDistribution as L

VALUES = [
    (1000 * L.gaussian(0.6).sampled(0.01), 1e-5, 7.433613821),
    (100 * L.gaussian(2).sampled(0.5), 1e-6, 15.71588508),
    (10**6 * L.gaussian(30).sampled(0.5), 1e-6, 217.2722157),
    (10**6 * L.gaussian(1).sampled(0.001), 1e-6, 6.69427267),
    (10**4 * L.gaussian(1).sampled(0.01), 1e-30, 17.63506105),
    (10**4 * L.gaussian(1).sampled(0.01), 1e-12, 10.34668984),
    (10**4 * L.gaussian(0.3).sampled(0.001), 1e-6, 47.20711004),
    (2000 * L.gaussian(1).sampled(0.01).group(2), 1e-6, 6.43259993),
    (93 * L.laplace(1 / 4.303639739212468).sampled(0.024739173192064853), 1e-5, 9.384819942),
    (10**9 * L.pure(1e-6), 1e-6, 0.11592841201),
]


@pytest.mark.parametrize(("plan", "delta", "exact"), VALUES)
def test_never_below_and_close_above(plan: L, delta: float, exact: float) -> None:
    lower, upper = plan.epsilon_bounds(delta)
    assert exact * (1 - 1e-9) <= upper <= exact * (1 + 1e-4)
    assert exact * (1 - 2e-2) <= lower <= exact * (1 + 1e-9)
