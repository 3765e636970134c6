"""The first k of a race, in order: exact, as `tacit.noise.race` is for the winner."""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.noise.entropy import BitSource
from tacit.noise.exact import LazyUniform, decide_sign, flint, rational
from tacit.noise.race import Laps, RaceNoise, ScoreArray, exact_score

__all__ = ["podium", "podiums"]


def podium(scores: ScoreArray, factor: Fraction, noise: RaceNoise, places: int, entropy: BitSource) -> list[int]:
    """The indices with the largest factor·score + noise, best first; ties have probability zero.

    Assumes a factor > 0, finite scores and 1 ≤ places ≤ len(scores).

    >>> from tacit.noise.race import GUMBEL
    >>> from tacit.testing import seeded
    >>> podium(np.array([0, 1000, 300]), Fraction(1), GUMBEL, 2, seeded(1))
    [1, 2]
    """
    laps = Laps.run(scores, factor, noise, entropy.words(len(scores)))
    bar = np.partition(laps.at_least, len(scores) - places)[len(scores) - places]
    contenders = np.flatnonzero(laps.at_most >= bar)
    contenders = contenders[np.argsort(-laps.at_most[contenders], kind="stable")]
    apart = laps.at_least[contenders[:-1]] > laps.at_most[contenders[1:]]
    if contenders.size == places and bool(apart.all()):
        return [int(i) for i in contenders]
    return _photo_finish(scores, factor, noise, places, laps, entropy)


def podiums(
    scores: ScoreArray, factor: Fraction, noise: RaceNoise, places: int, count: int, entropy: BitSource
) -> npt.NDArray[np.intp]:
    """The first so many of this many independent races with the same scores, a row for each."""
    laps = Laps.run(scores, factor, noise, entropy.words(count * len(scores)).reshape(count, -1))
    order = np.argsort(-laps.at_most, axis=1, kind="stable")
    behind = np.take_along_axis(laps.at_most, order, axis=1)[:, 1 : places + 1]
    ahead = np.take_along_axis(laps.at_least, order, axis=1)[:, : behind.shape[1]]
    first: npt.NDArray[np.intp] = order[:, :places].copy()
    for row in np.flatnonzero(~(ahead > behind).all(axis=1)):
        first[row] = _photo_finish(scores, factor, noise, places, laps.of_race(int(row)), entropy)
    return first


def _photo_finish(
    scores: ScoreArray, factor: Fraction, noise: RaceNoise, places: int, laps: Laps, entropy: BitSource
) -> list[int]:
    """The podium of one race, exactly: all that may stand on it are compared."""
    bar = np.partition(laps.at_least, len(scores) - places)[len(scores) - places]
    contenders = np.flatnonzero(laps.at_most >= bar)
    uniforms = {int(i): LazyUniform(int(laps.words[i]), 63, entropy) for i in contenders}
    exact = {i: exact_score(scores[i]) * factor for i in uniforms}
    ahead = functools.partial(_ahead, exact, uniforms, _laps(noise, {i: bool(laps.signs[i]) for i in uniforms}))
    return sorted(uniforms, key=functools.cmp_to_key(ahead))[:places]


def _laps(noise: RaceNoise, signs: dict[int, bool]) -> Callable[[int, Any], Any]:
    return lambda index, uniform: noise.at(index).ball(uniform, signs[index])


def _ahead(
    exact: dict[int, Fraction], uniforms: dict[int, LazyUniform], lap: Callable[[int, Any], Any], one: int, other: int
) -> int:
    """-1 if ``one`` certainly comes before ``other``, else 1; both extend their own uniform number."""
    gap = exact[one] - exact[other]

    def lead(u: Any, v: Any) -> Any:
        return flint().arb(rational(gap)) + lap(one, u) - lap(other, v)

    return -1 if decide_sign(lead, [uniforms[one], uniforms[other]], extra_precision=128) else 1
