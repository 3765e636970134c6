"""Basic composition: ε and δ add up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from tacit.privacy.bounds.bound import Parts
from tacit.privacy.prices import round_up


@dataclass(frozen=True, slots=True)
class Basic:
    """(Σεᵢ, Σδᵢ), for parts that state an (ε,δ) each (Dwork & Roth 2014, Theorem 3.16)."""

    name: str = "basic"

    def epsilon(self, parts: Parts, delta: Fraction) -> float:
        total = _sums(parts)
        return round_up(total[0]) if total is not None and total[1] <= delta else math.inf

    def delta(self, parts: Parts, epsilon: Fraction) -> float:
        total = _sums(parts)
        return round_up(total[1]) if total is not None and total[0] <= epsilon else 1.0


def _sums(parts: Parts) -> tuple[Fraction, Fraction] | None:
    epsilon, delta = Fraction(0), Fraction(0)
    for part, often in parts:
        pair = part.as_approx()
        if pair is None:
            return None
        epsilon, delta = epsilon + often * pair[0], delta + often * pair[1]
    return epsilon, delta
