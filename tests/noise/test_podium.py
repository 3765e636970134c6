"""The first k of a race: the law of drawing without replacement, on the fast path and the exact one."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from tacit.noise import race as module
from tacit.noise.podium import podium, podiums
from tacit.noise.race import EXPONENTIAL, GUMBEL, race
from tacit.testing import seeded
from tests.noise.bits import ONES, Scripted, Tape
from tests.statistical.fit import fits_cells


def without_replacement(scores, factor):
    weights = [math.exp(factor * s) for s in scores]
    law = {}
    for i, first in enumerate(weights):
        for j, second in enumerate(weights):
            if i != j:
                law[i, j] = first / sum(weights) * second / (sum(weights) - first)
    return law


@pytest.mark.parametrize("exact_path", [False, True])
def test_gumbel_noise_draws_without_replacement(exact_path, monkeypatch):
    if exact_path:
        monkeypatch.setattr(module, "SCORE_SLACK", 1e3)
    scores = [0, 2, 4]
    bits = seeded(36)
    law = without_replacement(scores, 0.5)
    seen = dict.fromkeys(law, 0)
    for _ in range(1_500 if exact_path else 8_000):
        seen[tuple(podium(np.array(scores), Fraction(1, 2), GUMBEL, 2, bits))] += 1
    assert fits_cells(list(seen.values()), list(law.values()))
    if not exact_path:
        assert not fits_cells(list(seen.values()), list(without_replacement(scores, 0.6).values()))


@pytest.mark.parametrize("noise", [GUMBEL, EXPONENTIAL], ids=lambda n: n.name)
def test_the_winner_is_that_of_the_race(noise):
    scores = np.random.default_rng(2).integers(0, 20, 500)
    for seed in range(40):
        order = podium(scores, Fraction(1, 3), noise, 500, seeded(seed))
        assert order[0] == race(scores, Fraction(1, 3), noise, seeded(seed))
        assert sorted(order) == list(range(500))


def test_fewer_places_are_the_head_of_more():
    scores = [Fraction(i, 7) for i in range(200)]
    for seed in range(20):
        assert (
            podium(scores, Fraction(2), GUMBEL, 5, seeded(seed))
            == podium(scores, Fraction(2), GUMBEL, 50, seeded(seed))[:5]
        )


@pytest.mark.parametrize("places", [1, 2, 4])
@pytest.mark.parametrize("extremes", [0, 4])
def test_many_podiums_are_as_many_single_ones(places, extremes):
    """The same words in the same order, some of them extreme, so that the photo finish is run too."""
    words = np.random.default_rng(6).integers(0, ONES, 400, dtype=np.uint64)
    words[:: 400 // extremes if extremes else 1000] = np.uint64(ONES)
    scores = np.array([0, 3, 1, 3])
    single = Tape(Scripted(words.tolist()))
    one_by_one = [podium(scores, Fraction(1, 2), GUMBEL, places, single) for _ in range(100)]
    assert podiums(scores, Fraction(1, 2), GUMBEL, places, 100, Tape(Scripted(words.tolist()))).tolist() == one_by_one
