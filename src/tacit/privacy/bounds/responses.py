"""k randomized responses: the worst case of k-fold ε-DP, as a binomial sum with proven rounding.

With q = 1/(1+e^ε) and t_l = C(k,l)·e^{(k-l)ε}/(1+e^ε)^k the binomial weights, s_l = t_l·e^{(2l-k)ε},

    δ(at) = Σ_l (t_l - e^at·s_l)₊ = t_j·( Σ_{l≤j} t_l/t_j - e^{at-(k-2j)ε}·Σ_{l≤j} s_l/s_j ),

j being the last l with (k-2l)ε > at. The ratios are products of small rationals, so nothing overflows, and between
two neighbouring values of (k-2l)ε, δ is linear in e^at: the ε for a given δ is a formula, not a search.
"""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from tacit.privacy.rounding import (
    DOWN,
    HALF,
    ONE,
    UP,
    ZERO,
    decimal_down,
    decimal_up,
    exp_down,
    exp_up,
    float_up,
    ln_down,
    ln_up,
)

_MOST_TERMS = 200_000
_MOST_PARTS = 10**10
_NEGLIGIBLE = Decimal("1e30")
_SMALLEST_EPSILON, _LARGEST_EPSILON = Fraction(1, 10**20), 10**6
_LN_2PI_DOWN = Decimal("1.83787706640934548356065947281123527972279494727556")
_LN_2PI_UP = Decimal("1.83787706640934548356065947281123527972279494727557")


def responses_delta_up(epsilon: Fraction, k: int, at: Fraction) -> Decimal:
    """An upper bound on the δ at which k randomized responses of ``epsilon`` are (at, δ)-DP."""
    if at >= k * epsilon:
        return ZERO
    if epsilon > _LARGEST_EPSILON or k > _MOST_PARTS:
        return ONE
    last = math.ceil((k * epsilon - at) / (2 * epsilon)) - 1  # the largest l with (k-2l)ε > at
    if _far_above_the_peak(float(epsilon), k, last):
        return ONE
    weight, high, low = _line(epsilon, k, last)
    gap = exp_down(decimal_down(at - (k - 2 * last) * epsilon))
    return min(ONE, UP.multiply(exp_up(weight), UP.subtract(high, DOWN.multiply(gap, low))))


@lru_cache(maxsize=1024)
def responses_epsilon(epsilon: Fraction, k: int, delta: Fraction) -> float:
    """The smallest ε' such that k randomized responses of ``epsilon`` are (ε', delta)-DP, rounded up; delta > 0."""
    if not _SMALLEST_EPSILON < epsilon < _LARGEST_EPSILON or k > _MOST_PARTS:
        return float_up(decimal_up(k * epsilon))  # the sum would be long, or gain nothing that 40 digits can tell
    if responses_delta_up(epsilon, k, Fraction(0)) <= decimal_down(delta):
        return 0.0
    last = _guess_last(float(epsilon), k, delta)
    found = _root(epsilon, k, last, delta)
    step, beyond = 1, (k + 1) // 2
    tries = 100 if k <= 10**7 else 5  # a line of many parts is long to sum; the guess is rarely off by more than one
    while found is None:  # too far: go back
        if not last or not tries:  # at 0, δ is so small that it saves nothing at 40 digits
            return float_up(decimal_up(k * epsilon))
        beyond, last, step, tries = last, max(0, last - step), 2 * step, tries - 1
        found = _root(epsilon, k, last, delta)
    while tries and beyond - last > 1 and float(2 * epsilon) * (beyond - last) > 1e-12 * float(found):
        tries -= 1
        middle = min(last + step, (last + beyond) // 2)
        further = _root(epsilon, k, middle, delta)
        if further is None:
            beyond, step = middle, max(1, step // 2)
        else:
            last, found, step = middle, further, 2 * step
    return float_up(max(found, ZERO))


@lru_cache(maxsize=64)
def _root(epsilon: Fraction, k: int, last: int, delta: Fraction) -> Decimal | None:
    """A verified ε' on the line of ``last``, from (k-2·last-2)ε up to (k-2·last)ε; None if δ > delta on all of it.

    If δ ≤ delta on all of it, the lower end.
    """
    weight, high, low = _line(epsilon, k, last)
    spare = DOWN.multiply(decimal_down(delta), exp_down(DOWN.minus(weight)))
    ratio = UP.divide(UP.subtract(high, spare), low)  # e^{ε'-(k-2·last)ε} must reach this
    if ratio >= 1:
        return None
    end = decimal_up((k - 2 * last - 2) * epsilon)
    if ratio <= 0:
        return end
    return max(end, UP.add(decimal_up((k - 2 * last) * epsilon), ln_up(ratio)))


@lru_cache(maxsize=64)
def _line(epsilon: Fraction, k: int, last: int) -> tuple[Decimal, Decimal, Decimal]:
    """ln t_last rounded up, Σ t_l/t_last rounded up and Σ s_l/s_last rounded down, over l ≤ last."""
    weight = _log_weight_up(epsilon, k, last)
    grows = exp_up(decimal_up(epsilon))
    high = _sum(k, last, grows, UP)
    low = _sum(k, last, DOWN.divide(ONE, grows), DOWN)
    return weight, high, low


def _sum(k: int, last: int, growth: Decimal, ctx: decimal.Context) -> Decimal:
    """Σ_{l≤last} C(k,l)·growth^{last-l}/C(k,last): with ``UP`` including the rest left out, with ``DOWN`` without it.

    Once the terms fall they fall ever faster, so a geometric series bounds the rest. If they have not begun to fall
    after the most terms we add, the whole binomial sum (1+growth)^k bounds it: useless, but true.
    """
    term, total = ONE, ZERO
    for step, level in enumerate(range(last, -1, -1)):
        total = ctx.add(total, term)
        ratio = ctx.divide(ctx.multiply(Decimal(level), growth), Decimal(k - level + 1))
        term = ctx.multiply(term, ratio)
        if (ratio < ONE and UP.multiply(term, _NEGLIGIBLE) < total) or step >= _MOST_TERMS:
            if ctx is DOWN:
                return total
            if ratio < ONE:
                return UP.add(total, UP.divide(term, DOWN.subtract(ONE, ratio)))
            return Decimal("1e1000000000")
    return total


def _log_weight_up(epsilon: Fraction, k: int, level: int) -> Decimal:
    """An upper bound on ln t_level = ln C(k,level) - level·ε - k·ln(1+e^-ε)."""
    chosen = UP.subtract(_log_factorial(k)[1], DOWN.add(_log_factorial(level)[0], _log_factorial(k - level)[0]))
    base = ln_down(DOWN.add(ONE, exp_down(decimal_down(-epsilon))))
    return UP.subtract(UP.subtract(chosen, decimal_down(level * epsilon)), DOWN.multiply(Decimal(k), base))


@lru_cache(maxsize=256)
def _log_factorial(n: int) -> tuple[Decimal, Decimal]:
    """Bounds on ln n!: the exact factorial below 1000, Stirling's series (which envelops the truth) from there on."""
    if n < 1000:
        product = Decimal(math.factorial(n))
        return ln_down(product), ln_up(product)
    number = Decimal(n)
    low = DOWN.add(DOWN.multiply(DOWN.add(number, HALF), ln_down(number)), DOWN.multiply(HALF, _LN_2PI_DOWN))
    high = UP.add(UP.multiply(UP.add(number, HALF), ln_up(number)), UP.multiply(HALF, _LN_2PI_UP))
    above = Fraction(1, 12 * n) - Fraction(1, 360 * n**3) + Fraction(1, 1260 * n**5)
    below = above - Fraction(1, 1680 * n**7)
    return (
        DOWN.add(DOWN.subtract(low, number), decimal_down(below)),
        UP.add(UP.subtract(high, number), decimal_up(above)),
    )


def _far_above_the_peak(epsilon: float, k: int, last: int) -> bool:
    """Whether nearly all the weight lies below ``last``, so that 1 is as good a bound as any."""
    share = 1 / (1 + math.exp(min(epsilon, 700.0)))
    return last > k * share + 20 * math.sqrt(k * share) + 20


def _guess_last(epsilon: float, k: int, delta: Fraction) -> int:
    """About the last l that counts at δ, in floating point: bisection on δ((k-2l)ε), which grows with l."""
    aim = float(ln_down(decimal_down(delta)))
    low, high = 0, max(0, (k - 1) // 2)
    while high - low > 1:
        middle = (low + high) // 2
        if not _far_above_the_peak(epsilon, k, middle) and _estimate(epsilon, k, middle) < aim:
            low = middle
        else:
            high = middle
    return low


def _estimate(epsilon: float, k: int, last: int) -> float:
    """About ln δ((k-2·last)ε) = ln t_last + ln(Σ t_l/t_last - Σ s_l/s_last)."""
    q = 1 / (1 + math.exp(min(epsilon, 700.0)))
    weight = math.lgamma(k + 1) - math.lgamma(last + 1) - math.lgamma(k - last + 1)
    weight -= last * epsilon + k * math.log1p(math.exp(-epsilon))
    if last + 1 < (k + 3) * q:  # below the peak of t
        high = q * _beta_fraction(k - last, last + 1, 1 - q)
    else:
        above = q * (k - last) / (last + 1) * _beta_fraction(last + 1, k - last, q)
        high = math.exp(min(-weight, 700.0)) - above
    difference = high - (1 - q) * _beta_fraction(k - last, last + 1, q)
    return weight + math.log(difference) if difference > 0 else -math.inf


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, I_x(a,b) = x^a(1-x)^b/(a·B(a,b)) times this (Lentz)."""
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1) or 1e-300)
    value = d
    for m in range(1, 20_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / (1 + even * d or 1e-300)
        c = 1 + even / c or 1e-300
        value *= c * d
        d = 1 / (1 + odd * d or 1e-300)
        c = 1 + odd / c or 1e-300
        value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value
