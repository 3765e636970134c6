"""What a claim says about (ε, δ): the points of its profile at which an audit may catch it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter, TacitError
from tacit.privacy import ApproxDP
from tacit.privacy.prices import read_up
from tacit.privacy.promise import Promise

__all__ = ["Point", "Profile", "read_claim"]

_LEAST_DELTA = 1e-9  # below this a sample cannot see a δ
_STEPS = 24


@dataclass(frozen=True, slots=True)
class Point:
    """An (ε, δ) that the claim implies, both rounded up: whoever leaks more has broken it."""

    epsilon: float
    delta: float


@dataclass(frozen=True, slots=True)
class Profile:
    """A claim, and the points of its profile to hold a mechanism to."""

    claim: Any
    points: tuple[Point, ...]

    def excess(self, at_least: Any, at_most: Any) -> npt.NDArray[np.float64]:
        """For probabilities p ≥ at_least and q ≤ at_most: how far ln((p-δ)/q) exceeds ε at the worst point.

        Above 0 is a breach, and the difference; below 0 it is relative to ε, so that all points count alike.
        """
        p, q = np.asarray(at_least, dtype=np.float64), np.asarray(at_most, dtype=np.float64)
        best = np.full(p.shape, -np.inf)
        for point in self.points:
            np.maximum(best, _excess(p, q, point), out=best)
        return best

    def worst(self, at_least: float, at_most: float) -> Point:
        """The point that these two probabilities break most, or come closest to breaking."""
        return max(self.points, key=lambda point: float(_excess(at_least, at_most, point)))


def _excess(p: Any, q: Any, point: Point) -> npt.NDArray[np.float64]:
    beyond = leaked(p, q, point.delta) - point.epsilon
    found: npt.NDArray[np.float64] = np.where(beyond > 0, beyond, beyond / max(point.epsilon, 1e-3))
    return found


def leaked(p: Any, q: Any, delta: float) -> npt.NDArray[np.float64]:
    """ln((p-δ)/q): the ε that probabilities p and q of one event prove at this δ; -∞ if none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(np.maximum(np.asarray(p) - delta, 0.0)) - np.log(q)
    return np.where(np.asarray(p) > delta, found, -np.inf)


def read_claim(claim: Any) -> Profile:
    """The claim with its points: one for pure and (ε, δ) claims, a grid of ε for all others."""
    allowed = "a guarantee such as PureDP(1), ApproxDP(1, 1e-6), ZCDP(0.5), or a loss distribution"
    if not callable(getattr(claim, "delta", None)) or not callable(getattr(claim, "epsilon", None)):
        raise InvalidParameter("claim", given=claim, allowed=allowed, hint="Write claim=tacit.PureDP(1).")
    pair = claim.as_approx() if isinstance(claim, Promise) else None
    points = [] if pair is None else [Point(_float_above(pair[0]), _float_above(pair[1]))]
    if pair is None or not _says_all(claim, pair):
        points += _grid(claim.delta, claim.epsilon)
    if not points:
        raise InvalidParameter("claim", given=claim, allowed=f"{allowed}, that promises something at an ε below 50")
    return Profile(claim, tuple(points))


def _float_above(exact: Fraction) -> float:
    found = float(exact)
    return found if Fraction(found) >= exact else math.nextafter(found, math.inf)


def _says_all(claim: Promise, pair: tuple[Fraction, Fraction]) -> bool:
    return ApproxDP(*pair, neighbours=claim.neighbours) <= claim


def _grid(delta: Callable[[object], float], epsilon: Callable[[object], float]) -> list[Point]:
    """ε from 0 to where δ becomes too small to be seen in a sample."""
    top = 50.0
    for target in (_LEAST_DELTA, 1e-6, 1e-3):
        try:
            found = epsilon(target)
        except TacitError:
            continue
        if math.isfinite(found):
            top = min(top, found)
            break
    points = []
    for i in range(_STEPS + 1):
        level = top * i / _STEPS
        reached = delta(read_up(level))
        if reached < 1:
            points.append(Point(math.nextafter(level, math.inf), math.nextafter(reached, 1.0)))
    return points
