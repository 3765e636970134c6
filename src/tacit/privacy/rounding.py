"""Arithmetic with a known direction of rounding, from the standard library's decimals.

``UP`` and ``DOWN`` are contexts of 40 digits whose ``add``, ``multiply``, … round towards +∞ and -∞. The functions
here do the same for exp, ln and √, which the decimal module rounds correctly to half an ulp: one step outward makes
them bounds (General Decimal Arithmetic Specification; Stefan Krah's libmpdec proves its rounding). No result here
trusts the platform's floating-point library. Bounds are never combined with ``+``, ``*`` or a unary ``-``: these round
to the caller's own decimal context, 28 digits to the nearest by default.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

from tacit.privacy.prices import round_up

DIGITS = 40


def _context(rounding: str) -> decimal.Context:
    traps = [decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow]
    return decimal.Context(prec=DIGITS, rounding=rounding, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX, traps=traps)


UP = _context(decimal.ROUND_CEILING)
DOWN = _context(decimal.ROUND_FLOOR)

ZERO, HALF, ONE, TWO = Decimal(0), Decimal("0.5"), Decimal(1), Decimal(2)


def decimal_up(exact: Fraction) -> Decimal:
    """A decimal at or just above ``exact``."""
    return UP.divide(Decimal(exact.numerator), Decimal(exact.denominator))


def decimal_down(exact: Fraction) -> Decimal:
    """A decimal at or just below ``exact``."""
    return DOWN.divide(Decimal(exact.numerator), Decimal(exact.denominator))


def exp_up(x: Decimal) -> Decimal:
    """A decimal at or just above e^x."""
    return UP.next_plus(UP.exp(x)) if x else ONE


def exp_down(x: Decimal) -> Decimal:
    """A decimal at or just below e^x, never below 0."""
    return max(ZERO, DOWN.next_minus(DOWN.exp(x))) if x else ONE


def ln_up(x: Decimal) -> Decimal:
    """A decimal at or just above ln x, for x > 0."""
    return UP.next_plus(UP.ln(x)) if x != 1 else ZERO


def ln_down(x: Decimal) -> Decimal:
    """A decimal at or just below ln x, for x > 0."""
    return DOWN.next_minus(DOWN.ln(x)) if x != 1 else ZERO


def sqrt_up(x: Decimal) -> Decimal:
    """A decimal at or just above √x, for x ≥ 0."""
    return UP.next_plus(UP.sqrt(x))


def sqrt_down(x: Decimal) -> Decimal:
    """A decimal at or just below √x, for x > 0."""
    return DOWN.next_minus(DOWN.sqrt(x))


def float_up(x: Decimal) -> float:
    """A float at or just above ``x``, as a binary number and as the decimal it prints; infinity beyond the largest.

    >>> float_up(Decimal("0.25")), float_up(Decimal("1e-5000"))
    (0.25, 5e-324)
    """
    if x <= 0:
        return 0.0
    if x.adjusted() < -330:
        return math.nextafter(0.0, 1.0)
    if x.adjusted() > 330:
        return math.inf
    exact = Fraction(x)
    found = round_up(exact)
    return math.nextafter(found, math.inf) if math.isfinite(found) and Fraction(found) < exact else found


_WIDER = 32.0


def least(bound: Callable[[Fraction], Decimal], target: Decimal, *, guess: float, off: float = 0.25) -> float:
    """A float x ≥ 0, within 10⁻¹² of the smallest, at which ``bound(x) <= target`` has been verified.

    ``bound`` is a decreasing function evaluated rigorously, so x is a proof and not an estimate; ``guess``, and ``off``
    (about how far it is off, relative to itself), only decide how fast it is found. The bound is checked at the smaller
    of the float's binary value and its shortest decimal. Infinity if no x up to 10³⁰⁰ will do.
    """
    if bound(Fraction(0)) <= target:
        return 0.0
    aim = float(ln_down(target)) if target > 0 else -1e300
    low, high = 0.0, guess if 0 < guess < 1e300 else 1.0
    low_excess = math.nan
    while (high_excess := _excess(bound, target, aim, high)) > 0:
        low, low_excess = high, high_excess
        high *= 1 + off
        off = min(_WIDER * off, 0.25)
        if high > 1e300:
            return math.inf
    if math.isnan(low_excess):  # the guess was above the root: step down until below
        low = high
        while (low_excess := _excess(bound, target, aim, low := low / (1 + off))) <= 0:
            high, high_excess = low, low_excess
            off = min(_WIDER * off, 0.25)
            if low < 1e-300:
                return high
    return _narrow(lambda x: _excess(bound, target, aim, x), low, low_excess, high, high_excess)


def _narrow(excess: Callable[[float], float], low: float, f_low: float, high: float, f_high: float) -> float:
    """The upper end of a bracket of the root, narrowed to a relative 10⁻¹³ (Chandrupatla 1997)."""
    x1, f1, x2, f2 = low, f_low, high, f_high
    part = f1 / (f1 - f2) if math.isfinite(f1 - f2) else 0.5
    while (width := abs(x2 - x1)) > 1e-13 * max(x1, x2):
        step = 4e-14 * max(x1, x2) / width
        x = x1 + min(max(part, step), 1 - step) * (x2 - x1)
        f = excess(x)
        if (f > 0) == (f1 > 0):
            x3, f3 = x1, f1
        else:
            x3, f3, x2, f2 = x2, f2, x1, f1
        x1, f1 = x, f
        along, rise = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
        if rise * rise < along and (1 - rise) ** 2 < 1 - along:  # inverse quadratic interpolation is safe
            part = f1 / (f2 - f1) * f3 / (f2 - f3) + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
        else:
            part = 0.5
    return x1 if f1 <= 0 else x2


def _excess(bound: Callable[[Fraction], Decimal], target: Decimal, aim: float, x: float) -> float:
    """ln(bound/target), never rounded to the wrong sign: positive exactly if the bound exceeds the target."""
    value = bound(min(Fraction(x), Fraction(repr(x))))
    if value <= target:
        return min(float(ln_up(value)) - aim, -1e-300) if value > 0 else -1e300
    return max(float(ln_down(value)) - aim, 1e-300)
