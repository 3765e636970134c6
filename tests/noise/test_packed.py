"""Packed coins: each is the comparison of its own bits with the probability's, to the last open bit."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tacit.noise.packed import packed_coins
from tacit.noise.truths import ExactTruth, OddsTruth, Truth
from tacit.testing import seeded
from tests.statistical.fit import fits_cells

TRUTHS = [
    ExactTruth(Fraction(1, 3)),
    ExactTruth(Fraction(35, 128)),
    ExactTruth(Fraction(1, 10**9)),
    OddsTruth(Fraction(-1), 1),
    OddsTruth(Fraction(1), Fraction(7, 2)),
    OddsTruth(Fraction(0), 1),
]


class Recorded:
    """Keeps what it hands out, and can make every word agree with a probability's digits for a while."""

    secret = False

    def __init__(self, forced: list[int]) -> None:
        self.source, self.given, self.forced = seeded(4), [], list(forced)

    def words(self, count: int) -> Any:
        words = self.source.words(count).copy()
        if self.forced:
            words[:] = np.uint64(0xFFFF_FFFF_FFFF_FFFF) if self.forced.pop(0) else np.uint64(0)
        self.given.append(words)
        return words

    def word(self) -> int:
        raise AssertionError

    def bits(self, count: int) -> int:
        raise AssertionError


@pytest.mark.parametrize("truth", TRUTHS, ids=repr)
@pytest.mark.parametrize("agreeing", [0, 7, 8, 20, 70])
def test_coins_are_exact_whatever_the_bits(truth: Truth, agreeing: int) -> None:
    """The coin says u < p for the number u that its own bits spell; all lanes agree with p for a while first."""
    digits = truth.prefix(200)
    source = Recorded([digits >> (199 - i) & 1 for i in range(agreeing)])
    coins = packed_coins(truth, 1, source)
    for lane in range(64):
        spelled = [int(words[0]) >> lane & 1 for words in source.given]
        u = int("".join(map(str, spelled)), 2)
        known = len(spelled)
        below, above = u < truth.prefix(known), u > truth.prefix(known)
        decided = below if (below or above) else False  # equal only where the digits have ended
        assert below or above or truth.ends(known)
        assert (int(coins[0]) >> lane & 1) == decided


@pytest.mark.parametrize("truth", TRUTHS, ids=repr)
def test_the_rate_is_right_and_not_one_percent_off(truth: Truth) -> None:
    words = packed_coins(truth, 40_000, seeded(5))
    ones, p = int(np.bitwise_count(words).sum()), truth.probability
    total = 64 * words.size
    assert fits_cells([ones, total - ones], [p, 1 - p])
    if p > 0.01:
        for off in (0.99 * p, 1.01 * p):
            assert not fits_cells([ones, total - ones], [off, 1 - off])


def test_lanes_are_independent() -> None:
    words = packed_coins(ExactTruth(Fraction(1, 3)), 20_000, seeded(6))
    pairs = np.bitwise_count(words & (words >> np.uint64(1)) & np.uint64(0x5555_5555_5555_5555)).sum()
    total = 32 * words.size
    assert fits_cells([int(pairs), total - int(pairs)], [1 / 9, 8 / 9])
