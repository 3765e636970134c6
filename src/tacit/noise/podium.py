"""The first k of a race, in order: exact, as `tacit.noise.race` is for the winner."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.noise.entropy import BitSource
from tacit.noise.exact import LazyUniform, decide_sign, flint, rational
from tacit.noise.floors import WORD_FLOOR, unit_interval
from tacit.noise.race import SCORE_SLACK, WORD_CEILING, RaceNoise, ScoreArray, exact_score, relative_scores

__all__ = ["podium"]


def podium(scores: ScoreArray, factor: Fraction, noise: RaceNoise, places: int, entropy: BitSource) -> list[int]:
    """The indices with the largest factor·score + noise, best first; ties have probability zero.

    Assumes a factor > 0, finite scores and 1 ≤ places ≤ len(scores).

    >>> from tacit.noise.race import GUMBEL
    >>> from tacit.testing import seeded
    >>> podium(np.array([0, 1000, 300]), Fraction(1), GUMBEL, 2, seeded(1))
    [1, 2]
    """
    reach = relative_scores(scores, factor)
    words = entropy.words(reach.size)
    signs = (words & np.uint64(1)).astype(np.bool_)
    words = words >> np.uint64(1)
    with np.errstate(all="ignore"):
        laps = noise.reals(unit_interval(words), signs) + reach
        slack = reach * -SCORE_SLACK + (noise.slack + SCORE_SLACK)
        at_least, at_most = laps - slack, laps + slack
    extreme = (words < WORD_FLOOR) | (words > WORD_CEILING)
    at_least[extreme] = -math.inf
    at_most[extreme] = math.inf
    bar = np.partition(at_least, reach.size - places)[reach.size - places]
    contenders = np.flatnonzero(at_most >= bar)
    contenders = contenders[np.argsort(-laps[contenders], kind="stable")]
    apart = at_least[contenders[:-1]] > at_most[contenders[1:]]
    if contenders.size == places and bool(apart.all()):
        return [int(i) for i in contenders]

    uniforms = {int(i): LazyUniform(int(words[i]), 63, entropy) for i in contenders}
    exact = {i: exact_score(scores[i]) * factor for i in uniforms}
    ahead = functools.partial(_ahead, exact, uniforms, _laps(noise, {i: bool(signs[i]) for i in uniforms}))
    return sorted(uniforms, key=functools.cmp_to_key(ahead))[:places]


def _laps(noise: RaceNoise, signs: dict[int, bool]) -> Callable[[int, Any], Any]:
    return lambda index, uniform: noise.ball(uniform, signs[index])


def _ahead(
    exact: dict[int, Fraction], uniforms: dict[int, LazyUniform], lap: Callable[[int, Any], Any], one: int, other: int
) -> int:
    """-1 if ``one`` certainly comes before ``other``, else 1; both extend their own uniform number."""
    gap = exact[one] - exact[other]

    def lead(u: Any, v: Any) -> Any:
        return flint().arb(rational(gap)) + lap(one, u) - lap(other, v)

    return -1 if decide_sign(lead, [uniforms[one], uniforms[other]], extra_precision=128) else 1
