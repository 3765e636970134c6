"""Reports of one bit for each category: how they are drawn, and how servers sum them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.local.categories.columns import column_sums
from tacit.local.categories.frequency import FrequencyRandomizer, Places
from tacit.local.protocol import Reports
from tacit.local.wire import BitRows
from tacit.noise.entropy import BitSource
from tacit.noise.packed import packed_coins
from tacit.noise.truths import Truth

__all__ = ["BitRandomizer", "packed_rows", "set_bits"]


class BitRandomizer(FrequencyRandomizer):
    """A randomizer whose report supports the categories whose bits are 1."""

    __slots__ = ()

    @property
    def shape(self) -> BitRows:
        return BitRows(len(self._answers))

    def _valid(self, reports: Reports) -> npt.NDArray[np.bool_]:
        return np.ones(len(reports), dtype=np.bool_)

    def _empty(self) -> npt.NDArray[np.int64]:
        return np.zeros(len(self._answers), dtype=np.int64)

    def _tally(self, reports: Reports) -> npt.NDArray[np.int64]:
        return column_sums(reports, len(self._answers))

    def _supports(self, tally: npt.NDArray[Any], count: int) -> npt.NDArray[np.int64]:
        return tally


def packed_rows(truth: Truth, count: int, shape: BitRows, bits: BitSource) -> npt.NDArray[np.uint8]:
    """Rows of coins of one chance, as many as there are columns; the bits after the last are 0."""
    size = count * shape.width
    rows = packed_coins(truth, -(-size // 8), bits).view(np.uint8)[:size].reshape(count, shape.width)
    rows[:, -1] &= shape.last
    return rows


def set_bits(rows: npt.NDArray[np.uint8], places: Places, ones: npt.NDArray[np.bool_]) -> None:
    """In each row, write one bit at its place."""
    flat = rows.reshape(-1)
    at = np.arange(0, flat.size, rows.shape[1]) + (places >> 3)
    down = (7 - (places & 7)).astype(np.uint8)
    flat[at] = (flat[at] & ~(np.uint8(1) << down)) | (ones.view(np.uint8) << down)
