"""The limits hold as often as they say, exactly, and are no wider than they have to be."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tacit.auditing.binomial import lower_limit, upper_limit


def tail(hits: int, trials: int, p: Fraction) -> Fraction:
    """P[Bin(trials, p) ≥ hits] in fractions."""
    return sum(
        (math.comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(hits, trials + 1)), start=Fraction(0)
    )


@pytest.mark.parametrize("failure", [0.3, 0.01, 1e-9])
def test_a_limit_fails_no_more_often_than_stated_and_is_tight(failure: float) -> None:
    trials = 25
    for hits in range(1, trials + 1):
        low = Fraction(lower_limit(hits, trials, failure))
        assert tail(hits, trials, low) <= Fraction(failure)
        assert tail(hits, trials, low + (Fraction(hits, trials) - low) / 1000) > Fraction(failure)
    assert lower_limit(0, trials, failure) == 0.0


def test_the_upper_limit_mirrors_the_lower_one() -> None:
    for hits in range(26):
        assert upper_limit(hits, 25, 0.01) == pytest.approx(1 - lower_limit(25 - hits, 25, 0.01), abs=1e-15)
        assert upper_limit(hits, 25, 0.01) >= 1 - Fraction(lower_limit(25 - hits, 25, 0.01))


@pytest.mark.parametrize(("hits", "trials"), [(5, 6_000_000), (170_000, 600_000), (5_999_999, 6_000_000)])
def test_large_counts_agree_with_the_normal_law(hits: int, trials: int) -> None:
    low, high = lower_limit(hits, trials, 5e-4), upper_limit(hits, trials, 5e-4)
    share = hits / trials
    assert low < share < high
    if trials - hits > 100 < hits:
        error = 3.2905 * math.sqrt(share * (1 - share) / trials)
        assert share - low == pytest.approx(error, rel=0.01)
        assert high - share == pytest.approx(error, rel=0.01)


def test_an_interval_one_tenth_too_narrow_would_be_noticed() -> None:
    low = lower_limit(10, 25, 0.01)
    narrow = Fraction(low) + (Fraction(10, 25) - Fraction(low)) / 10
    assert tail(10, 25, narrow) > Fraction(1, 100)
