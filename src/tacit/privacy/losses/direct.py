"""One use of one mechanism: δ(ε) = P(L > ε) - e^ε·Q(L > ε), straight from its two tail masses."""

from __future__ import annotations

import math

import numpy as np

from tacit.privacy.losses.numbers import float_below
from tacit.privacy.losses.pair import Pair

_SLACK = 2.0**-40


def delta_bounds(pair: Pair, epsilon: float, backward: bool) -> tuple[float, float]:
    """Bounds on δ(ε) of the pair, or of the pair reversed."""
    lost_p, lost_q = pair.infinite
    if backward:
        cells = pair.cells(np.array([-math.inf, -epsilon]))
        p, q, lost = float(cells.q[0]), float(cells.p[0]), lost_q
    else:
        cells = pair.cells(np.array([epsilon, math.inf]))
        p, q, lost = float(cells.p[0]), float(cells.q[0]), lost_p
    scaled = math.exp(min(epsilon, 700.0)) * q
    low = p * (1 - _SLACK) - scaled * (1 + _SLACK)
    high = p * (1 + _SLACK) - scaled * (1 - _SLACK)
    most = math.nextafter(high + lost, math.inf) if high > 0 else lost
    return max(low, 0.0) + float_below(lost), min(most, 1.0)


def epsilon_bounds(pair: Pair, delta: float, backward: bool) -> tuple[float, float]:
    """Bounds on the smallest ε ≥ 0 with δ(ε) ≤ delta, which must exceed the infinite mass."""
    low, high = pair.reach((delta - pair.infinite[1 if backward else 0]) / 2)
    largest = max(-pair.extremes[0] if backward else pair.extremes[1], 0.0)
    top = min(max(-low if backward else high, 0.0) * (1 + 1e-12) + 1e-12, largest)
    upper = _bisect(lambda e: delta_bounds(pair, e, backward)[1] <= delta or e >= largest, top)[1]
    lower = _bisect(lambda e: not delta_bounds(pair, e, backward)[0] > delta, upper)[0]
    return lower, upper


def _bisect(holds: object, top: float) -> tuple[float, float]:
    """Neighbouring points, the first where ``holds`` fails (or 0), the second where it holds; it does at ``top``."""
    assert callable(holds)
    if holds(0.0):
        return 0.0, 0.0
    low, high = 0.0, top
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if holds(middle):
            high = middle
        else:
            low = middle
    return low, high
