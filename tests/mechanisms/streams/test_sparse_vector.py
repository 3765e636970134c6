"""The sparse vector: the book's scales, what δ buys, the improved split, the law of two hits, length and speed."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from tacit.errors import Exhausted, InvalidParameter, NotPrivate
from tacit.mechanisms.streams.sparse_vector import SparseVector
from tacit.mechanisms.streams.splits import BOOK, IMPROVED, advanced_sigma
from tacit.privacy import ApproxDP, PureDP
from tacit.testing import seeded
from tests.mechanisms.divergence import GRID, laplace_cdf, max_divergence, moved, pieces
from tests.mechanisms.streams.test_above_threshold import law as first_hit
from tests.mechanisms.streams.test_above_threshold import long_stream
from tests.statistical.fit import fits_cells


def patterns(values, threshold_scale, query_scale, *, redrawn):
    """P[answers] for at most two hits at threshold 0; answers stop after the second hit."""
    out = {}
    count = len(values)
    for answers in itertools.product([0, 1], repeat=count):
        if sum(answers) > 2 or (sum(answers) == 2 and answers[-1] == 0):
            continue
        out[answers] = None
    for length in range(2, count):
        for answers in itertools.product([0, 1], repeat=length):
            if sum(answers) == 2 and answers[-1] == 1:
                out[answers] = None

    def together(answers, part):
        def density(z):
            start = np.exp(-np.abs(z) / threshold_scale) / (2 * threshold_scale)
            steps = (laplace_cdf(f - z if a else z - f, query_scale) for a, f in zip(answers, part, strict=True))
            return start * math.prod(steps)

        return pieces(density, [0.0, *map(float, part)], 45.0 * threshold_scale)

    for answers in out:
        if redrawn and 1 in answers:
            cut = answers.index(1) + 1
            out[answers] = together(answers[:cut], values[:cut]) * together(answers[cut:], values[cut : len(answers)])
        else:
            out[answers] = together(answers, values[: len(answers)])
    return out


@pytest.mark.parametrize("split", [BOOK, IMPROVED], ids=lambda s: s.name)
@pytest.mark.parametrize("monotone", [False, True])
def test_promise_over_short_streams(split, monotone):
    m = SparseVector(epsilon=1, threshold=0, sensitivity=1, hits=2, split=split, monotone=monotone)
    ways = [(0, 1)] if monotone else [(-1, 1)]
    redrawn = split is BOOK
    for values in [(0, 0, 0), (2, -2, 1)]:
        p = patterns(values, m.threshold_scale, m.query_scale, redrawn=redrawn)
        assert sum(p.values()) == pytest.approx(1)
        for other in itertools.chain(*(moved(values, steps) for steps in ways)):
            q = patterns(other, m.threshold_scale, m.query_scale, redrawn=redrawn)
            a, b = list(p.values()), [q[k] for k in p]
            assert max(max_divergence(a, b), max_divergence(b, a)) <= 1 + GRID


def test_scales_for_one_hit_sold_for_two_are_caught():
    """With a redrawn threshold the losses of two runs add up."""
    assert 2 * long_stream(40, 2.0, 4.0) > 1.3


@pytest.mark.parametrize("split", [BOOK, IMPROVED], ids=lambda s: s.name)
def test_answers_follow_the_law(split):
    values = (0, 1, -1)
    m = SparseVector(epsilon=6, threshold=0, sensitivity=1, hits=2, split=split)
    law = patterns(values, m.threshold_scale, m.query_scale, redrawn=split is BOOK)
    seen = dict.fromkeys(law, 0)
    bits = seeded(18)
    for _ in range(6_000):
        seen[tuple(int(a) for a in m.start(entropy=bits).ask_many(values))] += 1
    assert fits_cells(list(seen.values()), list(law.values()))
    off = patterns(values, 1.5 * m.threshold_scale, 1.5 * m.query_scale, redrawn=split is BOOK)
    assert not fits_cells(list(seen.values()), [off[k] for k in law])


def test_one_hit_is_above_threshold():
    m = SparseVector(epsilon=1, threshold=0, sensitivity=1, hits=1)
    assert (m.threshold_scale, m.query_scale) == (2, 4)
    one = patterns((0, 1), 2.0, 4.0, redrawn=True)
    assert one[(1, 0)] + one[(1, 1)] == pytest.approx(first_hit((0, 1), 2.0, 4.0)[0])


def test_delta_is_used_only_where_it_helps():
    few = SparseVector(epsilon=1, delta=1e-6, threshold=0, sensitivity=1, hits=100)
    assert few.guarantee == PureDP(1)  # 100 < 8·ln(10⁶) = 110.5: δ would mean more noise, and is not spent
    assert few.threshold_scale == 200
    many = SparseVector(epsilon=1, delta=1e-6, threshold=0, sensitivity=1, hits=1000)
    assert many.guarantee == ApproxDP(1, 1e-6)
    assert many.threshold_scale == pytest.approx(math.sqrt(32 * 1000 * math.log(1e6)))
    assert many.query_scale == pytest.approx(2 * many.threshold_scale)
    large = SparseVector(epsilon=45, delta=1e-6, threshold=0, sensitivity=1, hits=1000)
    assert large.guarantee == PureDP(45)  # 45 > 3.2·ln(10⁶) = 44.2: not proved


@pytest.mark.parametrize(("hits", "delta"), [(120, 1e-6), (1000, 1e-6), (100, 1e-4), (10_000, 1e-9)])
@pytest.mark.parametrize("epsilon", [0.01, 1, 10, 29])
def test_the_books_composition_is_proved_by_ours(hits, delta, epsilon):
    """hits runs of AboveThreshold at 2/σ each, composed by the library's own accountant, cost at most ε."""
    sigma = advanced_sigma(Fraction(str(epsilon)), Fraction(str(delta)), hits)
    if sigma is None:
        pytest.skip("not proved here")
    assert (hits * PureDP(2 / sigma)).epsilon(delta) <= epsilon


def test_improved_split():
    m = SparseVector(epsilon=1, threshold=0, sensitivity=1, hits=10, split=IMPROVED)
    ratio = 20 ** (2 / 3)
    assert m.threshold_scale == pytest.approx(1 + ratio, rel=1e-5)
    assert m.query_scale == pytest.approx(20 * (1 + ratio) / ratio, rel=1e-5)
    assert 1 / Fraction(m._scales.threshold) + 20 / Fraction(m._scales.query) == 1  # ε₁ + ε₂
    book = SparseVector(epsilon=1, threshold=0, sensitivity=1, hits=10)
    assert m.accuracy(0.05, length=1000) < 0.7 * book.accuracy(0.05, length=1000)
    assert SparseVector(epsilon=1, threshold=0, sensitivity=1, hits=10, split=IMPROVED, monotone=True).query_scale < 15


def test_utility_bound_of_the_book():
    m = SparseVector(epsilon=1, threshold=0, sensitivity=1, hits=5)
    assert m.accuracy(0.05, length=1000) <= 8 * 5 * (math.log(1000) + math.log(2 * 5 / 0.05))


def test_batches_and_single_questions_agree():
    """Sure answers, in any mixture of batches: hits are counted once, and the stream ends at the right place."""
    values = np.where(np.arange(50_000) % 1000 == 999, 1e6, -1e6)
    for split in (BOOK, IMPROVED):
        m = SparseVector(epsilon=1, threshold=0, sensitivity=1, hits=30, split=split)
        stream = m.start()
        first = stream.ask_many(values[:10_500])
        assert np.flatnonzero(first).tolist() == list(range(999, 10_500, 1000))
        assert [stream.ask(v) for v in values[10_500:10_502]] == [False, False]
        rest = stream.ask_many(values[10_502:])
        assert rest.size == 30_000 - 10_502
        assert rest.sum() == 20
        assert stream.exhausted
        with pytest.raises(Exhausted):
            stream.ask(0)


@pytest.mark.slow
def test_a_million_queries():
    m = SparseVector(epsilon=1, threshold=0, sensitivity=1, hits=10**6, split=IMPROVED)
    answers = m.start().ask_many(np.zeros(10**6))
    assert abs(answers.mean() - 0.5) < 0.49


@pytest.mark.parametrize("hits", [0, -1, 1.5, True, None])
def test_bad_cut_off(hits):
    with pytest.raises(InvalidParameter, match="hits"):
        SparseVector(epsilon=1, threshold=0, sensitivity=1, hits=hits)


def test_bad_prices():
    with pytest.raises(NotPrivate, match="IMPROVED"):
        SparseVector(epsilon=1, delta=1e-6, threshold=0, sensitivity=1, hits=3, split=IMPROVED)
    with pytest.raises(InvalidParameter, match="epsilon"):
        SparseVector(epsilon=0, delta=1e-6, threshold=0, sensitivity=1, hits=3)
    assert "hits=3" in repr(SparseVector(epsilon=1, threshold=0, sensitivity=1, hits=3))
