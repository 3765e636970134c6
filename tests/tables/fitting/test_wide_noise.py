"""Intervals of noise of any scale: in units of the scale they are those of a moderate one, and planning holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tacit.tables.fitting.least_squares import _by_moments
from tacit.tables.fitting.tails import laplace_sum_error
from tests.tables.attacks.test_widths import STATEMENTS, people

WEIGHTS = np.array([1.0, 0.5, 0.3])
TIMES = np.array([1.0, 1.0, 2.0])


@pytest.mark.parametrize("scale", [1e12, 1e14, 1e16, 1e17, 1e20, 1e40, 1e100, 1e150])
def test_the_tail_of_wide_noise_is_the_tail_in_its_scale(scale: float) -> None:
    """e^(-1/s) is 1 in doubles from 10¹⁶ on, and 1 - e^(-1/s) was wrong long before: intervals were too narrow."""
    moderate = laplace_sum_error(WEIGHTS, 1e8 * TIMES, 0.05) / 1e8
    assert laplace_sum_error(WEIGHTS, scale * TIMES, 0.05) / scale == pytest.approx(moderate, rel=1e-7)
    rows = np.array([[1.0, 0.5, 0.3], [1.0, 0.0, 0.0]])
    assert _by_moments(rows, scale * TIMES, 0.05) / scale == pytest.approx(_by_moments(rows, 1e8 * TIMES, 0.05) / 1e8)


def test_totals_at_a_fine_granule_and_a_small_price_are_planned(tmp_path: Path) -> None:
    table = people(tmp_path, 2, "epsilon")
    for price in ("0.1", "1e-3", "1e-6", "1e-12"):
        assert "scale" in str(table.query(STATEMENTS["a sum of rows with totals"]).plan(epsilon=price))
