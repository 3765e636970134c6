"""The part of a report that ignores the value, and how reports fall for a pair of values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from tacit.errors import InvalidParameter

__all__ = ["Blanket"]


@dataclass(frozen=True, slots=True)
class Blanket:
    """A randomizer all of whose reports are either e^ε₀ times likelier, or not, under a value: γ and four classes.

    With probability ``share`` a report is drawn from one law whatever the value is. Of that law, for any two values,
    ``one`` are likelier under the first only (and as many under the second only), ``both`` under both, the rest under
    neither. Proof: docs/proofs/shuffling.md.
    """

    epsilon0: Fraction
    share: float
    one: float
    both: float

    @property
    def neither(self) -> float:
        """Reports of the common law that are likelier under neither value."""
        return max(0.0, 1 - 2 * self.one - self.both)

    @classmethod
    def of_hashes(cls, epsilon0: Fraction, buckets: int) -> Blanket:
        """A random hash to g buckets, then k-ary response: two values collide with chance 1/g."""
        lie = _lie(epsilon0, Fraction(buckets - 1))
        return cls(epsilon0, buckets * lie, (1 - 1 / buckets) / buckets, 1 / buckets**2)

    @classmethod
    def of_subsets(cls, epsilon0: Fraction, categories: int, size: int) -> Blanket:
        """Sets of d out of k categories, those with the own one likelier; k-ary response is d = 1."""
        k, d = categories, size
        share = _lie(epsilon0, Fraction(k - d, d)) * k / d
        return cls(epsilon0, share, d * (k - d) / (k * (k - 1)), d * (d - 1) / (k * (k - 1)))


def _lie(epsilon0: Fraction, others: Fraction) -> float:
    """1/(e^ε₀ + others)."""
    if epsilon0 > 700:
        raise InvalidParameter("epsilon0", given=epsilon0, allowed="at most 700")
    return 1 / (math.exp(float(epsilon0)) + float(others))
