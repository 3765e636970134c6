"""The exponential mechanism: exact probabilities, the promise by enumeration, utility, bad input."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from tacit.errors import InvalidParameter, NotPrivate
from tacit.mechanisms.selection.exponential import Exponential
from tacit.mechanisms.selection.top_k import TopK
from tacit.privacy import REPLACE, ZCDP, LInf, PureDP
from tacit.testing import seeded
from tests.mechanisms.divergence import max_divergence, moved, renyi
from tests.mechanisms.sources import nothing_drawn
from tests.statistical.fit import fits_cells


def softmax(scores, factor, base=None):
    top = max(scores)
    masses = [w * math.exp(factor * float(s - top)) for s, w in zip(scores, base or [1] * len(scores), strict=True)]
    return [m / math.fsum(masses) for m in masses]


def counts(mechanism, scores, draws, seed=1):
    bits = seeded(seed)
    return np.bincount([mechanism.index(scores, entropy=bits) for _ in range(draws)], minlength=len(scores))


@pytest.mark.parametrize(
    "scores", [[0, 1, 3], [0.5, -2.25, 1.0], [Fraction(1, 3), Fraction(2), Fraction(-1, 7)], [2**70, 2**70 + 2, 2**70]]
)
def test_probabilities_are_those_of_the_formula(scores):
    m = Exponential(epsilon=2, sensitivity=3)
    exact = [Fraction(s) - min(map(Fraction, scores)) for s in scores]
    assert m.probabilities(scores) == pytest.approx(softmax(exact, 1 / 3), rel=1e-12)


def test_draws_follow_the_law_and_not_one_ten_percent_off():
    scores = [0, 2, 3, 6]
    seen = counts(Exponential(epsilon=1, sensitivity=1), scores, 15_000)
    assert fits_cells(seen, softmax(scores, 0.5))
    assert not fits_cells(seen, softmax(scores, 0.55))
    assert not fits_cells(seen, softmax(scores, 0.45))


def test_base_measure_weighs_the_candidates():
    m = Exponential(epsilon=1, sensitivity=1, base=[1, 2, 0, Fraction(1, 2)])
    expected = softmax([0, 0, 9, 2], 0.5, [1, 2, 0, 0.5])
    seen = counts(m, [0, 0, 9, 2], 5_000)
    assert seen[2] == 0
    assert fits_cells(seen, expected)
    assert m.probabilities([0, 0, 9, 2]) == pytest.approx(expected)
    assert m != Exponential(epsilon=1, sensitivity=1, base=[1, 2, 0, 1])


def test_log_probabilities_do_not_underflow():
    logs = Exponential(epsilon=1, sensitivity=1, monotone=True).log_probabilities([0, -5000])
    assert logs[1] == pytest.approx(-5000)


@pytest.mark.parametrize("monotone", [False, True])
def test_promise_by_enumeration(monotone):
    m = Exponential(epsilon=1, sensitivity=1, monotone=monotone)
    ways = [(0, 1), (-1, 0)] if monotone else [(-1, 0, 1)]
    worst = 0.0
    for scores in itertools.product(range(4), repeat=3):
        p = m.probabilities(scores)
        for steps in ways:
            for other in moved(scores, steps):
                q = m.probabilities(other)
                losses = np.log(p / q)
                worst = max(worst, max_divergence(p, q))
                assert losses.max() - losses.min() <= 1 + 1e-9  # bounded range
    assert worst <= 1 + 1e-9


@pytest.mark.parametrize("monotone", [False, True])
def test_promise_is_tight_with_many_candidates(monotone):
    m = Exponential(epsilon=1, sensitivity=1, monotone=monotone)
    before = [0] * 5000
    after = [0] + [-1] * 4999 if monotone else [1] + [-1] * 4999
    assert max_divergence(m.probabilities(after), m.probabilities(before)) > 0.99


def test_dropping_the_factor_two_where_scores_move_both_ways_is_caught():
    m = Exponential(epsilon=1, sensitivity=1, monotone=True)  # a false statement about these scores
    assert max_divergence(m.probabilities([1] + [-1] * 29), m.probabilities([0] * 30)) > 1.5
    with pytest.raises(NotPrivate, match="replace relation"):
        Exponential(epsilon=1, sensitivity=LInf(1, neighbours=REPLACE), monotone=True)


def test_zcdp_price_by_bounded_range():
    m = Exponential(rho=0.125, sensitivity=1)
    assert m.guarantee == ZCDP(0.125)
    assert m.scale == Exponential(epsilon=1, sensitivity=1).scale
    assert m.loss_range == 1
    for scores in itertools.product(range(3), repeat=3):
        for other in moved(scores, (-1, 0, 1)):
            for alpha in (1.01, 2, 8, 64):
                assert renyi(m.probabilities(scores), m.probabilities(other), alpha) <= alpha / 8 + 1e-9
    irrational = Exponential(rho=0.1, sensitivity=1)
    assert irrational.loss_range**2 <= Fraction(8, 10)


def test_thirty_to_twenty_nine():
    for epsilon in (0.1, 1, 3):
        p = Exponential(epsilon=epsilon, sensitivity=1).probabilities([30, 29])[0]
        assert p == pytest.approx(1 / (1 + math.exp(-epsilon / 2)))


def test_utility_theorem_with_several_best():
    m = Exponential(epsilon=1, sensitivity=1)
    for scores in itertools.product(range(0, 25, 6), repeat=3):
        best = max(scores)
        optimal = scores.count(best)
        for beta in (0.01, 0.2):
            error = m.accuracy(beta, candidates=3, optimal=optimal)
            assert error == pytest.approx(2 * math.log(3 / optimal / beta), abs=1e-9)
            p = m.probabilities(scores)
            assert sum(q for q, s in zip(p, scores, strict=True) if s < best - error) <= beta


def test_points_of_a_line():
    m = Exponential(epsilon=2, sensitivity=1)
    bits = seeded(3)
    edges, scores = [0, 1, 3, 4], [0, 1, 0]
    drawn = np.array([m.point(edges, scores, granule=0.5, entropy=bits) for _ in range(5_000)])
    points = [i / 2 for i in range(9)]  # 0, 0.5 | 1, 1.5, 2, 2.5 | 3, 3.5, 4
    assert set(drawn) <= set(points)
    law = softmax([1 if 1 <= x < 3 else 0 for x in points], 1)
    assert fits_cells(np.bincount((2 * drawn).astype(int), minlength=9), law)
    with pytest.raises(InvalidParameter, match="edges"):
        m.point([0, 2, 1], [1, 2])
    with pytest.raises(InvalidParameter, match="granule"):
        m.point([0.25, 0.75], [1], granule=1)


@pytest.mark.parametrize("bad", [[], [1, float("nan")], [float("inf")], "abc", [[1, 2]], np.ones((2, 2)), [1, None], 3])
def test_bad_scores_are_refused_without_showing_them(bad):
    with pytest.raises(InvalidParameter, match="scores") as caught:
        Exponential(epsilon=1, sensitivity=1).index(bad, entropy=None)
    assert "nan" not in str(caught.value).split("allowed")[0]


def test_bad_candidates_and_prices():
    m = Exponential(epsilon=1, sensitivity=1)
    with pytest.raises(InvalidParameter, match="candidates"):
        m.select(["a"], [1, 2])
    with pytest.raises(InvalidParameter, match="candidates"):
        m.select({"a", "b"}, [1, 2])
    with pytest.raises(InvalidParameter, match="base"):
        Exponential(epsilon=1, sensitivity=1, base=[1, -1])
    with pytest.raises(InvalidParameter, match="base"):
        Exponential(epsilon=1, sensitivity=1, base=[1, 1]).index([1, 2, 3])
    with pytest.raises(NotPrivate, match="epsilon="):
        Exponential(mu=1, sensitivity=1)
    with pytest.raises(InvalidParameter):
        Exponential(epsilon=0, sensitivity=1)


def test_what_every_mechanism_has():
    m = Exponential.of_scale(4, sensitivity=1)
    assert m.guarantee == PureDP(0.5)
    assert m.scale == 4
    assert m == Exponential(epsilon=0.5, sensitivity=1)
    assert hash(m) == hash(Exponential(epsilon=0.5, sensitivity=1))
    assert repr(m) == "Exponential(promise=PureDP(0.5), sensitivity=LInf(1))"
    assert "factor of at most 1.65" in m.explain()


class Labelled:
    """As a pandas Series: ``[i]`` looks up a label, and the order is another."""

    def __init__(self, values, labels):
        self._values, self._labels = values, labels

    def __len__(self):
        return len(self._values)

    def __getitem__(self, label):
        return self._values[self._labels.index(label)]

    def __array__(self, dtype=None, copy=None):
        return np.array(self._values, dtype=dtype)


@pytest.mark.parametrize("labels", [[1, 0], [7, 8]])
def test_candidates_are_taken_by_position_and_never_by_label(labels):
    m = Exponential(epsilon=1, sensitivity=1)
    assert m.select(Labelled(["poor", "good"], labels), [0, 5000]) == "good"
    assert TopK(1, epsilon=1, sensitivity=1).select(Labelled(["poor", "good"], labels), [0, 5000]) == ["good"]


@pytest.mark.parametrize("candidates", [np.array([["a", "b"], ["c", "d"]]), Labelled([["a", "b"], ["c", "d"]], [0, 1])])
def test_candidates_have_one_dimension(candidates):
    with nothing_drawn() as bits, pytest.raises(InvalidParameter, match="candidates"):
        Exponential(epsilon=1, sensitivity=1).select(candidates, [0, 5000], entropy=bits)


def test_a_base_measure_is_the_one_that_was_given():
    base = np.array([1.0, 1.0])
    m = Exponential(epsilon=1, sensitivity=1, base=base)
    before = hash(m)
    base[0] = 0
    assert m.probabilities([0, 0]).tolist() == [0.5, 0.5]
    assert hash(m) == before
