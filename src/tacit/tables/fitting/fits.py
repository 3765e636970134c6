"""What makes levels add up: in closed form where they are margins of keys, block by block where they are runs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.shared.base import AdditiveMechanism
from tacit.tables.fitting.levels import Level

__all__ = ["Fit", "fit_of"]

Floats = npt.NDArray[np.float64]


class Fit(Protocol):
    """The least squares fit of levels that were measured with noise: weighted, unbiased, post-processing alone."""

    def fitted(self, released: Sequence[Floats], /) -> list[Floats]:
        """Every level, as all of them together tell it; they add up."""

    def error(self, at: int, beta: Fraction, /) -> float | Floats:
        """How far the numbers of one level are off at most, all but β of the time: each, or all alike."""

    def errors(self, wanted: Floats, beta: Fraction, /) -> Floats:
        """The same of weighted sums of the finest cells: a row of ``wanted`` each."""


def fit_of(levels: tuple[Level, ...], noise: tuple[AdditiveMechanism, ...]) -> Fit:
    """The fit of levels of the same cells, each with noise of its own."""
    from tacit.tables.fitting.margins import Margins  # where there are levels at all

    if all(level.width == 1 for level in levels):
        return Margins(levels[0].sizes, tuple(level.kept for level in levels), noise)
    return _solved(levels, noise)


@lru_cache(maxsize=8)
def _solved(levels: tuple[Level, ...], noise: tuple[AdditiveMechanism, ...]) -> Fit:
    """Thousands of numbers: solved once for a plan, its errors and its draw."""
    from tacit.tables.fitting.runs import Runs

    return Runs.of(levels, noise)
