"""Discrete and rounded Gaussian noise: the law at every width, its tails, its boundaries."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import numpy.typing as npt
import pytest

from tacit.errors import NotPrivate
from tacit.noise import gaussian
from tacit.noise.exact import LazyUniform
from tacit.noise.floors import WIDEST
from tacit.noise.gaussian import DiscreteGaussianSampler, RoundedGaussianSampler
from tacit.noise.laplace import DIRECT_LIMIT, DiscreteLaplaceSampler
from tacit.testing import seeded
from tests.noise.bits import ONES, Scripted, Tape, binary_words
from tests.statistical.fit import fits, fits_cells, fits_fields, histogram
from tests.statistical.laws import DiscreteGaussianLaw, Law, RoundedGaussianLaw, ball

LESS, MORE = Fraction(9, 10), Fraction(11, 10)
HALF = Fraction(1, 2)

VARIANCES = [
    Fraction(1, 5),
    Fraction(1, 2),
    Fraction(1),
    Fraction(7, 3),
    Fraction(50),
    Fraction(10**4),
    Fraction(10**9, 7),
    Fraction(DIRECT_LIMIT**2 - 1),
    Fraction(DIRECT_LIMIT**2),
    Fraction(10**18),
    Fraction(10**24, 11),
    Fraction(10**30),
    Fraction(1 << 113),
]
BEYOND_INT64 = [Fraction(1 << 116), Fraction(10**50)]
NARROW = [Fraction(1, 10**12), Fraction(1, 10**6), Fraction(1, 1000)]

name_of = lambda variance: f"{float(variance):.6g}"  # noqa: E731


def only_the_right_width_fits(samples: npt.NDArray[Any], law: Law, *, cells: int = 24) -> bool:
    less, more = law.stretched(LESS), law.stretched(MORE)
    return fits(samples, law, cells=cells) and not (
        fits(samples, less, cells=cells) or fits(samples, more, cells=cells)
    )


# --- goodness of fit ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variance", VARIANCES, ids=name_of)
def test_discrete_gaussian_fits(variance: Fraction) -> None:
    samples = DiscreteGaussianSampler(variance).array(50_000, seeded(1))
    assert samples.dtype == np.int64
    assert samples.size == 50_000
    assert only_the_right_width_fits(samples, DiscreteGaussianLaw(variance))


@pytest.mark.parametrize("variance", VARIANCES, ids=name_of)
def test_rounded_gaussian_integers_fit(variance: Fraction) -> None:
    samples = RoundedGaussianSampler(variance).integers(50_001, seeded(2))
    assert samples.dtype == np.int64
    assert only_the_right_width_fits(samples, RoundedGaussianLaw(variance))


@pytest.mark.parametrize("variance", BEYOND_INT64, ids=name_of)
def test_widths_beyond_int64_fit(variance: Fraction) -> None:
    samples = DiscreteGaussianSampler(variance).array(10_000, seeded(3))
    assert samples.dtype == object
    assert only_the_right_width_fits(samples, DiscreteGaussianLaw(variance))
    samples = RoundedGaussianSampler(variance).integers(10_000, seeded(4))
    assert samples.dtype == object
    assert only_the_right_width_fits(samples, RoundedGaussianLaw(variance))


@pytest.mark.parametrize("variance", [HALF, Fraction(400), Fraction(10**30)], ids=name_of)
def test_single_samples_fit(variance: Fraction) -> None:
    source = seeded(5)
    discrete, rounded = DiscreteGaussianSampler(variance), RoundedGaussianSampler(variance)
    samples = np.array([discrete.one(source) for _ in range(10_000)])
    assert only_the_right_width_fits(samples, DiscreteGaussianLaw(variance))
    samples = np.array([rounded.one_integer(source) for _ in range(10_000)])
    assert only_the_right_width_fits(samples, RoundedGaussianLaw(variance))


@pytest.mark.parametrize("rest", [0.0, 0.1, 0.5, 0.75, 1 - 2.0**-53, 2.0**-1074, -0.25], ids=str)
@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(16), Fraction(10**12)], ids=name_of)
def test_rounded_gaussian_fits_at_every_rest(variance: Fraction, rest: float) -> None:
    samples = RoundedGaussianSampler(variance).array(np.full(50_000, rest), seeded(6))
    law = RoundedGaussianLaw(variance, Fraction(rest) + HALF)
    assert only_the_right_width_fits(samples, law)
    if variance <= 16:
        assert not fits(samples, RoundedGaussianLaw(variance, law.offset + Fraction(math.sqrt(variance)) / 10))


def test_rounded_gaussian_takes_each_rest_for_its_own_sample() -> None:
    variance = Fraction(2)
    rests = np.tile([0.0, 0.9], 40_000)
    samples = RoundedGaussianSampler(variance).array(rests, seeded(7))
    assert fits(samples[::2], RoundedGaussianLaw(variance))
    assert fits(samples[1::2], RoundedGaussianLaw(variance, Fraction(0.9) + HALF))
    assert not fits(samples[::2], RoundedGaussianLaw(variance, Fraction(7, 5)))


def test_rounded_and_discrete_are_told_apart() -> None:
    """Two laws that are easily confused; their difference is what the (ε, δ) formulas turn on."""
    variance = Fraction(1, 3)
    discrete = DiscreteGaussianSampler(variance).array(50_000, seeded(8))
    rounded = RoundedGaussianSampler(variance).integers(50_000, seeded(8))
    assert not fits(discrete, RoundedGaussianLaw(variance))
    assert not fits(rounded, DiscreteGaussianLaw(variance))


def independent(left: npt.NDArray[Any], right: npt.NDArray[Any], law: Law) -> bool:
    """Whether two samples of the law are jointly independent, by an 8 × 8 table of its quantile cells."""
    edges = law.edges(8)
    shares = law.cells(edges)
    place = np.searchsorted(edges, left, side="right") * len(shares) + np.searchsorted(edges, right, side="right")
    return fits_cells(np.bincount(place, minlength=len(shares) ** 2), [p * q for p in shares for q in shares])


@pytest.mark.parametrize("variance", [Fraction(3), Fraction(10**10)], ids=name_of)
def test_the_two_of_a_pair_are_independent(variance: Fraction) -> None:
    samples = RoundedGaussianSampler(variance).integers(16_384, seeded(9))
    law = RoundedGaussianLaw(variance)
    cosines, sines = samples[:8192], samples[8192:]
    assert independent(cosines, sines, law)
    assert independent(np.roll(cosines, 1), cosines, law)
    # planted: a sine of the same sign as its cosine; a pair that shares its angle
    assert not independent(cosines, np.abs(sines) * np.sign(cosines), law)
    assert not independent(cosines, np.where(sines % 5 == 0, cosines, sines), law)


@pytest.mark.parametrize("variance", [v for v in VARIANCES if v > DIRECT_LIMIT**2], ids=name_of)
def test_low_bits_are_uniform_jointly_with_high_ones(variance: Fraction) -> None:
    rounded = RoundedGaussianSampler(variance)
    bits = rounded._bits
    for samples, law in [
        (rounded.integers(120_000, seeded(10)), RoundedGaussianLaw(variance)),
        (DiscreteGaussianSampler(variance).array(120_000, seeded(10)), DiscreteGaussianLaw(variance)),
    ]:
        assert fits_fields(samples, law, [(0, 3)])
        assert fits_fields(samples, law, [(max(bits - 2, 0), 4)])  # across the seam
        assert fits_fields(samples, law, [(0, 2), (bits, 3)])


@pytest.mark.parametrize(
    "fault",
    [
        lambda samples, bits: samples >> bits << bits,
        lambda samples, bits: (samples >> bits << bits) | ((samples >> bits) & 3),
        lambda samples, bits: np.where(samples < 0, samples & ~1, samples),
        lambda samples, bits: samples.astype(np.float32).astype(np.int64),
    ],
)
def test_faults_in_the_low_bits_would_be_seen(fault: Callable[[Any, int], Any]) -> None:
    variance = Fraction(10**30)
    sampler, law = RoundedGaussianSampler(variance), RoundedGaussianLaw(variance)
    samples = fault(sampler.integers(120_000, seeded(10)), sampler._bits)
    assert fits(samples, law)
    assert not (fits_fields(samples, law, [(0, 3)]) and fits_fields(samples, law, [(0, 2), (sampler._bits, 3)]))


def test_rejection_needs_its_coin() -> None:
    """The proposals alone are Laplace: what a missing coin would leave."""
    sampler = DiscreteGaussianSampler(Fraction(50))
    proposals = sampler._proposal.array(50_000, seeded(11))
    assert not fits(proposals, DiscreteGaussianLaw(Fraction(50)))


def test_any_proposal_gives_the_same_law() -> None:
    """The acceptance probability makes up for whatever proposal scale is used."""
    variance = Fraction(9)
    sampler = DiscreteGaussianSampler(variance)
    for scale in (Fraction(2), Fraction(7)):
        sampler._proposal = DiscreteLaplaceSampler(scale)
        sampler._centre = 3 / (float(scale) * math.sqrt(2))
        assert only_the_right_width_fits(sampler.array(40_000, seeded(12)), DiscreteGaussianLaw(variance))


def test_cell_split_needs_its_rejection(monkeypatch: pytest.MonkeyPatch) -> None:
    """With cells wider than σ the position inside them is far from uniform; the split is right there too."""
    variance = Fraction(30)
    monkeypatch.setattr(gaussian, "DIRECT_LIMIT", 2)
    monkeypatch.setattr(gaussian, "_SURE_COIN", 0)
    monkeypatch.setattr(gaussian, "_CENTRAL_CELLS", -1)
    sampler, law = RoundedGaussianSampler(variance), RoundedGaussianLaw(variance)
    assert 1 << sampler._bits == 8
    assert only_the_right_width_fits(sampler.integers(15_000, seeded(13)), law)
    source = seeded(14)
    assert only_the_right_width_fits(np.array([sampler.one_integer(source) for _ in range(12_000)]), law, cells=12)
    monkeypatch.setattr(gaussian, "_SURE_COIN", ONES)
    assert not fits(sampler.integers(15_000, seeded(13)), law)


@pytest.mark.slow
@pytest.mark.parametrize("variance", VARIANCES, ids=name_of)
def test_gaussians_fit_closely(variance: Fraction) -> None:
    """Two million samples see a σ that is 1% off."""
    for samples, law in [
        (RoundedGaussianSampler(variance).integers(2_000_000, seeded(15)), RoundedGaussianLaw(variance)),
        (DiscreteGaussianSampler(variance).array(2_000_000, seeded(15)), DiscreteGaussianLaw(variance)),
    ]:
        assert fits(samples, law, cells=48)
        assert not fits(samples, law.stretched(Fraction(99, 100)), cells=48)
        assert not fits(samples, law.stretched(Fraction(101, 100)), cells=48)


# --- boundaries: words that straddle a decision -------------------------------------------------------------------

TURN = Fraction(1, 10)
"""Where on the circle the boundary tests look; any place with cosine and sine above zero."""

MARGIN = 1 << 24
"""Units of the last bit: the two uniforms end at different bits, so the boundary is known a little less well."""


def pair_at(logarithm: Callable[[], Any], offset: int, turn: Fraction = TURN) -> list[int]:
    """Words of a radial uniform at e^(log) plus ``offset`` units of its last bit, and of an angular one."""
    with flint.ctx.workprec(256):
        zeros = int(float(-logarithm()) / math.log(2))
    rounds = (zeros + 224) // 64
    known = 63 + 64 * rounds
    with flint.ctx.workprec(known + 256):
        scaled = int((logarithm().exp() * flint.arb(2) ** known).floor().unique_fmpz())
    radial = binary_words(scaled + offset, known, first=63)
    angular = binary_words(math.floor(turn * (1 << (known + 1))), known + 1)
    radial[0] <<= 1  # the lowest bit of the first word is not used
    return [word for both in zip(radial, angular, strict=True) for word in both]


@pytest.mark.parametrize("variance", [Fraction(1, 9), Fraction(5), Fraction((1 << 42) - 1)], ids=name_of)
@pytest.mark.parametrize("rest", [Fraction(0), Fraction(0.3), Fraction(1, 3)], ids=str)
@pytest.mark.parametrize("reach", [0, 1, 7, 31, 60])
def test_rounded_gaussian_steps_where_it_should(variance: Fraction, rest: Fraction, reach: int) -> None:
    """σ·√(-2 ln U)·cos 2πV + rest + ½ reaches m exactly at the U computed here; so does the sine's, far tails too."""
    sigma = math.sqrt(variance)
    sampler = RoundedGaussianSampler(variance)
    m = max(1, round(reach * sigma))
    for sine in (False, True):

        def logarithm(sine: bool = sine) -> Any:
            turn = ball(2 * TURN)
            wave = turn.sin_pi() if sine else turn.cos_pi()
            return -((ball(m - rest - HALF) / wave) ** 2) / ball(2 * variance)

        for offset, expected in ((-MARGIN, m), (MARGIN, m - 1)):
            words = pair_at(logarithm, offset)
            if Fraction(float(rest)) == rest:
                pair = sampler.array(np.full(2, float(rest)), Scripted(words))
                assert pair[int(sine)] == expected
            if not sine:
                assert sampler.one(rest, Scripted(words)) == expected


def test_both_of_a_pair_extend_the_same_uniforms() -> None:
    """At an eighth of a turn cosine and sine agree: at a boundary both must step together, on the same further bits."""
    variance, m = Fraction(50), 9
    sampler = RoundedGaussianSampler(variance)

    def logarithm() -> Any:
        return -(ball(m - HALF) ** 2) * 2 / ball(2 * variance)

    for offset, expected in ((-MARGIN, m), (MARGIN, m - 1)):
        words = pair_at(logarithm, offset, turn=Fraction(1, 8))
        assert sampler.array(np.zeros(2), Scripted(words)).tolist() == [expected, expected]


def test_rests_are_refused_where_the_sampler_works_in_cells() -> None:
    """σ of 2²¹ granules and more: the cells alone would be noise of the wrong width."""
    sampler = RoundedGaussianSampler(Fraction(DIRECT_LIMIT**2))
    with pytest.raises(NotPrivate, match="coarser lattice"):
        sampler.array(np.zeros(2), seeded(1))
    with pytest.raises(NotPrivate, match="coarser lattice"):
        sampler.one(Fraction(0), seeded(1))


def lazy(numerator: int, known: int) -> LazyUniform:
    return LazyUniform(numerator, known, Scripted([]))


@pytest.mark.parametrize("k", [0, 1, 9, -25, 300, -1500])
def test_acceptance_coin_of_the_discrete_gaussian(k: int) -> None:
    """Accepted exactly when the coin lies below exp(-(|k| - σ²/t)²/2σ²), however small that is."""
    variance = Fraction(2500, 3)
    sampler = DiscreteGaussianSampler(variance)
    exponent = (abs(k) - variance / sampler._proposal.scale) ** 2 / (2 * variance)
    known = 64 * (int(exponent / 44) + 4)
    with flint.ctx.workprec(known + 128):
        edge = int(((-ball(exponent)).exp() * flint.arb(2) ** known).floor().unique_fmpz())
    assert sampler._accepts(k, lazy(edge - 1, known))
    assert not sampler._accepts(k, lazy(edge + 1, known))
    # the same from fewer bits, which have to be asked for
    assert sampler._accepts(k, LazyUniform((edge - 1) >> (known - 64), 64, Scripted(binary_words(edge - 1, known)[1:])))
    assert not sampler._accepts(
        k, LazyUniform((edge + 1) >> (known - 64), 64, Scripted(binary_words(edge + 1, known)[1:]))
    )


@pytest.mark.parametrize("reach", [31, 40])
def test_discrete_gaussian_beyond_thirty_sigma(reach: int) -> None:
    """A proposal far out, and a coin of 2⁻⁶⁰⁰ that comes up: the tail is thin, not cut off."""
    variance = Fraction(100)
    sampler = DiscreteGaussianSampler(variance)
    scale = sampler._proposal.scale
    k = 10 * reach
    with flint.ctx.workprec(400):
        c = (2 / (1 + (-ball(1 / scale)).exp())).log()
        inside = int(((c - ball((k + HALF) / scale)).exp() * flint.arb(2) ** 127).floor().unique_fmpz())
    exponent = (k - variance / scale) ** 2 / (2 * variance)
    zeros = int(exponent / Fraction(math.log(2)) / 64)
    first, second = inside >> 64, inside & ONES
    source = Scripted([first << 1, second])
    assert sampler._proposal.one(source) == k
    words = [first << 1, second][: source.taken]
    for coin, kept in (([0] * (zeros + 1), True), ([0] * (zeros - 1) + [1 << 63], False)):
        sample = sampler.one(Scripted([*words, *coin]))
        assert (sample == k) is kept


def test_position_in_a_cell_is_accepted_with_the_right_probability() -> None:
    """Kept exactly when the coin lies below exp(-(p² - m²)/2σ²), in central cells, far ones and the one at zero."""
    variance = Fraction(10**30)
    sampler = RoundedGaussianSampler(variance)
    bits = sampler._bits
    width = 1 << bits
    known = 64 * 5
    for cell in (0, -1, 1, 700_000, -700_001, 5_000_000, -40_000_000):
        for low in (0, 1, width // 3, width - 1):
            place = Fraction((low << (known - bits)) + 12345, 1 << known)
            point = (cell + place) * width - HALF
            ends = cell * width - HALF, (cell + 1) * width - HALF
            nearest = 0 if ends[0] < 0 < ends[1] else min(abs(end) for end in ends)
            with flint.ctx.workprec(1000):
                chance = (-ball((point**2 - nearest**2) / (2 * variance))).exp()
                edge = int((chance * flint.arb(2) ** known).floor().unique_fmpz())
            where = (low << (known - bits)) + 12345
            assert sampler._accepts(cell, lazy(where, known), lazy(edge - MARGIN, known))
            if edge + MARGIN < 1 << known:
                assert not sampler._accepts(cell, lazy(where, known), lazy(edge + MARGIN, known))


def test_sure_coins_are_sure() -> None:
    """The bound that accepts a position unasked holds at the far end of every cell it is used for."""
    for variance in (Fraction(DIRECT_LIMIT**2), Fraction((2 * DIRECT_LIMIT) ** 2 - 1), Fraction(10**30)):
        sampler = RoundedGaussianSampler(variance)
        width = 1 << sampler._bits
        with flint.ctx.workprec(200):
            sigma = ball(variance).sqrt()
            assert sigma / 2**20 <= width <= sigma / 2**19
            farthest_float = (2 * 20 * flint.arb(2).log()).sqrt()  # words from 2⁴³ on, of 63 bits
            farthest = int((farthest_float * sigma / width + 2).floor().unique_fmpz())
            for cell in (0, gaussian._CENTRAL_CELLS, -gaussian._CENTRAL_CELLS, farthest, -farthest):
                ends = [abs(Fraction(2 * (cell + i) * width - 1, 2)) for i in (0, 1)]
                least = (-ball((max(ends) ** 2 - min(ends) ** 2) / (2 * variance))).exp()
                assert least > ball(Fraction(gaussian._SURE_COIN, 1 << 64))


# --- adversarial bits, tails, widening -----------------------------------------------------------------------------


@pytest.mark.parametrize("zeros", [1, 3, 12])
def test_all_zero_words_reach_the_far_tail(zeros: int) -> None:
    """U = 2⁻⁶⁴ᶻ⁺¹ and V = 0: a radius of √(2·ln 2·(64z-1))·σ, some 30σ at z = 11."""
    sampler = RoundedGaussianSampler(Fraction(10**6))
    words = [0, 0] * zeros + [1 << 63, 0]
    low, high = (math.sqrt(2 * math.log(2) * e) * 1000 for e in (64 * zeros - 1, 64 * zeros))
    alone = sampler.one_integer(Scripted(words, filler=0))
    pair = sampler.integers(2, Scripted(words, filler=0))
    assert low - 1 <= alone <= high + 1
    assert pair[0] == alone
    assert pair[1] == 0
    if zeros == 12:
        assert alone > 30 * 1000


def test_all_one_words_give_the_centre() -> None:
    sampler = RoundedGaussianSampler(Fraction(10**6))
    assert sampler.integers(2, Scripted([ONES] * 6 + [0] * 4)).tolist() == [0, 0]
    assert sampler.one_integer(Scripted([ONES] * 6 + [0] * 4)) == 0


@pytest.mark.parametrize("variance", NARROW, ids=name_of)
def test_narrow_noise_is_zero_unless_the_bits_say_otherwise(variance: Fraction) -> None:
    assert not DiscreteGaussianSampler(variance).array(20_000, seeded(16)).any()
    assert not RoundedGaussianSampler(variance).integers(20_000, seeded(16)).any()


def test_noise_narrower_than_any_float() -> None:
    for variance in (Fraction(1, 10**320), Fraction(1, 10**800)):
        sampler = DiscreteGaussianSampler(variance)
        assert sampler.array(50, seeded(17)).tolist() == [0] * 50
        # a proposal of one, and a coin that is nearly nothing: decided, and rejected
        far = [1 << 30, 1 << 20, ONES >> 3, 5]
        assert sampler.one(Scripted([*far, ONES - 1, 5])) == 0
        assert RoundedGaussianSampler(variance).integers(4, seeded(17)).tolist() == [0] * 4


def test_a_sample_beyond_int64_widens_its_array_only() -> None:
    variance = Fraction((1 << 57) - 5) ** 2
    sampler = RoundedGaussianSampler(variance)
    words = seeded(18).words(16).tolist()
    words[1] = words[5] = 0  # a radius and an angle of zeros so far
    samples = sampler.integers(8, Tape(Scripted(words), [0] * 24 + [1 << 63, 0]))
    words[1] = 1 << 62
    plain = sampler.integers(8, Tape(Scripted(words)))
    assert samples.dtype == object
    assert plain.dtype == np.int64
    others = [i for i in range(8) if i not in (1, 5)]
    assert [samples[i] for i in others] == [plain[i] for i in others]
    assert samples[1] > 32 << 57
    assert samples[1] > WIDEST


def test_empty_arrays_and_odd_lengths() -> None:
    sampler = RoundedGaussianSampler(Fraction(3))
    assert sampler.integers(0, seeded(1)).size == 0
    assert sampler.array(np.empty(0), seeded(1)).size == 0
    assert DiscreteGaussianSampler(Fraction(3)).array(0, seeded(1)).size == 0
    for count in (1, 2, 3, 16_383, 16_385, 40_001):
        assert sampler.integers(count, seeded(1)).size == count
        assert DiscreteGaussianSampler(Fraction(3)).array(count, seeded(1)).size == count


def test_widest_is_where_int64_noise_ends() -> None:
    """The widest σ that stays in int64: all but open samples are within 5.3σ, below 2⁶²."""
    variance = Fraction(1 << 114) - 1
    sampler = RoundedGaussianSampler(variance)
    assert sampler._bits == 37
    assert math.sqrt(2 * 20 * math.log(2)) * math.sqrt(variance) < WIDEST
    assert RoundedGaussianSampler(variance + 1)._bits == 38
    assert histogram(sampler.integers(2000, seeded(1)), [0]).min() > 800
