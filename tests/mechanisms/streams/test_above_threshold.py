"""AboveThreshold: the promise by integration over short streams, broken variants, the law, utility, the stream."""

from __future__ import annotations

import copy
import itertools
import math
import os
import pickle
from fractions import Fraction

import numpy as np
import pytest

from tacit.errors import Exhausted, InvalidParameter, NotPrivate
from tacit.mechanisms.streams.above_threshold import AboveThreshold
from tacit.mechanisms.streams.gaussian_threshold import GaussianAboveThreshold
from tacit.mechanisms.streams.naive_threshold import NaiveThreshold
from tacit.mechanisms.streams.numeric_sparse import NumericSparse
from tacit.mechanisms.streams.splits import BOOK, IMPROVED
from tacit.privacy import REPLACE, LInf, PureDP
from tacit.testing import seeded
from tests.mechanisms.divergence import GRID, laplace_cdf, max_divergence, moved, pieces
from tests.statistical.fit import fits_cells


def law(values, threshold_scale, query_scale):
    """P[first hit at 0, 1, ..., none] at threshold 0, by integrating over the noise of the threshold."""

    def chance(hit):
        def density(z):
            start = np.exp(-np.abs(z) / threshold_scale) / (2 * threshold_scale)
            missed = math.prod(laplace_cdf(z - f, query_scale) for f in values[:hit])
            return start * missed * (laplace_cdf(values[hit] - z, query_scale) if hit < len(values) else 1.0)

        return pieces(density, [0.0, *map(float, values)], 45.0 * threshold_scale)

    return [chance(i) for i in range(len(values) + 1)]


def worst_pair(values, steps, threshold_scale, query_scale):
    p = law(values, threshold_scale, query_scale)
    found = 0.0
    for other in moved(values, steps):
        q = law(other, threshold_scale, query_scale)
        found = max(found, max_divergence(p, q), max_divergence(q, p))
    return found


@pytest.mark.parametrize("split", [BOOK, IMPROVED], ids=lambda s: s.name)
@pytest.mark.parametrize("monotone", [False, True])
def test_promise_over_short_streams(split, monotone):
    m = AboveThreshold(epsilon=1, threshold=0, sensitivity=1, split=split, monotone=monotone)
    ways = [(0, 1), (-1, 0)] if monotone else [(-1, 1)]
    for values, steps in itertools.product([(0,), (0, 0), (-1, 1, 0), (2, -3, 0)], ways):
        assert worst_pair(values, steps, m.threshold_scale, m.query_scale) <= 1 + GRID


def long_stream(length, threshold_scale, query_scale, *, monotone=False):
    """The loss of a stream of values just below, all but the last of which one unit raises; the last it lowers."""
    below = [0] * length
    p = law([*below, 4], threshold_scale, query_scale)
    q = law([*(v + 1 for v in below), 4 if monotone else 3], threshold_scale, query_scale)
    return abs(math.log(p[length] / q[length]))


@pytest.mark.parametrize("split", [BOOK, IMPROVED], ids=lambda s: s.name)
def test_cost_does_not_depend_on_the_length(split):
    m = AboveThreshold(epsilon=1, threshold=0, sensitivity=1, split=split)
    losses = [long_stream(n, m.threshold_scale, m.query_scale) for n in (1, 10, 60)]
    assert losses == sorted(losses)
    assert 0.5 < losses[-1] <= 1 + GRID
    assert m.guarantee == PureDP(1)


def test_broken_variants_are_caught():
    """No noise on the threshold; noise on the queries as if they counted once: both leak more as the stream grows."""
    assert long_stream(60, 1e-3, 4.0) > 2
    assert long_stream(60, 2.0, 1.0) > 1.2


def test_none_without_threshold_noise_leaks_with_the_length():
    """Naive thresholding at ε per query, sold at ε in all."""
    p, q = (law([v] * 20, 1e-3, 2.0) for v in (0, 1))
    assert max_divergence(p, q) > 3


@pytest.mark.parametrize("batched", [False, True])
def test_answers_follow_the_law_and_not_one_ten_percent_off(batched):
    values = [0, 2, -1, 3]
    m = AboveThreshold(epsilon=2, threshold=2, sensitivity=1)
    bits = seeded(13)
    seen = np.zeros(5, dtype=int)
    for _ in range(6_000):
        stream = m.start(entropy=bits)
        if batched:
            answers = stream.ask_many(values)
            seen[answers.size - 1 if answers[-1] else 4] += 1
        else:
            seen[next((i for i, v in enumerate(values) if stream.ask(v)), 4)] += 1
    shifted = [v - 2 for v in values]
    assert fits_cells(seen, law(shifted, 1.0, 2.0))
    assert not fits_cells(seen, law(shifted, 1.0, 1.5))
    assert not fits_cells(seen, law(shifted, 1.0, 2.7))


def test_gap_is_the_difference_of_the_two_noisy_numbers():
    """Given a sure hit, gap = value - threshold + query noise - threshold noise: mean and variance."""
    m = AboveThreshold(epsilon=1, threshold=0, sensitivity=1)
    bits = seeded(14)
    gaps = []
    for _ in range(3_000):
        stream = m.start(entropy=bits)
        assert stream.ask(1000)
        gaps.append(stream.gap)
        assert stream.gap == gaps[-1]
    assert np.mean(gaps) == pytest.approx(1000, abs=6 * math.sqrt(40 / 3000))
    assert np.var(gaps) == pytest.approx(2 * (4 + 16), rel=0.25)
    granule = 2.0**-19
    assert all((g / granule).is_integer() for g in gaps)


def test_gap_needs_a_hit():
    stream = AboveThreshold(epsilon=1, threshold=0, sensitivity=1).start()
    stream.ask(-1000)
    with pytest.raises(InvalidParameter, match="after an answer of True"):
        _ = stream.gap


def test_utility_bound_of_the_book_and_ours():
    m = AboveThreshold(epsilon=1, threshold=0, sensitivity=1)
    error = m.accuracy(0.05, length=1000)
    assert error <= 8 * (math.log(1000) + math.log(2 / 0.05))
    values = np.zeros(1000)
    values[-1] = 2 * error + 1
    bits = seeded(15)
    wrong = sum(
        m_first != 999
        for m_first in (
            AboveThreshold(epsilon=1, threshold=error, sensitivity=1).first(values, entropy=bits) for _ in range(100)
        )
    )
    assert wrong <= 25


def test_first_and_none_found():
    m = AboveThreshold(epsilon=1, threshold=100, sensitivity=1)
    assert m.first([0, 0, 5000, 0]) == 2
    assert m.first([-5000, -5000]) is None
    assert m.first([]) is None
    bits = seeded(16)
    picks = {m.first_or_random([-5000, -5000, -5000], entropy=bits) for _ in range(100)}
    assert picks == {0, 1, 2}
    with pytest.raises(InvalidParameter, match="at least one"):
        m.first_or_random([])


def test_stream_halts_and_says_so():
    stream = AboveThreshold(epsilon=1, threshold=0, sensitivity=1).start()
    assert repr(stream) == "<ThresholdStream: 0 asked, 1 hits left>"
    assert stream.ask_many(np.array([-900.0, 900.0, 900.0])).tolist() == [False, True]
    assert (stream.asked, stream.exhausted, stream.hits_left) == (2, True, 0)
    with pytest.raises(Exhausted, match="nothing was drawn"):
        stream.ask(1)
    with pytest.raises(Exhausted):
        stream.ask_many([1, 2])


def test_stream_cannot_be_copied_or_pickled():
    stream = AboveThreshold(epsilon=1, threshold=0, sensitivity=1).start()
    for leak in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(NotPrivate, match="stream cannot be"):
            leak(stream)


def test_stream_does_not_survive_a_fork(monkeypatch):
    stream = AboveThreshold(epsilon=1, threshold=0, sensitivity=1).start()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(NotPrivate, match="fork"):
        stream.ask(1)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "a", None, [1, 2], 1j])
def test_bad_values_are_refused_before_drawing(value):
    class Nothing:
        secret = True

        def __getattr__(self, name):
            raise AssertionError("drew noise")

    stream = AboveThreshold(epsilon=1, threshold=0, sensitivity=1).start(entropy=seeded(1))
    stream._entropy = Nothing()
    with pytest.raises(InvalidParameter, match="value"):
        stream.ask(value)
    with pytest.raises(InvalidParameter, match="value"):
        stream.ask_many([value])
    assert stream.asked == 0


def test_exact_numbers_of_all_kinds():
    stream = AboveThreshold(epsilon=1, threshold=Fraction(1, 3), sensitivity=1).start(entropy=seeded(17))
    low = [-(10**30), Fraction(-(10**40), 3), np.int64(-(2**62)), np.float32(-1e30), -1e308, -(10**400)]
    assert not any(stream.ask(v) for v in low)
    assert not stream.ask_many(np.array([-(2**62)])).any()
    assert not stream.ask_many([Fraction(-(10**5)), -(10**6)]).any()
    assert stream.ask(10**400)


def test_bad_parameters():
    with pytest.raises(InvalidParameter):
        AboveThreshold(epsilon=1, threshold=float("nan"), sensitivity=1)
    with pytest.raises(InvalidParameter):
        AboveThreshold(epsilon=1, threshold=[1, 2], sensitivity=1)
    with pytest.raises(InvalidParameter, match="split"):
        AboveThreshold(epsilon=1, threshold=1, sensitivity=1, split="book")
    with pytest.raises(NotPrivate, match="replace"):
        AboveThreshold(epsilon=1, threshold=1, sensitivity=LInf(1, neighbours=REPLACE), monotone=True)
    with pytest.raises(NotPrivate):
        AboveThreshold(rho=1, threshold=1, sensitivity=1)
    with pytest.raises(InvalidParameter):
        AboveThreshold(epsilon=0, threshold=1, sensitivity=1)


def test_scales_and_words():
    m = AboveThreshold(epsilon=0.5, threshold=10, sensitivity=3)
    assert (m.threshold_scale, m.query_scale, m.scale) == (12, 24, 24)
    assert AboveThreshold(epsilon=0.5, threshold=10, sensitivity=3, monotone=True).query_scale == 12
    assert repr(m) == "AboveThreshold(promise=PureDP(0.5), threshold=10, sensitivity=LInf(3), split=BOOK)"
    assert "sequence of answers by a factor of at most 1.65" in m.explain()


EXTREMES = [
    {"threshold": 10**400},
    {"threshold": -(10**309)},
    {"epsilon": 1e-200, "sensitivity": 1e200},
    {"sensitivity": 1e-320},
    {"sensitivity": Fraction(1, 10**325)},
]


@pytest.mark.parametrize("extreme", EXTREMES, ids=repr)
@pytest.mark.parametrize(
    "make",
    [
        AboveThreshold,
        lambda **how: NumericSparse(hits=2, **how),
        lambda **how: NaiveThreshold(length=5, **how),
        lambda **how: GaussianAboveThreshold(length=5, delta=1e-6, **how),
    ],
    ids=["first", "numeric", "naive", "gaussian"],
)
def test_what_floats_can_hardly_hold_is_refused(make, extreme):
    """Error bounds in floats mean nothing among the subnormal numbers, and overflow is no error message."""
    with pytest.raises(InvalidParameter, match=r"scale|threshold"):
        make(**{"threshold": 0, "sensitivity": 1, "epsilon": 1} | extreme)


@pytest.mark.parametrize("threshold", [1.7e308, -1.7e308, 0.8e308])
def test_values_beyond_the_floats_are_compared_exactly(threshold):
    for value, reached in ((10**400, True), (-(10**400), False), (int(1.75e308), threshold < 1.75e308)):
        for _ in range(5):
            assert AboveThreshold(epsilon=1, threshold=threshold, sensitivity=1).start().ask(value) is reached
