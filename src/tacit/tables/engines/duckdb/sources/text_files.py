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
from pathlib import Path

from tacit.errors import InvalidParameter, PolicyError

__all__ = ["UNDECODED", "TextFile", "open_text"]

UNDECODED = "\N{REPLACEMENT CHARACTER}".encode()
"""What stands for bytes that are not in the encoding."""

_BLOCK = 1 << 23
_LONGEST_LINE = 1 << 26
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_MAGIC = (
    (b"PK\x03\x04", "a zip archive or a spreadsheet: export the sheet as CSV"),
    (b"PAR1", 'Parquet: name it .parquet, or set format = "parquet"'),
    (b"SQLite format 3", "an SQLite database: export the table as CSV"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd: unpack it first (zstd -d)"),
    (b"BZh", "packed with bzip2: unpack it first (bunzip2)"),
    (b"\xfd7zXZ", "packed with xz: unpack it first (unxz)"),
    (b"%PDF", "a PDF: export its table as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old spreadsheet: export the sheet as CSV"),
)


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file of lines. ``plain``: what is on disk is UTF-8 already, unless a line says otherwise."""

    path: Path
    packed: bool
    encoding: str

    @property
    def plain(self) -> bool:
        """Whether an engine may read the file itself."""
        return not self.packed and self.encoding in ("utf-8", "utf_8_sig", "utf-8-sig", "ascii")

    def blocks(self, size: int = _BLOCK) -> Iterator[bytes]:
        """The file as UTF-8, in blocks that end with a line (the last one may not); a byte order mark is left out."""
        with self.path.open("rb") as file, _unpacked(file, self.packed) as stream:
            carry, first, cutting = b"", True, False
            decoder = None if self.plain else codecs.getincrementaldecoder(self.encoding)("replace")
            while True:
                raw = _read(stream, size)
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


def open_text(path: Path, encoding: str | None) -> TextFile:
    """Look at the first bytes, which say the packing and the encoding; refuse what is no text."""
    try:
        with path.open("rb") as file:
            head = file.read(16)
            packed = head.startswith(b"\x1f\x8b")
            if packed:
                file.seek(0)
                with _unpacked(file, packed) as stream:
                    head = _read(stream, 16)
    except OSError as error:
        raise InvalidParameter("source", given=str(path), allowed="a readable file", hint=_reason(error)) from None
    for magic, what in _MAGIC:
        if head.startswith(magic):
            raise InvalidParameter("source", given=str(path), allowed="a text file", hint=f"This is {what}.")
    marked = next((name for mark, name in _BOMS if head.startswith(mark)), None)
    return TextFile(path, packed, encoding or marked or "utf-8")


def _reason(error: OSError) -> str:
    return f"{error.strerror or type(error).__name__}."


def _unpacked(file: io.BufferedReader, packed: bool) -> io.BufferedIOBase:
    return gzip.GzipFile(fileobj=file) if packed else file


def _read(stream: io.BufferedIOBase, size: int) -> bytes:
    """The next bytes. A damaged file is refused: whether it is does not depend on what its rows say."""
    try:
        return stream.read(size)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise PolicyError(
            "The data is packed with gzip and damaged; `gzip -t` says where. Nothing was spent."
        ) from None


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _last_line_end(block: bytes) -> int:
    """Just after the last line end; a ``\\r`` at the very end may be half of one."""
    end = max(block.rfind(b"\n"), block.rfind(b"\r", 0, len(block) - 1))
    return end + 1


def _first_line_end(block: bytes) -> int:
    found = [at for at in (block.find(b"\n"), block.find(b"\r")) if at >= 0]
    return min(found) if found else len(block)
