"""A loss that states no guarantee beside guarantees that allow no single worst loss: each side takes half of δ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from tacit.privacy.bounds.bound import Bound, Parts
from tacit.privacy.bounds.dominating import composed_loss


@dataclass(frozen=True, slots=True)
class Shared:
    """Basic composition of two groups of parts that are asked in turns (Vadhan & Zhang 2023): ε and δ add up.

    Only for plans to which no other bound applies. Each group is priced by the best of ``bounds``.
    """

    bounds: tuple[Bound, ...]
    name: str = "both, δ shared"

    def epsilon(self, parts: Parts, delta: Fraction) -> float:
        if not delta or not _apart(parts):
            return math.inf
        halves = (min(bound.epsilon(half, delta / 2) for bound in self.bounds) for half in _halves(parts))
        return math.nextafter(sum(halves), math.inf)

    def delta(self, parts: Parts, epsilon: Fraction) -> float:
        if not _apart(parts):
            return 1.0
        halves = (min(bound.delta(half, epsilon / 2) for bound in self.bounds) for half in _halves(parts))
        return min(1.0, math.nextafter(sum(halves), math.inf))


def _apart(parts: Parts) -> bool:
    """Whether some part has nothing but a loss, while others have none."""
    return any(part.only_a_loss for part, _ in parts) and composed_loss(parts) is None


def _halves(parts: Parts) -> tuple[Parts, Parts]:
    """The parts that have nothing but a loss, and the others."""
    return tuple(p for p in parts if p[0].only_a_loss), tuple(p for p in parts if not p[0].only_a_loss)
