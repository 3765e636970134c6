"""Intervals of ratios of released sums: what would make both sums implausible together is left out (Fieller 1954).

Were r the ratio A/B, A - r·B would be 0, and what is released of it noise alone. All r are kept for which that noise is
not too large. Where B may be 0 they have no end on one side, or on neither: that is an interval too. Proof:
docs/proofs/statements.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.tables.estimators.base import Noisy, Weights
from tacit.tables.estimators.noise import Noise

__all__ = ["Linear", "ratio_ends"]

Floats = npt.NDArray[np.float64]
Ends = tuple[Floats, Floats]

_HALVINGS = 44
_MOST_PARTS = 6
"""Of one sum of noises, in closed form."""
_OF_SIGN = Fraction(1, 10)
"""The share of β for the sign of what is divided, where it may be negative."""


@dataclass(frozen=True, slots=True)
class Linear:
    """A statistic that is a sum of released integers, each with its weight."""

    noisy: Noisy
    weights: Weights
    never_negative: bool

    def parts(self) -> Floats:
        """One row per released integer."""
        return np.atleast_2d(self.noisy.values) if self.noisy.values.ndim < 2 else self.noisy.values

    def column(self) -> Floats:
        return np.array(self.weights, dtype=np.float64)[:, None]


def ratio_ends(top: Linear, bottom: Linear, beta: Fraction) -> Ends | None:
    """The ends of all plausible ratios; None where there is no closed form. They miss at most β of the time."""
    test = _Test.of(top, bottom, float(beta if top.never_negative else beta * (1 - _OF_SIGN)))
    if len(test.scales) > _MOST_PARTS:
        return None
    a, b = test.values(0.0), test.values(None)
    flip = np.where(b < 0, -1.0, 1.0)
    a, b = a * flip, b * flip
    certain = b > test.furthest(None)
    with np.errstate(all="ignore"):
        middle = np.where(certain, a / b, 0.0)
        room = np.abs(middle) + test.furthest(0.0) / np.where(certain, b, 1.0)
        low = middle - test.outward(middle, -room)
        high = middle + test.outward(middle, room)
    low, high = np.where(certain, low, -np.inf), np.where(certain, high, np.inf)
    if bottom.never_negative:
        sure = np.ones_like(b) if top.never_negative else _signed(top, float(beta * _OF_SIGN))
        first = test.first(sure)
        low = np.where(~certain & (sure > 0), first, low)
        high = np.where(~certain & (sure < 0), -first, high)
        if top.never_negative:
            low, high = np.maximum(low, 0.0), np.maximum(high, 0.0)
    return low, high


def _signed(top: Linear, beta: float) -> Floats:
    """What is divided, where its sign is certain; else 0."""
    column, values = top.column(), _summed(top.column() * top.parts())
    off = top.noisy.noise.furthest(column, top.noisy.mechanism.scale, beta)
    return np.where(np.abs(values) > off, values, 0.0)


def _summed(parts: Floats) -> Floats:
    """Added one by one: a product of matrices rounds by a group's place."""
    made: Floats = np.zeros(parts.shape[1:])
    for one in parts:
        made = made + one
    return made


@dataclass(frozen=True, slots=True)
class _Test:
    """A - r·B of the released parts, and how far its noise goes."""

    released: Floats
    top: Floats
    bottom: Floats
    scales: Floats
    noise: Noise
    beta: float

    @classmethod
    def of(cls, top: Linear, bottom: Linear, beta: float) -> _Test:
        if top.noisy is bottom.noisy:
            released, above, below = top.parts(), top.column(), bottom.column()
            scales = np.full((len(released), 1), top.noisy.mechanism.scale)
        else:
            released = np.concatenate([top.parts(), bottom.parts()])
            nothing = np.zeros((len(bottom.parts()), 1)), np.zeros((len(top.parts()), 1))
            above = np.concatenate([top.column(), nothing[0]])
            below = np.concatenate([nothing[1], bottom.column()])
            scales = np.concatenate(
                [np.full((len(one.parts()), 1), one.noisy.mechanism.scale) for one in (top, bottom)]
            )
        return cls(released, above, below, scales, top.noisy.noise, beta)

    def _weights(self, r: Floats | float | None) -> Floats:
        """Of A - r·B; of B alone where there is no r."""
        return self.bottom if r is None else self.top - r * self.bottom

    def values(self, r: float | None) -> Floats:
        return _summed(self._weights(r) * self.released)

    def furthest(self, r: float | None) -> Floats:
        return self.noise.furthest(self._weights(r), self.scales, self.beta)

    def implausible(self, r: Floats) -> npt.NDArray[np.bool_]:
        weights = self._weights(r)
        return self.noise.unlikely(np.abs(_summed(weights * self.released)), weights, self.scales, self.beta)

    def outward(self, middle: Floats, room: Floats) -> Floats:
        """How far from the middle the last plausible ratio is, to the side of ``room``; found by halving."""
        inside, outside = np.zeros_like(middle), np.ones_like(middle)
        for _ in range(_HALVINGS):
            between = (inside + outside) / 2
            out = self.implausible(middle + room * between / (1 - between))
            inside, outside = np.where(out, inside, between), np.where(out, between, outside)
        found: Floats = np.where(outside < 1, np.abs(room) * outside / np.maximum(1 - outside, 1e-300), np.inf)
        return found

    def first(self, sure: Floats) -> Floats:
        """The first plausible ratio from 0 on, to the side of the sign of ``sure``: how far it is from 0."""
        side = np.where(sure < 0, -1.0, 1.0)
        near, far = np.zeros_like(side), np.ones_like(side)
        a, b = self.values(0.0), self.values(None)
        unit = np.abs(a) + 1.0
        with np.errstate(all="ignore"):  # the ratio itself is plausible: what is further out is of no interest
            most = np.where(side * a * b > 0, np.abs(a / b), np.inf)
        for _ in range(_HALVINGS):
            between = (near + far) / 2
            out = self.implausible(side * np.minimum(unit * between / (1 - between), most))
            near, far = np.where(out, between, near), np.where(out, far, between)
        found: Floats = np.where(self.implausible(np.zeros_like(side)), unit * near / (1 - near), 0.0)
        return found
