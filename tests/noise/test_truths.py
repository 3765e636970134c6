"""Coins of a fixed probability: exact at the boundary, whichever bits it takes."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from tacit.noise.truths import ExactTruth, OddsTruth
from tacit.testing import seeded
from tests.statistical.fit import fits_cells


class Half:
    """Sixteen chosen bits per coin, then words that are written down."""

    secret = False

    def __init__(self, first, *later):
        self.first = first
        self.later = list(later)

    def words(self, count):
        return np.full(4 * count, self.first, dtype=np.uint16).view(np.uint64)

    def word(self):
        return self.later.pop(0) if self.later else 0


@pytest.mark.parametrize(
    "truth",
    [ExactTruth(Fraction(3, 4)), ExactTruth(Fraction(1, 3)), OddsTruth(Fraction(1), 1), OddsTruth(Fraction(2), 9)],
)
def test_draws_follow_the_law_and_not_one_ten_percent_off(truth):
    seen = int(truth.draw(200_000, seeded(41)).sum())
    odds = truth.probability / (1 - truth.probability)
    for factor, fine in ((1.0, True), (1.1, False), (0.9, False)):
        p = odds * factor / (1 + odds * factor)
        assert fits_cells([seen, 200_000 - seen], [p, 1 - p]) is fine


def test_rational_boundary():
    """⅓ is 0.0101… in binary: 0x5555 and then the same again."""
    third = ExactTruth(Fraction(1, 3))
    pattern = 0x5555555555555555
    assert third.draw(1, Half(0x5554))[0]
    assert not third.draw(1, Half(0x5556))[0]
    assert third.draw(1, Half(0x5555, pattern - 1))[0]
    assert not third.draw(1, Half(0x5555, pattern + 1))[0]
    assert third.draw(1, Half(0x5555, pattern, pattern, 0))[0]
    quarters = ExactTruth(Fraction(3, 4))
    assert not quarters.draw(1, Half(0xC000))[0]
    assert quarters.draw(1, Half(0xBFFF))[0]


def test_irrational_boundary():
    chance = math.e / (math.e + 1)
    first = int(chance * 65536)
    truth = OddsTruth(Fraction(1), 1)
    rest = int((chance * 65536 - first) * 2**64)
    assert truth.draw(1, Half(first, rest - 2**30))[0]
    assert not truth.draw(1, Half(first, rest + 2**30))[0]
    assert truth.probability == pytest.approx(chance, rel=1e-15)


@pytest.mark.parametrize(
    "exponent", ["1/10000000000000000000000000000000000000000000000000000000000000000000000000000000000000000", "5000"]
)
def test_extreme_exponents(exponent):
    truth = OddsTruth(Fraction(exponent), 1)
    assert truth.draw(1000, seeded(42)).size == 1000
    assert truth.prefix(16) == (32768 if "/" in exponent else 65535)
