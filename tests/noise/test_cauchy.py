"""Rounded Cauchy noise: the law of the definition, on the fast path and on the exact one."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
import pytest

from tacit.noise.cauchy import _cotangents, _settle, rounded_cauchy
from tacit.testing import seeded
from tests.mechanisms.sources import Constant

SCALES = [Fraction(1, 1000), Fraction(1), Fraction(37, 3), Fraction(2**22)]


def chances(scale: float, low: int, high: int, centre: int) -> np.ndarray:
    """P of each whole number from low to high, the ends with all that lies beyond."""

    def below(x: float) -> float:
        return 0.5 + math.atan((x - centre) / scale) / math.pi

    ends = [0.0, *(below(m + 0.5) for m in range(low, high)), 1.0]
    return np.diff(ends)


def misfit(samples: np.ndarray, expected: np.ndarray, low: int) -> float:
    seen = np.bincount(samples - low, minlength=expected.size)
    wanted = expected * samples.size
    return float(((seen - wanted) ** 2 / wanted).sum())


@pytest.mark.parametrize("factor", [1.0, 0.9, 1.1])
def test_draws_follow_the_law_and_not_one_ten_percent_off(factor: float) -> None:
    samples = rounded_cauchy(3, Fraction(2), -4, 9, 100_000, seeded(4))
    found = misfit(samples, chances(2 * factor, -4, 9, 3), -4)
    assert (found < 62) == (factor == 1.0)  # chi-squared with 13 degrees: above 62 once in 10⁷


@pytest.mark.parametrize("scale", SCALES)
def test_fast_and_exact_paths_agree(scale: Fraction) -> None:
    words = [int(word) for word in np.random.default_rng(3).integers(0, 2**64, 300, dtype=np.uint64)]
    words += [1, 2**63, 2**63 - 1, 2**64 - 2, 2**43, 2**43 - 1, 2**20]
    high = 2**51
    for word in words:
        exact = _settle(5, scale, word, Constant(word))
        drawn = int(rounded_cauchy(5, scale, -high, high, 1, Constant(word))[0])
        assert drawn == min(max(exact, -high), high)


def test_the_error_bound_has_room() -> None:
    words = np.random.default_rng(5).integers(2**43, 2**64 - 2**43, 4000, dtype=np.uint64)
    found = _cotangents(words)
    with flint.ctx.workprec(200):
        for word, value in zip(words.tolist(), found.tolist(), strict=True):
            exact = (flint.arb(flint.fmpq(2 * word + 1, 2**65)) * flint.arb.pi()).cot()
            assert abs(flint.arb(value) - exact) < 2.0**-45 * (1 + abs(value))


def test_a_scale_beyond_all_floats_ends_at_the_ends() -> None:
    drawn = rounded_cauchy(0, Fraction(10) ** 400, -7, 7, 200, seeded(2))
    assert set(drawn.tolist()) == {-7, 7}
