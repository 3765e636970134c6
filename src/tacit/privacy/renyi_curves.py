"""Rényi divergences of the mechanisms, order by order: proven upper bounds, in ball arithmetic.

Every function takes the order α > 1 first and returns a float at or just above D_α, in the worse direction. Closed
forms where they exist; fractional orders of sampled noise by rigorous integration (Johansson 2018, Arb), never by
interpolation where a tight value is known. Proofs: ``docs/proofs/renyi.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from flint import acb, arb, ctx

from tacit.errors import InvalidParameter
from tacit.privacy.losses.numbers import Real, not_negative, positive, probability, real, whole

_BITS = 160


def gaussian(order: Real, mu: Real) -> float:
    """Gaussian noise, μ = sensitivity / scale: αμ²/2 (Mironov 2017, Corollary 3).

    >>> gaussian(2, 1)
    1.0000000000000002
    """
    alpha = _order(order)
    return _rounded_up(lambda: arb(alpha) * arb(not_negative("mu", mu)) ** 2 / 2)


def laplace(order: Real, ratio: Real) -> float:
    """Continuous Laplace noise, ratio = sensitivity / scale (Mironov 2017, Corollary 2).

    >>> round(laplace(2, 1), 6)
    0.619124
    """
    alpha, size = _order(order), not_negative("ratio", ratio)
    return _log_moment(alpha, lambda: _laplace_moment(arb(alpha), arb(size)))


def discrete_laplace(order: Real, rate: Real, shift: int) -> float:
    """Two-sided geometric noise, P[x] ∝ e^(-rate·|x|), moved by the integer ``shift``."""
    alpha, step, moved = _order(order), positive("rate", rate), whole("shift", shift, least=0)

    def moment() -> arb:
        a, r = arb(alpha), arb(step)
        ends = (((a - 1) * r * moved).exp() + (-a * r * moved).exp()) / (1 + (-r).exp())
        if moved < 2:
            return ends if moved else arb(1)
        ratio = (-(2 * a - 1) * r).exp()
        inner = ratio * (1 - ratio ** (moved - 1)) / (1 - ratio)
        return ends + (r / 2).tanh() * ((a - 1) * r * moved).exp() * inner

    return _log_moment(alpha, moment)


def randomized_response(order: Real, epsilon: Real, categories: int = 2) -> float:
    """k-ary randomized response, the truth e^ε times as likely as any one lie.

    >>> round(randomized_response(2, 1), 6)
    0.735326
    """
    alpha, size, count = _order(order), not_negative("epsilon", epsilon), whole("categories", categories, least=2)

    def moment() -> arb:
        a, e = arb(alpha), arb(size)
        truth = 1 / (1 + (count - 1) * (-e).exp())
        lie = truth * (-e).exp()
        return truth * ((a - 1) * e).exp() + lie * (-(a - 1) * e).exp() + (count - 2) * lie

    return _log_moment(alpha, moment)


def pure(order: Real, epsilon: Real) -> float:
    """Any ε-DP mechanism: randomized response is the worst (Bun & Steinke 2016; Kairouz et al. 2015)."""
    return randomized_response(order, epsilon)


def bounded_range(order: Real, eta: Real) -> float:
    """Any mechanism whose loss has range η, such as the exponential mechanism (Dong, Durfee & Rogers 2020).

    The worst pair has losses t and t-η; its moment y^(α-1)·(A - By)/(e^η-1), y = e^t, peaks at y = (α-1)A/(αB).

    >>> bounded_range(2, 1) <= 2 * 1 / 8 + 1e-12
    True
    """
    alpha, size = _order(order), not_negative("eta", eta)
    if size == 0:
        return 0.0

    def moment() -> arb:
        a, e = arb(alpha), arb(size)
        shrink = (-(a - 1) * e).exp()
        top, slope = e.exp() - shrink, 1 - shrink
        y = (a - 1) * top / (a * slope)
        return y ** (a - 1) * top / a / e.expm1()

    return min(_log_moment(alpha, moment), _rounded_up(lambda: arb(alpha) * arb(size) ** 2 / 8))


def sampled_gaussian(order: Real, mu: Real, rate: Real) -> float:
    """Gaussian noise on a Poisson sample, add-remove (Mironov, Talwar & Zhang 2019).

    Whole orders by their finite sum, others by integration; removing a unit is the worse direction.

    >>> round(sampled_gaussian(2, 1, 0.01), 9)
    0.000171813
    """
    alpha, size, q = _order(order), not_negative("mu", mu), probability("rate", rate)
    if q == 0 or size == 0:
        return 0.0
    if q == 1:
        return gaussian(order, mu)
    if alpha == int(alpha) and alpha <= 512:
        return _log_moment(alpha, lambda: _binomial_moment(int(alpha), q, lambda k: arb(size) ** 2 * (k * (k - 1)) / 2))
    return _log_moment(alpha, lambda: _sampled_gaussian_integral(alpha, size, q))


def sampled_laplace(order: Real, ratio: Real, rate: Real) -> float:
    """Laplace noise on a Poisson sample, add-remove: both directions are integrated, the larger counts.

    >>> round(sampled_laplace(2, 1, 0.01), 8)
    8.573e-05
    """
    alpha, size, q = _order(order), not_negative("ratio", ratio), probability("rate", rate)
    if q == 0 or size == 0:
        return 0.0
    if q == 1:
        return laplace(order, ratio)
    removing = _log_moment(alpha, lambda: _sampled_laplace_moment(arb(alpha), arb(size), arb(q)))
    adding = _log_moment(alpha, lambda: _sampled_laplace_moment(1 - arb(alpha), arb(size), arb(q)))
    return max(removing, adding)


def sampled(order: Real, curve: Callable[[int], float], rate: Real) -> float:
    """Any mechanism of known Rényi curve on a Poisson sample, add-remove (Zhu & Wang 2019; whole orders).

    Fractional orders interpolate ln of the moments, which is convex in the order.
    """
    q = probability("rate", rate)
    if q == 1:
        return _convex(order, curve)

    def whole_order(alpha: int) -> float:
        def moment() -> arb:
            g = arb(q)
            total = (1 - g) ** (alpha - 1) * (alpha * g - g + 1)
            total += math.comb(alpha, 2) * g**2 * (1 - g) ** (alpha - 2) * arb(curve(2)).exp()
            for j in range(3, alpha + 1):
                total += 3 * math.comb(alpha, j) * (1 - g) ** (alpha - j) * g**j * ((j - 1) * arb(curve(j))).exp()
            return total

        return _log_moment(float(alpha), moment)

    return _convex(order, whole_order)


def sampled_without_replacement(
    order: Real, curve: Callable[[int], float], chosen: int, population: int, largest: float = math.inf
) -> float:
    """Any mechanism of known Rényi curve on m of n units without replacement, replace.

    Wang, Balle & Kasiviswanathan (2019), for whole orders; ``largest`` is the mechanism's pure ε, if any.
    Fractional orders interpolate ln of the moments, which is convex in the order.
    """
    size, drawn = whole("population", population, least=1), whole("chosen", chosen, least=0)
    if drawn > size:
        raise InvalidParameter("chosen", given=chosen, allowed=f"at most the population, {size}")

    def bound(j: int) -> arb:
        return arb(2) if math.isinf(largest) else arb(2).min(arb(largest).expm1() ** j)

    def whole_order(alpha: int) -> float:
        def moment() -> arb:
            g = arb(drawn) / size
            second = arb(curve(2))
            total = 1 + math.comb(alpha, 2) * g**2 * (4 * second.expm1()).min(second.exp() * bound(2))
            for j in range(3, alpha + 1):
                total += math.comb(alpha, j) * g**j * ((j - 1) * arb(curve(j))).exp() * bound(j)
            return total

        return _log_moment(float(alpha), moment)

    if drawn == size:
        return _convex(order, curve)
    return _convex(order, whole_order)


def _order(order: object) -> float:
    alpha = real("order", order, "a finite number above 1")
    if alpha <= 1:
        raise InvalidParameter("order", given=order, allowed="a finite number above 1")
    return alpha


def _convex(order: Real, curve: Callable[[int], float]) -> float:
    """(α-1)·D_α is convex in α and 0 at 1: a straight line between whole orders lies above it."""
    alpha = _order(order)
    low = math.floor(alpha)
    if alpha == low:
        return curve(low)
    below = (low - 1) * curve(low) if low > 1 else 0.0
    above = low * curve(low + 1)
    share = alpha - low
    return ((1 - share) * below + share * above) / (alpha - 1) * (1 + 2.0**-48)


def _laplace_moment(a: arb, c: arb) -> arb:
    return (a * ((a - 1) * c).exp() + (a - 1) * (-a * c).exp()) / (2 * a - 1)


def _binomial_moment(alpha: int, rate: float, exponent: Callable[[int], arb]) -> arb:
    """Σ_k C(α,k) (1-q)^(α-k) q^k e^exponent(k)."""
    q = arb(rate)
    total = arb(0)
    for k in range(alpha + 1):
        total += math.comb(alpha, k) * (1 - q) ** (alpha - k) * q**k * exponent(k).exp()
    return total


def _sampled_gaussian_integral(alpha: float, mu: float, rate: float) -> arb:
    """E[(1-q+q·e^(μx-μ²/2))^α] for x ~ N(0,1): integrated over a range, bounded outside it.

    To the left of it the power is at most 1, to the right at most e^(α(μx-μ²/2)).
    """
    a, m, q = arb(alpha), arb(mu), arb(rate)
    left, right = -16.0, math.ceil(alpha * mu + 16)
    norm = (2 * arb.pi()).sqrt()

    def density(x: acb, analytic: bool) -> acb:
        power = a * (1 - q + q * (m * x - m * m / 2).exp()).log(analytic=analytic)
        return (power - x * x / 2).exp() / norm

    inner = acb.integral(density, left, right).real
    root = arb(2).sqrt()
    below = (arb(-left) / root).erfc() / 2
    above = (a * (a - 1) * m * m / 2).exp() * ((right - a * m) / root).erfc() / 2
    return inner + below + above


def _sampled_laplace_moment(power: arb, c: arb, q: arb) -> arb:
    """E_Q[(1-q+q·e^l)^power] for the loss l of Laplace noise."""

    def inner(x: acb, analytic: bool) -> acb:
        return (power * (1 - q + q * x.exp()).log(analytic=analytic) - (x + c) / 2).exp() / 4

    def at(x: arb) -> arb:
        return (power * (1 - q + q * x.exp()).log()).exp()

    return at(-c) / 2 + (-c).exp() * at(c) / 2 + acb.integral(inner, -c, c).real


def _log_moment(alpha: float, moment: Callable[[], arb]) -> float:
    """ln(moment)/(α-1), rounded up; never below 0."""
    return _rounded_up(lambda: moment().log() / (arb(alpha) - 1))


def _rounded_up(value: Callable[[], arb]) -> float:
    """A float at or just above a ball, computed at more and more bits until the ball is small."""
    before = ctx.prec
    try:
        for bits in (_BITS, 2 * _BITS, 4 * _BITS):
            ctx.prec = bits
            ball = value()
            if ball.is_finite() and ball.rad() < 1e-15 * abs(ball.mid()):
                break
        upper = float(ball.upper()) if ball.is_finite() else math.inf
    finally:
        ctx.prec = before
    return max(0.0, math.nextafter(upper, math.inf))
