"""Bins: values that joint tables need not tell apart, found in noisy one-way counts alone. It costs nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.synth.domain.columns import Codes

__all__ = ["Coarse", "coarse", "most_bins"]

Reals = npt.NDArray[np.float64]

_FACTOR, _POWER = 1.1, 0.4
_FEWEST, _MOST = 3, 48


def most_bins(total: float, scale: float) -> int:
    """How many bins pay: more rows or less noise, finer bins. Found on other tables than those of the benches.

    >>> [most_bins(50_000, scale) for scale in (700, 60, 7)]
    [6, 16, 38]
    """
    return int(np.clip(round(_FACTOR * (total / scale) ** _POWER), _FEWEST, _MOST))


@dataclass(frozen=True, slots=True, eq=False)
class Coarse:
    """One column: the share of each of its values, the bin of each, and its share within the bin. Public."""

    shares: Reals
    bins: Codes
    within: Reals

    @property
    def size(self) -> int:
        """How many bins."""
        return int(self.bins.max()) + 1

    @property
    def of_bins(self) -> Reals:
        """The share of each bin."""
        found: Reals = np.bincount(self.bins, self.shares, minlength=self.size).astype(np.float64)
        return found


def coarse(shares: Reals, most: int, *, ordered: bool, rare: float, missing: bool = False) -> Coarse:
    """Neighbours merged into bins of about equal share where a column is ordered, rare values merged where it is not.

    Missing, the last value, is never merged with a neighbour in an ordered column.

    >>> made = coarse(np.array([0.1, 0.1, 0.5, 0.1, 0.1, 0.1]), 3, ordered=True, rare=0)
    >>> made.bins.tolist()
    [0, 0, 1, 2, 2, 2]
    """
    known = len(shares) - 1 if missing and ordered else len(shares)
    if known == 0:
        bins = np.zeros(0, dtype=np.int64)
    elif ordered:
        bins = _neighbours(shares[:known], max(1, most - (known < len(shares))))
    else:
        bins = _listed(shares, most, rare)
    if known < len(shares):
        bins = np.append(bins, bins.max(initial=-1) + 1)
    mass, members = np.bincount(bins, shares), np.bincount(bins)
    full = mass[bins] > 0
    within = np.where(full, shares / np.where(full, mass[bins], 1.0), 1 / members[bins])
    return Coarse(shares, bins, within)


def _neighbours(shares: Reals, most: int) -> Codes:
    """Runs of about equal share; a value that has more than that is alone."""
    size = len(shares)
    if size <= most:
        return np.arange(size)
    target = float(shares.sum()) / most
    for _ in range(8):  # heavy values take their places, the others share what is left
        heavy = shares > target
        left = most - int(heavy.sum())
        if left <= 0:
            break
        target = float(shares[~heavy].sum()) / left
    bins, at, filled, fresh = np.zeros(size, dtype=np.int64), -1, 0.0, True
    for value, share in enumerate(shares.tolist()):
        if share > target or fresh or filled + share / 2 > target:
            at, filled = at + 1, 0.0
        fresh = share > target
        filled += share
        bins[value] = at
    while at >= most:
        mass = np.bincount(bins, shares)
        lightest = int(np.argmin(mass[:-1] + mass[1:]))
        bins[bins > lightest] -= 1
        at -= 1
    return bins


def _listed(shares: Reals, most: int, rare: float) -> Codes:
    """The largest values alone, the rest together."""
    order = np.argsort(-shares, kind="stable")
    kept = [value for value in order.tolist() if shares[value] > rare][:most]
    if len(kept) < len(shares) and len(kept) == most:
        kept = kept[: most - 1]
    bins = np.full(len(shares), len(kept), dtype=np.int64)
    bins[kept] = np.arange(len(kept))
    return bins
