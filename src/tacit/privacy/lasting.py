"""A budget that lasts: an (ε, δ) that many small prices may use by their squares, for a δ′ set aside beforehand.

Sums of ε are safe but wasteful where questions are many and small: their losses rarely all point one way. With a part
δ′ of the δ set aside at creation, a question is allowed if *either* reading allows it: Σεᵢ ≤ ε, or Σεᵢ²/2 ≤ ρ where
ρ-zCDP implies (ε, δ′)-DP. Both leave δ′ alone: Σδᵢ ≤ δ-δ′. The prices may be chosen one by one from earlier answers
(Whitehouse, Ramdas, Rogers & Wu 2023). Proof: docs/proofs/filters.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

from tacit.errors import InvalidParameter
from tacit.privacy.conversion import largest_zcdp, zcdp_to_epsilon
from tacit.privacy.prices import read_up, text

__all__ = ["Readings", "Spent", "half_square"]

_DIGITS = 12  # the same on every machine
_TO_TYPE = 6
_NOTHING = Fraction(0)


def half_square(epsilon: Fraction) -> Fraction:
    """ε²/2: the ρ of an ε-DP answer (Bun & Steinke 2016, Proposition 1.4).

    >>> half_square(Fraction(3, 100))
    Fraction(9, 20000)
    """
    return epsilon * epsilon / 2


@dataclass(frozen=True, slots=True)
class Spent:
    """What was charged: Σεᵢ, Σδᵢ, and Σεᵢ²/2 or more."""

    epsilon: Fraction = _NOTHING
    delta: Fraction = _NOTHING
    squares: Fraction = _NOTHING

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.epsilon + other.epsilon, self.delta + other.delta, self.squares + other.squares)


@dataclass(frozen=True, slots=True)
class Readings:
    """The two readings of a budget (ε, δ) with a δ′ set aside; ``rho`` is the most that squares may add up to.

    >>> both = Readings(Fraction(3), Fraction(1, 10**8), Fraction(1, 10**8))
    >>> both.rho
    Fraction(136564689459, 1000000000000)
    >>> both.allows(Spent(Fraction(9), squares=both.rho)), both.allows(Spent(Fraction(9), squares=2 * both.rho))
    (True, False)
    """

    epsilon: Fraction
    delta: Fraction
    set_aside: Fraction
    rho: Fraction = field(init=False)

    def __post_init__(self) -> None:
        if not 0 < self.set_aside <= self.delta:
            allowed = f"above 0 and at most the δ of the budget, {text(self.delta)}"
            hint = "It is taken from that δ, and private keys have the rest."
            raise InvalidParameter("set_aside", given=text(self.set_aside), allowed=allowed, hint=hint)
        rho = _few_digits(largest_zcdp(self.epsilon, self.set_aside)) if self.epsilon else _NOTHING
        object.__setattr__(self, "rho", rho)

    def allows(self, spent: Spent) -> bool:
        """Whether a session may get here."""
        if spent.delta > self.delta - self.set_aside:
            return False
        return spent.epsilon <= self.epsilon or spent.squares <= self.rho

    def left_by_sum(self, spent: Spent) -> Fraction:
        """The largest ε that the sum of ε leaves room for."""
        return max(self.epsilon - spent.epsilon, _NOTHING)

    def left_by_squares(self, spent: Spent) -> Fraction:
        """The largest ε that the sum of squares leaves room for, rounded down."""
        return _few_digits(_root(2 * max(self.rho - spent.squares, _NOTHING)), _TO_TYPE)

    def price_of_each(self, count: int) -> Fraction:
        """The ε of each of ``count`` payments that use the squares up, rounded down."""
        return _few_digits(_root(2 * self.rho / count), _TO_TYPE)

    def left_delta(self, spent: Spent) -> Fraction:
        """The δ that questions may still use."""
        return max(self.delta - self.set_aside - spent.delta, _NOTHING)

    def meaning(self, spent: Spent) -> tuple[float | Fraction, Fraction]:
        """The smaller of both readings, as (ε, δ): what a plan fixed in advance at these prices would promise."""
        by_squares = zcdp_to_epsilon(spent.squares, _NOTHING, self.set_aside)
        if spent.epsilon <= read_up(by_squares):
            return spent.epsilon, spent.delta
        return by_squares, spent.delta + self.set_aside


def _root(square: Fraction) -> Fraction:
    """√square, rounded down to a decimal."""
    shift = 10 ** (2 * _DIGITS + len(str(square.denominator)))
    return Fraction(math.isqrt(square.numerator * shift * shift // square.denominator), shift)


def _few_digits(exact: Fraction, digits: int = _DIGITS) -> Fraction:
    """Rounded down to so many digits."""
    if not exact:
        return exact
    places = digits - 1 - math.floor(math.log10(exact))
    scale = Fraction(10) ** places
    return Fraction(math.floor(exact * scale)) / scale
