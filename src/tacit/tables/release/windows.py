"""Functions of the rows around each row of an answer, as SQL has them with OVER (…); of released values alone."""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.tables.expressions.evaluate import Values, values_of
from tacit.tables.expressions.kinds import Kind
from tacit.tables.expressions.tree import Expression, Value
from tacit.tables.query.tree import Window
from tacit.tables.release.finish import ranks_of

__all__ = ["Spread", "weights_of", "windowed"]

Floats = npt.NDArray[np.float64]
Spread = npt.NDArray[np.float64]
"""A row for each row, a column for each measured number: how much of it is in it."""
Rows = npt.NDArray[np.intp]
ValuesOf = Callable[[Expression], Values]


@dataclass(frozen=True, slots=True)
class _Partition:
    """The rows of one partition in their order; which are equal in it; and the frame of each, by places in it."""

    rows: Rows
    peers: npt.NDArray[np.int64]
    """The number of the run of equals that each is in, from 0 on."""
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]


def windowed(window: Window, values_of_part: ValuesOf, size: int) -> Values:
    """The value of a window for each row."""
    argument = None if window.argument is None else values_of_part(window.argument)
    cells: list[Value] = [None] * size
    for part in _partitions(window, values_of_part, size):
        for row, cell in zip(part.rows.tolist(), _FUNCTIONS[window.function](window, part, argument), strict=True):
            cells[row] = cell
    if window.function in ("sum", "min", "max", "lag", "lead", "first_value", "last_value") and argument is not None:
        return values_of(cells, argument.kind)
    return values_of(cells, Kind.REAL if window.function in ("avg", "percent_rank") else Kind.INTEGER)


def weights_of(window: Window, values_of_part: ValuesOf, size: int) -> Spread | None:
    """How much of each row's argument is in each row's value; None if it is no sum of them."""
    if window.function not in ("sum", "avg", "lag", "lead", "first_value", "last_value"):
        return None
    found = np.zeros((size, size))
    for part in _partitions(window, values_of_part, size):
        for place, row in enumerate(part.rows.tolist()):
            taken = part.rows[part.starts[place] : part.ends[place]]
            if window.function in ("sum", "avg"):
                found[row, taken] = 1.0 if window.function == "sum" else 1.0 / max(len(taken), 1)
                continue
            other = _other(window, part, place)
            if other is not None:
                found[row, other] = 1.0
    return found


def _partitions(window: Window, values_of_part: ValuesOf, size: int) -> Iterator[_Partition]:
    keys = [values_of_part(one).cells() for one in window.partition]
    grouped = dict[tuple[Value, ...], list[int]]()
    for row, key in enumerate(zip(*keys, strict=True) if keys else [()] * size):
        grouped.setdefault(key, []).append(row)
    ranks = [ranks_of(values_of_part(one.expression), one.descending, one.nulls_first) for one in window.order]
    for listed in grouped.values():
        rows = np.array(listed, dtype=np.intp)
        if ranks:
            rows = rows[np.lexsort([rank[rows] for rank in reversed(ranks)])]
        yield _framed(window, rows, [rank[rows] for rank in ranks])


def _framed(window: Window, rows: Rows, ranks: Sequence[Floats]) -> _Partition:
    count = len(rows)
    places = np.arange(count, dtype=np.int64)
    new = np.zeros(count, dtype=np.int64)
    for rank in ranks:
        new[1:] |= (rank[1:] != rank[:-1]).astype(np.int64)
    peers = np.cumsum(new)
    if window.frame is not None:
        low, high = window.frame
        starts = places * 0 if low is None else np.clip(places + low, 0, count)
        ends = places * 0 + count if high is None else np.clip(places + high + 1, 0, count)
        return _Partition(rows, peers, starts, np.maximum(starts, ends))
    if not window.order:
        return _Partition(rows, peers, places * 0, places * 0 + count)
    return _Partition(rows, peers, places * 0, np.searchsorted(peers, peers, side="right"))


def _row_number(window: Window, part: _Partition, argument: Values | None) -> list[Value]:
    return list(range(1, len(part.rows) + 1))


def _rank(window: Window, part: _Partition, argument: Values | None) -> list[Value]:
    return [int(place) + 1 for place in np.searchsorted(part.peers, part.peers, side="left")]


def _dense_rank(window: Window, part: _Partition, argument: Values | None) -> list[Value]:
    return [int(peer) + 1 for peer in part.peers]


def _percent_rank(window: Window, part: _Partition, argument: Values | None) -> list[Value]:
    most = max(len(part.rows) - 1, 1)
    return [float(place) / most for place in np.searchsorted(part.peers, part.peers, side="left")]


def _ntile(window: Window, part: _Partition, argument: Values | None) -> list[Value]:
    size, larger = divmod(len(part.rows), window.count)
    edge = larger * (size + 1)
    return [
        place // (size + 1) + 1 if place < edge else larger + (place - edge) // max(size, 1) + 1
        for place in range(len(part.rows))
    ]


def _other(window: Window, part: _Partition, place: int) -> int | None:
    """The row whose value is given."""
    if window.function in ("lag", "lead"):
        wanted = place - window.count if window.function == "lag" else place + window.count
        return int(part.rows[wanted]) if 0 <= wanted < len(part.rows) else None
    start, end = int(part.starts[place]), int(part.ends[place])
    if start >= end:
        return None
    return int(part.rows[start if window.function == "first_value" else end - 1])


def _of_other(window: Window, part: _Partition, argument: Values | None) -> list[Value]:
    assert argument is not None
    cells = argument.cells()
    others = [_other(window, part, place) for place in range(len(part.rows))]
    return [None if one is None else cells[one] for one in others]


def _count(window: Window, part: _Partition, argument: Values | None) -> list[Value]:
    known = np.ones(len(part.rows), dtype=bool) if argument is None else argument.known[part.rows]
    before = np.concatenate([[0], np.cumsum(known)])
    return [int(count) for count in before[part.ends] - before[part.starts]]


def _added(window: Window, part: _Partition, argument: Values | None) -> list[Value]:
    """Sums, and averages of what is known; null where nothing is."""
    assert argument is not None
    known = argument.known[part.rows]
    numbers = np.where(known, np.asarray(argument.data, dtype=np.float64)[part.rows], 0.0).astype(np.longdouble)
    before = np.concatenate([[np.longdouble(0)], np.cumsum(numbers)])
    sums = before[part.ends] - before[part.starts]
    counts = _count(window, part, argument)
    made = list[Value]()
    for total, count in zip(sums, counts, strict=True):
        found = float(total) if window.function == "sum" else float(total) / max(int(str(count)), 1)
        made.append(found if count and np.isfinite(found) else None)
    return made


def _extreme(window: Window, part: _Partition, argument: Values | None) -> list[Value]:
    """The least or the greatest of what is known, each row looked at twice: frames only ever move on.

    Kept are the places of the frame that nothing behind them outdoes, in order; the first has what is wanted.
    """
    assert argument is not None
    every, kept, seen = argument.cells(), deque[int](), 0
    cells: list[Any] = [every[row] for row in part.rows.tolist()]
    outdoes = operator.lt if window.function == "min" else operator.gt
    made = list[Value]()
    for start, end in zip(part.starts.tolist(), part.ends.tolist(), strict=True):
        for place in range(seen, end):
            if cells[place] is not None:
                while kept and outdoes(cells[place], cells[kept[-1]]):
                    kept.pop()
                kept.append(place)
        seen = max(seen, end)
        while kept and kept[0] < start:
            kept.popleft()
        made.append(cells[kept[0]] if kept and start < end else None)
    return made


_FUNCTIONS: dict[str, Callable[[Window, _Partition, Values | None], list[Value]]] = {
    "row_number": _row_number,
    "rank": _rank,
    "dense_rank": _dense_rank,
    "percent_rank": _percent_rank,
    "ntile": _ntile,
    "lag": _of_other,
    "lead": _of_other,
    "first_value": _of_other,
    "last_value": _of_other,
    "count": _count,
    "sum": _added,
    "avg": _added,
    "min": _extreme,
    "max": _extreme,
}
