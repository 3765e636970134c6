"""The tails of weighted sums: of a few continuous Laplace noises, and of Gaussian noises on integers; against us.

P[|Σ b_k L_k| > t] = Σ_i e^(-t/b_i)·Π_{j≠i} b_i²/(b_i² - b_j²) for different scales b: the divided difference of
u^(k-1)·e^(-t/√u) over the b². Scales that are nearly alike are moved apart by making the larger ones larger, and the
tail with them (Birnbaum 1948). Proof: docs/proofs/blends.md.

Gaussian X + U, the noise made even by a uniform part of a step, is within what σZ + V is, V uniform between -1 and 1
(more peaked), and so are sums of such; hazards bound the tail with V, and U is taken away by the chance that it does
not matter. Proof: docs/proofs/consistency.md.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.shared.tails import gaussian_quantile
from tacit.privacy.rounding import decimal_down

__all__ = ["LEAST", "gaussian_sum_errors", "laplace_furthest", "laplace_tail"]

Floats = npt.NDArray[np.float64]

_APART = {1: 0.0, 2: 1e-6, 3: 1e-3, 4: 4e-3, 5: 1e-2, 6: 2e-2}
"""By how much scales differ at least, of so many: nearer ones cancel each other out in doubles."""
_LOST = {1: 1e-15, 2: 1e-9, 3: 1e-9, 4: 1e-7, 5: 1e-7, 6: 1e-6}
"""More than what doubles lose then."""
_NOTHING = 1e-9
"""Scales are at least this part of the largest."""
_STEPS = 6

LEAST = 2.0
"""From this standard deviation on, in steps."""
_CHANCES = (0.25, 0.1, 0.04, 0.01)
"""Of the uniform parts being further out than what is taken away for them."""
_UP = 1e-4
_ROUNDING = 1e-9


def laplace_tail(t: Floats, scales: Floats) -> Floats:
    """At least P[|Σ b_k L_k| > t], one column of scales b per t.

    >>> laplace_tail(np.array([3.0]), np.array([[1.0], [1.0]])).round(6)   # (1 + t/2)e^-t
    array([0.124468])
    """
    own, factors, unit = _expanded(scales)
    with np.errstate(under="ignore", over="ignore"):
        total = (factors * np.exp(-t / unit / own)).sum(axis=0)
    found: Floats = np.clip(total + _LOST[len(scales)], 0.0, 1.0)
    return found


def laplace_furthest(scales: Floats, beta: float) -> Floats:
    """t with P[|Σ b_k L_k| > t] ≤ β by Newton's steps: the logarithm of the tail is concave, so none is too short."""
    left = beta - _LOST[len(scales)]
    if left < beta / 2:  # doubles cannot tell: each within its own at β/k
        return np.asarray(scales.sum(axis=0) * np.log(len(scales) / beta), dtype=np.float64)
    own, factors, unit = _expanded(scales)
    t = own[-1] * np.log(1 / beta)
    for _ in range(_STEPS):
        with np.errstate(under="ignore"):
            parts = factors * np.exp(-t / own)
        tail, density = np.maximum(parts.sum(axis=0), left / 2), (parts / own).sum(axis=0)
        t = t + np.where(density > 0, np.log(tail / left) * tail / np.maximum(density, np.finfo(float).tiny), 0.0)
    found: Floats = t * (1 + 1e-9) * unit
    return found


def _expanded(scales: Floats) -> tuple[Floats, Floats, Floats]:
    """The scales, moved apart, the factors of their exponentials, and the unit of the scales: squares stay small."""
    unit = np.maximum(scales.max(axis=0), np.finfo(float).tiny)
    own = _apart(scales / unit)
    squares = own**2
    factors = np.ones_like(own)
    for i in range(len(own)):
        for j in range(len(own)):
            if j != i:
                factors[i] /= 1 - squares[j] / squares[i]
    return own, factors, unit


def _apart(scales: Floats) -> Floats:
    """In ascending order, each larger than the one before by as much as is needed."""
    own: Floats = np.sort(scales, axis=0)
    own[0] = np.maximum(own[0], _NOTHING)
    for at in range(1, len(own)):
        own[at] = np.maximum(own[at], own[at - 1] * (1 + _APART[len(own)]))
    return own


def gaussian_sum_errors(deviation: Floats, size: Floats, width: Floats, narrowest: float, beta: float) -> Floats:
    """t with P[|Σ w_k X_k| > t] ≤ β for independent rounded or discrete Gaussian noises of at least this σ.

    For each sum its √Σw²σ², √Σw² and Σ|w|.
    """
    assert narrowest >= LEAST
    found: Floats = _quantile(beta, narrowest) * deviation + width / 2
    for chance in _CHANCES:
        away = math.sqrt(-math.log(chance) / 6) * size
        found = np.minimum(found, _quantile(beta * (1 - chance), narrowest) * deviation + away)
    return found * (1 + _ROUNDING)


@lru_cache(maxsize=1024)
def _quantile(beta: float, narrowest: float) -> float:
    """y with P[|Z| > y]·e^(h²/6σ²) ≤ β, where h = (y + √(y² + 4))/2 is above the hazard of Z at y."""
    tried = float(gaussian_quantile(decimal_down(Fraction(beta))))
    while True:
        tried *= 1 + _UP
        hazard = (tried + math.sqrt(tried**2 + 4)) / 2
        left = beta * math.exp(-((hazard / narrowest) ** 2) / 6) * (1 - _ROUNDING)
        needed = float(gaussian_quantile(decimal_down(Fraction(left)))) * (1 + _ROUNDING)
        if needed <= tried:
            return tried
        tried = needed
