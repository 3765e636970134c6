"""The price of fits on samples: all releases of a fit together keep the promise, and hardly less."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tacit import ApproxDP, LossDistribution
from tacit.learn.spending.budget import read_budget
from tacit.learn.spending.spending import Spending
from tacit.testing import seeded


@pytest.mark.parametrize(("rate", "steps"), [("0.1", 40), ("1/3", 10)])
def test_moments_and_steps_on_samples_keep_the_promise_together(rate: str, steps: int) -> None:
    promise = ApproxDP(1, "1e-5")
    spending = Spending(read_budget("Any", promise=promise), seeded(7))
    spending.buy("second moments", Fraction(1, 10), l1=5, l2_squared=25)
    before = Fraction(spending.budget.spent_as.amounts()[0]) / 10
    mechanism = spending.buy_on_samples("gradients", l2_squared=49, times=steps, sampling=Fraction(rate))
    assert spending.left == 0
    multiplier = mechanism.scale / 7
    whole = steps * LossDistribution.gaussian(multiplier).sampled(float(Fraction(rate)))
    whole += LossDistribution.gaussian_dp(float(np.sqrt(float(before))))
    assert 0.98 < whole.epsilon(1e-5) <= 1.0001
    less = steps * LossDistribution.gaussian(0.9 * multiplier).sampled(float(Fraction(rate)))
    assert (less + LossDistribution.gaussian_dp(float(np.sqrt(float(before))))).epsilon(1e-5) > 1.01
    assert spending.purchases[-1].scale == mechanism.scale
