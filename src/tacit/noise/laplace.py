"""Laplace noise, exactly: the discrete law on the integers, the geometric law, and the rounded continuous one.

With U uniform and s the scale,

    geometric            P[G ≥ m] = e^(-m/s):            G = floor(s·(-ln U))
    discrete Laplace     P[|X| ≥ m] = 2e^(-m/s)/(1+e^(-1/s)): |X| = floor(s·(ln(2/(1+e^(-1/s))) - ln U)), fair sign
    rounded Laplace      floor(s·L + rest + ½), L = ±(-ln U) the continuous Laplace law of scale 1

Each is the floor of one logarithm. It is computed in float64, kept where the error bound settles it, and decided
by `tacit.noise.exact` where it does not. Error budget: ``docs/proofs/exact_sampling.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.noise.entropy import BitSource
from tacit.noise.exact import LazyUniform, decide_floor, decide_sign, flint, rational
from tacit.noise.floors import WORD_FLOOR, Integers, Reals, Words, collect, open_floors, unit_interval

__all__ = ["DiscreteLaplaceSampler", "GeometricSampler", "RoundedLaplaceSampler"]

Samples = Integers | npt.NDArray[np.object_]

DIRECT_LIMIT = 1 << 21
"""Largest scale whose floor float64 settles nearly always; larger scales split off low bits."""

SLACK = 2.0**-42
"""Bound on the error of s·(c - ln u) in units of max(s, 1); at 64 ulp the proof page needs 0.84 of it."""

_LOW_CHANCE = 1 << 46  # of 2**64: a low part is accepted at once unless its word is among the top 2**46


class _FloorOfLogarithm:
    """floor(s·(c - ln U)) for s ≤ DIRECT_LIMIT, with c = 0 or ln(2/(1+e^(-1/s)))."""

    __slots__ = ("_scale", "_shift", "_slack", "_symmetric", "scale")

    def __init__(self, scale: Fraction, *, symmetric: bool) -> None:
        self.scale = scale
        self._symmetric = symmetric
        self._scale = float(scale)
        step = -1 / self._scale if self._scale > 1e-300 else -math.inf
        self._shift = -math.log1p(math.expm1(step) / 2) * self._scale if symmetric else 0.0
        self._slack = SLACK * max(self._scale, 1.0)

    def chunk(self, words: Words, entropy: BitSource) -> tuple[Integers, dict[int, int]]:
        values = unit_interval(words)
        np.log(values, out=values)
        values *= -self._scale
        values += self._shift
        floors, still_open = open_floors(values, self._slack, words)
        settled = {int(i): self.settle(int(words[i]), entropy) for i in still_open}
        return floors.astype(np.int64), settled

    def one(self, word: int, entropy: BitSource) -> int:
        if word >= WORD_FLOOR:
            value = self._shift - self._scale * math.log((word + 0.5) * 2.0**-63)
            whole = int(value)
            if self._slack < value - whole < 1 - self._slack:
                return whole
        return self.settle(word, entropy)

    def settle(self, word: int, entropy: BitSource) -> int:
        def exact(u: Any) -> Any:
            arb = flint().arb
            scale = arb(rational(self.scale))
            shift = (2 / (1 + (-1 / scale).exp())).log() if self._symmetric else arb(0)
            return scale * (shift - u.log())

        extra = max(64, self.scale.numerator.bit_length() - self.scale.denominator.bit_length() + 64)
        return decide_floor(exact, [LazyUniform(word, 63, entropy)], extra_precision=extra)


class GeometricSampler:
    """P[G ≥ m] = e^(-m/scale) on the non-negative integers, for any rational scale > 0.

    >>> from tacit.testing import seeded
    >>> GeometricSampler(Fraction(10)).array(5, seeded(1)).min() >= 0
    np.True_

    A large scale is split: G = t·V + r with t a power of two, V geometric of scale s/t, and r < t independent of
    V with P[r] ∝ e^(-r/s), drawn by rejection from the uniform law (accepted all but once in 2¹⁸).
    """

    __slots__ = ("_bits", "_high", "scale")

    def __init__(self, scale: Fraction) -> None:
        self.scale = scale
        self._bits = low_bits(scale)
        self._high = _FloorOfLogarithm(scale / (1 << self._bits), symmetric=False)

    @property
    def fits_int64(self) -> bool:
        """Whether all but the open samples (at most 14 scales from zero) stay below 2**62."""
        return self._bits <= 37

    def array(self, count: int, entropy: BitSource) -> Samples:
        if not self.fits_int64:  # nobody's noise, but still exact
            return np.array([self.one(entropy) for _ in range(count)], dtype=object)
        return collect(count, lambda size, _: self.chunk(entropy.words(size) >> np.uint64(1), entropy))

    def one(self, entropy: BitSource) -> int:
        return self.from_word(entropy.word() >> 1, entropy)

    def from_word(self, word: int, entropy: BitSource) -> int:
        """A sample whose first 63 uniform bits are ``word``."""
        return (self._high.one(word, entropy) << self._bits) + self._low_part(entropy)

    def chunk(self, words: Words, entropy: BitSource) -> tuple[Integers, dict[int, int]]:
        """Samples whose first 63 uniform bits are ``words``, and those the exact path gave, by position."""
        samples, settled = self._high.chunk(words, entropy)
        if not self._bits:
            return samples, settled
        low = entropy.words(samples.size)
        chances = low << np.uint64(self._bits)
        low = low >> np.uint64(64 - self._bits)
        samples <<= self._bits
        samples |= low.view(np.int64)
        settled = {i: (high << self._bits) + int(low[i]) for i, high in settled.items()}
        doubtful = np.uint64((1 << 64) - _LOW_CHANCE)
        if bool(chances.max() >= doubtful):
            for i in np.flatnonzero(chances >= doubtful):
                chance = LazyUniform(int(chances[i]) >> self._bits, 64 - self._bits, entropy)
                high = settled.get(int(i), int(samples[i])) >> self._bits
                first = self._accepted(int(low[i]), chance)
                settled[int(i)] = (high << self._bits) + (int(low[i]) if first else self._low_part(entropy))
        return samples, settled

    def _low_part(self, entropy: BitSource) -> int:
        if not self._bits:
            return 0
        while True:
            low = entropy.bits(self._bits)
            word = entropy.word()
            if word < (1 << 64) - _LOW_CHANCE or self._accepted(low, LazyUniform(word, 64, entropy)):
                return low

    def _accepted(self, low: int, chance: LazyUniform) -> bool:
        """A coin of probability e^(-low/scale); the caller accepts unasked while the coin is below 1 - 2⁻¹⁸."""

        def exact(u: Any) -> Any:
            return (-flint().arb(rational(low / self.scale))).exp() - u

        return decide_sign(exact, [chance])


class DiscreteLaplaceSampler:
    """P[X = k] ∝ e^(-|k|/scale) on the integers, for any rational scale > 0.

    >>> from tacit.testing import seeded
    >>> DiscreteLaplaceSampler(Fraction(100)).array(4, seeded(1)).dtype
    dtype('int64')
    """

    __slots__ = ("_direct", "_geometric", "scale")

    def __init__(self, scale: Fraction) -> None:
        self.scale = scale
        self._direct = _FloorOfLogarithm(scale, symmetric=True) if scale <= DIRECT_LIMIT else None
        self._geometric = GeometricSampler(scale) if self._direct is None else None

    def array(self, count: int, entropy: BitSource) -> Samples:
        if self._geometric is not None and not self._geometric.fits_int64:
            return np.array([self.one(entropy) for _ in range(count)], dtype=object)
        return collect(count, lambda size, _: self.chunk(size, entropy))

    def chunk(self, size: int, entropy: BitSource) -> tuple[Integers, dict[int, int]]:
        words = entropy.words(size)
        signs = (words & np.uint64(1)).view(np.int64)
        np.negative(signs, out=signs)  # 0 or -1: (x ^ s) - s flips the sign where s = -1
        words = words >> np.uint64(1)
        if self._direct is not None:
            samples, settled = self._direct.chunk(words, entropy)
        else:
            assert self._geometric is not None
            samples, settled = self._geometric.chunk(words, entropy)
            if bool(samples.min() == 0):
                for zero in np.flatnonzero(samples == 0).tolist():
                    settled.setdefault(zero, 0)
        samples ^= signs
        samples -= signs
        for i, magnitude in settled.items():
            negative = bool(signs[i])
            twice_counted = self._direct is None and magnitude == 0 and negative
            settled[i] = self.one(entropy) if twice_counted else (-magnitude if negative else magnitude)
        return samples, settled

    def one(self, entropy: BitSource) -> int:
        while True:
            word = entropy.word()
            negative, word = word & 1, word >> 1
            if self._direct is not None:
                magnitude = self._direct.one(word, entropy)
                return -magnitude if negative else magnitude
            assert self._geometric is not None
            magnitude = self._geometric.from_word(word, entropy)
            if magnitude or not negative:  # zero would be counted twice
                return -magnitude if negative else magnitude


class RoundedLaplaceSampler:
    """floor(scale·L + rest + ½) with L the continuous Laplace law of scale 1: a rounding of the ideal noise.

    Assumes scale ≤ DIRECT_LIMIT. A rest is the exact part of a value below its granule, in (-½, 1); adding it in
    float64 is one of the roundings that the error bound covers, and the exact path uses it as it is.
    """

    __slots__ = ("_scale", "_slack", "scale")

    def __init__(self, scale: Fraction) -> None:
        self.scale = scale
        self._scale = float(scale)
        self._slack = SLACK * max(self._scale, 1.0)

    def array(self, rests: Reals, entropy: BitSource) -> Samples:
        return collect(rests.size, lambda _, where: self._chunk(rests[where], entropy))

    def _chunk(self, rests: Reals, entropy: BitSource) -> tuple[Integers, dict[int, int]]:
        words = entropy.words(rests.size)
        signs = (words & np.uint64(1)) << np.uint64(63)  # the sign bit of a float
        words = words >> np.uint64(1)
        values = unit_interval(words)
        np.log(values, out=values)
        values *= self._scale
        flipped = values.view(np.uint64)
        np.bitwise_xor(flipped, signs, out=flipped)
        values += rests
        values += 0.5
        floors, still_open = open_floors(values, self._slack, words)
        settled = {
            int(i): self._settle(int(words[i]), bool(signs[i]), Fraction(float(rests[i])), entropy) for i in still_open
        }
        return floors.astype(np.int64), settled

    def one(self, rest: Fraction | float, entropy: BitSource) -> int:
        word = entropy.word()
        positive, word = bool(word & 1), word >> 1
        if word >= WORD_FLOOR:
            value = self._scale * math.log((word + 0.5) * 2.0**-63)
            value = (-value if positive else value) + float(rest) + 0.5
            whole = math.floor(value)
            if self._slack < value - whole < 1 - self._slack:
                return whole
        return self._settle(word, positive, Fraction(rest), entropy)

    def _settle(self, word: int, positive: bool, rest: Fraction, entropy: BitSource) -> int:
        def exact(u: Any) -> Any:
            noise = flint().arb(rational(self.scale)) * u.log()
            return (-noise if positive else noise) + rational(rest + Fraction(1, 2))

        return decide_floor(exact, [LazyUniform(word, 63, entropy)], extra_precision=128)


def low_bits(scale: Fraction) -> int:
    """How many low bits to split off so that the high part's scale is at most DIRECT_LIMIT."""
    whole = scale.numerator // scale.denominator
    return max(0, whole.bit_length() - DIRECT_LIMIT.bit_length() + 1)
