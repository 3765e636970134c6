"""What the best of a random number of runs costs when every run is ρ-zCDP: the Rényi form of Papernot & Steinke (2022).

The law of the number of runs is given by its γ, by ``power``, 1 for the logarithmic law and 2 for the geometric one,
and by an upper bound on its mean. Numbers in, numbers out, every one rounded against us. Proof:
docs/proofs/private_selection.md.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from tacit.privacy.conversion import best_order_for_epsilon, largest_zcdp, renyi_delta_up
from tacit.privacy.prices import price
from tacit.privacy.rounding import ONE, UP, ZERO, decimal_down, decimal_up, least, ln_up

__all__ = ["divergence_up", "largest_run", "largest_run_at_order"]


def divergence_up(order: Fraction, rho: Fraction, gamma: Fraction, power: int, mean: Fraction) -> Fraction:
    """An upper bound on D_λ of the best run: λρ + power·((a-1)ρ + ln(1/γ)/a) + ln(mean)/(λ-1), at the best a > 1.

    >>> float(divergence_up(Fraction(8), Fraction("0.01"), Fraction("0.1"), 1, Fraction(4)))
    0.5715...
    """
    stop = _log_up(1 / gamma)
    best = _best_second_order(rho, stop)
    second = (best - 1) * rho + Fraction(stop) / best
    return order * rho + power * second + Fraction(_log_up(mean)) / (order - 1)


@lru_cache(maxsize=1024)
def largest_run(epsilon: Fraction, delta: Fraction, gamma: Fraction, power: int, mean: Fraction) -> Fraction:
    """The largest ρ, rounded down, such that the best of ρ-zCDP runs is (ε,δ)-DP by the bound above; 0 if none is."""
    if not delta:
        return Fraction(0)

    def reached(inverse: Fraction) -> Decimal:
        if not inverse:
            return ONE
        rho = 1 / inverse
        order = best_order_for_epsilon(lambda a: _estimate(a, rho, gamma, power, mean), epsilon)
        return renyi_delta_up(order, divergence_up(order, rho, gamma, power, mean), epsilon)

    alone = largest_zcdp(epsilon, delta)
    return _inverse(least(reached, decimal_down(delta), guess=float(4 / alone) if alone else 1e12))


@lru_cache(maxsize=1024)
def largest_run_at_order(
    order: Fraction, divergence: Fraction, gamma: Fraction, power: int, mean: Fraction
) -> Fraction:
    """The largest ρ, rounded down, such that the best of ρ-zCDP runs has D_order ≤ divergence; 0 if none has."""

    def reached(inverse: Fraction) -> Decimal:
        return decimal_up(divergence_up(order, 1 / inverse, gamma, power, mean)) if inverse else Decimal(10**9)

    return _inverse(least(reached, decimal_down(divergence), guess=float(4 * order / divergence)))


def _inverse(found: float) -> Fraction:
    return 1 / price(found) if math.isfinite(found) and found < 1e290 else Fraction(0)


def _estimate(order: float, rho: Fraction, gamma: Fraction, power: int, mean: Fraction) -> float:
    """`divergence_up` in floating point, for searching an order; never used as a bound."""
    stop = Decimal(-math.log(gamma))
    second = float(_best_second_order(rho, stop))
    constant = power * ((second - 1) * float(rho) + float(stop) / second)
    return order * float(rho) + constant + math.log(mean) / (order - 1)


def _best_second_order(rho: Fraction, stop: Decimal) -> Fraction:
    """√(ln(1/γ)/ρ) or a little above 1: any number above 1 gives a bound, this one about the least."""
    return Fraction(min(max(1 + 1e-9, math.sqrt(float(stop) / float(rho))), 1e150))


def _log_up(number: Fraction) -> Decimal:
    return max(ZERO, UP.plus(ln_up(decimal_up(number))))
