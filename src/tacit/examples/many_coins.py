"""Many coins at once, each of its own probability: by floats where an error bound settles them, else exactly."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.noise.entropy import BitSource
from tacit.noise.exact import LazyUniform, decide_sign, flint, rational

__all__ = ["coins_exp", "coins_near"]

Booleans = npt.NDArray[np.bool_]

_SLACK = 2.0**-42
"""Bound on the error of a chance and of the 64-bit coin it is compared with, together."""


def coins_near(
    chances: npt.NDArray[np.float64], entropy: BitSource, margin: Callable[[int], Callable[[Any], Any]]
) -> Booleans:
    """Coins whose chances are known to 2⁻⁴³; ``margin(i)`` is above 0 for uniform numbers below the exact chance."""
    words = entropy.words(chances.size)
    above = chances - words.astype(np.float64) * 2.0**-64
    coins: Booleans = above > 0
    for i in np.flatnonzero(~(np.abs(above) > _SLACK)).tolist():
        coins[i] = decide_sign(margin(i), [LazyUniform(int(words[i]), 64, entropy)])
    return coins


def coins_exp(counts: npt.NDArray[np.int64], scale: Fraction, entropy: BitSource) -> Booleans:
    """Coins of probability e^(-count/scale) for 0 ≤ count ≤ scale; a count of 0 draws nothing, and is True."""
    coins = np.ones(counts.size, dtype=np.bool_)
    asked = np.flatnonzero(counts)
    chances = np.exp(counts[asked] / -float(scale))

    def margin(i: int) -> Callable[[Any], Any]:
        exponent = int(counts[asked[i]]) / scale
        return lambda u: (-flint().arb(rational(exponent))).exp() - u

    if asked.size:
        coins[asked] = coins_near(chances, entropy, margin)
    return coins
