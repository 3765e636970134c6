"""Encoded rows that can be read again and again: in memory, or chunk by chunk from wherever they are.

What a source of rows promises, and every estimator relies on: the codes are those of the schema; all rows of a unit are
adjacent and in one chunk; no unit has more rows than the public limit; the rows are the same at each reading.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.learn.reading.columns import MISSING, Codes
from tacit.noise.entropy import BitSource
from tacit.privacy.prices import times

__all__ = ["Chunk", "InMemoryRows", "Rows", "bounded_rows"]

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, repr=False)
class Chunk:
    """Some rows: their codes, the code of what is to be learned, and whose they are (None: each row its own unit)."""

    codes: Codes
    target: Codes | None = None
    units: Integers | None = None

    @property
    def size(self) -> int:
        """How many rows there are; private."""
        return int(self.codes.shape[0])

    def firsts(self) -> Integers:
        """Where each unit begins."""
        if self.units is None:
            return np.arange(self.size)
        return np.flatnonzero(np.concatenate([[True], self.units[1:] != self.units[:-1]])[: self.size])

    def __repr__(self) -> str:
        return "Chunk(private)"


class Rows(Protocol):
    """A source of chunks."""

    @property
    def limit(self) -> int:
        """The most rows that a unit has; public."""

    def chunks(self) -> Iterator[Chunk]:
        """All rows, from the beginning."""


@dataclass(frozen=True, slots=True, repr=False)
class InMemoryRows:
    """Rows in memory, as one chunk."""

    chunk: Chunk
    limit: int = 1

    def chunks(self) -> Iterator[Chunk]:
        yield self.chunk

    def __repr__(self) -> str:
        return "InMemoryRows(private)"


def bounded_rows(codes: Codes, target: Codes | None, units: Any, limit: object, bits: BitSource) -> InMemoryRows:
    """Rows with at most ``limit`` a unit: those whose content has the least keyed hash, wherever they stand.

    Rows without a unit (None, NaN) are left out. Without ``units`` each row is its own.
    """
    most = times(limit, "rows_per_unit", least=1)
    if units is None:
        if most != 1:
            hint = "Without units= each row is a unit of its own."
            raise InvalidParameter("rows_per_unit", given=limit, allowed="1 without units", hint=hint)
        return InMemoryRows(Chunk(codes, target))
    ids = _numbered(units)
    ranks = _hashes(codes, target, bits)
    order = np.lexsort((ranks, ids))
    order = order[ids[order] >= 0]
    sorted_ids = ids[order]
    firsts = np.flatnonzero(np.concatenate([[True], sorted_ids[1:] != sorted_ids[:-1]])[: sorted_ids.size])
    counts = np.diff(np.append(firsts, sorted_ids.size))
    kept = order[np.arange(sorted_ids.size) - np.repeat(firsts, counts) < most]
    chosen = None if target is None else target[kept]
    return InMemoryRows(Chunk(np.asfortranarray(codes[kept]), chosen, ids[kept]), most)


def _numbered(units: npt.NDArray[Any]) -> Integers:
    """A number for each unit; -1 for a row without one."""
    seen: dict[Any, int] = {}
    out = np.empty(len(units), dtype=np.int64)
    for place, unit in enumerate(units.tolist()):
        try:
            out[place] = -1 if unit is None or unit != unit else seen.setdefault(unit, len(seen))
        except Exception:  # a cell that cannot be compared or be a key names nobody, and only that one
            out[place] = -1
    return out


def _hashes(codes: Codes, target: Codes | None, bits: BitSource) -> npt.NDArray[np.uint64]:
    """A keyed hash of each row's content: equal rows have equal ones, so that it does not matter which is kept."""
    columns = [*codes.T, np.full(len(codes), MISSING) if target is None else target]
    keys = bits.words(2 * len(columns) + 1)
    hashed = np.full(len(codes), keys[0])
    with np.errstate(over="ignore"):
        for place, column in enumerate(columns):
            odd, added = keys[2 * place + 1] | np.uint64(1), keys[2 * place + 2]
            hashed = (hashed ^ (column.astype(np.int64).view(np.uint64) * odd + added)) * np.uint64(0x9E3779B97F4A7C15)
            hashed ^= hashed >> np.uint64(29)
    return hashed
