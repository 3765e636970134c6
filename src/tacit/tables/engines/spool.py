"""The chosen rows of a table on disk, in a private folder, so that they can be read again without the source.

Written once, in chunks; each pass reads them with one buffer. How wide a column is follows from public ends alone, so
that 10⁷ rows of 50 columns take half a gigabyte of disk and little memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt

from tacit.tables.engines.rows import BoundedRows, Chunk, narrowest
from tacit.work.scratch import Scratch

__all__ = ["Batch", "ChosenRows"]

Column = npt.NDArray[np.signedinteger]
Batch = tuple[Sequence[Column], npt.NDArray[np.int64] | None]
"""Some rows, a column an array, and the number of each row's unit; None: each row is a unit.

Numbers ascend, also from batch to batch, so that rows of one unit lie side by side.
"""


class ChosenRows:
    """The chunks of a `BoundedRows`, as often as they are wanted. Private; gone with its owner.

    >>> from tacit.tables.engines.contract import Category
    >>> from tacit.tables.expressions.tree import Column
    >>> asked = BoundedRows((Category(Column("plan"), ("free", "pro")),), "who", rows=2)
    >>> held = ChosenRows(asked, [([np.array([1, 2, 0], dtype=np.int8)], np.array([7, 7, 9]))])
    >>> [(chunk.columns[0].tolist(), chunk.starts.tolist()) for chunk in held]
    [([1, 2, 0], [0, 2, 3])]
    >>> held.close()
    """

    def __init__(self, asked: BoundedRows, batches: Iterable[Batch]) -> None:
        self.asked = asked
        self._types = [narrowest(column) for column in asked.columns]
        self._scratch = Scratch()
        self._path: Path = self._scratch.path / "rows"
        self._sizes: list[int] = []
        try:
            with open(self._path, "wb") as file:
                for columns, begins in _cut(asked, batches):
                    self._sizes.append(len(begins))
                    file.write(begins.tobytes())
                    for column, kind in zip(columns, self._types, strict=True):
                        file.write(np.ascontiguousarray(column, dtype=kind).tobytes())
        except BaseException:
            self.close()
            raise

    def __iter__(self) -> Iterator[Chunk]:
        """Every unit once."""
        with open(self._path, "rb", buffering=0) as file:
            for size in self._sizes:
                begins = _read(file, size, np.dtype(np.int8))
                starts = np.append(np.flatnonzero(begins), size).astype(np.int64)
                yield Chunk(tuple(_read(file, size, kind) for kind in self._types), starts)

    def close(self) -> None:
        """Remove them."""
        self._scratch.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return "ChosenRows(private)"


def _read(file: object, size: int, kind: np.dtype[np.signedinteger]) -> Column:
    return np.fromfile(file, dtype=kind, count=size)  # type: ignore[call-overload,no-any-return]


def _cut(asked: BoundedRows, batches: Iterable[Batch]) -> Iterator[tuple[Sequence[Column], npt.NDArray[np.int8]]]:
    """Batches as chunks: the columns, and 1 where a row begins a unit."""
    left: list[Column] = []
    left_begins = np.zeros(0, dtype=np.int8)
    last: int | None = None
    for columns, numbers in batches:
        begins = np.ones(len(columns[0]), dtype=np.int8)
        if numbers is not None and len(numbers):
            _check_order(numbers, last)
            begins[1:] = numbers[1:] != numbers[:-1]
            begins[0] = last is None or int(numbers[0]) != last
            last = int(numbers[-1])
        if len(left_begins):
            columns = [np.concatenate(pair) for pair in zip(left, columns, strict=True)]
            begins = np.concatenate((left_begins, begins))
        _check(begins, asked.most)
        at = 0
        for start, end in _whole(begins, asked.chunk):
            yield [column[start:end] for column in columns], begins[start:end]
            at = end
        left, left_begins = [column[at:] for column in columns], begins[at:]
    if len(left_begins):
        yield left, left_begins


def _check_order(numbers: npt.NDArray[np.int64], last: int | None) -> None:
    """Rows of one unit in two places would be two units for whoever reads them: as below."""
    if (numbers[1:] < numbers[:-1]).any() or (last is not None and int(numbers[0]) < last):
        raise AssertionError("units are out of order")


def _check(begins: npt.NDArray[np.int8], most: int) -> None:
    """An engine that gave a unit more rows than were asked for would void the promise: nothing is drawn then."""
    sizes = np.diff(np.append(np.flatnonzero(begins), len(begins)))
    if len(sizes) and int(sizes.max()) > most:
        raise AssertionError("a unit has too many rows")


def _whole(begins: npt.NDArray[np.int8], size: int) -> Iterator[tuple[int, int]]:
    """Stretches of at most ``size`` rows that end where a unit begins; the rest may go on in the next batch."""
    at = 0
    while len(begins) - at > size:
        end = at + size
        while not begins[end]:
            end -= 1
        yield at, end
        at = end
