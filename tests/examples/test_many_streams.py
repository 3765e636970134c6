"""Streams side by side: the law of one stream, redrawn thresholds, close calls, lengths; and counts side by side."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.examples.many_counts import count_totals
from tacit.examples.many_streams import NOT_ASKED, side_by_side
from tacit.mechanisms.streams.continual_count import ContinualCount
from tacit.mechanisms.streams.factorisations import SQUARE_ROOT
from tacit.mechanisms.streams.gaussian_threshold import GaussianAboveThreshold
from tacit.mechanisms.streams.naive_threshold import NaiveThreshold
from tacit.mechanisms.streams.sparse_vector import SparseVector
from tacit.mechanisms.streams.splits import BOOK, IMPROVED
from tacit.noise import hurdles
from tacit.testing import seeded
from tests.mechanisms.streams.test_sparse_vector import patterns
from tests.statistical.fit import fits_cells


@pytest.mark.parametrize("exact_path", [False, True])
@pytest.mark.parametrize("split", [BOOK, IMPROVED], ids=lambda s: s.name)
def test_answers_follow_the_law_and_not_one_off(split, exact_path, monkeypatch):
    values = (0, 1, -1)
    count = 1_500 if exact_path else 40_000
    if exact_path:
        monkeypatch.setattr(hurdles, "_SLACK", 1e6)
    m = SparseVector(epsilon=6, threshold=0, sensitivity=1, hits=2, split=split)
    law = patterns(values, m.threshold_scale, m.query_scale, redrawn=split is BOOK)
    seen = dict.fromkeys(law, 0)
    bits = seeded(19)
    for row in side_by_side(m.start(entropy=bits), values, count, bits):
        seen[tuple(int(a) for a in row if a != NOT_ASKED)] += 1
    assert fits_cells(list(seen.values()), list(law.values()))
    if not exact_path:
        for factor in (0.9, 1.1):
            off = patterns(values, factor * m.threshold_scale, factor * m.query_scale, redrawn=split is BOOK)
            assert not fits_cells(list(seen.values()), [off[k] for k in law])
        kept = patterns(values, m.threshold_scale, m.query_scale, redrawn=split is not BOOK)
        assert not fits_cells(list(seen.values()), [kept[k] for k in law])


def test_a_stated_length_is_kept():
    m = NaiveThreshold(epsilon=1, threshold=0, sensitivity=1, length=2)
    assert side_by_side(m.start(), [1, 2, 3], 5, seeded(1)).shape == (5, 2)
    g = GaussianAboveThreshold(epsilon=1, delta="0.01", threshold=0, sensitivity=1, length=3)
    rows = side_by_side(g.start(), [0, 0, 0, 0], 500, seeded(2))
    assert rows.shape == (500, 3)
    assert {int((row == 1).sum()) for row in rows} <= {0, 1}


@pytest.mark.parametrize(
    "m",
    [
        ContinualCount(horizon=4, epsilon=1, sensitivity=1),
        ContinualCount(horizon=4, epsilon=1e-13, sensitivity=1),
        ContinualCount(horizon=4, mu=1, sensitivity=1, factorisation=SQUARE_ROOT),
    ],
    ids=["array", "wide", "square-root"],
)
def test_counts_side_by_side_have_the_errors_of_one(m):
    rows = count_totals(m, [3, 0, 5, 1], 600, seeded(4))
    assert rows.shape == (600, 4)
    errors = rows.astype(float) - np.cumsum([3, 0, 5, 1])
    for step in range(4):
        assert np.std(errors[:, step]) == pytest.approx(m.standard_error(step + 1), rel=0.35)
