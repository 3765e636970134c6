"""A minimum and a maximum are drawn from among the rows, also at a high price: beyond them all cells are alike."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tacit.privacy import PureDP
from tacit.tables.choosing.choice import _aim
from tacit.tables.choosing.ranks import RankDraw
from tacit.testing import seeded

FIRST, DAYS, POINTS = 45_000, 180, 73_000


@pytest.mark.parametrize("epsilon", ["0.25", "1", "5", "60", "200"])
def test_few_minima_fall_below_all_rows(epsilon: str) -> None:
    draw = RankDraw.at(PureDP(epsilon), Fraction(1), POINTS)
    cells, counts = np.arange(FIRST, FIRST + DAYS, dtype=np.int64), np.full(DAYS, 6, dtype=np.int64)
    bits = seeded(7)
    aims = {inside: _aim(Fraction(0), int(counts.sum()), inside) for inside in (int(draw.off(Fraction(1, 20))) + 1, 0)}
    below = {
        inside: sum(draw.near(cells, counts, aim, bits) < FIRST for _ in range(200)) for inside, aim in aims.items()
    }
    aimed, at_the_end = (below[inside] for inside in aims)
    assert aimed <= 20  # 5% by the bound; 20 of 200 by chance once in 4000, and the coins are fixed
    assert at_the_end > 150  # which is what aiming at the end itself would give
