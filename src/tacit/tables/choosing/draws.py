"""What draws from a group's cells by rank have in common: permute-and-flip at ε, the exponential mechanism at ρ."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from tacit.mechanisms.selecting import regret
from tacit.privacy import ZCDP, PureDP

__all__ = ["GroupDraw"]


@dataclass(frozen=True, slots=True)
class GroupDraw:
    """Draws candidates, the likelier the nearer they are to what is aimed at, by e^(-factor·distance).

    As probabilities up to a constant in the exponential mechanism; as the coins of permute-and-flip if ``flips``.
    """

    factor: Fraction
    points: int
    """How many cells the line has."""
    flips: bool

    @classmethod
    def at(cls, price: PureDP | ZCDP, furthest: Fraction, points: int) -> Self:
        """At a price for one group, in which a unit moves a score by at most ``furthest``, some up and some down."""
        return cls(price.range_of_each() / (2 * furthest), points, isinstance(price, PureDP))

    def distance(self, beta: Fraction, others: int) -> float:
        """What the distance exceeds with probability at most β, if one candidate is at 0, among so many others."""
        return regret(self.factor, beta, Fraction(others, 2) if self.flips else Fraction(others))
