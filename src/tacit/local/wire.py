"""Reports on the wire: a tag of four bytes that says which parameters a report was made with, then the report.

The tag is a checksum of public parameters, so that reports of another version or another question are told apart. It
authenticates nobody: a server that must know who sent a report has to ask for that elsewhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2s
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.mechanisms.selection.scores import kind_of

__all__ = ["TAG_BYTES", "BitRows", "ByteRows", "Shape", "Whole", "read_each", "read_stream", "tag_of", "tagged"]

Rows = npt.NDArray[np.uint8]
Array = npt.NDArray[Any]

TAG_BYTES = 4


class Shape(ABC):
    """The type and the width of a report."""

    __slots__ = ()

    @property
    @abstractmethod
    def width(self) -> int:
        """Bytes of one report without its tag."""

    @abstractmethod
    def read_quietly(self, reports: Array) -> tuple[Array, int]:
        """Those of an array that have the right type and shape, as an array of the shape's own, and how many do not."""

    @abstractmethod
    def pack(self, reports: Array) -> Rows:
        """Each report as a row of bytes."""

    @abstractmethod
    def unpack(self, rows: Rows) -> tuple[Array, int]:
        """The reports in rows of bytes, without those that are none, and how many these are."""

    def read(self, reports: Any) -> Array:
        """One report or several as an array of reports, or an error that does not show them."""
        array = np.asarray(reports)
        found, refused = self.read_quietly(array if array.ndim > self.dimensions - 1 else array[None])
        if refused:
            raise InvalidParameter("reports", given=kind_of(reports), allowed="what randomize() gave")
        return found

    @property
    @abstractmethod
    def dimensions(self) -> int:
        """Of an array of reports."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """Of an array of reports."""

    @abstractmethod
    def new(self, count: int) -> Array:
        """Room for so many reports."""


@dataclass(frozen=True, slots=True)
class Whole(Shape):
    """A report that is one whole number of at most ``bits`` bits, 64 at most."""

    bits: int

    @property
    def width(self) -> int:
        return -(-self.bits // 8)

    @property
    def dimensions(self) -> int:
        return 1

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(next(kind for kind in ("u1", "u2", "u4", "u8") if 8 * int(kind[1]) >= self.bits))

    def new(self, count: int) -> Array:
        return np.empty(count, dtype=self.dtype)

    def read_quietly(self, reports: Array) -> tuple[Array, int]:
        if reports.ndim != 1 or reports.dtype.kind not in "iu":
            return self.new(0), len(reports) if reports.ndim else 1
        if reports.dtype == self.dtype:
            return reports, 0
        within = (reports >= 0) & (reports <= (1 << self.bits) - 1)
        return reports[within].astype(self.dtype), int((~within).sum())

    def pack(self, reports: Array) -> Rows:
        little = reports.astype(self.dtype.newbyteorder("<"), copy=False)
        return np.ascontiguousarray(little[:, None].view(np.uint8)[:, : self.width])

    def unpack(self, rows: Rows) -> tuple[Array, int]:
        wide = np.zeros((len(rows), self.dtype.itemsize), dtype=np.uint8)
        wide[:, : self.width] = rows
        return wide.view(self.dtype.newbyteorder("<")).reshape(-1).astype(self.dtype, copy=False), 0


@dataclass(frozen=True, slots=True)
class BitRows(Shape):
    """A report of ``columns`` bits, packed eight to a byte; the bits after the last are 0."""

    columns: int

    @property
    def width(self) -> int:
        return -(-self.columns // 8)

    @property
    def dimensions(self) -> int:
        return 2

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.uint8)

    def new(self, count: int) -> Array:
        return np.empty((count, self.width), dtype=np.uint8)

    @property
    def last(self) -> np.uint8:
        """Which bits of the last byte are used."""
        return np.uint8(0xFF << (8 * self.width - self.columns) & 0xFF)

    def read_quietly(self, reports: Array) -> tuple[Array, int]:
        if reports.ndim == 1 and reports.dtype == np.uint8 and reports.size == self.width:
            reports = reports[None]
        if reports.ndim != 2 or reports.dtype != np.uint8 or reports.shape[1] != self.width:
            return self.new(0), len(reports) if reports.ndim else 1
        return self.unpack(reports)

    def pack(self, reports: Array) -> Rows:
        return np.ascontiguousarray(reports)

    def unpack(self, rows: Rows) -> tuple[Array, int]:
        beyond = rows[:, -1] & ~self.last
        if not bool(beyond.any()):
            return rows, 0
        return rows[beyond == 0], int((beyond != 0).sum())


@dataclass(frozen=True, slots=True)
class ByteRows(Shape):
    """A report of ``size`` bytes."""

    size: int

    @property
    def width(self) -> int:
        return self.size

    @property
    def dimensions(self) -> int:
        return 2

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.uint8)

    def new(self, count: int) -> Array:
        return np.zeros((count, self.width), dtype=np.uint8)

    def read_quietly(self, reports: Array) -> tuple[Array, int]:
        if reports.ndim != 2 or reports.dtype != np.uint8 or reports.shape[1] != self.width:
            return self.new(0), len(reports) if reports.ndim else 1
        return reports, 0

    def pack(self, reports: Array) -> Rows:
        return np.ascontiguousarray(reports)

    def unpack(self, rows: Rows) -> tuple[Array, int]:
        return rows, 0


def tag_of(parameters: str) -> bytes:
    """Four bytes that differ where the parameters do, up to chance."""
    return blake2s(parameters.encode(), digest_size=TAG_BYTES).digest()


def tagged(rows: Rows, tag: bytes) -> bytes:
    """Rows of bytes, each after its tag."""
    out = np.empty((len(rows), TAG_BYTES + rows.shape[1]), dtype=np.uint8)
    out[:, :TAG_BYTES] = np.frombuffer(tag, dtype=np.uint8)
    out[:, TAG_BYTES:] = rows
    return out.tobytes()


def read_stream(data: bytes | bytearray | memoryview, shape: Shape, tag: bytes) -> tuple[Array, int]:
    """The reports in a run of bytes, and how many others there are; what is left over at the end is one of these."""
    width = TAG_BYTES + shape.width
    whole = len(data) // width
    rows = np.frombuffer(data, dtype=np.uint8, count=whole * width).reshape(whole, width)
    own = (rows[:, :TAG_BYTES] == np.frombuffer(tag, dtype=np.uint8)).all(axis=1)
    reports, bad = shape.unpack(np.ascontiguousarray(rows[own, TAG_BYTES:]))
    return reports, bad + int((~own).sum()) + bool(len(data) % width)


def read_each(batch: Iterable[Any], shape: Shape, tag: bytes) -> tuple[Array, int]:
    """The reports in a list: bytes as sent, or reports as randomize() gave them, one by one."""
    width, refused = TAG_BYTES + shape.width, 0
    sent, made = [], []
    for item in batch:
        if isinstance(item, bytes | bytearray | memoryview):
            if len(item) == width:
                sent.append(bytes(item))
            else:
                refused += 1
            continue
        array = np.asarray(item) if isinstance(item, np.ndarray | np.generic | int) else np.zeros(0)
        if array.ndim != shape.dimensions - 1 or array.dtype.kind not in "iu":
            refused += 1
            continue
        found, bad = shape.read_quietly(array[None])
        made.append(found)
        refused += bad
    reports, bad = read_stream(b"".join(sent), shape, tag)
    return np.concatenate([reports, *made]), refused + bad
