"""The normal distribution's tails, as proven bounds at 40 digits.

R(x) = Φ(-x)/φ(x) is Mills' ratio. With it no tail underflows and no difference of tails cancels: Φ(-x) = φ(x)·R(x).
"""

from __future__ import annotations

from decimal import Context, Decimal
from functools import lru_cache

from tacit.privacy.rounding import DOWN, HALF, ONE, TWO, UP, ZERO, exp_down, exp_up, ln_down, ln_up, sqrt_down, sqrt_up

_PI_DOWN = Decimal("3.14159265358979323846264338327950288419716939937510")
_PI_UP = Decimal("3.14159265358979323846264338327950288419716939937511")
_ROOT_HALF_PI_DOWN = sqrt_down(DOWN.divide(_PI_DOWN, TWO))
_ROOT_HALF_PI_UP = sqrt_up(UP.divide(_PI_UP, TWO))
_ROOT_TWO_PI_DOWN = sqrt_down(DOWN.multiply(TWO, _PI_DOWN))
_ROOT_TWO_PI_UP = sqrt_up(UP.multiply(TWO, _PI_UP))
_MINUS_HALF = Decimal("-0.5")
_SERIES_BELOW = 3  # below: Taylor series; from here on: continued fraction


@lru_cache(maxsize=256)
def mills(x: Decimal) -> tuple[Decimal, Decimal]:
    """A lower and an upper bound on R(x) = Φ(-x)/φ(x), for x ≥ 0.

    >>> low, high = mills(Decimal(1))
    >>> str(low)[:12], high - low < Decimal("1e-30")
    ('0.6556795424', True)
    """
    return _mills_series(x) if x < _SERIES_BELOW else _mills_fraction(x)


def _mills_series(x: Decimal) -> tuple[Decimal, Decimal]:
    """R(x) = √(π/2)·e^{x²/2} − Σ x^{2i+1}/(2i+1)!!; once x² < (2i+3)/2 the rest is below the last term."""
    square_down, square_up = DOWN.multiply(x, x), UP.multiply(x, x)
    term_down = term_up = x
    sum_down = sum_up = ZERO
    odd = 1
    while term_up > Decimal("1e-38") or UP.multiply(TWO, square_up) > odd + 2:
        sum_down, sum_up = DOWN.add(sum_down, term_down), UP.add(sum_up, term_up)
        odd += 2
        term_down = DOWN.divide(DOWN.multiply(term_down, square_down), Decimal(odd))
        term_up = UP.divide(UP.multiply(term_up, square_up), Decimal(odd))
    sum_up = UP.add(sum_up, UP.multiply(TWO, term_up))
    whole_down = DOWN.multiply(_ROOT_HALF_PI_DOWN, exp_down(DOWN.multiply(HALF, square_down)))
    whole_up = UP.multiply(_ROOT_HALF_PI_UP, exp_up(UP.multiply(HALF, square_up)))
    return DOWN.subtract(whole_down, sum_up), UP.subtract(whole_up, sum_down)


def _mills_fraction(x: Decimal) -> tuple[Decimal, Decimal]:
    """Laplace's continued fraction R(x) = 1/(x + 1/(x + 2/(x + 3/(x + …)))), its rest enclosed at every level."""
    depth = _depth(x)
    low, high = x, UP.add(x, UP.divide(Decimal(depth + 1), x))
    for level in range(depth, 0, -1):
        n = Decimal(level)
        low, high = DOWN.add(x, DOWN.divide(n, high)), UP.add(x, UP.divide(n, low))
    return DOWN.divide(ONE, high), UP.divide(ONE, low)


def _depth(x: Decimal) -> int:
    return 20 + 1300 // int(x) ** 2


@lru_cache(maxsize=256)
def mills_up(x: Decimal) -> Decimal:
    """The upper one of the bounds of `mills`, in half of the time.

    >>> mills_up(Decimal(7)) == mills(Decimal(7))[1]
    True
    """
    return mills(x)[1] if x < _SERIES_BELOW else _one_end(x, UP, DOWN)


@lru_cache(maxsize=256)
def mills_down(x: Decimal) -> Decimal:
    """The lower one of the bounds of `mills`."""
    return mills(x)[0] if x < _SERIES_BELOW else _one_end(x, DOWN, UP)


def _one_end(x: Decimal, outer: Context, inner: Context) -> Decimal:
    """One end of `_mills_fraction`: at each level it needs one end of the next, by turns the lower and the upper."""
    depth = _depth(x)
    innermost = outer if depth % 2 else inner
    end = UP.add(x, UP.divide(Decimal(depth + 1), x)) if innermost is UP else x
    for level in range(depth, 0, -1):
        towards = inner if level % 2 else outer
        end = towards.add(x, towards.divide(Decimal(level), end))
    return outer.divide(ONE, end)


def density(x: Decimal) -> tuple[Decimal, Decimal]:
    """A lower and an upper bound on φ(x) = e^{-x²/2}/√(2π)."""
    low = exp_down(DOWN.multiply(_MINUS_HALF, UP.multiply(x, x)))
    return DOWN.divide(low, _ROOT_TWO_PI_UP), density_up(x)


def density_up(x: Decimal) -> Decimal:
    """The upper one of the bounds of `density`."""
    return UP.divide(exp_up(UP.multiply(_MINUS_HALF, DOWN.multiply(x, x))), _ROOT_TWO_PI_DOWN)


def log_tail(x: Decimal) -> tuple[Decimal, Decimal]:
    """A lower and an upper bound on ln Φ(-x), for x ≥ 0."""
    ratio_down, ratio_up = mills(x)
    half_down, half_up = DOWN.multiply(HALF, DOWN.multiply(x, x)), UP.multiply(HALF, UP.multiply(x, x))
    low = DOWN.subtract(DOWN.subtract(ln_down(ratio_down), half_up), ln_up(_ROOT_TWO_PI_UP))
    high = UP.subtract(UP.subtract(ln_up(ratio_up), half_down), ln_down(_ROOT_TWO_PI_DOWN))
    return low, high


def profile_up(a: Decimal, mu: Decimal) -> Decimal:
    """An upper bound on Φ(-a) − e^ε·Φ(-a-μ) where ε = (a + μ/2)·μ ≥ 0 and μ > 0.

    Since (a+μ)² − a² = 2ε this is φ(a)·(R(a) − R(a+μ)); for a < 0, 1 − φ(a)·(R(-a) + R(a+μ)). It falls with a and
    grows with μ, so callers round a down and μ up. Where μ is so small that these differences lose their digits, the
    tangents are better: R is convex with R' = xR − 1, and nowhere is the profile above μ·φ(0).
    """
    beyond_down = mills_down(UP.add(a, mu))
    if a < 0:
        here_and_beyond = DOWN.add(mills_down(a.copy_negate()), beyond_down)
        whole = UP.subtract(ONE, DOWN.multiply(density(a)[0], here_and_beyond))
        return min(whole, UP.divide(mu, _ROOT_TWO_PI_DOWN))
    here_down, here_up = mills(a)
    slope = UP.subtract(ONE, DOWN.multiply(a, here_down))
    return UP.multiply(density_up(a), min(UP.subtract(here_up, beyond_down), UP.multiply(mu, slope)))
