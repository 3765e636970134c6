"""Naive thresholding: honest at length·ε per query, and what the sparse vector saves."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.errors import Exhausted, InvalidParameter, NotPrivate
from tacit.mechanisms.streams.above_threshold import AboveThreshold
from tacit.mechanisms.streams.naive_threshold import NaiveThreshold
from tacit.privacy import PureDP
from tacit.testing import seeded
from tests.statistical.fit import fits_cells


def test_each_answer_is_a_coin_of_the_laplace_law():
    m = NaiveThreshold(epsilon=60_000, threshold=3, sensitivity=1, length=60_000)
    answers = m.start(entropy=seeded(44)).ask_many(np.full(60_000, 2.0))
    seen = [int(answers.sum()), int((~answers).sum())]
    for scale, fine in ((1.0, True), (1.1, False), (0.9, False)):
        p = math.exp(-1 / scale) / 2
        assert fits_cells(seen, [p, 1 - p]) is fine


def test_the_price_of_length():
    naive = NaiveThreshold(epsilon=1, threshold=0, sensitivity=1, length=10_000)
    better = AboveThreshold(epsilon=1, threshold=0, sensitivity=1)
    assert naive.guarantee == better.guarantee == PureDP(1)
    assert better.accuracy(0.05, length=10_000) < naive.accuracy(0.05, length=10_000) / 500


def test_stream_and_words():
    m = NaiveThreshold(epsilon=1, threshold=0, sensitivity=1, length=2)
    stream = m.start()
    assert [stream.ask(1e6), stream.ask(-1e6)] == [True, False]
    with pytest.raises(Exhausted):
        stream.ask(0)
    with pytest.raises(NotPrivate):
        _ = m.start().gap
    with pytest.raises(InvalidParameter):
        NaiveThreshold(epsilon=1, threshold=0, sensitivity=1, length=0)
    assert "less noise" in m.explain()
    assert m == NaiveThreshold(epsilon=1, threshold=0, sensitivity=1, length=2)
