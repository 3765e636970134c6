"""Races: which index has the largest score plus noise? Exact for continuous noise on exact scores.

Each contestant's noise is a function of one uniform number. The race is run in float64 with an error bound on every
lap time; if more than one contestant may have won, those few are run again by `tacit.noise.exact`. With Gumbel
noise P[i wins] ∝ e^(factor·score), the exponential mechanism; with exponential noise it is permute-and-flip. A
contestant can be a crowd of runners with one score: its lap is that of its first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tacit.noise.entropy import BitSource
from tacit.noise.exact import LazyUniform, decide_largest, flint, rational
from tacit.noise.floors import WORD_FLOOR, Reals, Words, unit_interval
from tacit.noise.lattice import LARGEST

__all__ = ["EXPONENTIAL", "GUMBEL", "LAPLACE", "Crowds", "Laps", "RaceNoise", "ScoreArray", "race", "races"]

ScoreArray = npt.NDArray[np.int64] | npt.NDArray[np.float64] | Sequence[Fraction]

WORD_CEILING = (1 << 63) - WORD_FLOOR
SCORE_SLACK = 2.0**-48  # of 1 + |factor·(score - largest)|: three roundings and a sum
_FLOAT_FACTOR = 1 << 1000


class RaceNoise(Protocol):
    """A continuous law of scale one, as a function of a uniform number and a fair sign."""

    @property
    def name(self) -> str: ...

    @property
    def slack(self) -> float:
        """Error bound of `reals`, for words between `WORD_FLOOR` and its mirror image."""

    def reals(self, uniforms: Reals, signs: npt.NDArray[np.bool_]) -> Reals: ...

    def ball(self, uniform: Any, sign: bool) -> Any: ...

    def at(self, place: int) -> RaceNoise:
        """The law of one contestant, where they differ."""


@dataclass(frozen=True, slots=True)
class _Gumbel:
    name: str = "Gumbel"
    slack: float = 2.0**-28

    def reals(self, uniforms: Reals, signs: npt.NDArray[np.bool_]) -> Reals:
        return -np.log(-np.log(uniforms))

    def ball(self, uniform: Any, sign: bool) -> Any:
        return -(-uniform.log()).log()

    def at(self, place: int) -> RaceNoise:
        return self


@dataclass(frozen=True, slots=True)
class _Exponential:
    name: str = "exponential"
    slack: float = 2.0**-41

    def reals(self, uniforms: Reals, signs: npt.NDArray[np.bool_]) -> Reals:
        return -np.log(uniforms)

    def ball(self, uniform: Any, sign: bool) -> Any:
        return -uniform.log()

    def at(self, place: int) -> RaceNoise:
        return self


@dataclass(frozen=True, slots=True)
class _Laplace:
    name: str = "Laplace"
    slack: float = 2.0**-41

    def reals(self, uniforms: Reals, signs: npt.NDArray[np.bool_]) -> Reals:
        magnitudes = np.log(uniforms)
        np.negative(magnitudes, out=magnitudes, where=signs)
        return magnitudes

    def ball(self, uniform: Any, sign: bool) -> Any:
        return -uniform.log() if sign else uniform.log()

    def at(self, place: int) -> RaceNoise:
        return self


@dataclass(frozen=True, slots=True, eq=False)
class Crowds:
    """The largest of so many draws of the exponential law: -ln(1 - U^(1/size)), one size above 0 per contestant."""

    sizes: npt.NDArray[np.int64]
    name: str = "exponential, of crowds"
    slack: float = 2.0**-28

    def reals(self, uniforms: Reals, signs: npt.NDArray[np.bool_]) -> Reals:
        return -np.log(-np.expm1(np.log(uniforms) / self.sizes))

    def ball(self, uniform: Any, sign: bool) -> Any:
        assert self.sizes.size == 1
        return -(-(uniform.log() / int(self.sizes[0])).expm1()).log()

    def at(self, place: int) -> RaceNoise:
        return Crowds(self.sizes[place : place + 1])


GUMBEL: RaceNoise = _Gumbel()
EXPONENTIAL: RaceNoise = _Exponential()
LAPLACE: RaceNoise = _Laplace()


def race(scores: ScoreArray, factor: Fraction, noise: RaceNoise, entropy: BitSource) -> int:
    """The index with the largest factor·score + noise; ties have probability zero.

    Assumes a factor > 0 and finite scores: integers, floats (the exact binary numbers) or Fractions, at least one.

    >>> from tacit.testing import seeded
    >>> race(np.array([0, 1000, 3]), Fraction(1), GUMBEL, seeded(1))
    1
    """
    laps = Laps.run(scores, factor, noise, entropy.words(len(scores)))
    contenders = np.flatnonzero(laps.at_most >= laps.at_least.max())
    if contenders.size == 1:
        return int(contenders[0])
    return int(contenders[_photo_finish(scores, factor, noise, contenders, laps, entropy)])


def races(
    scores: ScoreArray, factor: Fraction, noise: RaceNoise, count: int, entropy: BitSource
) -> npt.NDArray[np.intp]:
    """The winners of this many independent races with the same scores."""
    laps = Laps.run(scores, factor, noise, entropy.words(count * len(scores)).reshape(count, -1))
    rivals = laps.at_most >= laps.at_least.max(axis=1, keepdims=True)
    winners: npt.NDArray[np.intp] = rivals.argmax(axis=1)
    for row in np.flatnonzero(rivals.sum(axis=1) > 1):
        contenders = np.flatnonzero(rivals[row])
        winners[row] = contenders[_photo_finish(scores, factor, noise, contenders, laps.of_race(int(row)), entropy)]
    return winners


@dataclass(frozen=True, slots=True, eq=False)
class Laps:
    """Lap times between two bounds, and the secret bits they were made of: of one race, or of many in rows."""

    at_least: Reals
    at_most: Reals
    words: Words
    signs: npt.NDArray[np.bool_]

    @classmethod
    def run(cls, scores: ScoreArray, factor: Fraction, noise: RaceNoise, words: Words) -> Laps:
        """Laps made of one uniform 64-bit word each; the last axis is that of the scores."""
        reach = relative_scores(scores, factor)
        signs = (words & np.uint64(1)).astype(np.bool_)
        words = words >> np.uint64(1)
        with np.errstate(all="ignore"):
            laps = noise.reals(unit_interval(words), signs)
            laps += reach
            slack = reach * -SCORE_SLACK
            slack += noise.slack + SCORE_SLACK
            at_least = laps - slack
            at_most = np.add(laps, slack, out=laps)
        extreme = (words < WORD_FLOOR) | (words > WORD_CEILING)
        at_least[extreme] = -math.inf
        at_most[extreme] = math.inf
        return cls(at_least, at_most, words, signs)

    def of_race(self, row: int) -> Laps:
        return Laps(self.at_least[row], self.at_most[row], self.words[row], self.signs[row])


def relative_scores(scores: ScoreArray, factor: Fraction) -> Reals:
    """factor·score less the largest of them, in floats with an error below 2⁻⁵⁰ of 1 + itself.

    What lies beyond the floats becomes the least of them: an upper bound, and minus infinity as a lower one.
    """
    if isinstance(scores, np.ndarray) and factor < _FLOAT_FACTOR:
        below = _below_largest(scores)
        if below is not None:
            with np.errstate(over="ignore"):
                return np.maximum(below * float(factor), -LARGEST)
    exact = [exact_score(score) for score in scores]
    top = max(exact)
    return np.array([_float_or_least((score - top) * factor) for score in exact])


def _below_largest(scores: npt.NDArray[np.int64] | npt.NDArray[np.float64]) -> Reals | None:
    """score - largest, with one rounding; None where the subtraction could overflow."""
    below: Reals
    largest = scores.max()
    if scores.dtype == np.float64:
        with np.errstate(over="ignore"):
            below = scores - largest
        return below if bool(np.isfinite(below).all()) else None
    if scores.dtype == np.int64 and int(largest) - int(scores.min()) < 1 << 62:
        below = (scores - largest).astype(np.float64)
        return below
    return None


def exact_score(score: Any) -> Fraction:
    return Fraction(score.item() if isinstance(score, np.generic) else score)


def _float_or_least(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return -LARGEST


def _photo_finish(
    scores: ScoreArray,
    factor: Fraction,
    noise: RaceNoise,
    contenders: npt.NDArray[np.intp],
    laps: Laps,
    entropy: BitSource,
) -> int:
    """The position among the contenders of the true winner."""
    uniforms = [LazyUniform(int(laps.words[i]), 63, entropy) for i in contenders]
    exact = [exact_score(scores[int(i)]) * factor for i in contenders]
    top = max(exact)
    gaps = [score - top for score in exact]

    def lap(gap: Fraction, place: int) -> Any:
        own, sign = noise.at(place), bool(laps.signs[place])
        return lambda u: flint().arb(rational(gap)) + own.ball(u, sign)

    runs = [lap(gap, int(i)) for gap, i in zip(gaps, contenders, strict=True)]
    return decide_largest(runs, uniforms, extra_precision=128)
