"""Geometric, discrete Laplace and rounded Laplace noise: the law at every scale, its tails, its boundaries."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import numpy.typing as npt
import pytest

from tacit.noise import laplace
from tacit.noise.floors import WIDEST
from tacit.noise.laplace import (
    DIRECT_LIMIT,
    DiscreteLaplaceSampler,
    GeometricSampler,
    RoundedLaplaceSampler,
    low_bits,
)
from tacit.testing import seeded
from tests.noise.bits import ONES, Scripted, Tape, binary_words
from tests.statistical.fit import fits, fits_fields
from tests.statistical.laws import DiscreteLaplaceLaw, GeometricLaw, Law, RoundedLaplaceLaw, ball

LESS, MORE = Fraction(9, 10), Fraction(11, 10)

SCALES = [
    Fraction(3, 10),
    Fraction(1, 2),
    Fraction(1),
    Fraction(7, 3),
    Fraction(25, 2),
    Fraction(100),
    Fraction(12_345_678, 1000),
    Fraction(1 << 20),
    Fraction(DIRECT_LIMIT),
    Fraction(DIRECT_LIMIT * 3 + 1, 3),
    Fraction(10**9),
    Fraction(10**12, 7),
    Fraction(10**15),
    Fraction((1 << 58) - 1),
]
BEYOND_INT64 = [Fraction(1 << 58), Fraction(10**25, 3)]
NARROW = [Fraction(1, 10**6), Fraction(1, 1000), Fraction(1, 100)]

name_of = lambda scale: f"{float(scale):.6g}"  # noqa: E731


def only_the_right_scale_fits(samples: npt.NDArray[Any], law: Law) -> bool:
    return fits(samples, law) and not fits(samples, law.stretched(LESS)) and not fits(samples, law.stretched(MORE))


# --- goodness of fit ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", SCALES, ids=name_of)
def test_discrete_laplace_fits(scale: Fraction) -> None:
    samples = DiscreteLaplaceSampler(scale).array(60_000, seeded(1))
    assert samples.dtype == np.int64
    assert only_the_right_scale_fits(samples, DiscreteLaplaceLaw(scale))


@pytest.mark.parametrize("scale", SCALES, ids=name_of)
def test_geometric_fits(scale: Fraction) -> None:
    samples = GeometricSampler(scale).array(60_000, seeded(2))
    assert samples.dtype == np.int64
    assert only_the_right_scale_fits(samples, GeometricLaw(scale))


@pytest.mark.parametrize("scale", BEYOND_INT64, ids=name_of)
def test_scales_beyond_int64_fit(scale: Fraction) -> None:
    samples = DiscreteLaplaceSampler(scale).array(20_000, seeded(3))
    assert samples.dtype == object
    assert only_the_right_scale_fits(samples, DiscreteLaplaceLaw(scale))
    samples = GeometricSampler(scale).array(20_000, seeded(4))
    assert only_the_right_scale_fits(samples, GeometricLaw(scale))


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(20), Fraction(10**12)], ids=name_of)
def test_single_samples_fit(scale: Fraction) -> None:
    source = seeded(5)
    sampler = DiscreteLaplaceSampler(scale)
    samples = np.array([sampler.one(source) for _ in range(20_000)])
    assert only_the_right_scale_fits(samples, DiscreteLaplaceLaw(scale))


@pytest.mark.parametrize("rest", [0.0, 0.1, 0.5, 0.75, 1 - 2.0**-53, 2.0**-1074, -0.25], ids=str)
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(4), Fraction(1 << 21)], ids=name_of)
def test_rounded_laplace_fits(scale: Fraction, rest: float) -> None:
    samples = RoundedLaplaceSampler(scale).array(np.full(60_000, rest), seeded(6))
    law = RoundedLaplaceLaw(scale, Fraction(rest) + Fraction(1, 2))
    assert only_the_right_scale_fits(samples, law)
    if scale <= 4:
        shifted = RoundedLaplaceLaw(scale, law.offset + scale / 10)
        assert not fits(samples, shifted)


def test_rounded_laplace_takes_each_rest_for_its_own_sample() -> None:
    scale = Fraction(3, 2)
    rests = np.tile([0.0, 0.9], 40_000)
    samples = RoundedLaplaceSampler(scale).array(rests, seeded(7))
    assert fits(samples[::2], RoundedLaplaceLaw(scale, Fraction(1, 2)))
    assert fits(samples[1::2], RoundedLaplaceLaw(scale, Fraction(0.9) + Fraction(1, 2)))
    assert not fits(samples[::2], RoundedLaplaceLaw(scale, Fraction(7, 5)))


@pytest.mark.parametrize("scale", [s for s in SCALES if s > DIRECT_LIMIT], ids=name_of)
def test_low_bits_are_uniform_jointly_with_high_ones(scale: Fraction) -> None:
    law, bits = DiscreteLaplaceLaw(scale), low_bits(scale)
    samples = DiscreteLaplaceSampler(scale).array(120_000, seeded(8))
    assert fits_fields(samples, law, [(0, 3)])
    assert fits_fields(samples, law, [(max(bits - 2, 0), 4)])  # across the seam
    assert fits_fields(samples, law, [(0, min(2, bits)), (bits, 3)])


@pytest.mark.parametrize(
    "fault",
    [
        lambda samples, bits: samples >> bits << bits,  # no low part
        lambda samples, bits: (samples >> bits << bits) | ((samples >> bits) & 3),  # an echo of the high part
        lambda samples, bits: np.where(samples < 0, samples & ~1, samples),  # the sign decides the last bit
        lambda samples, bits: samples.astype(np.float32).astype(np.int64),  # what a float keeps
    ],
)
def test_faults_in_the_low_bits_would_be_seen(fault: Callable[[Any, int], Any]) -> None:
    scale = Fraction(10**15)
    law, bits = DiscreteLaplaceLaw(scale), low_bits(scale)
    samples = fault(DiscreteLaplaceSampler(scale).array(120_000, seeded(8)), bits)
    assert fits(samples, law)  # the large cells cannot see it
    assert not (fits_fields(samples, law, [(0, 3)]) and fits_fields(samples, law, [(0, 2), (bits, 3)]))


def test_a_sampler_that_counts_zero_twice_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The split sampler draws a sign for zero too and has to reject one of the two zeros."""
    scale = Fraction(2)
    monkeypatch.setattr(laplace, "DIRECT_LIMIT", 1)  # force the split at a scale where zero is common
    monkeypatch.setattr(laplace, "_LOW_CHANCE", 1 << 64)
    samples = DiscreteLaplaceSampler(scale).array(15_000, seeded(9))
    assert only_the_right_scale_fits(samples, DiscreteLaplaceLaw(scale))
    magnitudes = GeometricSampler(scale).array(15_000, seeded(9))
    twice = magnitudes * np.where(seeded(10).words(15_000) & np.uint64(1), 1, -1)
    assert not fits(twice, DiscreteLaplaceLaw(scale))


@pytest.mark.parametrize("scale", [Fraction(10**12), Fraction(1 << 60)], ids=name_of)
def test_a_negative_zero_is_drawn_again(scale: Fraction) -> None:
    """High part 0, low part 0, sign minus: the second zero. With sign plus it is kept."""
    sampler = DiscreteLaplaceSampler(scale)
    high = math.floor((1 << 63) * (1 - 2.0**-22))  # half a cell from zero
    alone = sampler.one(Scripted([], filler=3 << 62))
    assert alone > 0
    for sign, expected in ((0, 0), (1, alone)):
        assert sampler.one(Scripted([high << 1 | sign, 0, 0], filler=3 << 62)) == expected
        words = [high << 1 | sign, 0] if scale < 1 << 58 else [high << 1 | sign, 0, 0]
        assert sampler.array(1, Scripted(words, filler=3 << 62))[0] == expected


def test_split_needs_its_rejection(monkeypatch: pytest.MonkeyPatch) -> None:
    """With only a few high cells the low part is visibly not uniform; the split is right there too."""
    scale = Fraction(5)
    monkeypatch.setattr(laplace, "DIRECT_LIMIT", 1)
    monkeypatch.setattr(laplace, "_LOW_CHANCE", 1 << 64)  # cells are wide: no low part is accepted unasked
    sampler = GeometricSampler(scale)
    assert sampler._bits == 3
    samples = sampler.array(30_000, seeded(11))
    assert only_the_right_scale_fits(samples, GeometricLaw(scale))
    monkeypatch.setattr(laplace, "_LOW_CHANCE", 1)
    assert not fits(sampler.array(30_000, seeded(11)), GeometricLaw(scale))


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES, ids=name_of)
def test_discrete_laplace_fits_closely(scale: Fraction) -> None:
    """Three million samples see a scale that is 1% off."""
    samples = DiscreteLaplaceSampler(scale).array(3_000_000, seeded(12))
    law = DiscreteLaplaceLaw(scale)
    assert fits(samples, law, cells=48)
    assert not fits(samples, law.stretched(Fraction(99, 100)), cells=48)
    assert not fits(samples, law.stretched(Fraction(101, 100)), cells=48)


# --- boundaries: words that straddle a decision -------------------------------------------------------------------


def uniform_at(log_of_boundary: Callable[[], Any], offset: int) -> list[int]:
    """Words of a uniform number ``offset`` units of its last bit above (or below) e^(log): first 63 bits, then 64."""
    with flint.ctx.workprec(512):
        zeros = int(float(-log_of_boundary()) / math.log(2))
    known = 63 + 64 * ((zeros + 160) // 64)
    with flint.ctx.workprec(known + 256):
        scaled = (log_of_boundary().exp() * flint.arb(2) ** known).floor().unique_fmpz()
    return binary_words(int(scaled) + offset, known, first=63)


def with_sign(words: list[int], sign: int) -> list[int]:
    return [words[0] << 1 | sign, *words[1:]]


def both_ways(sampler: Any, words: list[int]) -> int:
    """The sample that the words give, drawn alone and as an array."""
    alone = sampler.one(Scripted(words))
    (inside,) = sampler.array(1, Scripted(words))
    assert alone == inside
    return int(alone)


BOUNDARIES = [
    (scale, m)
    for scale in [*NARROW[1:], Fraction(1, 10), Fraction(1), Fraction(7, 3), Fraction(1000), Fraction(DIRECT_LIMIT - 1)]
    for m in [1, 2, max(1, round(scale)), round(31 * scale) + 1, round(100 * scale) + 3]
    if m / scale <= 2100
]


@pytest.mark.parametrize(("scale", "m"), BOUNDARIES, ids=lambda x: f"{float(x):.6g}")
def test_discrete_laplace_steps_where_it_should(scale: Fraction, m: int) -> None:
    """|X| ≥ m exactly when U < 2e^(-m/s)/(1+e^(-1/s)), to the last of 160 bits and more; far tails too."""

    def log_boundary(scale: Fraction = scale) -> Any:
        return (2 / (1 + (-ball(1 / scale)).exp())).log() - ball(m / scale)

    sampler = DiscreteLaplaceSampler(scale)
    for sign in (0, 1):
        assert abs(both_ways(sampler, with_sign(uniform_at(log_boundary, -1), sign))) == m
        assert abs(both_ways(sampler, with_sign(uniform_at(log_boundary, 1), sign))) == m - 1
    assert both_ways(sampler, with_sign(uniform_at(log_boundary, -1), 1)) < 0
    # the same words under a scale 10% off give something else: the boundary is sharp
    if (m > 1 or scale < 1) and scale < 10**6:
        assert abs(both_ways(DiscreteLaplaceSampler(scale * LESS), with_sign(uniform_at(log_boundary, -1), 0))) < m
        assert abs(both_ways(DiscreteLaplaceSampler(scale * MORE), with_sign(uniform_at(log_boundary, 1), 0))) >= m


@pytest.mark.parametrize(("scale", "m"), BOUNDARIES, ids=lambda x: f"{float(x):.6g}")
def test_geometric_steps_where_it_should(scale: Fraction, m: int) -> None:
    def log_boundary() -> Any:
        return -ball(m / scale)

    sampler = GeometricSampler(scale)
    assert both_ways(sampler, with_sign(uniform_at(log_boundary, -1), 0)) == m
    assert both_ways(sampler, with_sign(uniform_at(log_boundary, 1), 1)) == m - 1


@pytest.mark.parametrize("rest", [Fraction(0), Fraction(0.3), Fraction(1, 3), Fraction(1, 1 << 1074)], ids=str)
@pytest.mark.parametrize("scale", [Fraction(1, 4), Fraction(3), Fraction(1 << 21)], ids=name_of)
@pytest.mark.parametrize("reach", [0, 1, 35, 120])
def test_rounded_laplace_steps_where_it_should(scale: Fraction, rest: Fraction, reach: int) -> None:
    """floor(sL + rest + ½) ≥ m exactly when L ≥ (m - rest - ½)/s, on both sides of zero."""
    sampler = RoundedLaplaceSampler(scale)

    def drawn(words: list[int]) -> int:
        alone = sampler.one(rest, Scripted(words))
        if Fraction(float(rest)) == rest:
            assert sampler.array(np.array([float(rest)]), Scripted(words))[0] == alone
        return alone

    for m in (round(reach * scale) + 1, -round(reach * scale) - 1):
        level = (m - rest - Fraction(1, 2)) / scale
        positive = int(level > 0)

        def log_boundary(level: Fraction = level) -> Any:
            return -ball(abs(level))

        outside, inside = (m, m - 1) if positive else (m - 1, m)
        assert drawn(with_sign(uniform_at(log_boundary, -1), positive)) == outside
        assert drawn(with_sign(uniform_at(log_boundary, 1), positive)) == inside


def test_without_slack_a_boundary_would_be_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Just below and just above a step the first 63 bits are equal: a fast path that trusts them is wrong once."""
    scale, m = Fraction(1000), 700

    def log_boundary() -> Any:
        return -ball(m / scale)

    below, above = (with_sign(uniform_at(log_boundary, offset), 0) for offset in (-1, 1))
    assert below[0] == above[0]
    assert (both_ways(GeometricSampler(scale), below), both_ways(GeometricSampler(scale), above)) == (m, m - 1)
    monkeypatch.setattr(laplace, "SLACK", -1.0)  # nothing is ever open
    careless = GeometricSampler(scale)
    assert careless.one(Scripted(below)) == careless.one(Scripted(above))


# --- adversarial bits, tails, widening -----------------------------------------------------------------------------


@pytest.mark.parametrize("zeros", [1, 2, 5, 40])
@pytest.mark.parametrize("scale", [Fraction(1, 100), Fraction(1), Fraction(DIRECT_LIMIT)], ids=name_of)
def test_all_zero_words_reach_the_far_tail(scale: Fraction, zeros: int) -> None:
    """A uniform number of z zero words and then a half: |X| = floor(s·(c + (64z - 1 + 1)·ln 2)), never cut off."""
    sampler = DiscreteLaplaceSampler(scale)
    words = [0] * zeros + [1 << 63]
    with flint.ctx.workprec(300):
        c = (2 / (1 + (-ball(1 / scale)).exp())).log()
        low, high = (
            int((ball(scale) * (c + ball(exponent) * flint.arb(2).log())).floor().unique_fmpz())
            for exponent in (64 * zeros - 1, 64 * zeros)
        )
    sample = both_ways(sampler, words)
    assert low <= sample <= high
    if zeros > 1 and scale >= 1:
        assert sample > 30 * scale


def test_all_one_words_are_the_smallest_magnitude() -> None:
    assert both_ways(DiscreteLaplaceSampler(Fraction(5)), [ONES] * 5 + [ONES - 1]) == 0
    assert both_ways(GeometricSampler(Fraction(5)), [ONES] * 5 + [0]) == 0
    sampler = RoundedLaplaceSampler(Fraction(5))
    # L = ±tiny: just above and just below ½, and at exactly ½ - rest = 0 the sign decides
    assert sampler.one(Fraction(0), Scripted([ONES] * 5 + [0])) == 0
    assert sampler.one(Fraction(1, 2), Scripted([ONES] * 5 + [0])) == 1
    assert sampler.one(Fraction(1, 2), Scripted([ONES - 1] + [ONES] * 5 + [0])) == 0


@pytest.mark.parametrize("scale", NARROW, ids=name_of)
def test_narrow_noise_is_zero_unless_the_bits_say_otherwise(scale: Fraction) -> None:
    assert not DiscreteLaplaceSampler(scale).array(20_000, seeded(13)).any()
    assert not GeometricSampler(scale).array(20_000, seeded(13)).any()


def test_noise_narrower_than_any_float() -> None:
    scale = Fraction(1, 10**400)
    assert DiscreteLaplaceSampler(scale).array(5, seeded(1)).tolist() == [0] * 5
    assert GeometricSampler(scale).one(seeded(1)) == 0
    assert RoundedLaplaceSampler(scale).array(np.full(3, 0.75), seeded(1)).tolist() == [1] * 3


def test_a_sample_beyond_int64_widens_its_array_only() -> None:
    """Scale 2⁵⁸ - 1 still fits int64, but 20 scales do not: that sample comes out as a Python integer."""
    scale = Fraction((1 << 58) - 1)
    sampler = DiscreteLaplaceSampler(scale)
    words = seeded(1).words(16).tolist()
    words[3] = 0b10  # a 63-bit word of 1: U ≈ 2⁻⁶², 43 scales out, positive
    samples = sampler.array(8, Tape(Scripted(words)))
    assert samples.dtype == object
    assert all(type(sample) is int for sample in samples)
    assert samples[3] > 42 * scale > WIDEST
    words[3] = ONES >> 1
    plain = sampler.array(8, Tape(Scripted(words)))
    assert plain.dtype == np.int64
    assert [*samples[:3], *samples[4:]] == [*plain[:3].tolist(), *plain[4:].tolist()]
    negative = sampler.array(1, Scripted([0b11, 0]))
    assert negative[0] < -42 * scale


@pytest.mark.parametrize("scale", [Fraction(10**12), Fraction(10**15), Fraction(10**25)], ids=name_of)
def test_split_samples_beyond_thirty_scales(scale: Fraction) -> None:
    """The high part from a tail word, the low part from the next: both are kept."""
    bits = low_bits(scale)
    sampler = GeometricSampler(scale)
    low_word = 0x123456789ABCDEF0
    sample = both_ways(sampler, [1 << 5, 0, low_word, 0])
    assert 38 * scale < sample < 42 * scale
    assert sample % (1 << bits) == low_word >> (64 - bits)


@pytest.mark.parametrize(
    "scale", [Fraction(DIRECT_LIMIT), Fraction(2 * DIRECT_LIMIT) - 1, Fraction(10**15)], ids=name_of
)
def test_sure_low_parts_are_sure(scale: Fraction) -> None:
    """The bound that accepts a low part unasked holds for the largest of them, in words that still show it."""
    sampler = GeometricSampler(scale)
    with flint.ctx.workprec(200):
        least = (-ball(((1 << sampler._bits) - 1) / scale)).exp()
        assert least > 1 - ball(Fraction(laplace._LOW_CHANCE, 1 << 64))
    widest = GeometricSampler(Fraction((1 << 58) - 1))
    assert widest.fits_int64
    assert 1 << widest._bits <= laplace._LOW_CHANCE  # 64 - bits bits of the coin show the top of its range


def test_low_part_is_rejected_with_the_right_probability() -> None:
    """A doubtful low part is kept exactly when its coin lies below e^(-low/scale), to the last of 160 bits."""
    scale = Fraction(10**15)
    sampler = GeometricSampler(scale)
    bits = sampler._bits
    low = (1 << bits) - 1
    known = 64 - bits + 128
    with flint.ctx.workprec(400):
        edge = int(((-ball(low / scale)).exp() * flint.arb(2) ** known).floor().unique_fmpz())
    for offset, kept in ((0, True), (1, False)):
        first, *rest = binary_words(edge + offset - (0 if offset else 1), known, first=64 - bits)
        source = Scripted([1 << 62, low << (64 - bits) | first, *rest, 5 << (64 - bits), 0])
        sample = int(sampler.array(1, source)[0])
        assert (sample % (1 << bits) == low) is kept
    # the same, drawn alone: low bits first, then a coin of its own
    known = 64 + 128
    with flint.ctx.workprec(400):
        edge = int(((-ball(low / scale)).exp() * flint.arb(2) ** known).floor().unique_fmpz())
    for offset, kept in ((-1, True), (1, False)):
        coin = binary_words(edge + offset, known)
        sample = sampler.one(Scripted([1 << 62, low << (64 - bits), *coin, 5 << (64 - bits), 0]))
        assert (sample % (1 << bits) == low) is kept


def test_empty_arrays() -> None:
    assert DiscreteLaplaceSampler(Fraction(3)).array(0, seeded(1)).size == 0
    assert GeometricSampler(Fraction(3)).array(0, seeded(1)).size == 0
    assert RoundedLaplaceSampler(Fraction(3)).array(np.empty(0), seeded(1)).size == 0
    assert DiscreteLaplaceSampler(Fraction(1 << 60)).array(0, seeded(1)).size == 0


@pytest.mark.parametrize("scale", [Fraction(1, 7), *SCALES, *BEYOND_INT64], ids=name_of)
def test_high_part_stays_within_its_limit(scale: Fraction) -> None:
    high = scale / (1 << low_bits(scale))
    assert high <= DIRECT_LIMIT
    assert low_bits(scale) == 0 or high >= DIRECT_LIMIT // 2
