"""Counting, as a fit sees it: tables of the same chosen rows, counted after the payment, in integers.

A fit asks for one-way counts first and then, with bins that it found in their noisy form, for tables of several
columns. A frame in memory serves, and so does an open table (`tacit.synth.opened`). A row counts once in each table,
so a unit of at most r rows moves a table by at most r in L1 and in L2.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Number, Rational
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.mechanisms.selection.scores import kind_of
from tacit.noise.entropy import system_entropy
from tacit.synth.domain.columns import Codes, plain
from tacit.synth.domain.domain import Domain

__all__ = ["Counting", "FrameRows", "Maps", "Tables"]

Counts = npt.NDArray[np.int64]
Maps = Sequence[Codes]
"""For each column, the bin of each of its codes, numbered from 0 without gaps."""
Tables = Sequence[tuple[int, ...]]
_CHUNK = 1 << 18
"""Values that are counted at a time."""


class Counting(Protocol):
    """Rows that can be counted. What is returned is private: integers, before any noise."""

    @property
    def reach(self) -> int:
        """How many rows of one unit count at most: by how much a unit moves each table."""

    def counted(self, tables: Tables, maps: Maps) -> list[Counts]:
        """For each table, a tuple of places of columns, how many rows are in each cell of their bins."""


class FrameRows:
    """A frame in memory: each row is a unit, or all rows with one value of a column that is named, at most ``rows``.

    The rows of a unit that count are those of the smallest keyed hash of (unit, codes, ordinal among equal ones): they
    do not depend on the order of rows, nor on other units. The key is drawn anew for each fit.
    """

    def __init__(self, domain: Domain, frame: Any, *, unit: str | None = None, rows: int = 1) -> None:
        if type(rows) is not int or rows < 1:
            raise InvalidParameter("rows_per_unit", given=rows, allowed="a whole number from 1 on")
        if unit is None and rows != 1:
            allowed = "1, since each row is protected on its own: name the unit with unit=..."
            raise InvalidParameter("rows_per_unit", given=rows, allowed=allowed)
        self.reach = rows
        self._sizes = domain.sizes
        listed = {name: column_of(frame, name) for name in domain.names}
        codes = [domain.codes(at, listed[name]) for at, name in enumerate(domain.names)]
        if len({len(one) for one in codes}) != 1:
            raise InvalidParameter("frame", given=kind_of(frame), allowed="columns of one length")
        self._codes = [one.astype(np.min_scalar_type(size)) for one, size in zip(codes, domain.sizes, strict=True)]
        if unit is not None:
            content = np.stack([one.astype(np.int32) for one in self._codes], axis=1)
            kept = _chosen(list(plain(column_of(frame, unit, "unit"))), content, rows)
            self._codes = [one[kept] for one in self._codes]

    def counted(self, tables: Tables, maps: Maps) -> list[Counts]:
        used = sorted({at for table in tables for at in table})
        sizes = {at: int(maps[at].max()) + 1 for at in used}
        shapes = [tuple(sizes[at] for at in table) for table in tables]
        found = [np.zeros(math.prod(shape), dtype=np.int64) for shape in shapes]
        step = max(1, _CHUNK // len(used))
        for start in range(0, len(self._codes[0]), step):
            binned = {at: maps[at][self._codes[at][start : start + step]] for at in used}
            for table, counts in zip(tables, found, strict=True):
                cells = binned[table[0]]
                for at in table[1:]:
                    cells = cells * sizes[at] + binned[at]
                counts += np.bincount(cells, minlength=len(counts))
        return [counts.reshape(shape) for counts, shape in zip(found, shapes, strict=True)]

    def __repr__(self) -> str:
        return "FrameRows(private)"


def column_of(frame: Any, name: str, asked_by: str = "domain") -> Any:
    """One column of a frame of any kind that has columns by name; by names alone, never by values."""
    names = _names(frame)
    if names is None:
        allowed = "a pandas, Polars or Arrow frame, or a mapping from names to columns"
        raise InvalidParameter("frame", given=kind_of(frame), allowed=allowed)
    if name not in names:
        shown = ", ".join(map(str, names[:20]))
        raise InvalidParameter(asked_by, given=name, allowed=f"columns of the frame: {shown}")
    column = frame[name]
    declared = str(getattr(column, "dtype", "")).lower()
    kinds = "iu" if declared.startswith(("int", "uint")) else "f" if declared.startswith("float") else ""
    if not kinds or not hasattr(column, "to_numpy"):
        return column
    try:
        array = column.to_numpy()
    except Exception:
        return column
    return array if array.dtype.kind in kinds else column  # one null would make floats of all: 2⁵³ + 1 is 2⁵³ there


def _names(frame: Any) -> list[Any] | None:
    for attribute in ("column_names", "columns"):
        names = getattr(frame, attribute, None)
        if names is not None and not callable(names) and attribute == "column_names":
            return list(names)
        if names is not None and not callable(names) and not isinstance(frame, dict):
            return list(names)
    return list(frame) if isinstance(frame, dict) else None


def _chosen(units: list[Any], codes: npt.NDArray[np.int32], most: int) -> npt.NDArray[np.bool_]:
    """Which rows count: at most so many of each unit, by rank of a keyed hash."""
    key, seen = system_entropy().words(4).tobytes(), dict[bytes, int]()
    ranked: dict[bytes, list[tuple[bytes, int]]] = {}
    for row, (unit, content) in enumerate(zip(units, codes, strict=True)):
        who = _written(unit)
        mark = len(who).to_bytes(8, "big") + who + content.tobytes()
        ordinal = seen[mark] = seen.get(mark, 0) + 1
        digest = hashlib.blake2b(mark + ordinal.to_bytes(8, "big"), key=key, digest_size=32).digest()
        ranked.setdefault(who, []).append((digest, row))
    kept = np.zeros(len(units), dtype=np.bool_)
    for rows in ranked.values():
        for _, row in sorted(rows)[:most]:
            kept[row] = True
    return kept


def _written(unit: Any) -> bytes:
    """A unit's name as bytes: rows without one are one unit together, and equal numbers are one, as 7, 7.0 and 7.00."""
    try:
        if unit is None or unit != unit:
            return b"none"
        if isinstance(unit, np.generic):
            unit = unit.item()
        if isinstance(unit, Number):
            unit = Fraction(unit if isinstance(unit, Decimal | Rational) else float(unit))  # type: ignore[arg-type]
        return f"{'text' if isinstance(unit, str) else 'other'}:{unit}".encode("utf-8", "surrogatepass")
    except Exception:  # what one row holds must not be seen: pandas.NA is neither equal nor unequal
        return b"none"
