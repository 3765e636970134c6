"""How often intervals of coefficients hold what they are intervals of, over fresh rows and fresh noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tacit.testing import seeded
from tests.learn.made import kind_of

TRUE = np.array([2.0, -1.0, 0.0])
RUNS = 20


def how_far_off(name: str, beta: float, **price: Any) -> Any:
    """The distance of each coefficient from the middle of its interval, in half widths: within 1 it is held."""
    found = []
    for run in range(RUNS):
        rng = np.random.default_rng(run)  # public: rows made for tests
        rows = rng.uniform(-1, 1, size=(2000, 3))
        numbers = rows @ TRUE + 0.5 * rng.normal(size=2000)
        model = kind_of(name)(bounds=(-1, 1), target_bounds=(-5, 5), **price)
        low, high = model.fit(rows, numbers, entropy=seeded(run)).coef_interval(beta)
        found.append(np.abs(TRUE - (high + low) / 2) / ((high - low) / 2))
    return np.concatenate(found)


@pytest.mark.parametrize("price", [{"epsilon": 3, "delta": 1e-5}, {"rho": 0.02}], ids=str)
def test_intervals_of_coefficients_cover_them(price: Any) -> None:
    """At least as often as is said: they take the spread of the target for that of what is left of it.

    Intervals a tenth as wide do not, which shows that the test can fail.
    """
    off = how_far_off("linear regression", 0.1, **price)
    assert (off <= 1).mean() >= 0.9
    assert (off <= 0.1).mean() < 0.8
