"""Which floors does a float computation settle, and which stay open? Shared by the fast paths.

A fast path computes y with |y - exact| ≤ slack. The floor of y is the exact floor unless y lies within the slack
of an integer; those few samples are *open* and go to `tacit.noise.exact`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

__all__ = ["CHUNK", "WORD_FLOOR", "Integers", "Reals", "chunks", "collect", "open_floors", "unit_interval"]

Reals = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Indices = npt.NDArray[np.intp]

CHUNK = 16_384
"""Samples per chunk: the handful of temporaries of one chunk stay in the cache."""

WORD_FLOOR = 1 << 43
"""A 63-bit word below this has too few leading bits for the error bounds; its sample is open."""

WIDEST = 1 << 62
"""Samples at least this large leave int64 and are kept as Python integers."""

_NONE: Indices = np.empty(0, dtype=np.intp)


def chunks(count: int) -> Iterator[slice]:
    """Slices that cover range(count) in cache-sized steps."""
    for start in range(0, count, CHUNK):
        yield slice(start, min(start + CHUNK, count))


def unit_interval(words: Words) -> Reals:
    """Floats within 2⁻⁵² relative of the midpoints (w+½)/2⁶³ of 63-bit words; 1.0 for the largest of them."""
    reals = words.view(np.int64).astype(np.float64)
    reals += 0.5
    reals *= 2.0**-63
    return reals


def open_floors(values: Reals, slack: float, words: Words, ceiling: int | None = None) -> tuple[Reals, Indices]:
    """The floors of ``values`` and the indices where they are not settled.

    Open are values within ``slack`` of an integer, and those whose 63-bit word lies below `WORD_FLOOR` or above
    ``ceiling``.
    """
    floors = np.floor(values)
    offset = values - floors
    offset -= 0.5
    np.abs(offset, out=offset)
    limit = 0.5 - slack
    tight = not bool(offset.max() < limit)  # so that a NaN is open too, and refused by the exact path
    low = bool(words.min() < WORD_FLOOR)
    high = ceiling is not None and bool(words.max() > ceiling)
    if not (tight or low or high):
        return floors, _NONE
    mask = ~(offset < limit)
    mask |= words < WORD_FLOOR
    if ceiling is not None:
        mask |= words > ceiling
    return floors, np.flatnonzero(mask)


def collect(
    count: int, draw_chunk: Callable[[int, slice], tuple[Integers, dict[int, int]]]
) -> Integers | npt.NDArray[np.object_]:
    """Run a sampler chunk by chunk; int64, or Python integers if a sample does not fit (probability ≈ 0).

    ``draw_chunk(size, where)`` returns the samples and the few that needed the exact path, by position.
    """
    out = np.empty(count, dtype=np.int64)
    wide: dict[int, int] = {}
    with np.errstate(all="ignore"):
        for where in chunks(count):
            out[where], settled = draw_chunk(where.stop - where.start, where)
            for index, value in settled.items():
                if -WIDEST < value < WIDEST:
                    out[where.start + index] = value
                else:
                    wide[where.start + index] = value
    if not wide:
        return out
    widened = out.astype(object)
    for index, value in wide.items():
        widened[index] = value
    return widened
