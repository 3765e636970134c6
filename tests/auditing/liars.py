"""Mechanisms that break their promise, written as a reader of a paper or of a textbook would."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace

rng = random.Random(20170)


def lap(scale: float) -> float:
    """Laplace noise on a lattice of 2^-20, so that only the mechanism's own fault can be found."""
    u = rng.random() - 0.5
    return round(-scale * math.copysign(1, u) * math.log(1 - 2 * abs(u)) * 2**20) / 2**20


def roth_2011(answers: Sequence[float], *, epsilon: float, threshold: float, cutoff: int) -> list[object]:
    """Lyu, Su & Li (2017), Algorithm 3: releases the very noisy answer that was compared."""
    noisy_threshold = threshold + lap(2 / epsilon)
    out: list[object] = []
    count = 0
    for answer in answers:
        noisy = answer + lap(2 * cutoff / epsilon)
        if noisy >= noisy_threshold:
            out.append(noisy)
            count += 1
            if count >= cutoff:
                break
        else:
            out.append("below")
    return out


def lee_clifton_2014(answers: Sequence[float], *, epsilon: float, threshold: float, cutoff: int) -> list[bool]:
    """Algorithm 4: the noise on the answers does not grow with the cut-off."""
    noisy_threshold = threshold + lap(4 / epsilon)
    out = []
    count = 0
    for answer in answers:
        if answer + lap(4 / (3 * epsilon)) >= noisy_threshold:
            out.append(True)
            count += 1
            if count >= cutoff:
                break
        else:
            out.append(False)
    return out


def stoddard_2014(answers: Sequence[float], *, epsilon: float, threshold: float) -> list[bool]:
    """Algorithm 5: no noise on the answers, and no cut-off."""
    noisy_threshold = threshold + lap(2 / epsilon)
    return [answer >= noisy_threshold for answer in answers]


def chen_2015(answers: Sequence[float], *, epsilon: float, threshold: float) -> list[bool]:
    """Algorithm 6: noise on the answers, but no cut-off."""
    noisy_threshold = threshold + lap(2 / epsilon)
    return [answer + lap(2 / epsilon) >= noisy_threshold for answer in answers]


def naive_thresholds(answers: Sequence[float], *, epsilon: float) -> list[bool]:
    """Each answer compared with Lap(1/ε), sold at ε for all of them."""
    return [answer + lap(1 / epsilon) >= 0 for answer in answers]


def textbook_laplace(value: float) -> float:
    """The inverse of the distribution function in floats: Mironov (2012) reads the value off the low bits."""
    u = rng.random() - 0.5
    return value - math.copysign(1.0, u) * math.log(1 - 2 * abs(u))


def integers_in_floats(value: int) -> int:
    """Adds exact integer noise of scale 50, but takes the value through a float."""
    return int(float(value)) + DiscreteLaplace(epsilon=1, sensitivity=50).release(0)


def reused_noise(values: Sequence[int]) -> list[int]:
    """Two counts with one draw of noise: their difference is exact."""
    noise = DiscreteLaplace(epsilon="0.5", sensitivity=1).release(0)
    return [value + noise for value in values]


def discrete_laplace(values: np.ndarray, *, scale: object) -> np.ndarray:
    """Right, if the scale is."""
    return DiscreteLaplace.of_scale(Fraction(scale), sensitivity=1).release(values)


def raises_on_empty(rows: Sequence[int]) -> float:
    """An average that cannot bear an empty table."""
    return sum(rows) / len(rows) + lap(10.0)


def returns_early(rows: Sequence[int]) -> float:
    """No noise when there seems to be nothing to hide."""
    if not rows:
        return 0.0
    return len(rows) + lap(1.0)


def sometimes_tells(truth: int) -> int:
    """(0, 1/100)-DP, sold as pure: once in a hundred times the truth comes out."""
    return truth if rng.random() < 0.01 else -1


def rounded_gaussian(values: np.ndarray, *, scale: float) -> np.ndarray:
    """Gaussian noise rounded to whole numbers after it was added: as private as its scale."""
    return np.floor(values + np.random.default_rng().normal(0, scale, len(values)) + 0.5).astype(np.int64)
