"""Many independent streams of the same questions against noisy thresholds, side by side: what an audit draws."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.streams.numeric_sparse import NumericSparse
from tacit.mechanisms.streams.threshold_stream import ThresholdStream, exact_value, read_queries
from tacit.mechanisms.streams.thresholding import Thresholding
from tacit.noise.entropy import BitSource
from tacit.noise.hurdles import ManyThrows, Throw, Throws, reaches

__all__ = ["NOT_ASKED", "numeric_answers", "side_by_side"]

Answers = npt.NDArray[np.int8]

NOT_ASKED = -1


def side_by_side(stream: ThresholdStream, values: Any, count: int, entropy: BitSource) -> Answers:
    """A row for each of ``count`` streams that are like this fresh one: 1 for True, 0 for False, then `NOT_ASKED`.

    Question by question over all streams, instead of stream by stream: the noise comes from the same laws, and is
    compared by the same bounds and the same exact path.
    """
    queries = read_queries(values)[: stream._length]
    leads, slack = stream._leads(queries)
    out = np.full((count, queries.size), NOT_ASKED, dtype=np.int8)
    left = np.full(count, stream.hits_left)
    bars = _Bars(stream._bars, count, entropy)
    for j in range(queries.size):
        asked = np.flatnonzero(left)
        jumps = stream._jumps.many(asked.size, entropy)
        margins = leads[j] + jumps.reals - bars.reals[asked]
        hit = margins > slack[j]
        for i in np.flatnonzero(~hit & ~(margins < -slack[j])):
            lead = exact_value(queries[j]) - stream._threshold
            hit[i] = reaches(lead, jumps.throw(int(i)), bars.throw(int(asked[i])))
        out[asked, j] = hit
        left[asked] -= hit
        if stream._redrawn:
            bars.redraw(asked[hit])
    return out


def numeric_answers(m: NumericSparse, values: Any, count: int, entropy: BitSource) -> npt.NDArray[np.float64]:
    """Many independent streams of the same values: the numbers, NaN for None, infinity for what was not asked."""
    hits = side_by_side(Thresholding.start(m, entropy=entropy), values, count, entropy)
    out = np.where(hits == NOT_ASKED, np.inf, np.nan)
    for column, value in enumerate(read_queries(values)[: hits.shape[1]].tolist()):
        rows = np.flatnonzero(hits[:, column] == 1)
        same = [value] * rows.size if isinstance(value, Fraction) else np.full(rows.size, value)
        out[rows, column] = m._answer.release(same, entropy=entropy)
    return out


class _Bars:
    """The noise on the threshold of each stream, some of it drawn anew as they go."""

    def __init__(self, law: Throws, count: int, entropy: BitSource) -> None:
        self._law, self._entropy = law, entropy
        first = law.many(count, entropy)
        self.reals = first.reals.copy()
        self._drawn: list[ManyThrows] = [first]
        self._batch = np.zeros(count, dtype=np.intp)
        self._place = np.arange(count)

    def redraw(self, streams: npt.NDArray[np.intp]) -> None:
        fresh = self._law.many(streams.size, self._entropy)
        self._drawn.append(fresh)
        self._batch[streams], self._place[streams] = len(self._drawn) - 1, np.arange(streams.size)
        self.reals[streams] = fresh.reals

    def throw(self, stream: int) -> Throw:
        return self._drawn[int(self._batch[stream])].throw(int(self._place[stream]))
