"""Sums of the columns of packed bits, by carry-save adders: three rows of one weight become one of it and a carry."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["column_sums"]

Rows = npt.NDArray[np.uint8]

_CHUNK_BYTES = 1 << 21


def column_sums(rows: Rows, columns: int) -> npt.NDArray[np.int64]:
    """How many rows have a one in each column.

    >>> column_sums(np.array([[0b10100000], [0b11000000]], dtype=np.uint8), 3).tolist()
    [2, 1, 1]
    """
    width = rows.shape[1]
    total = np.zeros(8 * width, dtype=np.int64)
    step = max(81, _CHUNK_BYTES // width)
    for start in range(0, len(rows), step):
        total += _summed(rows[start : start + step])
    return total[:columns]


def _summed(rows: Rows) -> npt.NDArray[np.int64]:
    """The sums of a block that fits into the cache; ``waiting`` are its rows of weight 1, 2, 4, …"""
    total = np.zeros(8 * rows.shape[1], dtype=np.int64)
    waiting, weight = rows, 1
    while len(waiting):
        carries = []
        while len(waiting) > 2:
            third = len(waiting) // 3
            one, two, three = waiting[:third], waiting[third : 2 * third], waiting[2 * third : 3 * third]
            either = one ^ two
            carries.append((one & two) | (either & three))
            either ^= three
            rest = waiting[3 * third :]
            waiting = np.concatenate([either, rest]) if len(rest) else either
        for row in waiting:
            total += weight * np.unpackbits(row).astype(np.int64)
        waiting, weight = np.concatenate(carries) if carries else waiting[:0], 2 * weight
    return total
