"""How wide noise is, in closed form: to compare laws and ways to measure by. Floats, of which no promise is made."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from operator import truediv
from typing import NamedTuple

from tacit.privacy.conversion import near_largest_gaussian
from tacit.tables.engines.contract import Counted

__all__ = ["ClearLaw", "Deviations", "clear_law", "gaussian", "is_clearly_larger_somewhere", "laplace"]

Deviations = list[float]
"""One for each measure, in the order of the shares."""
Shares = Mapping[Counted, Fraction]

_CLEAR = 1e-6
"""What differs by less, as a ratio, floats do not decide."""


class ClearLaw(NamedTuple):
    """The law whose noise is smaller, and its standard deviations."""

    is_gaussian: bool
    deviations: Deviations


def laplace(epsilon: float, shares: Shares, groups: int) -> Deviations:
    """Of Laplace noise: each measure at its share of ε."""
    wide = math.sqrt(2) * groups / epsilon
    return [wide * max(one.reach, 1) / float(share) for one, share in shares.items()]


def gaussian(square: float, shares: Shares, groups: int) -> Deviations:
    """Of Gaussian noise: each measure at its share of μ²."""
    return [math.sqrt(groups * max(one.squared, 1) / (square * float(share))) for one, share in shares.items()]


def clear_law(epsilon: float, delta: float, shares: Shares, groups: int) -> ClearLaw | None:
    """The better of the two for measures that share (ε, δ), in proportion; None where floats do not tell."""
    square = near_largest_gaussian(epsilon, delta)
    if square is None:
        return None
    whole = float(sum(shares.values()))
    tried = laplace(epsilon / whole, shares, groups), gaussian(square / whole, shares, groups)
    reaches = [max(one.reach, 1) for one in shares]
    first, second = (math.hypot(*map(truediv, own, reaches)) for own in tried)
    if abs(first - second) <= _CLEAR * first:
        return None
    return ClearLaw(second < first, tried[second < first])


def is_clearly_larger_somewhere(ones: Sequence[float], others: Sequence[float]) -> bool:
    """Whether any of them is larger than its other, beyond rounding."""
    return any(one > other * (1 + _CLEAR) for one, other in zip(ones, others, strict=True))
