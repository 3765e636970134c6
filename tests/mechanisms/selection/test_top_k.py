"""The k best: the law of peeling, the price of k choices, bad input."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from tacit.errors import InvalidParameter, NotPrivate
from tacit.mechanisms.selection.noisy_max import EXPONENTIAL, GUMBEL, LAPLACE
from tacit.mechanisms.selection.top_k import TopK
from tacit.privacy import ApproxDP
from tacit.testing import seeded
from tests.mechanisms.divergence import max_divergence, moved, renyi
from tests.mechanisms.selection.test_permute_and_flip import by_permutations
from tests.statistical.fit import fits_cells


def softmax(scores, factor):
    masses = [math.exp(factor * (s - max(scores))) for s in scores]
    return [m / sum(masses) for m in masses]


def peeled(scores, factor, law):
    """The chance of every ordered pair: one choice, then another among the rest."""
    chances = {}
    first = law(scores, factor)
    for i in range(len(scores)):
        rest = [j for j in range(len(scores)) if j != i]
        second = law([scores[j] for j in rest], factor)
        chances |= {(i, j): first[i] * p for j, p in zip(rest, second, strict=True)}
    return chances


LAWS = {GUMBEL: softmax, EXPONENTIAL: by_permutations}


@pytest.mark.parametrize("noise", LAWS, ids=lambda n: n.name)
def test_draws_follow_the_law_of_peeling(noise):
    scores = [0, 2, 5]
    m = TopK(2, epsilon=2, sensitivity=1, noise=noise)
    bits = seeded(5)
    law = peeled(scores, 0.5, LAWS[noise])
    seen = dict.fromkeys(law, 0)
    for _ in range(12_000):
        seen[tuple(m.indices(scores, entropy=bits))] += 1
    assert fits_cells(list(seen.values()), list(law.values()))
    assert not fits_cells(list(seen.values()), list(peeled(scores, 0.55, LAWS[noise]).values()))
    assert not fits_cells(list(seen.values()), list(peeled(scores, 0.45, LAWS[noise]).values()))


@pytest.mark.parametrize("noise", LAWS, ids=lambda n: n.name)
@pytest.mark.parametrize("monotone", [False, True])
def test_promise_by_enumeration(noise, monotone):
    factor = 1 / TopK(2, epsilon=1, sensitivity=1, noise=noise, monotone=monotone).scale
    ways = [(0, 1), (-1, 0)] if monotone else [(-1, 0, 1)]
    laws = {}
    worst = 0.0
    for scores in itertools.product(range(3), repeat=3):
        for other in itertools.chain(*(moved(scores, steps) for steps in ways)):
            p, q = (laws.setdefault(s, tuple(peeled(s, factor, LAWS[noise]).values())) for s in (scores, other))
            worst = max(worst, max_divergence(p, q))
    assert worst <= 1 + 1e-9


def test_one_shot_price_in_zcdp():
    m = TopK(2, rho=0.25, sensitivity=1)
    assert m.noise is GUMBEL
    assert m.scale == pytest.approx(2)  # each choice has range 1, hence ρ = 1/8
    for other in moved((0, 1, 2), (-1, 0, 1)):
        p, q = (list(peeled(s, 0.5, softmax).values()) for s in ((0, 1, 2), other))
        assert all(renyi(p, q, alpha) <= alpha * 0.25 + 1e-9 for alpha in (1.5, 4, 32))


def test_choosing_k_at_the_price_of_one_is_caught():
    p, q = (list(peeled(s, 0.5, by_permutations).values()) for s in ((0, 0, 5), (1, 1, 4)))
    assert max_divergence(q, p) > 1.5


def test_approximate_price_uses_the_better_of_two():
    few, many = (TopK(k, epsilon=1, delta=1e-6, sensitivity=1) for k in (2, 500))
    assert few.scale == 4
    assert many.scale < TopK(500, epsilon=1, sensitivity=1).scale
    assert many.guarantee == ApproxDP(1, 1e-6)


def test_exact_order_when_scores_are_far_apart():
    scores = [Fraction(i * 1000) for i in range(20)]
    assert TopK(3, epsilon=3, sensitivity=1).indices(scores) == [19, 18, 17]
    assert TopK(3, epsilon=3, sensitivity=1, noise=GUMBEL).select(list("abcdefghijklmnopqrst"), scores) == list("tsr")
    assert sorted(TopK(20, rho=1, sensitivity=1).indices(scores)) == list(range(20))


def test_accuracy_covers_all_choices():
    m = TopK(3, epsilon=3, sensitivity=1)
    scores = np.arange(0, 200, 2)
    error, bits = m.accuracy(0.05, candidates=100), seeded(6)
    bad = 0
    for _ in range(300):
        chosen = sorted(scores[m.indices(scores, entropy=bits)], reverse=True)
        bad += any(best - got > error for best, got in zip((198, 196, 194), chosen, strict=True))
    assert bad <= 45  # 15 expected at most; above 45 with probability below 1e-9


def test_bad_input():
    with pytest.raises(InvalidParameter, match="k = 4 of 3 candidates"):
        TopK(4, epsilon=1, sensitivity=1).indices([1, 2, 3])
    with pytest.raises(InvalidParameter, match="k"):
        TopK(0, epsilon=1, sensitivity=1)
    with pytest.raises(NotPrivate, match="Pass epsilon="):
        TopK(2, rho=1, sensitivity=1, noise=EXPONENTIAL)
    with pytest.raises(InvalidParameter, match="noise"):
        TopK(2, epsilon=1, sensitivity=1, noise=LAPLACE)
    assert repr(TopK(2, epsilon=1, sensitivity=1)) == (
        "TopK(2, promise=PureDP(1), sensitivity=LInf(1), noise=EXPONENTIAL)"
    )
    assert "factor of at most 2.72" in TopK(2, epsilon=1, sensitivity=1).explain()
