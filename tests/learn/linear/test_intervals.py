"""How often intervals of coefficients hold what they are intervals of, over fresh rows and fresh noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tacit.testing import seeded
from tests.learn.made import kind_of

TRUE = np.array([2.0, -1.0, 0.0])
RUNS = 40


def held(name: str, beta: float, narrower: float = 1.0, **price: Any) -> float:
    """The part of coefficients that their intervals hold."""
    inside = []
    for run in range(RUNS):
        rng = np.random.default_rng(run)  # public: rows made for tests
        rows = rng.uniform(-1, 1, size=(4000, 3))
        numbers = rows @ TRUE + 0.5 * rng.normal(size=4000)
        model = kind_of(name)(bounds=(-1, 1), target_bounds=(-5, 5), **price)
        low, high = model.fit(rows, numbers, entropy=seeded(run)).coef_interval(beta)
        half, middle = narrower * (high - low) / 2, (high + low) / 2
        inside.append((np.abs(TRUE - middle) <= half).mean())
    return float(np.mean(inside))


@pytest.mark.parametrize("price", [{"epsilon": 3, "delta": 1e-5}, {"rho": 0.5}], ids=str)
def test_intervals_of_coefficients_cover_them(price: Any) -> None:
    """At least as often as is said; and ones a third as wide do not, which shows that the test can fail."""
    assert held("linear regression", 0.1, **price) >= 0.9
    assert held("linear regression", 0.1, 0.3, **price) < 0.8
