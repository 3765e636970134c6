"""Whether outcomes change from call to call: a clock, a counter, a budget that runs out. First half against second."""

from __future__ import annotations

import numpy as np

from tacit.auditing.events import Cells, Counts, fit_cells
from tacit.auditing.looking.feature import Feature
from tacit.auditing.looking.screening import histogram_gaps, in_cells
from tacit.auditing.reading.outcomes import Outcomes, form_words

__all__ = ["Watch"]

_WATCHED = 4
_SIGMAS = 6.5  # one false alarm in 10^9 audits, about
_LEAST = 50


class Watch:
    """Counts cells of outcomes in the first and in the second half of the calls."""

    def __init__(self, first: Outcomes, second: Outcomes, total: int) -> None:
        self._half = total // 2
        self._seen = 0
        self._watched = [(feature, fit_cells(feature, first, second, fine=False)) for feature in _features(first)]
        self._counts: list[list[Counts]] = [
            [np.zeros(cells.size, dtype=np.int64) for _ in range(2)] for _, cells in self._watched
        ]
        self.add(first, second)

    def add(self, first: Outcomes, second: Outcomes) -> None:
        """Outcomes of the calls that came next."""
        early = max(0, min(len(first), self._half - self._seen))
        self._seen += len(first)
        for part in (first, second):
            for (_, cells), counts in zip(self._watched, self._counts, strict=True):
                codes = cells.of(part)
                counts[0] += np.bincount(codes[:early], minlength=cells.size)
                counts[1] += np.bincount(codes[early:], minlength=cells.size)

    @property
    def reason(self) -> str:
        """What changed, in words; empty if nothing did."""
        for (feature, cells), (early, late) in zip(self._watched, self._counts, strict=True):
            if _apart(early, late) > _SIGMAS:
                return f"{_changed(feature, cells, early, late)} in the second half of the calls"
        return ""


def _features(first: Outcomes) -> list[Feature]:
    """The form, and the numbers that change most within the searched sample."""
    found = [Feature("form", lambda o: o.form, ordered=False, words=form_words)]
    half = len(first) // 2
    if not first.width or half < 2:
        return found
    gaps = histogram_gaps(*in_cells(first.numbers[:half], first.numbers[half : 2 * half]))
    leading = dict.fromkeys([0, *(int(j) for j in np.argsort(-gaps, kind="stable")[:_WATCHED])])
    name = "output" if first.width == 1 else "output[{}]"
    return [*found, *(Feature(name.format(j), lambda o, j=j: o.numbers[:, j], ordered=True) for j in leading)]  # type: ignore[misc]


def _apart(early: Counts, late: Counts) -> float:
    """By how many standard errors the two halves differ in the cell where they differ most."""
    sizes = int(early.sum()), int(late.sum())
    if min(sizes) < _LEAST:
        return 0.0
    pooled = (early + late) / sum(sizes)
    error = np.sqrt(np.maximum(pooled * (1 - pooled), 1e-300) * (1 / sizes[0] + 1 / sizes[1]))
    return float(np.max(np.abs(early / sizes[0] - late / sizes[1]) / np.maximum(error, 1 / min(sizes))))


def _changed(feature: Feature, cells: Cells, early: Counts, late: Counts) -> str:
    share = late / max(1, late.sum()) - early / max(1, early.sum())
    mask = np.zeros(cells.size, dtype=np.bool_)
    if not cells.ordered and int(np.argmax(share)) == cells.size - 1:
        return f"a {feature.name} that did not come up before is likelier"
    mask[int(np.argmax(share))] = True
    return f"{cells.words(mask)} is likelier"
