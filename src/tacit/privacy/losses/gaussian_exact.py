"""Gaussian compositions in closed form, in ball arithmetic: every digit of the result is proven.

k Gaussian mechanisms are one, with μ² = Σ μᵢ² (Dong, Roth & Su 2022), and
δ(ε) = Φ(μ/2 - ε/μ) - e^ε·Φ(-μ/2 - ε/μ) (Balle & Wang 2018, Theorem 8).
"""

from __future__ import annotations

import math

from flint import arb, ctx

LARGEST_EPSILON = 1e15
"""Beyond it e^ε leaves the range of ball arithmetic; δ there is at most δ here."""


def gaussian_delta(mu: float, epsilon: float) -> tuple[float, float]:
    """(lower, upper) bounds on δ(ε) of μ-Gaussian DP, one ulp apart or so.

    >>> low, high = gaussian_delta(1.0, 1.0)
    >>> round(high, 6), high - low < 1e-15
    (0.126937, True)
    """
    ball = _delta(mu, min(epsilon, LARGEST_EPSILON))  # δ falls, so a smaller ε gives an upper bound
    if not ball.is_finite():
        return 0.0, 1.0
    low, high = float(ball.lower()), float(ball.upper())
    lower = max(math.nextafter(low, -math.inf), 0.0) if epsilon <= LARGEST_EPSILON else 0.0
    return lower, min(math.nextafter(high, math.inf), 1.0)


def gaussian_epsilon(mu: float, delta: float) -> tuple[float, float]:
    """(lower, upper) bounds on the smallest ε ≥ 0 with δ(ε) ≤ delta, within a few ulp.

    >>> low, high = gaussian_epsilon(1 / 4.224679, 1e-6)
    >>> round(high, 5)
    1.0
    """
    goal = arb(delta)
    if bool(_delta(mu, 0.0) <= goal):
        return 0.0, 0.0
    low, high = 0.0, mu * mu / 2 + mu * math.sqrt(-2 * math.log(delta)) + 1e-300
    while not bool(_delta(mu, high) <= goal):
        high *= 1.5
    near = _estimate(mu, delta, high)
    for share in (1e-12, 1e-9, 1e-6):  # narrows the bracket where the estimate is as good as that; each end is verified
        under, over = near * (1 - share), near * (1 + share)
        if low < under and over < high and not bool(_delta(mu, under) <= goal) and bool(_delta(mu, over) <= goal):
            low, high = under, over
            break
    for _ in range(200):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if bool(_delta(mu, middle) <= goal):
            high = middle
        else:
            low = middle
    below = low
    while below > 0 and not bool(_delta(mu, below) >= goal):
        below = math.nextafter(below, 0.0)
    return below, high


def _estimate(mu: float, delta: float, high: float) -> float:
    """Where δ(ε) crosses, in plain floats: steers the search, never decides."""
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        near, far = (middle / mu - mu / 2) / math.sqrt(2), (middle / mu + mu / 2) / math.sqrt(2)
        tail = math.erfc(far)
        reached = math.erfc(near) - (math.exp(middle + math.log(tail)) if tail > 0 and middle < 700 else 0.0)
        low, high = (low, middle) if reached <= 2 * delta else (middle, high)
    return high


def _delta(mu: float, epsilon: float) -> arb:
    """δ(ε) as a ball, precise enough for the difference of two near tails."""
    before = ctx.prec
    try:
        ctx.prec = 192
        e, m = arb(epsilon), arb(mu)
        root = arb(2).sqrt()
        first = ((e / m - m / 2) / root).erfc() / 2
        second = ((e / m + m / 2) / root).erfc() / 2
        return first - e.exp() * second
    finally:
        ctx.prec = before
