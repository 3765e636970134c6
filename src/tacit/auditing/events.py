"""Events: sets of cells of a feature. Cells and candidates come from one part of the sample, scores from another."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tacit.auditing.looking.feature import Feature
from tacit.auditing.reading.outcomes import MISSING, Codes, Outcomes, Reals

__all__ = ["Cells", "Event", "Family", "Labels", "Pairs", "Ranges", "Tally", "families", "fit_cells"]

Mask = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]

_QUANTILES = 128
_SAMPLE = 1 << 16
_MOST_LABELS = 1 << 14
_ENDS = 33
_PER_AXIS = 12
_MOST_SINGLE = 1024


class Cells(Protocol):
    """A partition of all outcomes."""

    @property
    def size(self) -> int: ...

    @property
    def ordered(self) -> int:
        """How many of the first cells are in order; the rest are not."""

    def of(self, outcomes: Outcomes) -> Codes: ...

    def words(self, mask: Mask) -> str:
        """The set of cells, in words."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranges:
    """A feature that is a number, cut into half-open ranges; the last cell holds what is no number."""

    feature: Feature
    cuts: Reals

    @property
    def size(self) -> int:
        return len(self.cuts) + 2

    @property
    def ordered(self) -> int:
        return len(self.cuts) + 1

    def of(self, outcomes: Outcomes) -> Codes:
        values = np.asarray(self.feature.of(outcomes), dtype=np.float64)
        found: Codes = np.searchsorted(self.cuts, values, side="right")
        found[np.isnan(values)] = len(self.cuts) + 1
        return found

    def words(self, mask: Mask) -> str:
        runs = list(_runs(mask[: self.ordered]))
        parts = [self._range(start, stop) for start, stop in runs[:3]]
        if len(runs) > 3:
            parts.append(f"… ({len(runs)} ranges)")
        if mask[-1]:
            parts.append("no number" if parts else f"{self.feature.name} no number")
        return " or ".join(parts)

    def _range(self, start: int, stop: int) -> str:
        low = None if start == 0 else float(self.cuts[start - 1])
        high = None if stop == self.ordered else float(self.cuts[stop - 1])
        if high is None:
            return self.feature.ranges(self.feature.name, low, None, False)
        below = math.nextafter(high, -math.inf)
        if low == below or len(repr(below)) < len(repr(high)):  # the next float after a value that occurred
            return self.feature.ranges(self.feature.name, low, below, True)
        return self.feature.ranges(self.feature.name, low, high, False)


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """A feature that is a label; the last cell holds the labels that were rare or never seen."""

    feature: Feature
    known: Codes

    @property
    def size(self) -> int:
        return len(self.known) + 1

    @property
    def ordered(self) -> int:
        return 0

    def of(self, outcomes: Outcomes) -> Codes:
        labels = np.asarray(self.feature.of(outcomes), dtype=np.int64)
        if not len(self.known):
            return np.zeros(len(labels), dtype=np.int64)
        place = np.minimum(np.searchsorted(self.known, labels), len(self.known) - 1)
        found: Codes = np.where(self.known[place] == labels, place, len(self.known))
        return found

    def words(self, mask: Mask) -> str:
        chosen = ["none" if k == MISSING else self.feature.words(int(k)) for k in self.known[mask[:-1]]]
        if not mask[:-1].any():
            return f"{self.feature.name} not among {len(self.known)} common ones"
        if len(chosen) > 4:
            chosen = [*chosen[:3], f"… ({len(chosen)} in all)"]
        if mask[-1]:
            chosen.append("a rare one")
        return f"{self.feature.name} = {' or '.join(chosen)}"


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Two coarse partitions crossed."""

    one: Cells
    other: Cells

    @property
    def size(self) -> int:
        return self.one.size * self.other.size

    @property
    def ordered(self) -> int:
        return 0

    def of(self, outcomes: Outcomes) -> Codes:
        return self.crossed(self.one.of(outcomes), self.other.of(outcomes))

    def crossed(self, one: Codes, other: Codes) -> Codes:
        """The cells of outcomes from their cells in each of the two."""
        return one * self.other.size + other

    def words(self, mask: Mask) -> str:
        grid = mask.reshape(self.one.size, self.other.size)
        rows: dict[bytes, Mask] = {}
        for i in np.flatnonzero(grid.any(axis=1)):
            rows.setdefault(grid[i].tobytes(), np.zeros(self.one.size, dtype=np.bool_))[i] = True
        parts = []
        for pattern, which in list(rows.items())[:2]:
            inner = np.frombuffer(pattern, dtype=np.bool_)
            first = "" if which[:-1].all() else self.one.words(which)
            second = "" if inner[:-1].all() else self.other.words(inner)
            parts.append(" and ".join(part for part in (first, second) if part) or "anything")
        if len(rows) > 2:
            parts.append(f"… ({int(mask.sum())} cells)")
        return "; or ".join(parts)


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """How often each cell was hit in both samples."""

    first: Counts
    second: Counts

    @classmethod
    def of(cls, cells: Cells, first: Outcomes, second: Outcomes) -> Tally:
        return cls(*(np.bincount(cells.of(part), minlength=cells.size) for part in (first, second)))


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """Some of the cells."""

    cells: Cells
    mask: Mask

    def happened(self, outcomes: Outcomes) -> Mask:
        found: Mask = self.mask[self.cells.of(outcomes)]
        return found

    @property
    def simple(self) -> bool:
        """Whether it is one range of one number: the easiest to read."""
        line = self.mask[:-1]
        whole = isinstance(self.cells, Ranges) and not self.mask[-1]
        return whole and not bool(line.all()) and len(list(_runs(line))) == 1

    @property
    def burden(self) -> int:
        """How much there is to understand: 1 for one bound of a number or one label."""
        if isinstance(self.cells, Ranges):
            runs = list(_runs(self.mask[:-1]))
            ends = sum((start > 0) + (stop < self.cells.ordered) for start, stop in runs)
            return max(1, ends) + int(self.mask[-1]) + self.cells.feature.burden
        if isinstance(self.cells, Labels):
            named = int(self.mask[:-1].sum())
            return max(1, min(named, 8)) + int(self.mask[-1]) + self.cells.feature.burden
        return 6 + min(int(self.mask.sum()), 8)

    def __str__(self) -> str:
        return self.cells.words(self.mask)


def fit_cells(feature: Feature, first: Outcomes, second: Outcomes, *, fine: bool) -> Cells:
    """Cells of about equal weight, or the labels that occur most; ``fine=False`` for a dozen cells at most."""
    values = [np.asarray(feature.of(part)) for part in (first, second)]
    most = _QUANTILES if fine else _PER_AXIS
    if feature.ordered:
        return Ranges(feature, _range_cuts([v.astype(np.float64) for v in values], most))
    labels, counts = np.unique(np.concatenate(values).astype(np.int64), return_counts=True)
    often = np.flatnonzero(counts >= 2)
    kept = often[np.argsort(-counts[often], kind="stable")][: _MOST_LABELS if fine else _PER_AXIS]
    return Labels(feature, np.sort(labels[kept]))


def _range_cuts(values: list[Reals], most: int) -> Reals:
    finite = [v[np.isfinite(v)] for v in values]
    pooled = np.concatenate([v[:: max(1, len(v) // _SAMPLE)] for v in finite])
    if not pooled.size:
        return np.zeros(1)
    distinct = np.unique(pooled)
    if len(distinct) <= most:
        cuts = distinct
    else:
        tails = np.array([1, 3, 10, 30, 100, 300, 1000]) / len(pooled)
        levels = np.linspace(0, 1, most + 1)[1:-1]
        if most == _QUANTILES:
            levels = np.concatenate([levels, tails[tails < 0.5], 1 - tails[tails < 0.5]])
        cuts = np.quantile(pooled, np.clip(levels, 0, 1), method="higher")
    ends = [end for v in finite if v.size for end in (v.min(), np.nextafter(v.max(), np.inf))]
    return np.unique(np.concatenate([cuts, ends]))


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Candidate events, and how often each happened in both samples."""

    first: Counts
    second: Counts
    mask: Callable[[int], Mask]
    simple: bool = False


def families(cells: Cells, fit: Tally, seen: Tally) -> Iterator[Family]:
    """Single cells, likelihood-ratio sets, one-sided sets and intervals; ``fit`` orders the cells, ``seen`` counts."""
    heavy = np.argsort(-(fit.first + fit.second), kind="stable")[:_MOST_SINGLE]
    yield Family(seen.first[heavy], seen.second[heavy], lambda i: _only(cells.size, heavy[i : i + 1]))
    known = np.flatnonzero(fit.first + fit.second)
    ratio = np.log(fit.first[known] + 0.5) - np.log(fit.second[known] + 0.5)
    up = known[np.argsort(ratio, kind="stable")]
    for order in (up, up[::-1]):
        yield _growing(cells.size, order, seen)
    if cells.ordered > 1:
        line = np.arange(cells.ordered)
        for order in (line[:-1], line[:0:-1]):
            yield replace(_growing(cells.size, order, seen), simple=True)
        yield _intervals(cells, seen)


def _growing(size: int, order: Codes, seen: Tally) -> Family:
    """The first cell, the first two, and so on."""
    return Family(np.cumsum(seen.first[order]), np.cumsum(seen.second[order]), lambda i: _only(size, order[: i + 1]))


def _intervals(cells: Cells, seen: Tally) -> Family:
    ends = np.unique(np.linspace(0, cells.ordered, _ENDS).astype(np.int64))
    starts, stops = np.triu_indices(len(ends), k=1)
    sums = [np.concatenate([[0], np.cumsum(counts[: cells.ordered])])[ends] for counts in (seen.first, seen.second)]
    counted = [total[stops] - total[starts] for total in sums]
    return Family(
        counted[0],
        counted[1],
        lambda i: _only(cells.size, np.arange(ends[starts[i]], ends[stops[i]])),
        simple=True,
    )


def _only(size: int, chosen: Codes) -> Mask:
    mask = np.zeros(size, dtype=np.bool_)
    mask[chosen] = True
    return mask


def _runs(mask: Mask) -> Iterator[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    for start, stop in edges.reshape(-1, 2):
        yield int(start), int(stop)
