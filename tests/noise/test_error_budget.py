"""How much of each error bound do the float computations use? Measured against ball arithmetic at hard words.

The bounds allow numpy 64 ulp; the measured errors contain what numpy really does, so they must be far below. What
they cannot shrink is the width of the word itself (a word stands for every uniform number that begins with it):
that alone takes a quarter of the Laplace bound at `WORD_FLOOR`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import numpy.typing as npt
import pytest

from tacit.noise import gaussian, laplace, race
from tacit.noise.floors import WORD_FLOOR, unit_interval
from tacit.noise.gaussian import DiscreteGaussianSampler, RoundedGaussianSampler
from tacit.noise.laplace import DIRECT_LIMIT, DiscreteLaplaceSampler, GeometricSampler, RoundedLaplaceSampler
from tacit.noise.race import EXPONENTIAL, GUMBEL, LAPLACE, Crowds, RaceNoise
from tests.noise.bits import Scripted
from tests.statistical.laws import ball

Reals = npt.NDArray[np.float64]


def hard_words(low: int = WORD_FLOOR, high: int = (1 << 63) - 1) -> list[int]:
    """63-bit words at the ends of the range, around powers of two, and spread evenly in their logarithm."""
    rng = np.random.default_rng(1)
    ends = [low, low + 1, low + 2, high, high - 1, high - 511, high - 512, high - 513]
    powers = [(1 << k) + d for k in range(43, 63) for d in (-1025, -513, -2, -1, 0, 1, 511, 1025)]
    near_one = [(1 << 63) - int(2**x) for x in rng.uniform(0, 62, 200)]
    spread = [int(2**x) for x in rng.uniform(43, 63, 500)]
    tight = [low + int(x) for x in rng.integers(0, 1 << 20, 100)]
    return [word for word in [*ends, *powers, *near_one, *spread, *tight] if low <= word <= high]


WORDS = hard_words()


def largest_error(values: Reals, exact: Callable[[Any, int], Any], words: list[int]) -> float:
    """|value - exact(U)| at both ends of the uniform numbers that begin with each word."""
    worst = 0.0
    with flint.ctx.workprec(160):
        for i, (value, word) in enumerate(zip(values.tolist(), words, strict=True)):
            for end in (word, word + 1):
                off = abs(ball(Fraction(value)) - exact(ball(Fraction(end, 1 << 63)), i))
                worst = max(worst, float(off.upper()))
    return worst


def seen_by_open_floors(module: Any, draw: Callable[[], object]) -> list[tuple[Reals, float]]:
    """The values and slacks that a draw hands to the test for open floors."""
    seen: list[tuple[Reals, float]] = []
    original = module.open_floors

    def note(values: Reals, slack: float, *rest: Any) -> Any:
        seen.append((values.copy(), slack))
        return original(values, slack, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "open_floors", note)
        draw()
    return seen


SCALES = [Fraction(1, 1000), Fraction(1, 3), Fraction(1), Fraction(12_345, 7), Fraction(DIRECT_LIMIT) - Fraction(1, 3)]


@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: f"{float(scale):.6g}")
@pytest.mark.parametrize("symmetric", [False, True], ids=["geometric", "discrete Laplace"])
def test_laplace_floors_use_a_third_of_their_slack(scale: Fraction, symmetric: bool) -> None:
    sampler = DiscreteLaplaceSampler(scale) if symmetric else GeometricSampler(scale)
    ((values, slack),) = seen_by_open_floors(
        laplace, lambda: sampler.array(len(WORDS), Scripted([word << 1 for word in WORDS]))
    )
    with flint.ctx.workprec(160):
        shift = (2 / (1 + (-ball(1 / scale)).exp())).log() if symmetric else ball(0)
    used = largest_error(values, lambda u, i: ball(scale) * (shift - u.log()), WORDS) / slack
    assert used <= 1 / 3
    assert used >= 0.2 or scale < 1  # the width of the smallest word: the measurement is not blind


@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: f"{float(scale):.6g}")
@pytest.mark.parametrize("rest", [0.0, 0.7, -0.3])
def test_rounded_laplace_floors_use_a_third_of_their_slack(scale: Fraction, rest: float) -> None:
    sampler = RoundedLaplaceSampler(scale)
    for sign in (0, 1):
        ((values, slack),) = seen_by_open_floors(
            laplace,
            lambda sign=sign: sampler.array(np.full(len(WORDS), rest), Scripted([word << 1 | sign for word in WORDS])),
        )
        offset = ball(Fraction(rest) + Fraction(1, 2))
        factor = ball(scale if sign == 0 else -scale)
        assert largest_error(values, lambda u, i: factor * u.log() + offset, WORDS) / slack <= 1 / 3  # noqa: B023


VARIANCES = [Fraction(1, 10**6), Fraction(2, 3), Fraction(10**7, 3), Fraction(DIRECT_LIMIT**2 - 1)]


@pytest.mark.parametrize("variance", VARIANCES, ids=lambda variance: f"{float(variance):.6g}")
def test_gaussian_floors_use_a_fiftieth_of_their_slack(variance: Fraction) -> None:
    words = hard_words(high=gaussian._WORD_CEILING)
    rng = np.random.default_rng(2)
    angles = [int(x) for x in rng.integers(0, 1 << 64, len(words), dtype=np.uint64)]
    turns = [k << 61 for k in range(8)]
    angles[: 8 * 3] = [(turn + d) % (1 << 64) for turn in turns for d in (0, 1, (1 << 64) - 1)]
    rest = 0.7
    sampler = RoundedGaussianSampler(variance)
    (cosines, slack), (sines, _) = seen_by_open_floors(
        gaussian,
        lambda: sampler.array(np.full(2 * len(words), rest), Scripted([*(word << 1 for word in words), *angles])),
    )
    with flint.ctx.workprec(160):
        offset, doubled = ball(Fraction(rest) + Fraction(1, 2)), ball(2 * variance)
        turns_of = [ball(Fraction(angle, 1 << 63)) for angle in angles]

        def exact(wave: str) -> Callable[[Any, int], Any]:
            return lambda u, i: (-doubled * u.log()).sqrt() * getattr(turns_of[i], wave)() + offset

        assert largest_error(cosines, exact("cos_pi"), words) / slack <= 1 / 50
        assert largest_error(sines, exact("sin_pi"), words) / slack <= 1 / 50


@pytest.mark.parametrize("variance", [Fraction(1, 7), Fraction(3), Fraction(10**9), Fraction(10**30, 3)], ids=str)
def test_acceptance_uses_a_hundredth_of_its_slack(variance: Fraction) -> None:
    sampler = DiscreteGaussianSampler(variance)
    sigma = math.sqrt(variance)
    rng = np.random.default_rng(3)
    proposals = np.unique(np.concatenate([np.arange(5), (rng.uniform(0, 9, 1000) * sigma).astype(np.int64)]))
    chances: list[Reals] = []
    exp = np.exp

    def note(x: Reals, out: Reals) -> Reals:
        chances.append(exp(x, out=out).copy())
        return out

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sampler, "_proposal", _Fixed(proposals, sampler._proposal.scale))
        patch.setattr(np, "exp", note)
        sampler._accepted(proposals.size, Scripted([], filler=1 << 62))
    worst = 0.0
    with flint.ctx.workprec(200):
        for k, chance in zip(proposals.tolist(), chances[0].tolist(), strict=True):
            exponent = (k - variance / sampler._proposal.scale) ** 2 / (2 * variance)
            worst = max(worst, float(abs(ball(Fraction(chance)) - (-ball(exponent)).exp()).upper()))
    coin_error = 2.0**-53 + 2.0**-64  # a word as a float, and the bits that follow it
    assert 0 < (worst + coin_error) / gaussian._COIN_SLACK <= 1 / 100


class _Fixed:
    """A proposal that proposes what it is told."""

    def __init__(self, proposals: npt.NDArray[np.int64], scale: Fraction) -> None:
        self.proposals, self.scale = proposals, scale

    def array(self, count: int, entropy: object) -> npt.NDArray[np.int64]:
        return self.proposals


@pytest.mark.parametrize(
    ("noise", "share"), [(GUMBEL, 1 / 40), (EXPONENTIAL, 1 / 6), (LAPLACE, 1 / 6)], ids=lambda x: getattr(x, "name", x)
)
def test_race_noise_uses_little_of_its_slack(noise: RaceNoise, share: float) -> None:
    words = hard_words(high=race.WORD_CEILING)
    for sign in (False, True):
        uniforms = unit_interval(np.array(words, dtype=np.uint64))
        values = noise.reals(uniforms, np.full(len(words), sign))
        used = largest_error(values, lambda u, i: noise.ball(u, sign), words) / noise.slack  # noqa: B023
        assert used <= share


@pytest.mark.parametrize("size", [1, 2, 1000, 1 << 40, (1 << 63) - 1])
def test_the_noise_of_crowds_uses_little_of_its_slack(size: int) -> None:
    words = hard_words(high=race.WORD_CEILING)
    noise = Crowds(np.array([size]))
    values = noise.reals(unit_interval(np.array(words, dtype=np.uint64)), np.zeros(len(words), dtype=np.bool_))
    used = largest_error(values, lambda u, i: noise.ball(u, False), words) / noise.slack
    assert 0 < used <= 1 / 40


def test_race_scores_use_an_eighth_of_their_slack() -> None:
    rng = np.random.default_rng(4)
    factor = Fraction(10, 3)
    scores = rng.normal(size=400) * np.exp2(rng.uniform(-1000, 300, 400))
    reach = race.relative_scores(scores, factor)
    top = Fraction(float(scores.max()))
    for score, value in zip(scores.tolist(), reach.tolist(), strict=True):
        off = abs(Fraction(value) - (Fraction(score) - top) * factor)
        assert off <= (1 + abs(Fraction(value))) * Fraction(race.SCORE_SLACK) / 8
