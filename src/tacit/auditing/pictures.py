"""The two histograms of what the guilty event looks at, as plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.auditing.events import Cells, Counts, Labels, Mask, Pairs, Ranges
from tacit.auditing.reading.outcomes import Outcomes
from tacit.auditing.result import Picture, short
from tacit.auditing.search import Found

__all__ = ["picture"]

Names = tuple[str, str]

_BINS = 60
_LABELS = 16


def picture(
    found: Sequence[Found], event: str, samples: tuple[Outcomes, Outcomes], pair: tuple[Any, Any]
) -> Picture | None:
    """Histograms of the searched samples along the feature of the event that decided."""
    chosen = next((f for f in found if str(f.event) == event), None)
    if chosen is None:
        return None
    names = f"under {short(pair[0])}", f"under {short(pair[1])}"
    happened = [chosen.event.happened(part) for part in samples]
    axis = _axis(chosen.event.cells)
    if isinstance(axis, Ranges):
        return _of_numbers(axis, happened, samples, names)
    assert isinstance(axis, Labels)
    return _of_labels(axis, happened, samples, names)


def _axis(cells: Cells) -> Cells:
    """What to draw along: of two crossed features the one that is a number."""
    if not isinstance(cells, Pairs):
        return cells
    return cells.other if isinstance(cells.other, Ranges) and not isinstance(cells.one, Ranges) else cells.one


def _of_numbers(axis: Ranges, happened: list[Mask], samples: tuple[Outcomes, Outcomes], names: Names) -> Picture | None:
    values = [np.asarray(axis.feature.of(part), dtype=np.float64) for part in samples]
    pooled = np.concatenate([v[np.isfinite(v)] for v in values])
    if not pooled.size:
        return None
    low, high = np.quantile(pooled, [0.001, 0.999], method="nearest")
    if low == high:
        low, high = low - 0.5, high + 0.5
    distinct = np.unique(pooled[(pooled >= low) & (pooled <= high)][:10_000])
    if len(distinct) <= _BINS and bool((distinct == np.round(distinct)).all()) and high - low < 4 * _BINS:
        edges = np.arange(low, high + 2) - 0.5
    else:
        edges = np.linspace(low, high, _BINS + 1)
    counts = [np.histogram(v[np.isfinite(v)], edges)[0] for v in values]
    inside = [np.histogram(v[np.isfinite(v) & h], edges)[0] for v, h in zip(values, happened, strict=True)]
    guilty = (inside[0] + inside[1]) / np.maximum(counts[0] + counts[1], 1)
    labels = tuple(f"{edge:.4g}" for edge in edges[:-1])
    return Picture(
        axis.feature.name,
        labels,
        _ints(counts[0]),
        _ints(counts[1]),
        tuple(guilty.tolist()),
        names,
        tuple(edges.tolist()),
    )


def _of_labels(axis: Labels, happened: list[Mask], samples: tuple[Outcomes, Outcomes], names: Names) -> Picture:
    codes = [axis.of(part) for part in samples]
    counts = [np.bincount(c, minlength=axis.size) for c in codes]
    inside = [np.bincount(c[h], minlength=axis.size) for c, h in zip(codes, happened, strict=True)]
    often = np.argsort(-(counts[0] + counts[1]), kind="stable")[:_LABELS]
    order = np.sort(often[(counts[0] + counts[1])[often] > 0])
    guilty = (inside[0] + inside[1])[order] / np.maximum((counts[0] + counts[1])[order], 1)
    missing = np.iinfo(np.int64).min
    known = [int(axis.known[i]) if i < len(axis.known) else None for i in order]
    words = tuple("other" if k is None else "none" if k == missing else axis.feature.words(k) for k in known)
    return Picture(
        axis.feature.name, words, _ints(counts[0][order]), _ints(counts[1][order]), tuple(guilty.tolist()), names
    )


def _ints(counts: Counts) -> tuple[int, ...]:
    return tuple(int(count) for count in counts)
