"""A feature: a name, a function of an outcome, and the words for what it gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.auditing.reading.outcomes import Outcomes

__all__ = ["Feature", "range_words"]


def range_words(name: str, low: float | None, high: float | None, closed: bool) -> str:
    """A range in words; ``closed`` if ``high`` is the last value in it and not the first beyond."""
    if high is None:
        return f"{name} any number" if low is None else f"{name} ≥ {low:.6g}"
    if low is None:
        return f"{name} ≤ {high:.6g}" if closed else f"{name} < {high:.6g}"
    if closed and low == high:
        return f"{name} = {low:.6g}"
    return f"{name} in [{low:.6g}, {high:.6g}{']' if closed else ')'}"


@dataclass(frozen=True, slots=True)
class Feature:
    """``ordered`` features are numbers, the others labels."""

    name: str
    of: Callable[[Outcomes], npt.NDArray[np.generic]]
    ordered: bool
    words: Callable[[int], str] = str
    ranges: Callable[[str, float | None, float | None, bool], str] = range_words
    burden: int = 0
    """How much there is to understand beyond a plain number or label."""
