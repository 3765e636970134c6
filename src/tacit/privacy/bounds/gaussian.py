"""Gaussian composition: μ² adds up, and the profile of the sum is exact."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from tacit.privacy.bounds.bound import Parts
from tacit.privacy.conversion import gaussian_to_delta, gaussian_to_epsilon


@dataclass(frozen=True, slots=True)
class Gaussian:
    """μ² = Σμᵢ² for parts that imply Gaussian DP (Dong, Roth & Su 2022, Corollary 3.3); tight if all are Gaussian."""

    name: str = "gaussian"

    def epsilon(self, parts: Parts, delta: Fraction) -> float:
        total = _sum(parts) if delta else None
        return math.inf if total is None else gaussian_to_epsilon(total, delta)

    def delta(self, parts: Parts, epsilon: Fraction) -> float:
        total = _sum(parts)
        return 1.0 if total is None else gaussian_to_delta(total, epsilon)


def _sum(parts: Parts) -> Fraction | None:
    total = Fraction(0)
    for part, often in parts:
        mu_squared = part.as_gaussian()
        if mu_squared is None:
            return None
        total += often * mu_squared
    return total
