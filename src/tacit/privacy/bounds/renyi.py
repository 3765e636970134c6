"""Rényi composition: divergences add up at every order; the best order is chosen at the end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from tacit.privacy.bounds.bound import Parts, joint_leak, left_for_the_rest
from tacit.privacy.conversion import (
    best_order_for_delta,
    best_order_for_epsilon,
    renyi_delta_up,
    renyi_epsilon_up,
    with_leak,
)
from tacit.privacy.rounding import float_up


@dataclass(frozen=True, slots=True)
class Renyi:
    """D_α ≤ Σ D_α,ᵢ outside the joint leak (Mironov 2017, Prop. 1; Bun & Steinke 2016, Lemma 8.2), any parts."""

    name: str = "renyi"

    def epsilon(self, parts: Parts, delta: Fraction) -> float:
        rest = left_for_the_rest(parts, delta)
        if not rest or _silent(parts):
            return math.inf
        found = best_order_for_delta(lambda order: _estimate(parts, order), rest)
        sums = [(alpha, _sum(parts, alpha)) for alpha in _orders(parts, found)]
        return min((float_up(renyi_epsilon_up(alpha, d, rest)) for alpha, d in sums if d is not None), default=math.inf)

    def delta(self, parts: Parts, epsilon: Fraction) -> float:
        leak = joint_leak(parts)
        if leak >= 1 or _silent(parts):
            return 1.0
        found = best_order_for_epsilon(lambda order: _estimate(parts, order), epsilon)
        sums = [(alpha, _sum(parts, alpha)) for alpha in _orders(parts, found)]
        return min(
            (with_leak(leak, renyi_delta_up(alpha, d, epsilon)) for alpha, d in sums if d is not None), default=1.0
        )


def _silent(parts: Parts) -> bool:
    """Whether some part says nothing at any order."""
    return any(part.only_a_loss for part, _ in parts)


def _orders(parts: Parts, found: Fraction) -> set[Fraction]:
    """The order that a search found, and the highest at which all parts still say something."""
    tops = [top for part, _ in parts if (top := part.highest_order()) is not None]
    return {found, min(tops)} if tops else {found}


def _estimate(parts: Parts, alpha: float) -> float:
    return sum(often * part.renyi_estimate(alpha) for part, often in parts)


def _sum(parts: Parts, alpha: Fraction) -> Fraction | None:
    total = Fraction(0)
    for part, often in parts:
        divergence = part.renyi_beyond_leak(alpha)
        if divergence is None:
            return None
        total += often * divergence
    return total
