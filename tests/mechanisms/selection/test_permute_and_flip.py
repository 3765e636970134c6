"""Permute-and-flip: the law by permutations, the promise by enumeration, never worse than the exponential mechanism."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tacit.errors import NotPrivate
from tacit.mechanisms.selection.exponential import Exponential
from tacit.mechanisms.selection.permute_and_flip import PermuteAndFlip
from tacit.testing import seeded
from tests.mechanisms.divergence import max_divergence, moved
from tests.statistical.fit import fits_cells


def by_permutations(scores, factor):
    """The mechanism as it was defined: candidates in random order, each flips its coin; the best always wins it."""
    top = max(scores)
    coins = [math.exp(factor * (s - top)) for s in scores]
    chance = [0.0] * len(scores)
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        left = 1 / len(orders)
        for i in order:
            chance[i] += left * coins[i]
            left *= 1 - coins[i]
    return chance


@pytest.mark.parametrize("scores", [[0], [3, 3], [0, 1, 5], [2, 0, 2, -4, 1]])
def test_law_is_the_one_defined_by_permutations(scores):
    m = PermuteAndFlip(epsilon=1.5, sensitivity=1)
    expected = by_permutations(scores, 0.75)
    assert m.probabilities(scores) == pytest.approx(expected, rel=1e-10)


def test_draws_follow_the_law_and_not_one_ten_percent_off():
    scores = [0, 2, 3, 6]
    bits = seeded(2)
    m = PermuteAndFlip(epsilon=1, sensitivity=1)
    seen = np.bincount([m.index(scores, entropy=bits) for _ in range(15_000)], minlength=4)
    assert fits_cells(seen, by_permutations(scores, 0.5))
    assert not fits_cells(seen, by_permutations(scores, 0.55))
    assert not fits_cells(seen, by_permutations(scores, 0.45))


@pytest.mark.parametrize("monotone", [False, True])
def test_promise_by_enumeration(monotone):
    factor = 1.0 if monotone else 0.5
    ways = [(0, 1), (-1, 0)] if monotone else [(-1, 0, 1)]
    worst = 0.0
    for scores in itertools.product(range(4), repeat=3):
        for steps in ways:
            for other in moved(scores, steps):
                worst = max(worst, max_divergence(by_permutations(scores, factor), by_permutations(other, factor)))
    assert worst <= 1 + 1e-12
    assert worst == pytest.approx(1)  # tight: a loser's chance is proportional to its coin


def test_half_the_noise_is_caught():
    worst = max(
        max_divergence(by_permutations(scores, 1.0), by_permutations(other, 1.0))
        for scores in itertools.product(range(3), repeat=2)
        for other in moved(scores, (-1, 0, 1))
    )
    assert worst > 1.5


def test_never_worse_than_the_exponential_mechanism():
    better = PermuteAndFlip(epsilon=1, sensitivity=1)
    other = Exponential(epsilon=1, sensitivity=1)
    for scores in itertools.product(range(0, 7, 2), repeat=3):
        p, q = better.probabilities(scores), other.probabilities(scores)
        for limit in range(7):
            below = [s <= limit for s in scores]
            assert p[below].sum() <= q[below].sum() + 1e-12
    assert better.accuracy(0.05, candidates=100) < other.accuracy(0.05, candidates=100)


def test_utility_bound_holds():
    m = PermuteAndFlip(epsilon=1, sensitivity=1)
    for scores in itertools.product(range(0, 19, 6), repeat=3):
        best = max(scores)
        for beta in (0.01, 0.2):
            error = m.accuracy(beta, candidates=3, optimal=scores.count(best))
            assert sum(p for p, s in zip(m.probabilities(scores), scores, strict=True) if s < best - error) <= beta


def test_large_probabilities_sum_to_one():
    scores = np.random.default_rng(1).integers(0, 30, 3000)
    assert PermuteAndFlip(epsilon=1, sensitivity=1).probabilities(scores).sum() == pytest.approx(1, rel=1e-9)


def test_only_a_pure_price():
    with pytest.raises(NotPrivate, match="Pass epsilon="):
        PermuteAndFlip(rho=1, sensitivity=1)
    assert PermuteAndFlip.of_scale(2, sensitivity=1) == PermuteAndFlip(epsilon=1, sensitivity=1)
    assert repr(PermuteAndFlip(epsilon=1, sensitivity=1, monotone=True)).endswith("monotone=True)")
