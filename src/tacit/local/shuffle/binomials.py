"""δ of binomial noise that one or two counts are shifted by one in, exactly."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter

__all__ = ["MOST_EPSILON", "least_chance", "one_count_delta", "two_counts_delta"]

Floats = npt.NDArray[np.float64]

_SLACK = 1e-9
MOST_EPSILON = 300.0
"""e to twice this power is still a float; at any ε above, δ is at most what it is here."""
_GRID = 1 << 60


def one_count_delta(n: int, chance: float, epsilon: float) -> float:
    """The δ at ε of Y against Y + 1, Y ~ Bin(n, chance), in the worse direction.

    >>> round(one_count_delta(10, 0.5, 1.0), 6)
    0.025487
    """
    law = _law(n, chance)
    one, other = np.concatenate([law, [0.0]]), np.concatenate([[0.0], law])
    grown = math.exp(min(epsilon, MOST_EPSILON))
    found = max(float(np.maximum(a - grown * b, 0.0).sum()) for a, b in ((one, other), (other, one)))
    return min(1.0, found * (1 + _SLACK) + 1e-150)


def two_counts_delta(n: int, chance: float, epsilon: float) -> float:
    """The δ at ε of (Y + 1, Y') against (Y, Y' + 1), both ~ Bin(n, chance): what replacing a cell by another moves.

    The likelihood ratio is r(y)/r(y') with r(y) = P[Y = y-1]/P[Y = y], which grows with y: for each first count the
    outcomes beyond e^ε are those with a second count below some place, and their chances are sums of the law. Mirror
    images, so one direction is both.
    """
    law = _law(n, chance)
    shifted, plain = np.concatenate([[0.0], law]), np.concatenate([law, [0.0]])  # Y+1 = y, Y = y
    logs = np.concatenate([[-math.inf], _log_ratios(n, chance, law.size - 1), [math.inf]])
    below = np.searchsorted(logs, logs - epsilon, side="left")  # second counts with r(y') < r(y)·e^-ε
    of_plain = np.concatenate([[0.0], np.cumsum(plain)])
    of_shifted = np.concatenate([[0.0], np.cumsum(shifted)])
    gains = shifted * of_plain[below] - math.exp(min(epsilon, MOST_EPSILON)) * plain * of_shifted[below]
    return min(1.0, float(np.maximum(gains, 0.0).sum()) * (1 + _SLACK) + 1e-150)


def least_chance(delta_at: Callable[[float], float], goal: float, *, n: int) -> Fraction:
    """The smallest chance up to ½, on a grid of 2⁻⁶⁰, at which the falling ``delta_at`` is at most ``goal``.

    Looked for from below, where the law has few places: noise that hides one of ten million people is some dozens.
    """
    low, high = 0, 1 << max(0, 55 - n.bit_length())
    while delta_at(high / _GRID) > goal:
        if 2 * high == _GRID:
            allowed = "more people, a larger ε or a larger δ: not even fair coins would hide one of them"
            raise InvalidParameter("n", given=n, allowed=allowed)
        low, high = high, 2 * high
    while high - low > max(1, high >> 40):
        middle = (low + high) // 2
        low, high = (low, middle) if delta_at(middle / _GRID) <= goal else (middle, high)
    return Fraction(high, _GRID)


def _law(n: int, chance: float) -> Floats:
    """P[Y = y] from y = 0 on, up to where it is far below any δ, by ratios from the mode; sums to 1."""
    if chance <= 0:
        return np.ones(1)
    mode = min(n, int((n + 1) * chance))
    reach = min(n, mode + 1000 + 60 * math.isqrt(mode + 1))
    ratios = _log_ratios(n, chance, reach)  # added up outwards: logs near the mode are small, and keep their digits
    below, above = np.cumsum(ratios[:mode][::-1])[::-1], np.cumsum(-ratios[mode:])
    law: Floats = np.exp(np.concatenate([below, [0.0], above]))
    law /= law.sum()
    return law


def _log_ratios(n: int, chance: float, last: int) -> Floats:
    """ln(P[Y = y-1]/P[Y = y]) for y = 1, …, last."""
    y = np.arange(1, last + 1, dtype=np.float64)
    found: Floats = np.log(y / (n - y + 1)) + math.log1p(-chance) - math.log(chance)
    return found
