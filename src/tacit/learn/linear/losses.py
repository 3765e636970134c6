"""Losses by their residuals: whole numbers, cut to each row's limit, from nothing but that row and public tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tacit.learn.linear.clipping import whole_root
from tacit.learn.linear.links import RESIDUAL, WEIGHT, exponentials, logistic_table, places, ramp_table, steps_below
from tacit.learn.reading.columns import Codes

__all__ = ["Hinge", "Logistic", "Multinomial", "Squares"]

Reals = npt.NDArray[np.float64]


class Logistic:
    """ln(1 + e^(-margin)) for the second of two classes: the residual is the mean less the label."""

    outputs: ClassVar[int] = 1
    curvature: ClassVar[float] = 0.25

    def residuals(self, margins: Reals, target: Codes, limits: Reals, pure: bool) -> Reals:
        found: Reals = logistic_table()[places(margins)] - RESIDUAL * (target == 1)
        return np.clip(found, -limits, limits)


class Hinge:
    """max(0, 1 - margin) for the second of two classes, its corner rounded: the loss of support vector machines."""

    outputs: ClassVar[int] = 1
    curvature: ClassVar[float] = 1.0

    def residuals(self, margins: Reals, target: Codes, limits: Reals, pure: bool) -> Reals:
        sign = np.where(target == 1, 1.0, -1.0)
        found: Reals = sign * ramp_table()[places(sign * margins)]
        return np.clip(found, -limits, limits)


@dataclass(frozen=True, slots=True)
class Multinomial:
    """The logarithm of the sum of exponentials, for three classes or more: probabilities less the label's indicator.

    Shares of whole numbers, rounded down. What is longer than a row's limit is shortened, toward zero, to its length.
    """

    outputs: int
    curvature: ClassVar[float] = 0.5

    def residuals(self, margins: Reals, target: Codes, limits: Reals, pure: bool) -> Reals:
        powers = exponentials()[steps_below(margins - margins.max(axis=0))].astype(np.int64)
        found = powers * RESIDUAL // powers.sum(axis=0)
        found -= RESIDUAL * (np.arange(self.outputs)[:, None] == target[None, :])
        return shortened(found, limits.astype(np.int64), pure).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Squares:
    """Half the square of margin less target, straight beyond ``corner`` (Huber); targets count from ``middle``."""

    middle: int
    corner: int
    outputs: ClassVar[int] = 1
    curvature: ClassVar[float] = 1.0

    def residuals(self, margins: Reals, target: Codes, limits: Reals, pure: bool) -> Reals:
        found = np.floor(margins / WEIGHT)  # a power of two: exact; the units of codes
        found -= target.astype(np.float64) - self.middle
        cut = np.minimum(limits, self.corner)
        return np.clip(found, -cut, cut)


def shortened(vectors: npt.NDArray[np.int64], limits: npt.NDArray[np.int64], pure: bool) -> npt.NDArray[np.int64]:
    """Columns that are longer than their limit, in L2 (in L1 if pure), cut to it toward zero.

    >>> shortened(np.array([[3, 30], [4, 40]]), np.array([5, 25]), False).tolist()
    [[3, 15], [4, 20]]
    """
    sizes = np.abs(vectors)
    if pure:
        lengths = sizes.sum(axis=0)
    else:
        squares = (sizes * sizes).sum(axis=0)
        lengths = whole_root(squares)
        lengths += lengths * lengths < squares
    scaled = np.sign(vectors) * (sizes * limits // np.maximum(lengths, 1))
    found: npt.NDArray[np.int64] = np.where(lengths <= limits, vectors, scaled)
    return found
