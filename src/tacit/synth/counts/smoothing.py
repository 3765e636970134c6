"""Noisy one-way counts made plausible: what neighbours or other values say is used, as far as it helps.

Several smoothers are tried on each column; each one's error is estimated from the noisy counts themselves, and they
are averaged with weights that fall with it. Post-processing of released numbers alone; its coins are public.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.synth.public_coins import public_coins

__all__ = ["Smooth", "alike", "of_total", "smoothed", "total_of"]

Reals = npt.NDArray[np.float64]
Smoother = Callable[[Reals, float], Reals]

_LEVELS = 6
_SPLITS, _PART = 6, 0.25
"""How often counts are split in two to try smoothers, and the noise added to the part that they see."""
_SPIKE = 3.5
_ROUNDS = 40


@dataclass(frozen=True, slots=True, eq=False)
class Smooth:
    """Counts that are nowhere below zero and have the given total; and about the sum of their squared errors."""

    counts: Reals
    risk: float


def smoothed(counts: Reals, scale: float, total: float, *, ordered: bool, longest: int = 2000) -> Smooth:
    """The average of smoothers, each weighted by how well it foretells counts that it has not seen.

    Counts with noise of variance σ² become two with independent noise, y + √α·w and y - w/√α for w of variance σ²:
    how far a smoother of the first is from the second says its error, without the truth (Oliveira, Lei & Tibshirani
    2021). Weights are e^(-error/4σ²) (Leung & Barron 2006). Smoothers that compare all values with all are tried on up
    to ``longest`` of them.

    >>> flat = smoothed(np.array([9.0, 11, 10, 8, 12, 500, 10, 11] * 4), 2.0, 2284.0, ordered=True).counts
    >>> bool(flat[:5].std() < 2), bool(flat[5] > 450)
    (True, True)
    """
    found = _smoothers(len(counts), longest, ordered=ordered)
    made = np.array([of_total(one(counts, scale), total) for one in found])
    if len(found) == 1 or scale == 0:
        return Smooth(made[0], len(counts) * scale**2)
    errors, coins = np.zeros(len(found)), public_coins(len(counts))  # public: they divide released numbers
    for _ in range(_SPLITS):
        noise = coins.normal(0, scale, len(counts))
        seen, unseen = counts + np.sqrt(_PART) * noise, counts - noise / np.sqrt(_PART)
        for at, one in enumerate(found):
            told = of_total(one(seen, scale * np.sqrt(1 + _PART)), total)
            errors[at] += float(((unseen - told) ** 2).sum()) / _SPLITS
    weights = np.exp(-(errors - errors.min()) / (4 * scale**2))
    weights /= weights.sum()
    risk = float(weights @ errors) - len(counts) * scale**2 * (1 + 1 / _PART)
    return Smooth(weights @ made, float(np.clip(risk, scale**2, len(counts) * scale**2)))


def _smoothers(size: int, longest: int, *, ordered: bool) -> list[Smoother]:
    """Those that make sense for so many values; the first leaves counts as they are."""
    found: list[Smoother] = [lambda counts, scale: counts]
    if 4 <= size <= longest:
        found.append(alike)
    if ordered and size >= 4:
        found += [lambda counts, scale: _haar(counts, scale, 2.0), lambda counts, scale: _haar(counts, scale, 3.0)]
    if ordered and 4 <= size <= longest:
        found += [_Lines(width) for width in (1.2, 2.5, 5.0, 10.0)]
    return found


def _haar(counts: Reals, scale: float, threshold: float) -> Reals:
    """Haar wavelets at all shifts; those of fewer standard deviations are noise (Coifman & Donoho 1995)."""
    size = len(counts)
    current = np.concatenate([counts[::-1], counts, counts[::-1]])
    details: list[Reals] = []
    for level in range(min(_LEVELS, int(np.log2(size)))):
        ahead = np.roll(current, -(1 << level))
        details.append((current - ahead) / 2)
        current = (current + ahead) / 2
    for level in reversed(range(len(details))):
        spread = scale / np.sqrt(2.0 ** (level + 1))
        kept = np.where(np.abs(details[level]) > threshold * spread, details[level], 0.0)
        current = ((current + kept) + np.roll(current - kept, 1 << level)) / 2
    return current[size : 2 * size]


def alike(counts: Reals, scale: float) -> Reals:
    """Each count given the law of all counts, which is found from them too (Kiefer & Wolfowitz 1956; Robbins 1956).

    Many rare values and a few common ones: the rare ones share what they have together.
    """
    above = np.maximum(counts, 0.0)
    own = np.quantile(above, np.linspace(0, 1, min(len(counts), 120)))
    levels = np.unique(np.concatenate([[0.0], np.geomspace(0.1 * scale, max(float(above.max()), scale), 40), own]))
    fits = np.exp(-0.5 * np.minimum(((counts[:, None] - levels) / scale) ** 2, 1400))
    law = np.full(len(levels), 1 / len(levels))
    for _ in range(_ROUNDS):
        odds = fits * law
        odds /= odds.sum(axis=1, keepdims=True) + 1e-300
        law = odds.mean(axis=0)
    odds = fits * law
    result: Reals = (odds / (odds.sum(axis=1, keepdims=True) + 1e-300)) @ levels
    return result


@dataclass(frozen=True, slots=True)
class _Lines:
    """A line through the neighbours of each value, weighted by nearness; spikes stay what they are."""

    width: float

    def __call__(self, counts: Reals, scale: float) -> Reals:
        size, reach = len(counts), max(2, int(np.ceil(2 * self.width)))
        wide = np.pad(counts, reach, mode="reflect" if reach < size else "edge")
        middle = np.median(np.lib.stride_tricks.sliding_window_view(wide, 2 * reach + 1), axis=1)
        spike = np.abs(counts - middle) > _SPIKE * scale
        away = np.arange(size)[None] - np.arange(size)[:, None]
        near = np.exp(-0.5 * (away / self.width) ** 2) * ~spike[None]
        whole, tilt, bend = near.sum(axis=1) + 1e-12, (near * away).sum(axis=1), (near * away**2).sum(axis=1)
        firm = whole * bend - tilt**2
        lines = firm > 1e-9 * whole**2
        slanted = (near * (bend[:, None] - tilt[:, None] * away)) @ counts / np.where(lines, firm, 1.0)
        return np.where(spike, counts, np.where(lines, slanted, near @ counts / whole))


def of_total(counts: Reals, total: float) -> Reals:
    """The nearest counts, in squares, that are nowhere below zero and have this total.

    >>> of_total(np.array([5.0, -2.0, 3.0]), 4.0).tolist()
    [3.0, 0.0, 1.0]
    """
    below = counts - counts.max()  # the same counts come out, and a total is not lost next to noise of 10^17
    down = np.sort(below)[::-1]
    excess = (np.cumsum(down) - total) / np.arange(1, len(counts) + 1)
    last = int(np.flatnonzero(down > excess)[-1]) if total > 0 else 0
    result: Reals = np.maximum(below - excess[last], 0.0)
    return result


def total_of(tables: Sequence[Reals], scales: Sequence[float]) -> tuple[float, float]:
    """The number of rows, from noisy tables that all count them, and its standard deviation; at least 1.

    >>> total_of([np.array([40.0, 61.0]), np.array([99.0])], [1.0, 1.0])[0]
    99.66666666666667
    """
    weights = np.array([1 / (table.size * scale**2) for table, scale in zip(tables, scales, strict=True)])
    sums = np.array([float(table.sum()) for table in tables])
    return max(1.0, float(weights @ sums / weights.sum())), float(1 / np.sqrt(weights.sum()))
