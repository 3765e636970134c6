"""Hurdles: the floats of a throw lie within their error bound, and close calls are decided by the exact path."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
import pytest

from tacit.noise.hurdles import GaussianThrows, LaplaceThrows, gap_floor, reaches
from tacit.testing import seeded

LAWS = [LaplaceThrows(Fraction(3)), LaplaceThrows(Fraction(1, 10**9)), GaussianThrows(Fraction(7, 2))]


class Words:
    """Chosen words, in turn."""

    secret = False

    def __init__(self, words):
        self.left = list(words)

    def words(self, count):
        return np.array([self.left.pop(0) for _ in range(count)], dtype=np.uint64)

    def word(self):
        return 1 << 63


@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{type(law).__name__}-{law.scale:.2g}")
def test_floats_are_within_the_bound(law):
    throws = law.many(300, seeded(37))
    for i in range(300):
        throw = throws.throw(i)
        before = flint.ctx.prec
        flint.ctx.prec = 256
        try:
            ball = throw.ball(*(u.ball() for u in throw.uniforms))
            assert abs(float(ball.mid()) - throw.real) <= law.slack
        finally:
            flint.ctx.prec = before


@pytest.mark.parametrize("word", [0, 1, 2, 1 << 20, (1 << 43) + 1, (1 << 64) - 1, (1 << 64) - 2])
@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{type(law).__name__}-{law.scale:.2g}")
def test_extreme_words_are_settled(law, word):
    throw = law.many(1, Words([word, 12345])).throw(0)
    assert math.isfinite(throw.real)
    assert throw.law is law
    assert abs(throw.real) < 200 * law.scale


def test_a_gaussian_whose_radius_starts_with_ones_only_is_a_number():
    """At 191 one-bits the ball of the uniform number still touches 1, and the root of its logarithm has no bound."""

    class Ones(Words):
        extensions = 0

        def word(self):
            self.extensions += 1
            return (1 << 64) - 1 if self.extensions <= 2 else 1 << 62

    throw = GaussianThrows(Fraction(1)).many(1, Ones([(1 << 64) - 1, 12345])).throw(0)
    assert 0 < throw.real < 2.0**-90


def test_a_close_call_is_decided_by_the_last_bits():
    """The same uniform number on both sides: only the lead decides, however small."""
    law = LaplaceThrows(Fraction(3))
    for tiny in (Fraction(1, 10**30), Fraction(-1, 10**30)):
        jump, bar = (law.many(1, Words([1 << 60])).throw(0) for _ in range(2))
        assert jump.real == bar.real
        assert reaches(tiny, jump, bar) is (tiny > 0)


def test_comparisons_agree_with_floats_where_those_are_sure():
    jumps = LaplaceThrows(Fraction(2)).many(200, seeded(38))
    bar = LaplaceThrows(Fraction(1)).one(seeded(39))
    for i in range(200):
        lead = Fraction(i - 100, 37)
        margin = float(lead) + jumps.reals[i] - bar.real
        if abs(margin) > 1e-9:
            assert reaches(lead, jumps.throw(i), bar) == (margin > 0)
            steps = gap_floor(lead, jumps.throw(i), bar, Fraction(1, 1024))
            assert abs(steps / 1024 - margin) <= 0.5 / 1024 + 1e-9


def test_gaussian_moments():
    reals = GaussianThrows(Fraction(9)).many(100_000, seeded(40)).reals
    assert abs(reals.mean()) < 6 * 3 / math.sqrt(100_000)
    assert reals.var() == pytest.approx(9, rel=0.03)
    assert (np.abs(reals) > 6).mean() == pytest.approx(0.0455, rel=0.1)
