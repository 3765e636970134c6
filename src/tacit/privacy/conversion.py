"""Every conversion between promises that exists, and no other; each one rounds against us.

Numbers in, numbers out: the guarantees in `tacit.privacy.guarantees` are built on these functions. Parameters are
exact fractions. A result that is rational is exact; any other is an upper bound, computed with directed rounding at
40 digits. Proofs: docs/proofs/conversions.md.

    pure ──► zCDP, Gaussian, Rényi, (ε,δ)        Gaussian ──► zCDP, Rényi, (ε,δ)
    zCDP ──► Rényi, (ε,δ)                        Rényi ──► (ε,δ)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from tacit.privacy import normal
from tacit.privacy.prices import price, round_up
from tacit.privacy.rounding import (
    DOWN,
    HALF,
    ONE,
    TWO,
    UP,
    ZERO,
    decimal_down,
    decimal_up,
    exp_down,
    exp_up,
    float_up,
    least,
    ln_down,
    ln_up,
    sqrt_up,
)

# --- exact -----------------------------------------------------------------------------------------------------------


def pure_to_zcdp(epsilon: Fraction) -> Fraction:
    """ρ = ε²/2 (Bun & Steinke 2016, Proposition 1.4)."""
    return epsilon * epsilon / 2


def bounded_range_to_zcdp(epsilon: Fraction) -> Fraction:
    """ρ = ε²/8 for an ε-bounded-range mechanism, such as the exponential mechanism (Cesar & Rogers 2021, Lemma 3.4).

    Bounded range: ln(P[M(x)=s]/P[M(x')=s]) varies by at most ε over the outputs s, for all neighbours. It follows
    from ε/2-DP and implies ε-DP; its ρ is that of ε/2-DP.

    >>> bounded_range_to_zcdp(Fraction(1))
    Fraction(1, 8)
    """
    return epsilon * epsilon / 8


def gaussian_to_zcdp(mu_squared: Fraction) -> Fraction:
    """ρ = μ²/2: a μ-GDP pair is a processed pair N(0,1), N(μ,1), whose Rényi divergence is αμ²/2 (Dong et al. 2022)."""
    return mu_squared / 2


def zcdp_to_renyi(rho: Fraction, alpha: Fraction) -> Fraction:
    """D_α ≤ ρα, by definition (Bun & Steinke 2016)."""
    return rho * alpha


def gaussian_to_renyi(mu_squared: Fraction, alpha: Fraction) -> Fraction:
    """D_α ≤ αμ²/2."""
    return alpha * mu_squared / 2


# --- from pure differential privacy ----------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def pure_to_gaussian(epsilon: Fraction) -> Fraction:
    """μ² for μ = 2Φ⁻¹(e^ε/(1+e^ε)), rounded up: the smallest μ with Φ(-μ/2) ≤ 1/(1+e^ε) (Dong, Roth & Su 2022).

    Searched as x = μ/2 with erf(x/√2) ≥ tanh(ε/2), which keeps its digits for small ε; in logarithms for large ε.
    """
    if not epsilon:
        return Fraction(0)
    if epsilon < 1:
        share = exp_down(decimal_down(-epsilon))
        needed = UP.divide(UP.subtract(ONE, share), DOWN.add(ONE, share))  # tanh(ε/2), rounded up

        def excess(x: Fraction) -> Decimal:
            return UP.divide(needed, _middle_down(decimal_down(x))) if x else TWO

        guess = 1.2533141373155 * float(needed)
    else:
        share = exp_up(decimal_up(-epsilon))
        aim = DOWN.minus(UP.add(decimal_up(epsilon), ln_up(UP.add(ONE, share))))  # -ln(1+e^ε), rounded down

        def excess(x: Fraction) -> Decimal:
            return exp_up(min(UP.subtract(normal.log_tail(decimal_down(x))[1], aim), Decimal(1000)))

        guess = math.sqrt(2 * float(epsilon))
    return 4 * price(least(excess, ONE, guess=guess)) ** 2


def _middle_down(x: Decimal) -> Decimal:
    """A lower bound on 1 - 2Φ(-x) = erf(x/√2) = 2φ(x)·Σ x^{2i+1}/(2i+1)!!, all terms positive; for 0 < x ≤ 3."""
    square = DOWN.multiply(x, x)
    term, total, odd = x, ZERO, 1
    while term > UP.multiply(Decimal("1e-40"), x):
        total = DOWN.add(total, term)
        odd += 2
        term = DOWN.divide(DOWN.multiply(term, square), Decimal(odd))
    return DOWN.multiply(TWO, DOWN.multiply(normal.density(x)[0], total))


@lru_cache(maxsize=4096)
def pure_to_renyi(epsilon: Fraction, alpha: Fraction) -> Fraction:
    """D_α of randomized response, the pair that every ε-DP pair is a processing of (Kairouz, Oh & Viswanath 2017).

    D_α = ln((e^{αε} + e^{(1-α)ε})/(1 + e^ε))/(α-1), rounded up; at most ε and at most αε²/2.
    """
    simple = min(epsilon, alpha * epsilon * epsilon / 2)
    if epsilon * 10**9 < 1 or alpha * epsilon > 10**6:  # the simple bound is as good, and nothing overflows
        return simple
    top = UP.add(exp_up(decimal_up(alpha * epsilon)), exp_up(decimal_up((1 - alpha) * epsilon)))
    bottom = DOWN.add(ONE, exp_down(decimal_down(epsilon)))
    divergence = UP.divide(ln_up(UP.divide(top, bottom)), decimal_down(alpha - 1))
    return min(simple, Fraction(divergence)) if divergence > 0 else simple


def pure_renyi_estimate(epsilon: float, alpha: float) -> float:
    """`pure_to_renyi` in floating point, for searching an order; never used as a bound."""
    if alpha * epsilon > 30:
        return ((alpha - 0.5) * epsilon - 0.5 * epsilon - math.log1p(math.exp(-epsilon))) / (alpha - 1)
    ratio = 2 * math.sinh(alpha * epsilon / 2) * math.sinh((alpha - 1) * epsilon / 2) / math.cosh(epsilon / 2)
    return math.log1p(ratio) / (alpha - 1)


# --- approximate differential privacy: its whole profile -------------------------------------------------------------


def approx_to_delta(epsilon: Fraction, delta: Fraction, at: Fraction) -> float:
    """The smallest δ' with (ε,δ)-DP ⇒ (at, δ')-DP: δ + (1-δ)(e^ε - e^at)/(1+e^ε) below ε (Kairouz et al. 2017)."""
    if at >= epsilon:
        return round_up(delta)
    top = UP.subtract(ONE, exp_down(decimal_down(at - epsilon)))
    bottom = DOWN.add(ONE, exp_down(decimal_down(-epsilon)))
    extra = min(ONE, UP.divide(top, bottom))
    return min(1.0, float_up(UP.add(decimal_up(delta), UP.multiply(decimal_up(1 - delta), extra))))


def approx_to_epsilon(epsilon: Fraction, delta: Fraction, at: Fraction) -> float:
    """The smallest ε' with (ε,δ)-DP ⇒ (ε', at)-DP; infinity if at < δ."""
    if at < delta:
        return math.inf
    extra = (at - delta) / (1 - delta)
    if not extra:
        return round_up(epsilon)
    # e^ε' = e^ε - extra·(1+e^ε), so ε' = ε + ln(1 - extra·(1+e^-ε))
    share = DOWN.multiply(decimal_down(extra), DOWN.add(ONE, exp_down(decimal_down(-epsilon))))
    if share >= 1:
        return 0.0
    return float_up(UP.add(decimal_up(epsilon), ln_up(UP.subtract(ONE, share))))


@lru_cache(maxsize=1024)
def approx_group_delta(epsilon: Fraction, delta: Fraction, k: int) -> Fraction:
    """δ·(1 + e^ε + … + e^{(k-1)ε}), rounded up: the δ of a group of k under (ε,δ)-DP (Dwork & Roth 2014, Theorem 2.2).

    At most the textbook's k·e^{(k-1)ε}·δ, and exact at ε = 0. An answer of 1 stands for 1 or more: no promise.
    """
    if not delta or k == 1:
        return delta
    if not epsilon:
        return min(k * delta, Fraction(1))
    if (k - 1) * epsilon > 10**4:
        return Fraction(1)
    if epsilon * 10**15 >= 1:
        last = exp_up(decimal_up(k * epsilon))
        total = UP.divide(UP.subtract(last, ONE), DOWN.subtract(exp_down(decimal_down(epsilon)), ONE))
    else:
        total = UP.multiply(Decimal(k), exp_up(decimal_up((k - 1) * epsilon)))
    result = float_up(UP.multiply(decimal_up(delta), total))
    return price(result) if result < 1 else Fraction(1)


# --- Gaussian differential privacy: its exact profile ----------------------------------------------------------------


def gaussian_delta_up(mu_squared: Fraction, epsilon: Fraction) -> Decimal:
    """An upper bound on δ(ε) = Φ(-ε/μ + μ/2) - e^ε·Φ(-ε/μ - μ/2) (Balle & Wang 2018, Theorem 8)."""
    if not mu_squared:
        return ZERO
    mu = sqrt_up(decimal_up(mu_squared))
    a = DOWN.subtract(DOWN.divide(decimal_down(epsilon), mu), UP.multiply(HALF, mu))
    return min(ONE, normal.profile_up(a, mu))


def gaussian_to_delta(mu_squared: Fraction, epsilon: Fraction) -> float:
    """The exact δ(ε) of μ-GDP, rounded up; works far below the smallest float's square root."""
    return float_up(gaussian_delta_up(mu_squared, epsilon))


@lru_cache(maxsize=1024)
def gaussian_to_epsilon(mu_squared: Fraction, delta: Fraction) -> float:
    """The smallest ε with δ(ε) ≤ δ under μ-GDP, rounded up; infinity at δ = 0 unless μ = 0."""
    if not mu_squared:
        return 0.0
    if not delta:
        return math.inf
    mu = math.sqrt(mu_squared)
    guess = mu * mu / 2 + mu * math.sqrt(-2 * float(ln_down(decimal_down(delta))))
    return least(lambda e: gaussian_delta_up(mu_squared, e), decimal_down(delta), guess=guess)


@lru_cache(maxsize=1024)
def largest_gaussian(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest μ², rounded down, for which μ-GDP implies (ε,δ)-DP: the analytic Gaussian (Balle & Wang 2018).

    >>> 1 / math.sqrt(largest_gaussian(Fraction(1), Fraction(1, 10**6)))   # the standard deviation for sensitivity 1
    4.2246...
    """
    if not delta:
        return Fraction(0)
    aim = decimal_down(delta)
    tail, level = math.sqrt(-2 * float(ln_down(aim))), float(epsilon)
    guess = _rough_multiplier(level, tail) if level else float(min(1 / (2 * delta), Fraction(10**200)))
    near = _near_multiplier(level, float(aim), guess)
    # In the noise multiplier 1/μ: δ falls as it grows.
    noise = least(
        lambda m: gaussian_delta_up(1 / m**2, epsilon) if m else ONE,
        aim,
        guess=near or guess,
        off=1e-11 if near else 0.25,
    )
    return 1 / price(noise) ** 2 if math.isfinite(noise) else Fraction(0)


@lru_cache(maxsize=256)
def near_largest_gaussian(epsilon: float, delta: float) -> float | None:
    """About the largest μ² for which μ-GDP implies (ε,δ)-DP, to 10 digits; None where floats end. No bound: to compare.

    >>> near_largest_gaussian(1.0, 1e-6) / float(largest_gaussian(Fraction(1), Fraction(1, 10**6)))
    1.0000000000...
    """
    if not _in_reach(epsilon, delta):
        return None
    near = _near_multiplier(epsilon, delta, _rough_multiplier(epsilon, math.sqrt(-2 * math.log(delta))))
    return None if near is None else near**-2


def _rough_multiplier(epsilon: float, tail: float) -> float:
    return (math.sqrt(tail * tail + 2 * epsilon) + tail) / (2 * epsilon)


def _in_reach(epsilon: float, delta: float) -> bool:
    return 1e-250 < delta < 0.5 and 1e-12 < epsilon < 500


def _near_multiplier(epsilon: float, delta: float, guess: float) -> float | None:
    """About the noise multiplier at which δ(ε) is δ, by Newton's steps on its logarithm; None where floats end.

    The profile grows with μ by φ(ε/μ - μ/2). No bound: a search begins there.
    """
    multiplier, root = guess, math.sqrt(2)
    if not _in_reach(epsilon, delta):
        return None
    for _ in range(30):
        a = epsilon * multiplier - 0.5 / multiplier
        here = math.erfc(a / root) / 2 - math.exp(epsilon) * math.erfc((a + 1 / multiplier) / root) / 2
        slope = math.exp(-a * a / 2) / math.sqrt(2 * math.pi)
        if not (here > 0 and slope > 0):
            return None
        step = math.log(here / delta) * here * multiplier**2 / slope
        multiplier += max(step, -multiplier / 2)
        if abs(step) < 1e-12 * multiplier:
            return multiplier
    return None


# --- Rényi and zero-concentrated differential privacy ----------------------------------------------------------------


def renyi_epsilon_up(alpha: Fraction, divergence: Fraction, delta: Fraction) -> Decimal:
    """An upper bound on ε = D + ln(1-1/α) - (ln δ + ln α)/(α-1), not below 0.

    Canonne, Kamath & Steinke 2020, Proposition 12; Balle et al. 2020, Theorem 21. Needs δ > 0.
    """
    logs = DOWN.add(ln_down(decimal_down(delta)), ln_down(decimal_down(alpha)))
    # The quotient is subtracted: its numerator and its denominator are rounded so that it comes out low.
    bottom = decimal_up(alpha - 1) if logs > 0 else decimal_down(alpha - 1)
    quotient = DOWN.divide(logs, bottom)
    gain = ln_up(decimal_up((alpha - 1) / alpha))
    return max(ZERO, UP.subtract(UP.add(decimal_up(divergence), gain), quotient))


def renyi_delta_up(alpha: Fraction, divergence: Fraction, epsilon: Fraction) -> Decimal:
    """An upper bound on δ = e^{(α-1)(D-ε)}·(1-1/α)^{α-1}/α, at most 1: the same statement solved for δ."""
    slope = UP.add(decimal_up(divergence - epsilon), ln_up(decimal_up((alpha - 1) / alpha)))
    factor = decimal_up(alpha - 1) if slope > 0 else decimal_down(alpha - 1)
    log_delta = UP.subtract(UP.multiply(factor, slope), ln_down(decimal_down(alpha)))
    return min(ONE, exp_up(min(ZERO, log_delta)))


def renyi_to_epsilon(alpha: Fraction, divergence: Fraction, delta: Fraction) -> float:
    """ε at δ from one Rényi order; orders below α hold too, and 1/δ is the best of all."""
    if not divergence:
        return 0.0
    if not delta:
        return math.inf
    return float_up(renyi_epsilon_up(min(alpha, max(1 / delta, Fraction(1001, 1000))), divergence, delta))


def renyi_to_delta(alpha: Fraction, divergence: Fraction, epsilon: Fraction) -> float:
    """δ at ε from one Rényi order; below ε = D a smaller order, 1/(1-e^{ε-D}), is better."""
    if not divergence:
        return 0.0
    gap = -math.expm1(float(epsilon - divergence)) if epsilon < divergence else 0.0
    if gap:
        alpha = min(alpha, max(Fraction(1 / gap), Fraction(1 + 2**-40)))
    return float_up(renyi_delta_up(alpha, divergence, epsilon))


@lru_cache(maxsize=1024)
def zcdp_to_epsilon(rho: Fraction, leak: Fraction, delta: Fraction) -> float:
    """The best ε over all orders, from D_α ≤ ρα outside events of probability ``leak`` (Bun & Steinke 2016, §8)."""
    if delta < leak:
        return math.inf
    if not rho:
        return 0.0
    rest = (delta - leak) / (1 - leak)
    if not rest:
        return math.inf
    alpha = best_order_for_delta(lambda order: float(rho) * order, rest)
    return float_up(renyi_epsilon_up(alpha, rho * alpha, rest))


def zcdp_to_delta(rho: Fraction, leak: Fraction, epsilon: Fraction) -> float:
    """The best δ over all orders at ε: leak + (1-leak)·δ' where δ' is the one without a leak."""
    if not rho:
        return round_up(leak)
    alpha = best_order_for_epsilon(lambda order: float(rho) * order, epsilon)
    return with_leak(leak, renyi_delta_up(alpha, rho * alpha, epsilon))


@lru_cache(maxsize=1024)
def largest_zcdp(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest ρ, rounded down, for which ρ-zCDP implies (ε,δ)-DP by the conversion above.

    >>> float(largest_zcdp(Fraction(1), Fraction(1, 10**6)))
    0.02...
    """
    if not delta:
        return Fraction(0)

    def reached(inverse: Fraction) -> Decimal:
        if not inverse:
            return ONE
        rho = 1 / inverse
        alpha = best_order_for_epsilon(lambda order: float(rho) * order, epsilon)
        return renyi_delta_up(alpha, rho * alpha, epsilon)

    aim = decimal_down(delta)
    root = math.sqrt(float(epsilon) - float(ln_down(aim))) - math.sqrt(-float(ln_down(aim)))
    inverse = least(reached, aim, guess=1 / root**2 if root else 1e12)
    return 1 / price(inverse) if math.isfinite(inverse) else Fraction(0)


def with_leak(leak: Fraction, delta: Decimal) -> float:
    """leak + (1-leak)·δ, rounded up: the δ of a promise that holds outside events of probability ``leak``."""
    if not leak:
        return float_up(delta)
    return min(1.0, float_up(UP.add(decimal_up(leak), UP.multiply(decimal_up(1 - leak), delta))))


def best_order_for_delta(curve: Callable[[float], float], delta: Fraction) -> Fraction:
    """An order near the one that gives the least ε at δ; any order is valid, so this search need not be exact."""
    log_delta = float(ln_down(decimal_down(delta)))

    def epsilon(excess: float) -> float:
        alpha = 1 + excess
        return curve(alpha) + math.log(excess) - math.log1p(excess) - (log_delta + math.log1p(excess)) / excess

    return _best_order(epsilon)


def best_order_for_epsilon(curve: Callable[[float], float], epsilon: Fraction) -> Fraction:
    """An order near the one that gives the least δ at ε."""
    at = float(epsilon)

    def log_delta(excess: float) -> float:
        alpha = 1 + excess
        return excess * (curve(alpha) - at + math.log(excess) - math.log1p(excess)) - math.log1p(excess)

    return _best_order(log_delta)


def _best_order(objective: Callable[[float], float]) -> Fraction:
    """Minimise over ln(α-1): a coarse grid, then golden section around its best point."""
    grid = [0.5 * i for i in range(-40, 60)]
    values = [objective(math.exp(u)) for u in grid]
    centre = min(range(len(grid)), key=values.__getitem__)
    low, high = grid[max(centre - 1, 0)], grid[min(centre + 1, len(grid) - 1)]
    golden = 0.6180339887498949
    left, right = high - golden * (high - low), low + golden * (high - low)
    f_left, f_right = objective(math.exp(left)), objective(math.exp(right))
    for _ in range(40):
        if f_left <= f_right:
            high, right, f_right = right, left, f_left
            left = high - golden * (high - low)
            f_left = objective(math.exp(left))
        else:
            low, left, f_left = left, right, f_right
            right = low + golden * (high - low)
            f_right = objective(math.exp(right))
    return Fraction(1 + math.exp(left if f_left <= f_right else right))  # the very float that was tried
