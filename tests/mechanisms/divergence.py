"""How far apart are two distributions? Exact enumeration for the privacy tests, written without the library."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

__all__ = ["GRID", "hockey_stick", "laplace_cdf", "max_divergence", "moved", "multisets", "pieces", "renyi"]

GRID = 1e-9
"""How far off the numerical integrals of the tests may be."""


def max_divergence(p: Sequence[float], q: Sequence[float]) -> float:
    """The largest ln(p/q) over the outcomes: the ε of this pair, in this direction."""
    return max(math.log(a / b) if b > 0 else math.inf for a, b in zip(p, q, strict=True) if a > 0)


def hockey_stick(p: Sequence[float], q: Sequence[float], epsilon: float) -> float:
    """The δ of this pair at ε."""
    return math.fsum(max(0.0, a - math.exp(epsilon) * b) for a, b in zip(p, q, strict=True))


def renyi(p: Sequence[float], q: Sequence[float], alpha: float) -> float:
    """The Rényi divergence of order α."""
    return math.log(math.fsum(a**alpha * b ** (1 - alpha) for a, b in zip(p, q, strict=True))) / (alpha - 1)


def moved(scores: Sequence[int], steps: Iterable[int]) -> Iterator[tuple[int, ...]]:
    """The scores with each moved by one of the steps."""
    for change in itertools.product(tuple(steps), repeat=len(scores)):
        yield tuple(s + c for s, c in zip(scores, change, strict=True))


def multisets(points: int, largest: int) -> Iterator[tuple[int, ...]]:
    """All sorted data sets of up to ``largest`` values below ``points``."""
    for size in range(largest + 1):
        yield from itertools.combinations_with_replacement(range(points), size)


def laplace_cdf(x: Any, scale: float) -> Any:
    tail = np.exp(-np.abs(x) / scale) / 2
    return np.where(np.asarray(x) < 0, tail, 1 - tail)


def pieces(function: Callable[[Any], Any], kinks: Iterable[float], reach: float) -> float:
    """The integral of a function that is smooth between kinks, by Gauss–Legendre on short pieces."""
    nodes, weights = np.polynomial.legendre.leggauss(12)
    marks = sorted({-reach, *kinks, reach})
    middles, halves = [], []
    for low, high in itertools.pairwise(marks):
        parts = max(1, math.ceil((high - low) / 1.5))
        width = (high - low) / parts
        middles += [low + (i + 0.5) * width for i in range(parts)]
        halves += [width / 2] * parts
    half = np.array(halves)[:, None]
    at = np.array(middles)[:, None] + nodes * half
    return float((function(at) * weights * half).sum())
