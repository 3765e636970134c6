"""Hurdles: does value + noise reach threshold + noise? Exact for continuous noise on exact numbers.

A throw is one draw of continuous noise, of which only the first bits are known: a float within a stated error, and a
ball that further secret bits make as small as need be. Comparing two throws takes the floats where the error bound
settles it, and ball arithmetic where it does not.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.noise.entropy import BitSource
from tacit.noise.exact import LazyUniform, decide_floor, decide_sign, flint, rational, working_precision
from tacit.noise.floors import WORD_FLOOR, Reals, unit_interval

__all__ = ["GaussianThrows", "LaplaceThrows", "NoThrows", "Throw", "Throws", "gap_floor", "reaches"]

_SLACK = 2.0**-38
"""Bound on the error of a throw's float, in units of its scale: four times that of the samplers."""

_GAUSSIAN_CEILING = (1 << 63) - (1 << 46)


@dataclass(frozen=True, slots=True)
class Throw:
    """One draw: its float, and the uniform numbers it is made of."""

    real: float
    sign: int
    uniforms: tuple[LazyUniform, ...]
    law: Throws

    def ball(self, *uniforms: Any) -> Any:
        return self.law.ball(self.sign, *uniforms)


class Throws(ABC):
    """A law of continuous noise, centred at zero."""

    __slots__ = ("scale", "slack")

    scale: float
    slack: float

    @abstractmethod
    def ball(self, sign: int, *uniforms: Any) -> Any:
        """The noise as a ball, from balls of its uniform numbers."""

    @abstractmethod
    def many(self, count: int, entropy: BitSource) -> ManyThrows:
        """Independent draws."""

    def one(self, entropy: BitSource) -> Throw:
        return self.many(1, entropy).throw(0)

    def _real(self, sign: int, uniforms: Sequence[LazyUniform]) -> float:
        """The float of a draw that the fast path left open."""
        for uniform in uniforms:
            uniform.refine()
            uniform.refine()
            while uniform.prefix in (
                0,
                (1 << uniform.known) - 1,
            ):  # it may be 0 or 1: no bound for its logarithm's root
                uniform.refine()
        with working_precision(128 + max(uniform.known for uniform in uniforms)):
            return float(self.ball(sign, *(uniform.ball() for uniform in uniforms)).mid())


class ManyThrows:
    """Draws as an array of floats; those the fast path left open are already settled."""

    __slots__ = ("_entropy", "_law", "_opened", "_signs", "_words", "reals")

    def __init__(
        self,
        law: Throws,
        reals: Reals,
        signs: npt.NDArray[np.bool_],
        words: Sequence[tuple[npt.NDArray[np.uint64], int]],
        still_open: npt.NDArray[np.intp],
        entropy: BitSource,
    ) -> None:
        self.reals = reals
        self._law = law
        self._signs = signs
        self._words = words
        self._entropy = entropy
        self._opened: dict[int, tuple[LazyUniform, ...]] = {}
        for i in still_open:
            uniforms = self._uniforms(int(i))
            reals[i] = law._real(int(signs[i]), uniforms)

    def _uniforms(self, i: int) -> tuple[LazyUniform, ...]:
        if i not in self._opened:
            fresh = (LazyUniform(int(words[i]), bits, self._entropy) for words, bits in self._words)
            self._opened[i] = tuple(fresh)
        return self._opened[i]

    def throw(self, i: int) -> Throw:
        """One of the draws, with the bits it has used so far."""
        return Throw(float(self.reals[i]), int(self._signs[i]), self._uniforms(i), self._law)


class LaplaceThrows(Throws):
    """scale·L, L the continuous Laplace law of scale 1."""

    __slots__ = ("exact_scale",)

    def __init__(self, scale: Fraction) -> None:
        self.exact_scale = scale
        self.scale = float(scale)
        self.slack = self.scale * _SLACK

    def ball(self, sign: int, *uniforms: Any) -> Any:
        noise = flint().arb(rational(self.exact_scale)) * uniforms[0].log()
        return -noise if sign else noise

    def many(self, count: int, entropy: BitSource) -> ManyThrows:
        words = entropy.words(count)
        signs = (words & np.uint64(1)).astype(np.bool_)
        words = words >> np.uint64(1)
        reals = np.log(unit_interval(words))
        reals *= self.scale
        np.negative(reals, out=reals, where=signs)
        still_open = np.flatnonzero(words < WORD_FLOOR) if count and bool(words.min() < WORD_FLOOR) else _NONE
        return ManyThrows(self, reals, signs, [(words, 63)], still_open, entropy)


class GaussianThrows(Throws):
    """σZ, Z standard normal, by Box–Muller."""

    __slots__ = ("variance",)

    def __init__(self, variance: Fraction) -> None:
        self.variance = variance
        self.scale = math.sqrt(variance)
        self.slack = self.scale * _SLACK

    def ball(self, sign: int, *uniforms: Any) -> Any:
        squared = flint().arb(rational(2 * self.variance)) * -uniforms[0].log()
        return squared.sqrt() * (2 * uniforms[1]).cos_pi()

    def many(self, count: int, entropy: BitSource) -> ManyThrows:
        radial = entropy.words(count) >> np.uint64(1)
        angular = entropy.words(count)
        reals = np.sqrt(np.log(unit_interval(radial)) * (-2 * self.scale**2))
        angle = (angular.astype(np.float64) + 0.5) * (math.pi * 2.0**-63)
        reals *= np.cos(angle)
        still_open = np.flatnonzero((radial < WORD_FLOOR) | (radial > _GAUSSIAN_CEILING))
        signs = np.zeros(count, dtype=np.bool_)
        return ManyThrows(self, reals, signs, [(radial, 63), (angular, 64)], still_open, entropy)


class NoThrows(Throws):
    """No noise: a plain threshold."""

    __slots__ = ()

    def __init__(self) -> None:
        self.scale = self.slack = 0.0

    def ball(self, sign: int, *uniforms: Any) -> Any:
        return flint().arb(0)

    def many(self, count: int, entropy: BitSource) -> ManyThrows:
        return ManyThrows(self, np.zeros(count), np.zeros(count, dtype=np.bool_), [], _NONE, entropy)


_NONE: npt.NDArray[np.intp] = np.empty(0, dtype=np.intp)


def reaches(lead: Fraction, jump: Throw, bar: Throw) -> bool:
    """Whether lead + jump > bar, exactly; equality has probability zero."""
    split = len(jump.uniforms)

    def margin(*balls: Any) -> Any:
        return flint().arb(rational(lead)) + jump.ball(*balls[:split]) - bar.ball(*balls[split:])

    return decide_sign(margin, [*jump.uniforms, *bar.uniforms], extra_precision=_extra(lead))


def gap_floor(lead: Fraction, jump: Throw, bar: Throw, granule: Fraction) -> int:
    """floor((lead + jump - bar)/granule + ½), exactly."""
    split = len(jump.uniforms)

    def steps(*balls: Any) -> Any:
        margin = flint().arb(rational(lead)) + jump.ball(*balls[:split]) - bar.ball(*balls[split:])
        return margin / rational(granule) + flint().arb(rational(Fraction(1, 2)))

    return decide_floor(steps, [*jump.uniforms, *bar.uniforms], extra_precision=_extra(lead / granule))


def _extra(lead: Fraction) -> int:
    return 192 + max(0, lead.numerator.bit_length() - lead.denominator.bit_length())
