"""The elements of a JSON array, one per line, split without reading them: what is wrong within one stays there.

Only brackets and strings are looked at. A string ends at its quote, or at the end of its line, where JSON allows none
to go on: so a quote too many spoils its own element, if lines end between elements. Where a bracket is missing or one
too many, the next object begins anew: in an object, ``{`` stands after a colon only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

__all__ = ["elements"]

_SIGN = re.compile(rb'"(?:[^"\\\r\n]|\\[^\r\n])*+("|(?=[\r\n\\])|\Z)|[\[\]{},]')
_LINE_ENDS = bytes.maketrans(b"\r\n", b"  ")
_LONGEST = 1 << 26
_DEEPEST = 10_000
"""Brackets in brackets of one element; where there are more, it is no row."""


def elements(blocks: Iterable[bytes]) -> Iterator[bytes]:
    r"""Lines, each the text of one element of the array; the blocks may end anywhere.

    >>> b"".join(elements([b'[{"a": "]"},\n {"a":\n [2]}]\n'])).splitlines()
    [b'{"a": "]"}', b'{"a":  [2]}']
    """
    splitter = _Splitter()
    for block in blocks:
        made = splitter.split(block, last=False)
        if made:
            yield made
    rest = splitter.split(b"", last=True)
    if rest:
        yield rest


class _Splitter:
    """Which brackets are open, and what there is of the element that has begun."""

    def __init__(self) -> None:
        self._is_inside = False
        self._open = bytearray()
        self._before = b""
        """The last sign of the blocks before this one that is no space."""
        self._string = b""
        self._begun = list[bytes]()
        self._size = 0

    def split(self, given: bytes, *, last: bool) -> bytes:
        """The elements that end here, one per line; of the last block, also what was never closed."""
        block, self._string = self._string + given, b""
        done, start, end = list[bytes](), 0, len(block)
        for found in _SIGN.finditer(block):
            sign, at = found.group(), found.start()
            if found.group(1) == b"" and found.end() >= len(block) - 1 and not last and len(block) - at < _LONGEST:
                self._string, end = block[at:], at  # the next block says how it goes on
                break
            if found.group(1) == b"":
                done.append(self._ended(block[start : found.end()]))
                start = found.end()  # the line ended within a string: what follows begins anew
                self._open.clear()
            elif not self._is_inside:
                self._is_inside, start = sign in b"[{", at + 1
            elif sign == b"{" and self._open[-1:] == b"{" and self._sign_before(block, at) != b":":
                done.append(self._ended(block[start:at]))
                start, self._open = at, bytearray(b"{")  # the object before was never closed
            elif sign in b"[{":
                self._open = self._open + sign if len(self._open) < _DEEPEST else bytearray()
            elif sign in b"]}" and self._open:
                self._close(b"[" if sign == b"]" else b"{")
            elif sign in b"]}," and not self._open:  # between elements, the end of the array, or one bracket too many
                done.append(self._ended(block[start:at]))
                start = at + 1
        self._before = block[start:end].rstrip()[-1:] or self._before
        self._keep(block[start:end])
        return b"".join([*done, self._ended(b"")] if last else done)

    def _close(self, bracket: bytes) -> None:
        """Close the last of these that is open, and what was left open within it; one that never was means nothing."""
        at = self._open.rfind(bracket)
        if at >= 0:
            del self._open[at:]

    def _sign_before(self, block: bytes, at: int) -> bytes:
        while at and block[at - 1 : at].isspace():
            at -= 1
        return block[at - 1 : at] if at else self._before

    def _keep(self, part: bytes) -> None:
        if part and self._size < _LONGEST:
            self._begun.append(part)
            self._size += len(part)

    def _ended(self, part: bytes) -> bytes:
        text = b"".join([*self._begun, part]).translate(_LINE_ENDS).strip()
        self._begun, self._size = [], 0
        return text + b"\n" if text else b""
