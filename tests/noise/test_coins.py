"""Coins and dice: exact probabilities, whatever the numerator, the exponent or the number of sides."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import numpy.typing as npt
import pytest

from tacit.noise.coins import bernoulli, bernoulli_exp, uniform_below
from tacit.noise.entropy import BitSource
from tacit.testing import seeded
from tests.noise.bits import ONES, Scripted, binary_words
from tests.statistical.fit import fits_cells
from tests.statistical.laws import ball

COUNT = 2_000_000


def coin_fits(coins: npt.NDArray[np.bool_], probability: float) -> bool:
    heads = int(coins.sum())
    return fits_cells([heads, coins.size - heads], [probability, 1 - probability])


# --- rational coins ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "probability", [Fraction(1, 100), Fraction(1, 3), Fraction(1, 2), Fraction(5, 7), Fraction(899, 1000)], ids=str
)
def test_bernoulli_fits(probability: Fraction) -> None:
    coins = bernoulli(probability, COUNT, seeded(1))
    assert coin_fits(coins, float(probability))
    assert not coin_fits(coins, float(probability) * 0.9)
    assert not coin_fits(coins, float(probability) * 1.1)


def test_certain_and_impossible_coins() -> None:
    assert bernoulli(Fraction(1), 100, seeded(1)).all()
    assert not bernoulli(Fraction(0), 100, seeded(1)).any()
    assert bernoulli_exp(Fraction(0), 100, seeded(1)).all()


@pytest.mark.parametrize(
    "probability", [Fraction(1, 3), Fraction(10**30 + 7, 10**31 + 3), Fraction(1, 3 << 100)], ids=str
)
def test_bernoulli_compares_every_bit(probability: Fraction) -> None:
    """A uniform number that agrees with p in 256 bits, and lies just below or just above it."""
    edge = (probability.numerator << 256) // probability.denominator
    assert bernoulli(probability, 1, Scripted(binary_words(edge - 1, 256)))[0]
    assert not bernoulli(probability, 1, Scripted(binary_words(edge + 1, 256)))[0]


def test_bernoulli_of_a_dyadic_draws_nothing_more() -> None:
    source = Scripted([1 << 63, (1 << 63) - 1])
    assert bernoulli(Fraction(1, 2), 2, source).tolist() == [False, True]
    assert source.taken == 2


def test_bernoulli_extends_each_coin_on_its_own() -> None:
    """Several coins agree with 1/3 in their first word; each asks for its own next words."""
    third = (1 << 64) // 3
    first = [third, third - 1, third, third + 1, third]
    source = Scripted([*first, third, 0, ONES, third - 1])
    assert bernoulli(Fraction(1, 3), 5, source).tolist() == [True, True, False, False, True]
    assert source.taken == 9


# --- coins of probability e^-x ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "exponent", [Fraction(1, 50), Fraction(1, 4), Fraction(1), Fraction(8, 3), Fraction(5)], ids=str
)
def test_bernoulli_exp_fits(exponent: Fraction) -> None:
    coins = bernoulli_exp(exponent, COUNT, seeded(2))
    chance = float((-ball(exponent)).exp())
    assert coin_fits(coins, chance)
    assert not coin_fits(coins, float((-ball(exponent * Fraction(9, 10))).exp()))
    assert not coin_fits(coins, float((-ball(exponent * Fraction(11, 10))).exp()))


@pytest.mark.parametrize(
    "exponent",
    [Fraction(1, 10**30), Fraction(1, 3), Fraction(1), Fraction(44), Fraction(45), Fraction(1000, 7), Fraction(5000)],
    ids=str,
)
def test_bernoulli_exp_compares_every_bit(exponent: Fraction) -> None:
    """True exactly below e^(-x), also where that is smaller than any first word."""
    known = 64 * (4 + int(exponent * 3 / 2) // 64)
    with flint.ctx.workprec(known + 200):
        edge = int(((-ball(exponent)).exp() * flint.arb(2) ** known).floor().unique_fmpz())
    assert edge > 1
    assert bernoulli_exp(exponent, 1, Scripted(binary_words(edge - 1, known)))[0]
    assert not bernoulli_exp(exponent, 1, Scripted(binary_words(edge + 1, known)))[0]


@pytest.mark.parametrize("exponent", [10**9, 10**30, 10**400])
def test_bernoulli_exp_of_huge_exponents_ends(exponent: int) -> None:
    assert not bernoulli_exp(Fraction(exponent), 50, seeded(3)).any()
    assert not bernoulli_exp(Fraction(exponent), 1, Scripted([0, 0, 0, 1]))[0]


# --- dice --------------------------------------------------------------------------------------------------------


def rounded_down(bound: int, count: int, entropy: BitSource) -> Any:
    """A planted fault: the usual modulo bias, at full width."""
    return (entropy.words(count) % np.uint64(bound)).view(np.int64)


def cells_of(samples: npt.NDArray[Any], bound: int, cells: int) -> list[int]:
    counts = [0] * cells
    for sample in samples.tolist():
        counts[sample * cells // bound] += 1
    return counts


BOUNDS = [
    1,
    2,
    3,
    10,
    1000,
    (1 << 31) + 1,
    1 << 61,
    (1 << 62) // 3 * 2,
    (1 << 62) - 57,
    1 << 62,
    (1 << 62) + 1,
    (1 << 63) + (1 << 62),
    (1 << 64) + 1,
    3 << 80,
    10**40,
]


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda b: f"{b:.4g}")
def test_uniform_below_fits(bound: int) -> None:
    samples = uniform_below(bound, 30_000, seeded(4))
    assert samples.dtype == (np.int64 if bound <= 1 << 62 else object)
    assert all(0 <= sample < bound for sample in samples.tolist())
    cells = min(bound, 30)
    shares = [(-(-(i + 1) * bound // cells) + (-i * bound // cells)) / bound for i in range(cells)]
    assert fits_cells(cells_of(samples, bound, cells), shares)
    if bound > 2:
        tilted = [share * (1 + (0.1 if i < cells / 2 else -0.1)) for i, share in enumerate(shares)]
        assert not fits_cells(cells_of(samples, bound, cells), [t / sum(tilted) for t in tilted])
    if bound > 1 << 40:  # the low bits, jointly with the high ones
        place = [sample * 4 // bound * 16 + sample % 16 for sample in samples.tolist()]
        assert fits_cells(np.bincount(place, minlength=64), [1 / 64] * 64)


@pytest.mark.parametrize(
    ("draw", "even"), [(uniform_below, True), (rounded_down, False)], ids=["ours", "planted modulo bias"]
)
def test_modulo_bias_would_be_seen(draw: Callable[..., Any], even: bool) -> None:
    """2⁶⁴ is 5⅓ times 3·2⁶⁰: words folded by the remainder favour the first third."""
    bound = 3 << 60
    counts = cells_of(draw(bound, 30_000, seeded(5)), bound, 3)
    assert fits_cells(counts, [1 / 3] * 3) is even


def test_words_that_would_favour_small_values_are_drawn_again() -> None:
    limit = (1 << 64) // 10 * 10
    source = Scripted([limit - 1, limit, ONES, 7 << 60, 15 << 60, 3 << 60])
    assert uniform_below(10, 3, source).tolist() == [9, 7, 3]  # four bits at a time, 15 refused


def test_powers_of_two_never_draw_again() -> None:
    source = Scripted([ONES, ONES - 1, 0])
    assert uniform_below(1 << 20, 3, source).tolist() == [(1 << 20) - 1, (1 << 20) - 2, 0]
    assert source.taken == 3


def test_empty_arrays() -> None:
    for bound in (1, 3, 1 << 62, 1 << 70):
        assert uniform_below(bound, 0, seeded(1)).size == 0
    assert bernoulli(Fraction(1, 3), 0, seeded(1)).size == 0
    assert bernoulli_exp(Fraction(1, 3), 0, seeded(1)).size == 0
