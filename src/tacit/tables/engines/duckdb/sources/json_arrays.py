"""The elements of a JSON array, one per line, split without reading them: what is wrong within one stays there.

Only brackets and strings are looked at. A string ends at its quote, or at the end of its line, where JSON allows none
to go on: so a quote too many spoils its own element. A bracket too few spoils what follows: then it is no JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

__all__ = ["elements"]

_SIGN = re.compile(rb'"(?:[^"\\\r\n]|\\[^\r\n])*+("|(?=[\r\n\\])|\Z)|[\[\]{},]')
_LINE_ENDS = bytes.maketrans(b"\r\n", b"  ")
_LONGEST = 1 << 26


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
    """How deep in brackets the text is, and what there is of the element that has begun."""

    def __init__(self) -> None:
        self._depth = 0
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
                start, self._depth = found.end(), 1  # the line ended within a string: what follows begins anew
            elif sign in (b"[", b"{"):
                self._depth += 1
                if self._depth == 1:
                    start = at + 1
            elif sign in (b"]", b"}"):
                if self._depth == 1:  # the end of the array, or one bracket too many
                    done.append(self._ended(block[start:at]))
                    start = at + 1
                self._depth = max(self._depth - 1, 1)
            elif sign == b"," and self._depth == 1:
                done.append(self._ended(block[start:at]))
                start = at + 1
        self._keep(block[start:end])
        return b"".join([*done, self._ended(b"")] if last else done)

    def _keep(self, part: bytes) -> None:
        if part and self._size < _LONGEST:
            self._begun.append(part)
            self._size += len(part)

    def _ended(self, part: bytes) -> bytes:
        text = b"".join([*self._begun, part]).translate(_LINE_ENDS).strip()
        self._begun, self._size = [], 0
        return text + b"\n" if text else b""
