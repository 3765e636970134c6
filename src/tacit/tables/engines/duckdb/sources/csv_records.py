"""What a CSV file says, for any bytes: well-formed files as RFC 4180, and dirt confined to its own line.

The rule. A record begins at the beginning of a line. If a well-formed record begins there, quoted line ends and all,
that is the record; if it takes more than one line it must also have as many fields as there are columns, and at most
`MOST_LINES` lines and `LONGEST` bytes. Otherwise the record is that one line, read leniently: a quote not closed
before a delimiter or the line's end is a character like any other. Blank lines are no records, unless there is one
column; before the first record they never are. Fields too many are dropped, missing ones are null, bytes that are not
UTF-8 become U+FFFD, NUL is left out. In a record of more than `LONGEST` bytes, fields longer than their share are null.

`Records.is_clean` says of a block of whole lines, quickly, that DuckDB's reader agrees with this rule;
`Records.rewritten` makes it so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

__all__ = ["Dialect", "Records"]

MOST_LINES = 1000
LONGEST = 1_000_000
_LINE_END, _RETURN = 10, 13


@dataclass(frozen=True)
class Dialect:
    """One delimiter; one quote, which may be none; ``lines``: a record never goes on beyond its line."""

    delimiter: bytes
    quote: bytes
    lines: bool = False

    @cached_property
    def _field(self) -> re.Pattern[bytes]:
        """A well-formed field and what ends it: a delimiter or the end."""
        q, d = re.escape(self.quote), re.escape(self.delimiter)
        quoted = q + b"((?:[^" + q + b"]++|" + q + q + b")*+)" + q
        return re.compile(b"(?:" + quoted + b"|([^" + q + d + b"\n]*+))(" + d + b"|\\Z)")

    def strict(self, text: bytes) -> list[bytes] | None:
        """The fields of a well-formed record, without its line end; None if it is not one."""
        if not self.quote or self.quote not in text:
            return text.split(self.delimiter)
        fields, at = list[bytes](), 0
        while True:
            found = self._field.match(text, at)
            if found is None:
                return None
            quoted, plain, end = found.groups()
            fields.append(plain if quoted is None else quoted.replace(self.quote * 2, self.quote))
            at = found.end()
            if not end:
                return fields if at == len(text) else None

    def lenient(self, line: bytes) -> list[bytes]:
        """The fields of any line."""
        fields, at = list[bytes](), 0
        while True:
            found = self._field.match(line, at) if self.quote else None
            if found is None:  # up to the next delimiter, quotes and all
                end = line.find(self.delimiter, at)
                fields.append(line[at:] if end < 0 else line[at:end])
                if end < 0:
                    return fields
                at = end + 1
                continue
            quoted, plain, ended = found.groups()
            fields.append(plain if quoted is None else quoted.replace(self.quote * 2, self.quote))
            at = found.end()
            if not ended:
                return fields

    def is_open(self, text: bytes) -> bool:
        """Whether a well-formed record could go on after this text: a quote is open at its end."""
        if not self.quote or self.lines:
            return False
        at = 0
        while (found := self._field.match(text, at)) is not None:
            at = found.end()
            if not found.group(3):
                return False
        rest = text[at:]
        return rest.startswith(self.quote) and rest[1:].replace(self.quote * 2, b"").count(self.quote) == 0


@dataclass(frozen=True, slots=True)
class Records:
    """The records of a file of ``width`` columns in a dialect."""

    dialect: Dialect
    width: int

    def is_clean(self, block: bytes) -> bool:
        """Whether DuckDB reads a block of whole lines by the rule, each line a record: a quick, sufficient check."""
        if not _is_utf8(block) or b"\0" in block or _has_long_line(block):
            return False
        if b"\r" in block and not block.count(b"\r") == block.count(b"\r\n") == block.count(b"\n"):
            return False
        if not self.dialect.quote or self.dialect.quote not in block:
            return True
        return self._quotes_are_clean(np.frombuffer(block, dtype=np.uint8))

    def _quotes_are_clean(self, block: npt.NDArray[np.uint8]) -> bool:
        """Every quote opens or closes a field or is one of a pair within one; no field goes on beyond its line."""
        quote, delimiter = ord(self.dialect.quote), ord(self.dialect.delimiter)
        at = np.flatnonzero(block == quote)
        if len(at) % 2:
            return False
        opening, closing = at[::2], at[1::2]
        paired = opening[1:] == closing[:-1] + 1
        before = block[np.maximum(opening - 1, 0)]
        opens = (opening == 0) | (before == delimiter) | (before == _LINE_END)
        opens[1:] |= paired
        after = block[np.minimum(closing + 1, len(block) - 1)]
        closes = (closing == len(block) - 1) | (after == delimiter) | (after == _LINE_END) | (after == _RETURN)
        closes[:-1] |= paired
        if not (opens.all() and closes.all()):
            return False
        ends = np.flatnonzero(block == _LINE_END)
        return not bool((np.searchsorted(at, ends) % 2).any())

    def rewritten(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """The file with every record on the rule's terms: well-formed, lines ended by ``\\n``."""
        pending = list[bytes]()  # lines of a record that may go on
        begun = False
        for given in blocks:
            block = given if begun else given.lstrip(b"\r\n")
            begun |= bool(block)
            if not pending and self.is_clean(block) and b"\r" not in block:
                yield block if block.endswith(b"\n") else block + b"\n"
                continue
            done, pending = self._rewrite(pending + _lines(block), last=False)
            yield done
        yield self._rewrite(pending, last=True)[0]

    def _rewrite(self, lines: list[bytes], *, last: bool) -> tuple[bytes, list[bytes]]:
        """The lines rewritten, and those left over because what follows decides what they are."""
        done, at = list[bytes](), 0
        while at < len(lines):
            fields, used = self._record(lines, at, last=last)
            if used == 0:
                break
            at += used
            if fields is not None:
                done.append(self._written(fields))
        return b"".join(done), lines[at:]

    def records(self, block: bytes) -> Iterator[list[bytes | None]]:
        """The records of a whole file in one block, by the rule: what every reader must agree with."""
        lines, at = _lines(block.lstrip(b"\r\n")), 0
        while at < len(lines):
            fields, used = self._record(lines, at, last=True)
            at += used
            if fields is not None:
                yield fields

    def _record(self, lines: list[bytes], at: int, *, last: bool) -> tuple[list[bytes | None] | None, int]:
        """The record that begins at a line, and how many lines it takes: 0 if that depends on lines to come."""
        line = lines[at]
        if not line and self.width > 1:
            return None, 1
        fields, used = self.dialect.strict(line), 1
        if fields is None and self.dialect.is_open(line):
            fields, used = self._joined(lines, at, last=last)
            if used == 0:
                return None, 0
        if fields is None:
            fields, used = self.dialect.lenient(line), 1
        return self._fitted(fields), used

    def _joined(self, lines: list[bytes], at: int, *, last: bool) -> tuple[list[bytes] | None, int]:
        """A well-formed record of several lines and of full width, if there is one."""
        size = 0
        for used in range(1, MOST_LINES + 1):
            if at + used > len(lines):
                return None, int(last)
            line = lines[at + used - 1]
            size += len(line)
            if size > LONGEST:
                break
            if used > 1 and self.dialect.quote in line:
                text = b"\n".join(lines[at : at + used])
                fields = self.dialect.strict(text)
                if fields is not None:
                    return (fields, used) if len(fields) == self.width else (None, 1)
                if not self.dialect.is_open(text):
                    break
        return None, 1

    def _fitted(self, fields: list[bytes]) -> list[bytes | None]:
        kept: list[bytes | None] = [_valid(field) for field in fields[: self.width]]
        kept += [None] * (self.width - len(kept))
        if sum(len(field) for field in kept if field) > LONGEST:
            share = LONGEST // self.width
            kept = [None if field is not None and len(field) > share else field for field in kept]
        return kept

    def _written(self, fields: list[bytes | None]) -> bytes:
        quote, special = self.dialect.quote, (self.dialect.delimiter, self.dialect.quote or b"\n", b"\n", b"\r")
        done = list[bytes]()
        for field in fields:
            text = field or b""
            if quote and any(one in text for one in special):
                text = quote + text.replace(quote, quote * 2) + quote
            done.append(text)
        return self.dialect.delimiter.join(done) + b"\n"


def _lines(block: bytes) -> list[bytes]:
    """The lines of a block, without their ends."""
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    lines = block.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _is_utf8(block: bytes) -> bool:
    if block.isascii():
        return True
    try:
        block.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _valid(field: bytes) -> bytes:
    """Valid UTF-8 without NUL."""
    if b"\0" in field:
        field = field.replace(b"\0", b"")
    return field if _is_utf8(field) else field.decode("utf-8", "replace").encode("utf-8")


def _has_long_line(block: bytes) -> bool:
    """Whether some line may be longer than half of LONGEST: each window of that size has a line end."""
    step = LONGEST // 4
    return any(block.find(b"\n", at, at + step) < 0 for at in range(0, len(block) - step, step))
