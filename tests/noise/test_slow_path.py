"""The exact path forced on for every sample: the same values, bit for bit, as the fast path; hence the same law.

Both runs see the same arrays of words. Single words, which extend a sample that stays open, are all equal, so that
they do not depend on which samples asked for them (`Tape`). Then *every* sample must agree, open or not. A planted
fault in either path is found below.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tacit.noise import floors, gaussian, laplace
from tacit.noise.entropy import BitSource
from tacit.noise.gaussian import DiscreteGaussianSampler, RoundedGaussianSampler
from tacit.noise.laplace import DiscreteLaplaceSampler, GeometricSampler, RoundedLaplaceSampler
from tacit.testing import seeded
from tests.noise.bits import Scripted, Tape
from tests.statistical.fit import fits
from tests.statistical.laws import (
    DiscreteGaussianLaw,
    DiscreteLaplaceLaw,
    GeometricLaw,
    Law,
    RoundedGaussianLaw,
    RoundedLaplaceLaw,
)

Samples = npt.NDArray[Any]
Draw = Callable[[BitSource], Samples]

WIDE = Fraction(1 << 21) - Fraction(1, 3)
REST = 0.3


def open_every_word(patch: pytest.MonkeyPatch) -> None:
    """No word is large enough for the error bound: every floor is decided in ball arithmetic."""
    for module in (floors, laplace, gaussian):
        patch.setattr(module, "WORD_FLOOR", 1 << 63)


def open_every_floor(patch: pytest.MonkeyPatch) -> None:
    """No value is far enough from an integer: the same, by the other door."""
    patch.setattr(laplace, "SLACK", 1.0)
    patch.setattr(gaussian, "_FLOOR_SLACK", 1.0)


def doubt_every_coin(patch: pytest.MonkeyPatch) -> None:
    """No acceptance is decided by floats or by a bound."""
    patch.setattr(gaussian, "_COIN_SLACK", 2.0)
    patch.setattr(laplace, "_LOW_CHANCE", 1 << 64)
    patch.setattr(gaussian, "_SURE_COIN", 0)


def both(patch: pytest.MonkeyPatch) -> None:
    open_every_word(patch)
    doubt_every_coin(patch)


def rounded_laplace(scale: Fraction, count: int) -> Draw:
    return lambda bits: RoundedLaplaceSampler(scale).array(np.full(count, REST), bits)


def rounded_gaussian(variance: Fraction, count: int) -> Draw:
    return lambda bits: RoundedGaussianSampler(variance).array(np.full(count, REST), bits)


# name: (how to draw, what to force, the law); at least 10⁵ samples for each sampler, over its scales
CASES: dict[str, tuple[Draw, Callable[[pytest.MonkeyPatch], None], Law]] = {
    "discrete Laplace 3/10": (
        lambda bits: DiscreteLaplaceSampler(Fraction(3, 10)).array(25_000, bits),
        open_every_word,
        DiscreteLaplaceLaw(Fraction(3, 10)),
    ),
    "discrete Laplace 100": (
        lambda bits: DiscreteLaplaceSampler(Fraction(100)).array(40_000, bits),
        open_every_floor,
        DiscreteLaplaceLaw(Fraction(100)),
    ),
    "discrete Laplace 2^21": (
        lambda bits: DiscreteLaplaceSampler(WIDE).array(40_000, bits),
        open_every_word,
        DiscreteLaplaceLaw(WIDE),
    ),
    "discrete Laplace 10^15": (
        lambda bits: DiscreteLaplaceSampler(Fraction(10**15)).array(20_000, bits),
        both,
        DiscreteLaplaceLaw(Fraction(10**15)),
    ),
    "geometric 7": (
        lambda bits: GeometricSampler(Fraction(7)).array(40_000, bits),
        open_every_word,
        GeometricLaw(Fraction(7)),
    ),
    "geometric 2^21": (
        lambda bits: GeometricSampler(WIDE - 1).array(40_000, bits),
        open_every_floor,
        GeometricLaw(WIDE - 1),
    ),
    "geometric 10^12": (
        lambda bits: GeometricSampler(Fraction(10**12)).array(25_000, bits),
        doubt_every_coin,
        GeometricLaw(Fraction(10**12)),
    ),
    "rounded Laplace 5": (
        rounded_laplace(Fraction(5), 50_000),
        open_every_floor,
        RoundedLaplaceLaw(Fraction(5), Fraction(REST) + Fraction(1, 2)),
    ),
    "rounded Laplace 2^21": (
        rounded_laplace(WIDE, 50_000),
        open_every_word,
        RoundedLaplaceLaw(WIDE, Fraction(REST) + Fraction(1, 2)),
    ),
    "discrete Gaussian 2": (
        lambda bits: DiscreteGaussianSampler(Fraction(2)).array(45_000, bits),
        doubt_every_coin,
        DiscreteGaussianLaw(Fraction(2)),
    ),
    "discrete Gaussian 10^6": (
        lambda bits: DiscreteGaussianSampler(Fraction(10**6, 7)).array(40_000, bits),
        doubt_every_coin,
        DiscreteGaussianLaw(Fraction(10**6, 7)),
    ),
    "discrete Gaussian 10^30": (
        lambda bits: DiscreteGaussianSampler(Fraction(10**30)).array(15_000, bits),
        both,
        DiscreteGaussianLaw(Fraction(10**30)),
    ),
    "rounded Gaussian 3": (
        rounded_gaussian(Fraction(3), 50_000),
        open_every_floor,
        RoundedGaussianLaw(Fraction(3), Fraction(REST) + Fraction(1, 2)),
    ),
    "rounded Gaussian 2^42": (
        rounded_gaussian(Fraction((1 << 42) - 1), 30_001),
        open_every_word,
        RoundedGaussianLaw(Fraction((1 << 42) - 1), Fraction(REST) + Fraction(1, 2)),
    ),
    "rounded Gaussian 10^30": (
        lambda bits: RoundedGaussianSampler(Fraction(10**30)).integers(25_000, bits),
        doubt_every_coin,
        RoundedGaussianLaw(Fraction(10**30)),
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.thorough
def test_exact_path_gives_the_very_same_samples(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    draw, force, law = CASES[name]
    quick = Tape(seeded(1))
    fast = draw(quick)
    with monkeypatch.context() as patch:
        force(patch)
        exact = draw(Tape(seeded(1)))
    assert quick.extensions < fast.size // 500  # the fast path did decide nearly all of them
    assert np.array_equal(fast, exact)
    assert fits(exact, law)
    assert not fits(exact, law.stretched(Fraction(9, 10)))
    assert not fits(exact, law.stretched(Fraction(11, 10)))


def test_cells_of_a_wide_gaussian_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell that the exact path gives gets a fresh place inside; the cells themselves must agree."""
    sampler = RoundedGaussianSampler(Fraction(10**30))
    fast = sampler.integers(20_000, Tape(seeded(2))) >> sampler._bits
    open_every_word(monkeypatch)
    exact = sampler.integers(20_000, Tape(seeded(2))) >> sampler._bits
    assert np.array_equal(fast, exact)


class Words:
    """Single words from an array of words, as many streams as are drawn from side by side."""

    secret = False

    def __init__(self, *streams: npt.NDArray[np.uint64]) -> None:
        self._words = iter(np.stack(streams, axis=1).ravel().tolist())

    def word(self) -> int:
        return int(next(self._words))

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        raise AssertionError("single samples take single words")

    def bits(self, count: int) -> int:
        return self.word() >> (64 - count)


def test_single_samples_are_those_of_the_array(monkeypatch: pytest.MonkeyPatch) -> None:
    """`one` uses Python's mathematics and `array` numpy's; the words decide, not the library. Fast and exact."""
    count = 4000
    words, more = seeded(3).words(count), seeded(4).words(count)
    two = np.concatenate([words, more])
    laplaces = [(DiscreteLaplaceSampler(s), GeometricSampler(s)) for s in (Fraction(1, 3), Fraction(50), WIDE - 2)]
    rounded, normal = RoundedLaplaceSampler(Fraction(9)), RoundedGaussianSampler(Fraction(90))
    rests = np.full(count, REST)
    expected = [sampler.array(count, Scripted(words.tolist())).tolist() for pair in laplaces for sampler in pair]
    expected_rounded = rounded.array(rests, Scripted(words.tolist())).tolist()
    expected_normal = normal.array(np.full(2 * count, REST), Scripted(two.tolist()))[:count].tolist()
    for force in (lambda patch: None, open_every_word):
        with monkeypatch.context() as patch:
            force(patch)
            singles = [sampler for pair in laplaces for sampler in pair]
            for sampler, values in zip(singles, expected, strict=True):
                source = Words(words)
                assert [sampler.one(source) for _ in range(count)] == values
            source = Words(words)
            assert [rounded.one(REST, source) for _ in range(count)] == expected_rounded
            source = Words(words, more)
            assert [normal.one(Fraction(REST), source) for _ in range(count)] == expected_normal


# --- planted faults ------------------------------------------------------------------------------------------------


def agrees(
    draw: Draw, force: Callable[[pytest.MonkeyPatch], None], fault: Callable[[pytest.MonkeyPatch], None]
) -> bool:
    with pytest.MonkeyPatch.context() as patch:
        fault(patch)
        fast = draw(Tape(seeded(5)))
        force(patch)
        return np.array_equal(fast, draw(Tape(seeded(5))))


def nothing(patch: pytest.MonkeyPatch) -> None: ...


def sloppy_logarithm(patch: pytest.MonkeyPatch) -> None:
    """A logarithm good to 2⁻³⁰ only, where the slack believes in 2⁻⁴²."""
    log = np.log

    def sloppy(x: Any, out: Any = None) -> Any:
        values = log(x, out=out)
        values *= 1 + 2.0**-30
        return values

    patch.setattr(np, "log", sloppy)


def sloppy_exponential(patch: pytest.MonkeyPatch) -> None:
    exp = np.exp

    def sloppy(x: Any, out: Any = None) -> Any:
        values = exp(x, out=out)
        values *= 1 + 2.0**-12
        return values

    patch.setattr(np, "exp", sloppy)


def sloppy_cosine(patch: pytest.MonkeyPatch) -> None:
    cos = np.cos
    patch.setattr(np, "cos", lambda x: cos(x) + 2.0**-30)


FAULTS: dict[str, tuple[Draw, Callable[[pytest.MonkeyPatch], None], Callable[[pytest.MonkeyPatch], None]]] = {
    "logarithm, discrete Laplace": (
        lambda bits: DiscreteLaplaceSampler(WIDE).array(4000, bits),
        open_every_word,
        sloppy_logarithm,
    ),
    "logarithm, geometric": (
        lambda bits: GeometricSampler(WIDE - 1).array(4000, bits),
        open_every_floor,
        sloppy_logarithm,
    ),
    "logarithm, rounded Laplace": (rounded_laplace(WIDE, 4000), open_every_word, sloppy_logarithm),
    "logarithm, rounded Gaussian": (
        rounded_gaussian(Fraction((1 << 42) - 1), 4000),
        open_every_word,
        sloppy_logarithm,
    ),
    "cosine, rounded Gaussian": (rounded_gaussian(Fraction((1 << 42) - 1), 4000), open_every_word, sloppy_cosine),
    "exponential, discrete Gaussian": (
        lambda bits: DiscreteGaussianSampler(Fraction(1000)).array(20_000, bits),
        doubt_every_coin,
        sloppy_exponential,
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_breaks_the_agreement(name: str) -> None:
    draw, force, fault = FAULTS[name]
    assert agrees(draw, force, nothing)
    assert not agrees(draw, force, fault)
