"""Optimal composition of parts with the same ε (Kairouz, Oh & Viswanath 2017)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from tacit.privacy.bounds.bound import Parts, joint_leak, left_for_the_rest
from tacit.privacy.bounds.responses import responses_delta_up, responses_epsilon
from tacit.privacy.conversion import with_leak
from tacit.privacy.prices import round_up


@dataclass(frozen=True, slots=True)
class Optimal:
    """The exact profile of k parts that are (ε₀,δᵢ)-DP, rounded up: no theorem about such parts can be better.

    Every (ε₀,δ₀)-DP pair is a processing of "leak with probability δ₀, otherwise randomized response", so the worst
    case is that, k times: Theorem 3.3 of Kairouz, Oh & Viswanath, here at every real ε.
    """

    name: str = "optimal"

    def epsilon(self, parts: Parts, delta: Fraction) -> float:
        common = _common(parts)
        rest = left_for_the_rest(parts, delta)
        if common is None or rest is None:
            return math.inf
        return responses_epsilon(*common, rest) if rest else round_up(common[0] * common[1])

    def delta(self, parts: Parts, epsilon: Fraction) -> float:
        common = _common(parts)
        leak = joint_leak(parts)
        if common is None or leak >= 1:
            return 1.0
        return with_leak(leak, responses_delta_up(*common, epsilon))


def _common(parts: Parts) -> tuple[Fraction, int] | None:
    """(ε₀, k) if k parts have this ε and the others have ε = 0; None if two parts differ."""
    epsilon, k = Fraction(0), 0
    for part, often in parts:
        pair = part.as_approx()
        if pair is None or (pair[0] and epsilon not in (0, pair[0])):
            return None
        if pair[0]:
            epsilon, k = pair[0], k + often
    return epsilon, k
