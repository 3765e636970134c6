"""Report noisy max: the law by numerical integration, the promise over all neighbours, and what it buys."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tacit.errors import InvalidParameter, NotPrivate
from tacit.mechanisms.additive.laplace import Laplace
from tacit.mechanisms.selection.noisy_max import EXPONENTIAL, GUMBEL, LAPLACE, NoisyMax
from tacit.testing import seeded
from tests.mechanisms.divergence import laplace_cdf, max_divergence, moved, pieces
from tests.mechanisms.selection.test_permute_and_flip import by_permutations
from tests.statistical.fit import fits_cells


def laplace_law(scores, scale):
    """P[i has the largest score + Laplace noise], by integrating over the noise of i."""

    def chance(i):
        others = [scores[i] - s for j, s in enumerate(scores) if j != i]
        kinks = [0.0, *(-gap for gap in others)]

        def density(x):
            return np.exp(-np.abs(x) / scale) / (2 * scale) * math.prod(laplace_cdf(x + gap, scale) for gap in others)

        return pieces(density, kinks, 40.0 * scale)

    return [chance(i) for i in range(len(scores))]


def softmax(scores, factor):
    masses = [math.exp(factor * (s - max(scores))) for s in scores]
    return [m / sum(masses) for m in masses]


LAWS = {
    LAPLACE: laplace_law,
    EXPONENTIAL: lambda scores, scale: by_permutations(scores, 1 / scale),
    GUMBEL: lambda scores, scale: softmax(scores, 1 / scale),
}


@pytest.mark.parametrize("noise", LAWS, ids=lambda n: n.name)
def test_draws_follow_the_law_and_not_one_ten_percent_off(noise):
    scores = [0, 3, 6]
    bits = seeded(4)
    m = NoisyMax(epsilon=1, sensitivity=1, noise=noise)
    seen = np.bincount([m.index(scores, entropy=bits) for _ in range(15_000)], minlength=3)
    assert m.scale == 2
    assert fits_cells(seen, LAWS[noise](scores, 2))
    assert not fits_cells(seen, LAWS[noise](scores, 2 * 0.9))
    assert not fits_cells(seen, LAWS[noise](scores, 2 * 1.1))


@pytest.mark.parametrize("monotone", [False, True])
def test_promise_with_laplace_noise(monotone):
    scale = NoisyMax(epsilon=1, sensitivity=1, noise=LAPLACE, monotone=monotone).scale
    assert scale == (1 if monotone else 2)
    ways = [(0, 1), (-1, 0)] if monotone else [(-1, 0, 1)]
    laws = {}
    worst = 0.0
    for scores in [(0, 0), (0, 3), (0, 1, 2), (2, 2, 0)]:
        for steps in ways:
            for other in moved(scores, steps):
                for s in (scores, other):
                    if s not in laws:
                        laws[s] = laplace_law(s, scale)
                worst = max(worst, max_divergence(laws[scores], laws[other]))
    assert 0.7 < worst <= 1 + 1e-6


def test_half_the_scale_is_caught():
    """Lap(1/ε) suffices for counts that move one way only."""
    worst = max(max_divergence(laplace_law((0, 4), 1), laplace_law(other, 1)) for other in moved((0, 4), (-1, 1)))
    assert worst > 1.5


def test_accuracy_holds_for_the_exact_laws():
    for noise, scores in itertools.product(LAWS, [(0, 0, 8), (0, 5, 12), (12, 12, 0)]):
        m = NoisyMax(epsilon=1, sensitivity=1, noise=noise)
        for beta in (0.02, 0.2):
            best = max(scores)
            error = m.accuracy(beta, candidates=3, optimal=scores.count(best))
            law = LAWS[noise](scores, m.scale)
            assert sum(p for p, s in zip(law, scores, strict=True) if s < best - error) <= beta


def test_noisy_max_beats_releasing_all_counts():
    """One unit may be in all of 100 counts: releasing them has scale 100/ε each, the largest needs 1/ε."""
    selected = NoisyMax(epsilon=1, sensitivity=1, monotone=True, noise=LAPLACE)
    released = Laplace(epsilon=1, sensitivity=100)
    assert selected.accuracy(0.05, candidates=100) < released.accuracy(0.05, size=100) / 50


def test_prices_and_bad_noise():
    assert NoisyMax(rho=0.125, sensitivity=1, noise=GUMBEL).scale == 2
    assert NoisyMax(rho=0.125, sensitivity=1).noise == GUMBEL
    assert NoisyMax(epsilon=1, sensitivity=1).noise == EXPONENTIAL
    with pytest.raises(InvalidParameter, match="monotone"):
        NoisyMax(epsilon=1, sensitivity=1, monotone="no")
    with pytest.raises(NotPrivate, match="Laplace noise"):
        NoisyMax(rho=0.125, sensitivity=1, noise=LAPLACE)
    with pytest.raises(InvalidParameter, match=r"tacit\.LAPLACE"):
        NoisyMax(epsilon=1, sensitivity=1, noise="laplace")
    with pytest.raises(InvalidParameter, match="optimal"):
        NoisyMax(epsilon=1, sensitivity=1).accuracy(0.05, candidates=3, optimal=4)
    m = NoisyMax.of_scale(3, sensitivity=1, noise=LAPLACE)
    assert m == NoisyMax(promise=m.guarantee, sensitivity=1, noise=LAPLACE)
    assert "noise=LAPLACE" in repr(m)
