"""NumericSparse: the book's division of the price, numbers on a lattice, streams."""

from __future__ import annotations

import copy
import math
from fractions import Fraction

import numpy as np
import pytest

from tacit.errors import Exhausted, InvalidParameter, NotPrivate
from tacit.mechanisms.streams.numeric_sparse import NumericSparse
from tacit.mechanisms.streams.splits import IMPROVED
from tacit.privacy import ApproxDP, PureDP
from tacit.testing import seeded


def test_pure_division_of_the_book():
    m = NumericSparse(epsilon=1, threshold=0, sensitivity=2, hits=5)
    first, second = 8 / 9, 2 / 9
    assert m.threshold_scale == pytest.approx(2 * 2 * 5 / first)
    assert m.query_scale == pytest.approx(2 * m.threshold_scale)
    assert m.answer_scale == pytest.approx(2 * 2 * 5 / second)
    # what is spent: each run 2Δ/σ₁ = Δ/σ₁ + 2Δ/2σ₁, each number Δ/σ₂
    spent = 5 * (2 * 2 / Fraction(m._scales.threshold * 2)) + 5 * 2 / Fraction(m._answer._scale)
    assert spent == 1


def test_division_with_delta():
    m = NumericSparse(epsilon=1, delta=1e-6, threshold=0, sensitivity=1, hits=1000)
    root = math.sqrt(512)
    wide = math.sqrt(32 * 1000 * math.log(2e6))
    assert m.threshold_scale == pytest.approx(wide * (root + 1) / root)
    assert m.answer_scale == pytest.approx(wide * (root + 1) / 2)
    assert m.guarantee == ApproxDP(1, 1e-6)
    finding = (1000 * PureDP(2 / m._scales.threshold)).epsilon(0.5e-6)
    numbers = (1000 * PureDP(1 / m._answer._scale)).epsilon(0.5e-6)
    assert finding + numbers <= 1
    assert NumericSparse(epsilon=1, delta=1e-6, threshold=0, sensitivity=1, hits=20).guarantee == PureDP(1)


def test_improved_split_finds_with_less_noise():
    book, better = (
        NumericSparse(epsilon=1, threshold=0, sensitivity=1, hits=20, **how) for how in ({}, {"split": IMPROVED})
    )
    assert better.query_scale < 0.8 * book.query_scale
    assert better.answer_scale == book.answer_scale
    assert 1 / better._scales.threshold + 40 / better._scales.query == Fraction(8, 9)


def test_numbers_are_fresh_laplace_noise_on_a_lattice():
    m = NumericSparse(epsilon=9, threshold=0, sensitivity=1, hits=4000)
    out = m.start(entropy=seeded(19)).ask_many(np.full(4000, 1e9))
    noise = out - 1e9
    assert np.mean(np.abs(noise)) == pytest.approx(4000, rel=0.1)
    assert np.median(noise) == pytest.approx(0, abs=500)
    granule = m._answer.granule
    assert all((x / granule).is_integer() for x in out)


@pytest.mark.parametrize("kind", [list, np.array, lambda v: [Fraction(x) for x in v]])
def test_stream(kind):
    m = NumericSparse(epsilon=9, threshold=0, sensitivity=1, hits=2)
    stream = m.start()
    out = stream.ask_many(kind([-9000, 9000, -9000, 9000, 9000]))
    assert np.isnan(out).tolist() == [True, False, True, False]
    assert abs(out[1] - 9000) < 500
    assert (stream.exhausted, stream.hits_left, stream.asked) == (True, 0, 4)
    with pytest.raises(Exhausted):
        stream.ask(1)
    with pytest.raises(NotPrivate):
        copy.copy(stream)
    assert "NumericStream" in repr(stream)


def test_one_at_a_time():
    stream = NumericSparse(epsilon=9, threshold=0, sensitivity=1, hits=1).start()
    assert stream.ask(-9000) is None
    with pytest.raises(InvalidParameter):
        stream.ask(float("nan"))
    assert abs(stream.ask(Fraction(9000)) - 9000) < 500


def test_answer_accuracy():
    m = NumericSparse(epsilon=9, threshold=0, sensitivity=1, hits=3)
    assert m.answer_accuracy(0.05) == pytest.approx(3 * -math.log(1 - 0.95 ** (1 / 3)), rel=1e-4)
