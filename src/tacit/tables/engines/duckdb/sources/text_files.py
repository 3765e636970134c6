"""Bytes of a text file, whatever it is packed and encoded in: blocks of whole lines of valid UTF-8, totally.

A byte sequence that is not in the encoding becomes U+FFFD, and a text with that in it is null. Line ends are ``\\n``,
``\\r\\n`` and ``\\r``. A line of more than 64 MB is cut there.
"""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tacit.errors import InvalidParameter, MissingPackage, PolicyError

__all__ = ["BLOCK", "UNDECODED", "TextFile", "open_text"]

UNDECODED = "\N{REPLACEMENT CHARACTER}".encode()
"""What stands for bytes that are not in the encoding."""

_UTF8 = ("utf-8", "utf_8_sig", "utf-8-sig", "ascii")
BLOCK = 1 << 23
"""How much of a file is read at once."""

_LONGEST_LINE = 1 << 26
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_MAGIC = (
    (b"PK\x03\x04", 'a zip archive (unpack it first) or a workbook (name it .xlsx, or set format = "excel")'),
    (b"PAR1", 'Parquet: name it .parquet, or set format = "parquet"'),
    (b"SQLite format 3", 'an SQLite database: name it .sqlite, or set format = "sqlite"'),
    (b"BZh", "packed with bzip2: unpack it first (bunzip2)"),
    (b"\xfd7zXZ", "packed with xz: unpack it first (unxz)"),
    (b"%PDF", "a PDF: export its table as CSV"),
    (b"\xd0\xcf\x11\xe0", 'an old workbook: name it .xls, or set format = "excel"'),
)


_PACKINGS = ((b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"))
_Stream = Any  # something to read bytes from; of pyarrow, untyped


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file of lines. ``plain``: what is on disk is UTF-8 already, unless a line says otherwise.

    The first ``skip`` lines are no part of it.
    """

    path: Path
    packing: str
    encoding: str
    skip: int = 0

    @property
    def plain(self) -> bool:
        """Whether an engine may read the file itself."""
        return not self.packing and not self.skip and self.encoding in _UTF8

    def blocks(self, size: int = BLOCK) -> Iterator[bytes]:
        """The file as UTF-8, in blocks that end with a line (the last one may not); a byte order mark is left out."""
        return _without_lines(self._blocks(size), self.skip)

    def pieces(self, size: int = BLOCK) -> Iterator[bytes]:
        """The file as UTF-8 in blocks that end anywhere, for formats in which lines mean nothing."""
        with self.path.open("rb") as file, _unpacked(file, self.packing) as stream:
            decoder, first = codecs.getincrementaldecoder(self.encoding)("replace"), True
            while True:
                raw = _read(stream, size, self.packing)
                block = _utf8(decoder.decode(raw.removeprefix(codecs.BOM_UTF8) if first else raw, final=not raw))
                yield block.removeprefix(codecs.BOM_UTF8) if first else block
                first = first and not block
                if not raw:
                    return

    def _blocks(self, size: int) -> Iterator[bytes]:
        with self.path.open("rb") as file, _unpacked(file, self.packing) as stream:
            carry, first, cutting = b"", True, False
            decoder = None if self.encoding in _UTF8 else codecs.getincrementaldecoder(self.encoding)("replace")
            while True:
                raw = _read(stream, size, self.packing)
                if first:  # the mark of UTF-8, which also stands before text that is not all in it
                    raw = raw.removeprefix(codecs.BOM_UTF8)
                block = raw if decoder is None else _utf8(decoder.decode(raw, final=not raw))
                if first and block:
                    block, first = block.removeprefix(codecs.BOM_UTF8), False
                if cutting:  # the rest of a line too long
                    end = _first_line_end(block)
                    block, cutting = block[end:], end == len(block) and bool(raw)
                carry += block
                end = _last_line_end(carry) if raw else len(carry)
                if end:
                    yield carry[:end]
                carry = carry[end:]
                if len(carry) > _LONGEST_LINE:
                    carry, cutting = carry[:_LONGEST_LINE], True
                if not raw:
                    return

    def first_block(self) -> bytes:
        """The beginning of the file, for its header."""
        return next(self.blocks(1 << 16), b"")


def open_text(path: Path, encoding: str | None, skip: int = 0) -> TextFile:
    """Look at the first bytes, which say the packing and the encoding; refuse what is no text."""
    try:
        with path.open("rb") as file:
            head = file.read(16)
            packing = next((name for magic, name in _PACKINGS if head.startswith(magic)), "")
            if packing:
                file.seek(0)
                with _unpacked(file, packing) as stream:
                    head = _read(stream, 16, packing)
    except OSError as error:
        raise InvalidParameter("source", given=str(path), allowed="a readable file", hint=_reason(error)) from None
    for magic, what in _MAGIC:
        if head.startswith(magic):
            raise InvalidParameter("source", given=str(path), allowed="a text file", hint=f"This is {what}.")
    marked = next((name for mark, name in _BOMS if head.startswith(mark)), None)
    return TextFile(path, packing, encoding or marked or "utf-8", skip)


def _reason(error: OSError) -> str:
    return f"{error.strerror or type(error).__name__}."


def _unpacked(file: io.BufferedReader, packing: str) -> _Stream:
    if packing == "gzip":
        return gzip.GzipFile(fileobj=file)
    if packing == "zstd":
        try:
            arrow = import_module("pyarrow")
        except ImportError:
            raise MissingPackage("pyarrow", extra="frames") from None
        return arrow.CompressedInputStream(arrow.PythonFile(file, mode="r"), "zstd")
    return file


def _read(stream: _Stream, size: int, packing: str) -> bytes:
    """The next bytes. A damaged file is refused: whether it is does not depend on what its rows say."""
    try:
        found: bytes = stream.read(size)
    except (EOFError, zlib.error, OSError, ValueError):
        if not packing:
            raise
    else:
        return found
    raise PolicyError(f"The data is packed with {packing} and damaged; `{packing} -t` says where. Nothing was spent.")


def _without_lines(blocks: Iterator[bytes], lines: int) -> Iterator[bytes]:
    """The blocks without so many lines at the beginning."""
    for given in blocks:
        block = given
        while lines and block:
            end = _first_line_end(block)
            end += 2 if block[end : end + 2] == b"\r\n" else 1
            block, lines = block[end:], lines - 1
        if block:
            yield block


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _last_line_end(block: bytes) -> int:
    """Just after the last line end; a ``\\r`` at the very end may be half of one."""
    end = max(block.rfind(b"\n"), block.rfind(b"\r", 0, len(block) - 1))
    return end + 1


def _first_line_end(block: bytes) -> int:
    found = [at for at in (block.find(b"\n"), block.find(b"\r")) if at >= 0]
    return min(found) if found else len(block)
