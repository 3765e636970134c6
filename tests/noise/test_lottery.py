"""Lotteries: exact at any weight, whatever the path that decides."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from tacit.noise import lottery
from tacit.noise.lottery import Tickets, draw, draws
from tacit.testing import seeded
from tests.noise.bits import Scripted
from tests.statistical.fit import fits_cells


class Script:
    """Bits that were written down: first these words, then zeros."""

    secret = False

    def __init__(self, *words):
        self.left = list(words)
        self.used = 0

    def word(self):
        self.used += 1
        return self.left.pop(0) if self.left else 0


ONES = (1 << 64) - 1


@pytest.mark.parametrize("words", [112, 113])
def test_a_ticket_of_e_to_the_minus_5000_keeps_its_chance(words):
    """It wins the last 2^-7213.5 of the unit interval: 113 words of ones lie inside, 112 and a zero do not."""
    bits = Script(*[ONES] * words)
    won = draw(Tickets(np.array([0, -5000]), Fraction(1)), bits)
    assert won == (1 if words == 113 else 0)
    assert bits.used >= 113


def test_the_first_of_two_boundaries_is_decided_exactly():
    """Masses 1 and 1: the coin ½ - 2^-64 wins the first, ½ the second, and neighbours of ½ take more bits."""
    even = Tickets(np.array([7, 7]), Fraction(1))
    assert draw(even, Script((1 << 63) - 1)) == 0
    assert draw(even, Script(1 << 63, 1)) == 1


def masses(scores, factor, weights=None):
    weights = weights or [1] * len(scores)
    raw = [w * math.exp(factor * (s - max(scores))) for s, w in zip(scores, weights, strict=True)]
    return [m / sum(raw) for m in raw]


def drawn(tickets, draws, seed):
    bits = seeded(seed)
    return np.bincount([draw(tickets, bits) for _ in range(draws)], minlength=len(tickets.scores))


@pytest.mark.parametrize("exact_path", [False, True])
def test_draws_follow_the_law(exact_path, monkeypatch):
    if exact_path:
        monkeypatch.setattr(lottery, "_SLACK", 1.0)
    scores, weights = [0, 3, 1, 6], [5, 1, 2, 1]
    tickets = Tickets(np.array(scores), Fraction(1, 2), np.array(weights))
    seen = drawn(tickets, 3_000 if exact_path else 15_000, 31)
    assert fits_cells(seen, masses(scores, 0.5, weights))
    if not exact_path:
        assert not fits_cells(seen, masses(scores, 0.55, weights))
        assert not fits_cells(seen, masses(scores, 0.45, weights))


def test_many_blocks_follow_the_law():
    scores = np.arange(5000) % 7
    tickets = Tickets(scores, Fraction(1, 4))
    bits = seeded(32)
    winners = np.array([draw(tickets, bits) for _ in range(6_000)])
    parts = np.bincount(winners // 500, minlength=10)
    law = np.exp(scores / 4).reshape(10, 500).sum(axis=1)
    assert fits_cells(parts, law / law.sum())
    by_score = np.bincount(winners % 7, minlength=7)
    shares = np.array([np.exp(k / 4) * (scores == k).sum() for k in range(7)])
    assert fits_cells(by_score, shares / shares.sum())


def test_both_paths_agree_on_the_same_bits(monkeypatch):
    rng = np.random.default_rng(1)
    for size in (3, 40, 3000):
        tickets = Tickets(rng.integers(0, 50, size), Fraction(1, 3), rng.integers(1, 9, size))
        with monkeypatch.context() as patch:
            fast = [draw(tickets, Script(int(w))) for w in rng.integers(0, ONES, 10, dtype=np.uint64)]
            rng = np.random.default_rng(size)
            words = [int(w) for w in rng.integers(0, ONES, 4, dtype=np.uint64)]
            fast = [draw(tickets, Script(w)) for w in words]
            patch.setattr(lottery, "_SLACK", 1.0)
            assert fast == [draw(tickets, Script(w)) for w in words]


@pytest.mark.parametrize(
    "weights", [[Fraction(1, 10**40), Fraction(10**40)], np.array([1e-200, 1e200]), [Fraction(0), Fraction(1, 3)]]
)
def test_weights_of_any_size(weights):
    tickets = Tickets([Fraction(0), Fraction(0)], Fraction(1), weights)
    assert draw(tickets, seeded(33)) == 1


def test_a_heavy_weight_balances_a_low_score():
    """10⁴⁰ times e^(-40·ln 10) is 1, or nearly: the two are as likely."""
    low = Fraction(-92103403719, 10**9)
    seen = drawn(Tickets([low, Fraction(0)], Fraction(1), [Fraction(10**40), Fraction(1)]), 4_000, 34)
    assert fits_cells(seen, [0.5, 0.5])


def test_the_rest_takes_part():
    """Tickets beyond a window: the mass they may have is all that is needed to decide most draws."""
    near, far = Tickets(np.array([0, 0]), Fraction(1)), Tickets(np.array([-1, 0]), Fraction(1))
    calls = []

    def rest():
        calls.append(1)
        return far

    bits = seeded(35)
    seen = np.bincount([draw(near, bits, beyond=2.0, rest=rest) for _ in range(5_000)], minlength=4)
    assert fits_cells(seen, masses([0, 0, -1, 0], 1))
    assert 0 < len(calls) < 5_000


def test_a_best_score_of_weight_zero_does_not_drown_the_others():
    """Relative to it the others weigh e⁻⁷⁴⁰, where floats have few bits left: they keep their ratio of e."""
    tickets = Tickets(np.array([0, -740, -741]), Fraction(1), np.array([0, 1, 1]))
    seen = drawn(tickets, 1_500, 43)
    assert fits_cells(seen, [0.0, math.e / (math.e + 1), 1 / (math.e + 1)])


@pytest.mark.parametrize("size", [1, 3, 1024, 1500])
@pytest.mark.parametrize("weights", [None, "whole", "wild"])
def test_many_lotteries_are_as_many_single_ones(size, weights):
    """Also where a coin is so close to a mark that floats do not decide."""
    rng = np.random.default_rng(7)
    scores = rng.integers(0, 50, size)
    weigh = {"whole": rng.integers(1, 9, size), "wild": [Fraction(10**40)] + [Fraction(1)] * (size - 1)}
    tickets = Tickets(scores, Fraction(1, 3), None if weights is None else weigh[weights])
    count = 60 if weights != "wild" and size < 1500 else 3
    words = [0, ONES, 1 << 63, *(int(w) for w in rng.integers(0, ONES, count - 3, dtype=np.uint64))]
    single = [draw(tickets, Scripted([word])) for word in words]
    if weights == "wild" or size > 1024:  # looped: each draw takes its own further words
        assert draws(tickets, 1, Scripted(words[2:3])).tolist() == single[2:3]
    else:
        assert draws(tickets, count, Scripted(words)).tolist() == single


def test_a_coin_on_a_mark_of_many_is_decided_exactly():
    even = Tickets(np.array([7, 7]), Fraction(1))
    assert draws(even, 3, Scripted([(1 << 63) - 1, 1 << 63, ONES], filler=1)).tolist() == [0, 1, 1]
