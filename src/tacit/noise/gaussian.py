"""Gaussian noise, exactly: the discrete law on the integers, and the continuous one rounded to them.

`DiscreteGaussianSampler` draws P[k] ∝ e^(-k²/2σ²) by rejection from the discrete Laplace law (Canonne, Kamath &
Steinke 2020), each coin decided by an error bound or by ball arithmetic. `RoundedGaussianSampler` draws
floor(σZ + rest + ½) with Z standard normal, by Box–Muller on lazily extended uniforms: a rounding of the ideal
noise, so whatever holds of the continuous Gaussian holds of it. Error budget: ``docs/proofs/exact_sampling.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import NotPrivate
from tacit.noise.entropy import BitSource
from tacit.noise.exact import LazyUniform, decide_floor, decide_sign, flint, rational
from tacit.noise.floors import (
    CHUNK,
    WORD_FLOOR,
    Integers,
    Reals,
    Words,
    collect,
    open_floors,
    unit_interval,
)
from tacit.noise.laplace import DIRECT_LIMIT, DiscreteLaplaceSampler

__all__ = ["DiscreteGaussianSampler", "RoundedGaussianSampler"]

Samples = Integers | npt.NDArray[np.object_]

_COIN_SLACK = 2.0**-42
"""Bound on the error of the acceptance probability and of the 64-bit coin it is compared with."""

_FLOOR_SLACK = 2.0**-40
"""Bound on the error of σ·R·cos θ + rest + ½ in units of max(σ, 1); the proof page needs less than half of it."""

_WORD_CEILING = (1 << 63) - (1 << 46)
"""Above it the radius is below 2⁻⁸ and its relative error too large for the bound; the sample is open."""

_LEAST_VARIANCE = 2.0**-1000
"""Below it the acceptance probability is 1 at zero and 0 elsewhere, to within 2⁻⁹⁰⁰: the fast path stops here."""

_SURE_COIN = (1 << 64) - (1 << 48)
"""In a cell within 6σ of zero, at most 2⁻¹⁹σ wide, the density stays above 1 - 2⁻¹⁶ of its largest value."""

_CENTRAL_CELLS = 5 * (1 << 19)
"""Cells are at most 2⁻¹⁹σ wide once they are used at all: these lie within 5σ of zero."""


class DiscreteGaussianSampler:
    """P[X = k] ∝ e^(-k²/2·variance) on the integers, for any rational variance > 0 that is not beyond the floats.

    >>> from tacit.testing import seeded
    >>> DiscreteGaussianSampler(Fraction(25)).array(4, seeded(1)).dtype
    dtype('int64')
    """

    __slots__ = ("_centre", "_proposal", "_slope", "variance")

    def __init__(self, variance: Fraction) -> None:
        self.variance = variance
        # Any proposal scale is exact; one just above σ accepts most (three in four).
        scale = Fraction(math.isqrt(256 * variance.numerator // variance.denominator) + 1, 16)
        self._proposal = DiscreteLaplaceSampler(scale)
        sigma = math.sqrt(max(float(variance), _LEAST_VARIANCE))
        self._slope = 1 / (sigma * math.sqrt(2))
        self._centre = sigma / (float(scale) * math.sqrt(2))

    def array(self, count: int, entropy: BitSource) -> Samples:
        parts: list[Samples] = []
        missing = count
        with np.errstate(all="ignore"):
            while missing > 0:
                accepted = self._accepted(min(CHUNK, missing + missing // 2 + 16), entropy)[:missing]
                parts.append(accepted)
                missing -= accepted.size
        if not parts:
            return np.empty(0, dtype=np.int64)
        joined: Samples = np.concatenate(parts)  # type: ignore[assignment]  # int64, or objects if one part has them
        return joined

    def _accepted(self, size: int, entropy: BitSource) -> Samples:
        """The accepted among ``size`` proposals."""
        proposals = self._proposal.array(size, entropy)
        magnitudes = np.abs(proposals).astype(np.float64)
        magnitudes *= self._slope
        magnitudes -= self._centre
        np.square(magnitudes, out=magnitudes)
        np.negative(magnitudes, out=magnitudes)
        chance = np.exp(magnitudes, out=magnitudes)
        words = entropy.words(size)
        coins = words.astype(np.float64)
        coins *= 2.0**-64
        chance -= coins
        keep = chance > 0
        np.abs(chance, out=chance)
        if bool(chance.min() <= _COIN_SLACK):
            for i in np.flatnonzero(chance <= _COIN_SLACK):
                keep[i] = self._accepts(int(proposals[i]), LazyUniform(int(words[i]), 64, entropy))
        return proposals[keep]

    def one(self, entropy: BitSource) -> int:
        while True:
            proposal = self._proposal.one(entropy)
            word = entropy.word()
            distance = abs(proposal) * self._slope - self._centre
            margin = math.exp(-distance * distance) - word * 2.0**-64
            if margin > _COIN_SLACK:
                return proposal
            if margin >= -_COIN_SLACK and self._accepts(proposal, LazyUniform(word, 64, entropy)):
                return proposal

    def _accepts(self, proposal: int, coin: LazyUniform) -> bool:
        """A coin of probability exp(-(|k| - σ²/t)²/2σ²)."""
        exponent = (abs(proposal) - self.variance / self._proposal.scale) ** 2 / (2 * self.variance)

        def exact(u: Any) -> Any:
            return (-flint().arb(rational(exponent))).exp() - u

        return decide_sign(exact, [coin], extra_precision=64 + exponent.numerator.bit_length())


class _BoxMuller:
    """floor(σZ + rest + shift) for σ ≤ DIRECT_LIMIT, two at a time."""

    __slots__ = ("_doubled_variance", "_shift", "_sigma", "_slack", "shift", "variance")

    def __init__(self, variance: Fraction, shift: Fraction) -> None:
        self.variance = variance
        self.shift = shift
        self._shift = float(shift)
        self._sigma = math.sqrt(variance)
        self._doubled_variance = float(2 * variance)
        self._slack = _FLOOR_SLACK * max(self._sigma, 1.0)

    def chunk(self, rests: Reals, entropy: BitSource) -> tuple[Integers, dict[int, int]]:
        half = (rests.size + 1) // 2
        radial = entropy.words(half) >> np.uint64(1)
        angular = entropy.words(half)
        radius = unit_interval(radial)
        np.log(radius, out=radius)
        radius *= -self._doubled_variance
        np.sqrt(radius, out=radius)
        angle = angular.view(np.int64).astype(np.float64)
        angle += 0.5
        angle *= math.pi * 2.0**-63
        cosines = np.cos(angle)
        sines = np.sin(angle, out=angle)[: rests.size - half]
        cosines *= radius
        cosines += rests[:half]
        cosines += self._shift
        sines *= radius[: sines.size]
        sines += rests[half:]
        sines += self._shift
        samples = np.empty(rests.size, dtype=np.int64)
        samples[:half], open_cosines = open_floors(cosines, self._slack, radial, _WORD_CEILING)
        if sines.size:
            words = radial[: sines.size]
            samples[half:], open_sines = open_floors(sines, self._slack, words, _WORD_CEILING)
        else:
            open_sines = open_cosines[:0]
        settled: dict[int, int] = {}
        for i in sorted({*open_cosines.tolist(), *open_sines.tolist()}):
            pair = [LazyUniform(int(radial[i]), 63, entropy), LazyUniform(int(angular[i]), 64, entropy)]
            settled[i] = self._settle(pair, Fraction(float(rests[i])), sine=False)
            if half + i < rests.size:
                settled[half + i] = self._settle(pair, Fraction(float(rests[half + i])), sine=True)
        return samples, settled

    def one(self, rest: Fraction | float, entropy: BitSource) -> int:
        radial = entropy.word() >> 1
        angular = entropy.word()
        if WORD_FLOOR <= radial <= _WORD_CEILING:
            radius = math.sqrt(-self._doubled_variance * math.log((radial + 0.5) * 2.0**-63))
            value = radius * math.cos(angular * (math.pi * 2.0**-63)) + float(rest) + self._shift
            whole = math.floor(value)
            if self._slack < value - whole < 1 - self._slack:
                return whole
        pair = [LazyUniform(radial, 63, entropy), LazyUniform(angular, 64, entropy)]
        return self._settle(pair, Fraction(rest), sine=False)

    def _settle(self, pair: list[LazyUniform], rest: Fraction, *, sine: bool) -> int:
        """One of the two floors; both use, and extend, the same uniforms."""

        def exact(u: Any, v: Any) -> Any:
            turn = 2 * v
            wave = turn.sin_pi() if sine else turn.cos_pi()
            squared = flint().arb(rational(2 * self.variance)) * -u.log()
            return squared.sqrt() * wave + rational(rest + self.shift)

        return decide_floor(exact, pair, extra_precision=128)


class RoundedGaussianSampler:
    """floor(σZ + rest + ½), Z standard normal, variance σ² any rational > 0: a rounding of the ideal noise.

    A rest is the exact part of a value below its granule, in (-½, 1): `array` and `one` take it for σ below
    DIRECT_LIMIT; `integers` and `one_integer` have none, and any σ.

    A large σ is split: with t a power of two and C = floor((σZ+½)/t), the position of σZ+½ inside the cell
    [Ct, Ct+t) is drawn from the uniform law by rejection against the normal density (accepted all but once in
    2¹⁶), and only its integer part is kept.
    """

    __slots__ = ("_bits", "_cells", "variance")

    def __init__(self, variance: Fraction) -> None:
        self.variance = variance
        sigma = math.isqrt(variance.numerator // variance.denominator)
        self._bits = 0 if sigma < DIRECT_LIMIT else sigma.bit_length() - DIRECT_LIMIT.bit_length() + 2
        self._cells = _BoxMuller(variance / (1 << 2 * self._bits), Fraction(1, 2 << self._bits))

    def array(self, rests: Reals, entropy: BitSource) -> Samples:
        self._refuse_cells()
        return collect(rests.size, lambda _, where: self._cells.chunk(rests[where], entropy))

    def one(self, rest: Fraction | float, entropy: BitSource) -> int:
        self._refuse_cells()
        return self._cells.one(rest, entropy)

    def _refuse_cells(self) -> None:
        if self._bits:
            raise NotPrivate(f"σ² = {float(self.variance):g} in granules is too wide for rests; use a coarser lattice.")

    def integers(self, count: int, entropy: BitSource) -> Samples:
        """floor(σZ + ½), count times."""
        if self._bits > 37:  # beyond int64: nobody's noise, but still exact
            return np.array([self.one_integer(entropy) for _ in range(count)], dtype=object)
        return collect(count, lambda size, _: self._chunk(size, entropy))

    def one_integer(self, entropy: BitSource) -> int:
        """floor(σZ + ½) once, as a Python integer of any size."""
        return self._inside(self._cells.one(Fraction(0), entropy), entropy)

    def _chunk(self, size: int, entropy: BitSource) -> tuple[Integers, dict[int, int]]:
        cells, settled = self._cells.chunk(np.zeros(size), entropy)
        if not self._bits:
            return cells, settled
        words: Words = entropy.words(size)
        coins = words << np.uint64(self._bits)
        low = (words >> np.uint64(64 - self._bits)).view(np.int64)
        samples = (cells << self._bits) | low
        mask = coins >= np.uint64(_SURE_COIN)
        for i, cell in settled.items():
            mask[i] = True
            cells[i] = 0  # replaced below by the exact cell
            settled[i] = self._inside(cell, entropy)
        for i in np.flatnonzero(mask).tolist():
            if i not in settled:
                coin = LazyUniform(int(coins[i]) >> self._bits, 64 - self._bits, entropy)
                place = LazyUniform(int(low[i]), self._bits, entropy)
                cell = int(cells[i])
                taken = self._accepts(cell, place, coin)
                settled[i] = int(samples[i]) if taken else self._inside(cell, entropy)
        return samples, settled

    def _inside(self, cell: int, entropy: BitSource) -> int:
        """The integer part of a point of the cell drawn from the normal density restricted to it."""
        if not self._bits:
            return cell
        central = abs(cell) <= _CENTRAL_CELLS
        while True:
            low = entropy.bits(self._bits)
            word = entropy.word()
            if (central and word < _SURE_COIN) or self._accepts(
                cell, LazyUniform(low, self._bits, entropy), LazyUniform(word, 64, entropy)
            ):
                return (cell << self._bits) + low

    def _accepts(self, cell: int, place: LazyUniform, coin: LazyUniform) -> bool:
        """A coin of probability exp(-(p² - m²)/2σ²) with p = (cell + place)·t - ½ and m the least |p| of the cell."""
        width = 1 << self._bits
        ends = [Fraction(2 * cell * width - 1, 2), Fraction(2 * (cell + 1) * width - 1, 2)]
        nearest = Fraction(0) if ends[0] < 0 < ends[1] else min(abs(end) for end in ends)

        def exact(v: Any, u: Any) -> Any:
            arb = flint().arb
            point = (arb(cell) + v) * width - arb(rational(Fraction(1, 2)))
            exponent = (point * point - arb(rational(nearest**2))) / arb(rational(2 * self.variance))
            return (-exponent).exp() - u

        return decide_sign(exact, [place, coin], extra_precision=64 + 2 * self._bits + abs(cell).bit_length())
