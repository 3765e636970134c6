"""Outcomes that were seen before: a sampler with few states, as one with a short seed, gives them again."""

from __future__ import annotations

import numpy as np

from tacit.auditing.looking.feature import Feature
from tacit.auditing.reading.outcomes import Codes, Outcomes

__all__ = ["seen_before"]

_WORDS = ("nobody", "the first neighbour only", "the second neighbour only", "both neighbours")


def seen_before(first: Outcomes, second: Outcomes) -> Feature:
    """Under which neighbour an outcome equal to this one came up in the searched sample."""
    known = [np.unique(part.whole) for part in (first, second)]

    def of(o: Outcomes) -> Codes:
        found: Codes = _member(o.whole, known[0]) + 2 * _member(o.whole, known[1])
        return found

    return Feature("the whole output, seen before under", of, ordered=False, words=lambda code: _WORDS[code], burden=3)


def _member(codes: Codes, known: Codes) -> Codes:
    place = np.minimum(np.searchsorted(known, codes), len(known) - 1)
    found: Codes = (known[place] == codes).astype(np.int64)
    return found
