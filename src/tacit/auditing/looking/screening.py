"""Which of many coordinates deserve a closer look: all are compared, in cells of equal weight and by their bits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.auditing.looking.bits import finest, trailing_zeros
from tacit.auditing.reading.outcomes import Codes, Outcomes, Reals

__all__ = ["Screen", "histogram_gaps", "in_cells", "screened"]

_CELLS = 16
_CELLS_OF_BITS = 64
_MOST = 1 << 21  # numbers that are compared
_LEAST_ROWS = 256
_CLOSE = 0.5  # a correlation that asks why


@dataclass(frozen=True, slots=True)
class Screen:
    """Coordinates and pairs of coordinates, the most suspicious first."""

    values: tuple[int, ...]
    bits: tuple[int, ...]
    adjacent: tuple[tuple[int, int], ...]
    alike: tuple[tuple[int, int], ...]
    opposite: tuple[tuple[int, int], ...]


def screened(first: Outcomes, second: Outcomes) -> Screen:
    """Coordinates by how differently they are spread under the two neighbours, and pairs that move together."""
    width = first.width
    rows = max(_LEAST_ROWS, _MOST // (2 * max(width, 1)))
    one, other = first.rows(slice(rows)), second.rows(slice(rows))
    values = histogram_gaps(*in_cells(one.numbers, other.numbers))
    bits = histogram_gaps(*(np.minimum(_bit_codes(o), _CELLS_OF_BITS - 1) for o in (one, other)))
    steps = histogram_gaps(*in_cells(_steps(one), _steps(other))) if width > 1 else np.zeros(0)
    together = _correlations(one.numbers, other.numbers)
    return Screen(
        _leading(values),
        _leading(bits),
        tuple((j, j + 1) for j in _leading(steps)),
        _pairs(together),
        _pairs(-together),
    )


def _steps(o: Outcomes) -> Reals:
    with np.errstate(invalid="ignore"):
        found: Reals = np.diff(o.numbers, axis=1)
    return found


def in_cells(one: Reals, other: Reals) -> tuple[Codes, Codes]:
    """Each column in cells of about equal weight; the last cell holds what is no number."""
    pooled = np.concatenate([one, other])
    ordered = np.sort(pooled, axis=0)  # NaN last
    places = np.linspace(0, len(pooled) - 1, _CELLS + 1).astype(np.int64)[1:-1]
    found = []
    for part in (one, other):
        cell = np.zeros(part.shape, dtype=np.int64)
        for place in places:
            cell += part >= ordered[place]
        cell[np.isnan(part)] = _CELLS
        found.append(cell)
    return found[0], found[1]


def _bit_codes(o: Outcomes) -> Codes:
    """Residues and trailing zeros of whole numbers, how fine floats are."""
    whole = trailing_zeros(o.bits).clip(0, 7) * 8 + (o.bits & 7)
    fine = np.nan_to_num(finest(o.bits), nan=1000.0).clip(-74, -12).astype(np.int64) + 74
    found: Codes = np.where(o.whole_number, whole, fine)
    return found


def histogram_gaps(one: Codes, other: Codes) -> Reals:
    """For each column, how far the two histograms are apart: a chi-squared statistic."""
    width = one.shape[1]
    cells = max(int(one.max(initial=0)), int(other.max(initial=0))) + 1
    places = np.arange(width) * cells
    counts = [np.bincount((part + places).reshape(-1), minlength=cells * width) for part in (one, other)]
    gap = (counts[0] - counts[1]) ** 2 / np.maximum(counts[0] + counts[1], 1)
    found: Reals = gap.reshape(width, cells).sum(axis=1)
    return found


def _correlations(one: Reals, other: Reals) -> Reals:
    """How coordinates move together around their means, under both neighbours alike."""
    with np.errstate(all="ignore"):
        parts = [np.nan_to_num(part, nan=0.0, posinf=0.0, neginf=0.0) for part in (one, other)]
        parts = [np.sign(part - np.median(part, axis=0)) for part in parts]
        pooled = np.concatenate(parts)
        sizes = np.sqrt(np.maximum((pooled**2).sum(axis=0), 1e-300))
        found: Reals = (pooled / sizes).T @ (pooled / sizes)
    return found


def _leading(scores: Reals, most: int = 12) -> tuple[int, ...]:
    return tuple(int(j) for j in np.argsort(-scores, kind="stable")[:most])


def _pairs(together: Reals, most: int = 6) -> tuple[tuple[int, int], ...]:
    upper = np.where(np.triu(np.ones(together.shape, dtype=np.bool_), k=1), together, 0.0)
    order = np.argsort(-upper, axis=None, kind="stable")[:most]
    places = [divmod(int(k), together.shape[1]) for k in order if upper.reshape(-1)[k] > _CLOSE]
    return tuple(places)
