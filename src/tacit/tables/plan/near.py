"""How wide noise is, in closed form: to compare laws and ways to measure by. Floats, of which no promise is made."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from operator import truediv
from typing import NamedTuple, Self

from tacit.privacy.conversion import near_largest_gaussian
from tacit.tables.engines.contract import Counted

__all__ = [
    "ClearLaw",
    "Deviations",
    "Sizes",
    "clear_law",
    "gaussian",
    "is_clearly_larger_somewhere",
    "laplace",
    "within",
]

Deviations = list[float]
"""One for each measure, in the order of the shares."""

_CLEAR = 1e-6
"""What differs by less, as a ratio, floats do not decide."""
_LEAST, _MOST = Fraction(1, 10**12), Fraction(500)
"""Prices between these are far from where floats end."""


class Sizes(NamedTuple):
    """Of the measures of a grouped question: how far one unit moves each in L1 and in L2, and their shares."""

    reaches: list[int]
    lengths: list[float]
    shares: list[float]
    groups: int
    whole: float

    @classmethod
    def of(cls, shares: Mapping[Counted, Fraction], groups: int) -> Self:
        """Those of measures, which a unit moves in so many groups."""
        parts = [float(share) for share in shares.values()]
        lengths = [math.sqrt(groups * max(one.squared, 1)) for one in shares]
        return cls([max(one.reach, 1) for one in shares], lengths, parts, groups, math.fsum(parts))


class ClearLaw(NamedTuple):
    """The law whose noise is smaller, and its standard deviations."""

    is_gaussian: bool
    deviations: Deviations


def within(main: Fraction) -> bool:
    """Whether floats can tell anything at such an ε or ρ."""
    return _LEAST < main < _MOST


def laplace(epsilon: float, sizes: Sizes) -> Deviations:
    """Of Laplace noise: each measure at its share of ε."""
    wide = math.sqrt(2) * sizes.groups / epsilon
    return [wide * reach / share for reach, share in zip(sizes.reaches, sizes.shares, strict=True)]


def gaussian(square: float, sizes: Sizes) -> Deviations:
    """Of Gaussian noise: each measure at its share of μ²."""
    return [length / math.sqrt(square * share) for length, share in zip(sizes.lengths, sizes.shares, strict=True)]


def clear_law(epsilon: float, delta: float, sizes: Sizes) -> ClearLaw | None:
    """The better of the two for measures that share (ε, δ), in proportion; None where floats do not tell."""
    square = near_largest_gaussian(epsilon, delta)
    if square is None:
        return None
    tried = laplace(epsilon / sizes.whole, sizes), gaussian(square / sizes.whole, sizes)
    first, second = (math.hypot(*map(truediv, own, sizes.reaches)) for own in tried)
    if abs(first - second) <= _CLEAR * first:
        return None
    return ClearLaw(second < first, tried[second < first])


def is_clearly_larger_somewhere(ones: Sequence[float], others: Sequence[float]) -> bool:
    """Whether any of them is larger than its other, beyond rounding."""
    return any(one > other * (1 + _CLEAR) for one, other in zip(ones, others, strict=True))
