"""Mondrian (LeFevre, DeWitt & Ramakrishnan 2006): split rows in two along the widest column, as long as both parts keep
the limits. All parts of one depth are split at once, in arrays.

Strict: a value goes to one side as a whole, so that classes do not overlap. Relaxed: the rows with the middle value may
go to either side, so that halves are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Parts", "relaxed", "split", "strict"]

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Codes = tuple[npt.NDArray[np.int32], ...]
Allowed = Callable[[Integers, Integers], Flags]
"""Whether each part of some rows, given as the rows and the part of each, may be a class."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Rows by part: ``order`` lists the rows of one part after those of another, from ``starts`` on."""

    order: Integers
    starts: Integers

    @property
    def lengths(self) -> Integers:
        return np.diff(self.starts, append=len(self.order))

    @property
    def part(self) -> Integers:
        """The part of each row of ``order``."""
        return np.repeat(np.arange(len(self.starts)), self.lengths)

    def of(self, chosen: Integers) -> Parts:
        """Some of the parts."""
        lengths = self.lengths[chosen]
        starts = np.cumsum(lengths) - lengths
        places = np.arange(lengths.sum()) + np.repeat(self.starts[chosen] - starts, lengths)
        return Parts(self.order[places], starts)


@dataclass(frozen=True, slots=True)
class _Tally:
    """How many rows of each part have each value, in the order of parts and values; zeros may be among them."""

    part: Integers
    value: Integers
    count: Integers


Cut = Callable[[Parts, Integers, _Tally, int], tuple[Flags, Flags]]
"""Which rows go left, and which parts were cut at all."""


def split(codes: Codes, sizes: tuple[int, ...], k: int, cut: Cut, allowed: Allowed | None, monotone: bool) -> Integers:
    """The class of each row, from 0 on; every class has at least ``k`` rows and is allowed.

    ``codes`` are the places of each row's values, of ``sizes`` values each. ``allowed`` judges both parts of a cut
    beyond ``k``. ``monotone`` says that a column along which a part cannot be cut will not cut its parts either.
    """
    rows = len(codes[0])
    result = np.zeros(rows, dtype=np.int64)
    parts = Parts(np.arange(rows), np.zeros(1, dtype=np.int64))
    shut = np.zeros((1, len(codes)), dtype=bool)
    classes = 0
    while len(parts.starts):
        done, parts, shut = _generation(codes, sizes, k, cut, allowed, monotone, parts, shut)
        result[done.order] = done.part + classes
        classes += len(done.starts)
    return result


def _generation(
    codes: Codes,
    sizes: tuple[int, ...],
    k: int,
    cut: Cut,
    allowed: Allowed | None,
    monotone: bool,
    parts: Parts,
    shut: Flags,
) -> tuple[Parts, Parts, Flags]:
    """Cut each part along its widest column that allows it: parts left whole, new parts, columns shut to these."""
    low = np.stack([np.minimum.reduceat(code[parts.order], parts.starts) for code in codes], axis=1)
    high = np.stack([np.maximum.reduceat(code[parts.order], parts.starts) for code in codes], axis=1)
    shut = shut | (low == high) | (parts.lengths < 2 * k)[:, None]
    widths = np.where(shut, -1.0, (high - low) / np.maximum(np.array(sizes) - 1, 1))
    ranking = np.argsort(-widths, axis=1, kind="stable")
    waiting = np.arange(len(parts.starts))
    whole = np.ones(len(parts.starts), dtype=bool)
    pieces: list[Parts] = []
    shut_to_pieces: list[Flags] = []
    for attempt in range(len(codes)):
        waiting = waiting[~shut[waiting, ranking[waiting, attempt]]]
        if not len(waiting):
            break
        column = ranking[waiting, attempt]
        some = parts.of(waiting)
        values = _values(codes, some, column)
        tally = _tally(some, values, low[waiting, column], high[waiting, column])
        left, was_cut = cut(some, values, tally, k)
        if allowed is not None and was_cut.any():
            was_cut = _both_allowed(some, left, was_cut, allowed)
        if monotone:
            shut[waiting[~was_cut], column[~was_cut]] = True
        if was_cut.any():
            pieces.append(_halves(some, left, was_cut))
            shut_to_pieces.append(np.repeat(shut[waiting[was_cut]], 2, axis=0))
        whole[waiting[was_cut]] = False
        waiting = waiting[~was_cut]
    done = parts.of(np.flatnonzero(whole))
    return done, _joined(pieces), np.concatenate([shut[:0], *shut_to_pieces])


def strict(parts: Parts, values: Integers, tally: _Tally, k: int) -> tuple[Flags, Flags]:
    """Cut between two values, as near to the middle as leaves ``k`` rows on either side."""
    total, lengths = np.cumsum(tally.count), parts.lengths
    left = total - parts.starts[tally.part]  # rows of the part up to this value; parts follow each other without gaps
    right = lengths[tally.part] - left
    uneven = np.where((left >= k) & (right >= k), np.abs(left - right), np.iinfo(np.int64).max >> 32)
    starts = np.flatnonzero(np.diff(tally.part, prepend=-1))
    best = np.minimum.reduceat((uneven << 31) + np.arange(len(uneven)), starts)
    chosen = best & ((1 << 31) - 1)
    was_cut = (left >= k)[chosen] & (right >= k)[chosen]
    return values <= np.repeat(tally.value[chosen], lengths), was_cut


def relaxed(parts: Parts, values: Integers, tally: _Tally, k: int) -> tuple[Flags, Flags]:
    """Cut in the middle; of the rows with the middle value, the first go left."""
    lengths = parts.lengths
    half = lengths // 2
    left = np.cumsum(tally.count) - parts.starts[tally.part]
    starts = np.flatnonzero(np.diff(tally.part, prepend=-1))
    below = np.add.reduceat((left < half[tally.part]).astype(np.int64), starts)
    middle = tally.value[starts + below]
    before = left[starts + below] - tally.count[starts + below]
    is_middle = values == np.repeat(middle, lengths)
    place = np.cumsum(is_middle) - 1
    first = np.repeat((np.cumsum(is_middle) - is_middle)[parts.starts], lengths)
    quota = np.repeat(half - before, lengths)
    goes_left = (values < np.repeat(middle, lengths)) | (is_middle & (place - first < quota))
    return goes_left, lengths >= 2 * k


def _values(codes: Codes, parts: Parts, column: Integers) -> Integers:
    """Each row's place in the column along which its part is cut."""
    found = np.empty(len(parts.order), dtype=np.int64)
    along = np.repeat(column, parts.lengths)
    for one in np.unique(column):
        mine = along == one
        found[mine] = codes[one][parts.order[mine]]
    return found


def _tally(parts: Parts, values: Integers, low: npt.NDArray[Any], high: npt.NDArray[Any]) -> _Tally:
    widths = (high - low + 1).astype(np.int64)
    offsets = np.cumsum(widths) - widths
    room = int(widths.sum())
    key = values + np.repeat(offsets - low, parts.lengths)
    if room <= 4 * len(values) + 1024:
        count = np.bincount(key, minlength=room).astype(np.int64)
        part = np.repeat(np.arange(len(widths)), widths)
        return _Tally(part, np.arange(room) - (offsets - low)[part], count)
    found, count = np.unique(key, return_counts=True)
    part = np.searchsorted(offsets, found, side="right") - 1
    return _Tally(part, found - (offsets - low)[part], count.astype(np.int64))


def _both_allowed(parts: Parts, left: Flags, was_cut: Flags, allowed: Allowed) -> Flags:
    """Which of the parts that can be cut may be: both their halves are allowed."""
    chosen = np.flatnonzero(was_cut)
    some = parts.of(chosen)
    mine = left[np.repeat(was_cut, parts.lengths)]
    halves = 2 * some.part + ~mine
    fine = allowed(some.order, halves).reshape(-1, 2).all(axis=1)
    result = was_cut.copy()
    result[chosen] = fine
    return result


def _halves(parts: Parts, left: Flags, was_cut: Flags) -> Parts:
    """The parts that were cut, each as its left rows and then its right rows."""
    some = parts.of(np.flatnonzero(was_cut))
    mine = left[np.repeat(was_cut, parts.lengths)]
    lefts = np.add.reduceat(mine.astype(np.int64), some.starts)
    begins = np.repeat(some.starts, some.lengths)
    so_far: Integers = np.cumsum(mine) - mine
    before = so_far - so_far[begins]  # rows of the same part that come first and go left
    here = np.arange(len(mine)) - begins
    target = begins + np.where(mine, before, np.repeat(lefts, some.lengths) + here - before)
    order = np.empty_like(some.order)
    order[target] = some.order
    return Parts(order, np.stack([some.starts, some.starts + lefts], axis=1).ravel())


def _joined(pieces: list[Parts]) -> Parts:
    orders = [piece.order for piece in pieces]
    offsets = np.cumsum([0, *(len(order) for order in orders)])
    starts = [piece.starts + offset for piece, offset in zip(pieces, offsets, strict=False)]
    none = np.zeros(0, dtype=np.int64)
    return Parts(np.concatenate([none, *orders]), np.concatenate([none, *starts]))
