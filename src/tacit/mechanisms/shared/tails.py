"""Quantiles of noise: how far off can an answer be, all but β of the time? Rounded up, from proven tail bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

from tacit.errors import InvalidParameter
from tacit.privacy import normal
from tacit.privacy.prices import Price, price, times
from tacit.privacy.rounding import (
    DOWN,
    ONE,
    TWO,
    UP,
    decimal_down,
    decimal_up,
    exp_down,
    exp_up,
    least,
    ln_down,
    ln_up,
)

__all__ = [
    "discrete_gaussian_tail",
    "discrete_laplace_tail",
    "each_level",
    "gaussian_quantile",
    "laplace_quantile",
    "largest_scale",
    "least_step",
    "near_quantile",
    "rounded_gaussian_tail",
]


def read_beta(beta: Price) -> Fraction:
    """A failure probability strictly between 0 and 1."""
    allowed = "a probability strictly between 0 and 1"
    exact = price(beta, "beta", allowed=allowed)
    if not 0 < exact < 1:
        raise InvalidParameter("beta", given=beta, allowed=allowed)
    return exact


def read_size(size: int) -> int:
    """How many values an error is to hold for jointly."""
    return times(size, "size", least=1)


def each_level(beta: Price, size: int) -> Decimal:
    """The largest p with 1 - (1-p)^size ≤ β: what each of ``size`` independent errors may fail with, rounded down.

    β/size always qualifies (1 - (1-p)^size ≤ size·p), and is the better bound where 1-β has run out of digits.
    """
    exact = read_beta(beta)
    shared = decimal_down(exact / read_size(size))
    if size == 1:
        return shared
    return max(shared, DOWN.subtract(ONE, exp_up(UP.divide(ln_up(decimal_up(1 - exact)), Decimal(size)))))


def laplace_quantile(level: Decimal) -> Decimal:
    """t with P[|L| > t] = e^(-t) ≤ level for the Laplace law of scale 1."""
    return UP.minus(ln_down(level))


def gaussian_tail(x: Decimal) -> Decimal:
    """An upper bound on P[|Z| > x], x ≥ 0."""
    return UP.multiply(TWO, UP.multiply(normal.mills_up(x), normal.density_up(x)))


@lru_cache(maxsize=256)
def gaussian_quantile(level: Decimal) -> Decimal:
    """x with P[|Z| > x] ≤ level, within 10⁻¹² of the smallest."""
    if level >= 1:
        return Decimal(0)
    found = least(
        lambda x: gaussian_tail(decimal_down(x)),
        level,
        guess=near_quantile(level),
        off=1e-11,
    )
    return decimal_up(max(Fraction(found), Fraction(repr(found))))


def near_quantile(level: Decimal) -> float:
    """About the x with P[|Z| > x] = level: where a search begins, never a bound.

    >>> near_quantile(Decimal("0.05"))
    1.95996...
    """
    nines = -float(level.ln()) if level < 1 else 0.1
    x = math.sqrt(2 * max(0.1, nines))
    for _ in range(8 if nines < 600 else 0):  # Newton's steps on the logarithm, which is near to a parabola
        beyond = math.erfc(x / _ROOT_TWO)
        x += (math.log(beyond) + nines) * beyond / (_TWICE_AT_ZERO * math.exp(-x * x / 2))
    return x


_ROOT_TWO = math.sqrt(2)
_TWICE_AT_ZERO = math.sqrt(2 / math.pi)


def rounded_gaussian_tail(variance: Fraction, above: int) -> Decimal:
    """An upper bound on P[|floor(σZ + ½)| > above] = P[|σZ| ≥ above + ½]."""
    return gaussian_tail(DOWN.sqrt(decimal_down(Fraction(2 * above + 1, 2) ** 2 / variance)))


def discrete_laplace_tail(scale: Fraction, above: int) -> Decimal:
    """An upper bound on P[|X| > above] = 2q^(above+1)/(1+q), q = e^(-1/scale)."""
    step = exp_down(DOWN.divide(Decimal(-1), decimal_down(scale)))
    beyond = exp_up(UP.minus(decimal_down(Fraction(above + 1) / scale)))
    return UP.divide(UP.multiply(TWO, beyond), DOWN.add(ONE, step))


def discrete_gaussian_tail(variance: Fraction, above: int) -> Decimal:
    """An upper bound on P[|X| > above] for P[k] ∝ e^(-k²/2·variance): sums for σ ≤ 2000, integrals beyond.

    The sum of all e^(-k²/2σ²) is at least σ√(2π), and larger by a factor of at most 1 + 3e^(-19σ²) (Poisson summation).
    The density is convex beyond σ and concave before it. From m + ½ ≥ σ on each outer term is therefore at most the
    integral over its unit interval; below, each inner term is at least that. Either way P[|X| > m] is at most
    P[|σZ| > m + ½], plus 3e^(-19σ²) in the second case.
    """
    if variance > _SUMMED:
        middle = Fraction(2 * above + 1, 2) ** 2 / variance
        beyond = gaussian_tail(DOWN.sqrt(decimal_down(middle)))
        return beyond if middle >= 1 else min(ONE, UP.add(beyond, _HARDLY))
    sums = _gaussian_sums(variance)
    share = 2 * sums[min(above + 1, len(sums) - 1)] / (sums[0] + sums[1])
    if share > 1e-290:  # what the sums leave out is far below that; floats are off by less than 1e-10 of each sum
        return Decimal(min(1.0, share * (1 + 1e-9)))
    return _far_gaussian_tail(variance, above + 1)


def _far_gaussian_tail(variance: Fraction, start: int) -> Decimal:
    """An upper bound on P[|X| ≥ start]: the terms fall at least as fast as the geometric series of the first two."""
    first = exp_up(decimal_up(Fraction(-start * start) / (2 * variance)))
    ratio = exp_up(decimal_up(Fraction(-2 * start - 1) / (2 * variance)))
    total = max(ONE, DOWN.sqrt(decimal_down(6 * variance)))  # √(2π)σ is more
    return UP.divide(UP.multiply(TWO, first), DOWN.multiply(DOWN.subtract(ONE, ratio), total))


_SUMMED = 4_000_000
_HARDLY = Decimal("1e-1000000")  # above 3e^(-19σ²) for variances above _SUMMED


@lru_cache(maxsize=8)
def _gaussian_sums(variance: Fraction) -> list[float]:
    """The sums of e^(-i²/2·variance) over i ≥ 0, i ≥ 1, …, up to 40σ and a little."""
    steep = -1 / (2 * float(variance))
    reach = math.ceil(40 * math.sqrt(variance)) + 2
    return list(accumulate((math.exp(steep * k * k) for k in range(reach, -1, -1)), initial=0.0))[::-1]


def least_step(tail: Callable[[int], Decimal], level: Decimal, guess: float) -> int:
    """The smallest m ≥ 0 whose proven tail bound is at most ``level``; ``guess`` only decides how fast it is found."""
    high = max(0, math.ceil(guess))
    step = 1
    while tail(high) > level:
        high += step
        step *= 2
    low = -1
    if step == 1:  # the guess was enough: look below it
        step = 1
        low = high - 1
        while low >= 0 and tail(low) <= level:
            high, low, step = low, low - 2 * step, 2 * step
        low = max(low, -1)
    else:
        low = high - step // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if tail(middle) <= level else (middle, high)
    return high


def largest_scale(meets: Callable[[float], bool], guess: float, error: object) -> float:
    """The largest scale, to one part in 10⁹, for which ``meets`` holds; ``meets`` gets harder as the scale grows."""
    low = high = guess
    for _ in range(200):
        if meets(low):
            break
        low /= 2
    else:
        raise InvalidParameter("error", given=error, allowed="an error that some amount of noise stays within")
    while meets(high):
        high *= 2
        if high > 1e12 * guess:
            allowed = "less: here the noise stays within this error however large its scale is"
            raise InvalidParameter("error", given=error, allowed=allowed)
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if meets(middle) else (low, middle)
    return low


def read_error(error: Price) -> Fraction:
    exact = price(error, "error", allowed="a finite number above 0")
    if exact <= 0:
        raise InvalidParameter("error", given=error, allowed="a finite number above 0")
    return exact
