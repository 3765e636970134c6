"""What a bound on a composition must offer."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Protocol, TypeAlias

from tacit.privacy.promise import Promise
from tacit.privacy.rounding import DOWN, ZERO, decimal_down, exp_down, ln_down

Parts: TypeAlias = tuple[tuple[Promise, int], ...]

_FEW = 64  # leaks that are multiplied out exactly


class Bound(Protocol):
    """One way to bound the (ε,δ) of parts that hold together; valid for whatever parts it accepts.

    Answers are rounded up so that the decimal they print, which is how a price is read, is a proven bound too.
    """

    @property
    def name(self) -> str:
        """What `Composition.how` calls it."""

    def epsilon(self, parts: Parts, delta: Fraction) -> float:
        """An ε such that the composition is (ε, delta)-DP, rounded up; infinity if this bound does not apply."""

    def delta(self, parts: Parts, epsilon: Fraction) -> float:
        """A δ such that the composition is (epsilon, δ)-DP, rounded up; 1 if this bound does not apply."""


def joint_leak(parts: Iterable[tuple[Promise, int]]) -> Fraction:
    """The probability that any part leaks, 1 - Π(1-δᵢ) and so at most Σδᵢ, rounded up; 1 if it is certain.

    >>> from tacit.privacy import ApproxDP
    >>> joint_leak([(ApproxDP(1, "0.1"), 2)])
    Fraction(19, 100)
    """
    leaking = [(part.leak, often) for part, often in parts if part.leak]
    total = min(sum((often * leak for leak, often in leaking), start=Fraction(0)), Fraction(1))
    if sum(often for _, often in leaking) <= _FEW:
        kept = Fraction(1)
        for leak, often in leaking:
            kept *= (1 - leak) ** often
        return min(total, 1 - kept)
    log_kept = ZERO
    for leak, often in leaking:
        log_kept = DOWN.add(log_kept, DOWN.multiply(Decimal(often), ln_down(decimal_down(1 - leak))))
    return min(total, 1 - Fraction(exp_down(log_kept))) if log_kept > -1000 else total


def left_for_the_rest(parts: Parts, delta: Fraction) -> Fraction | None:
    """The δ' with leak + (1-leak)·δ' = delta, or None when the leak alone exceeds delta."""
    leak = joint_leak(parts)
    return (delta - leak) / (1 - leak) if leak <= delta else None
