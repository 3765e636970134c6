"""What data are known by, whatever they are called: the file itself, and how its content begins.

A renamed file, a hard link, a packed copy beside the original are the same data, and must not begin a new budget. How
long a file is does not matter: files grow.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import zlib
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

__all__ = ["CONTENT", "INODE", "STAMP", "Mark", "marks_of", "size_and_time", "stamps_of"]

INODE = "inode"
CONTENT = "content"
STAMP = "stamp"

_BEGINNING = 64 * 1024
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"


class Mark(NamedTuple):
    """One thing that a source is known by; ``source`` is the name that the ledger has for it."""

    kind: str
    source: str
    value: str

    def same(self, other: Mark) -> bool:
        """Whether both are of the same data, whatever its names."""
        return (self.kind, self.value) == (other.kind, other.value)


def marks_of(files: Sequence[Path], secret: str, source: str) -> frozenset[Mark]:
    """The marks of these files, of which the first is the ledger's ``source``; of one that cannot be read, none.

    Contents are hashed under the ledger's secret.
    """
    found = set()
    for name, path in zip((source, *(one.name for one in files[1:])), files, strict=False):
        with contextlib.suppress(OSError):
            at = os.stat(path)
            found.add(Mark(INODE, name, f"{at.st_dev}:{at.st_ino}"))
            beginning = _beginning(path)
            if beginning:
                digest = hmac.new(secret.encode(), b"tacit content\n" + beginning, hashlib.sha256)
                found.add(Mark(CONTENT, name, digest.hexdigest()))
    return frozenset(found)


def stamps_of(files: Sequence[Path], version: int) -> frozenset[Mark]:
    """How large these files are together, and when the last of them was written, for a version of the data.

    It depends on rows: kept in the ledger for the owner, and never told to anybody else.
    """
    size, written = size_and_time(files)
    return frozenset([Mark(STAMP, str(version), f"{size}:{written}")]) if files else frozenset()


def size_and_time(files: Sequence[Path]) -> tuple[int, int]:
    """The bytes of these files together, and the nanosecond in which the last of them was written."""
    size = written = 0
    for path in files:
        with contextlib.suppress(OSError):
            at = os.stat(path)
            size, written = size + at.st_size, max(written, at.st_mtime_ns)
    return size, written


def _beginning(path: Path) -> bytes:
    """The first 64 KiB, unpacked if need be."""
    with path.open("rb") as file:
        raw = file.read(_BEGINNING)
        if raw.startswith(_ZSTD):
            file.seek(0)
            return _unpacked(file) or raw
    if not raw.startswith(_GZIP):
        return raw
    try:
        return zlib.decompressobj(wbits=31).decompress(raw, _BEGINNING) or raw
    except zlib.error:
        return raw


def _unpacked(file: BinaryIO) -> bytes:
    """The same of a file packed with zstd; nothing without pyarrow, which whoever reads its rows has."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        arrow: Any = import_module("pyarrow")
        with arrow.CompressedInputStream(arrow.PythonFile(file, mode="r"), "zstd") as stream:
            return bytes(stream.read(_BEGINNING))
    return b""
