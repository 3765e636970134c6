"""The footer of a Parquet file with columns of texts and moments declared as what they are stored in.

DuckDB decodes a text or a moment while it scans, and raises for the whole file at the first that it cannot: bytes that
are no UTF-8, milliseconds beyond its calendar. Declared as plain bytes and numbers they are all read, and cast totally
afterwards. Nothing but the footer says what a column holds, so nothing else changes.

The footer is a Thrift structure in the compact protocol (parquet.thrift, FileMetaData): field 2 is the schema, a list
of elements, each with its physical type (1), children (5), name (4), and what it means (6, 7, 8, 10).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

__all__ = ["Damaged", "plain_footer"]

_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 0, 1, 2, 3, 7, 8, 9, 10, 11, 12
_SCHEMA, _CHILDREN, _NAME = 2, 5, 4
_MEANING = (6, 7, 8, 10)


class Damaged(Exception):
    """The footer is not what the format says."""


def plain_footer(footer: bytes, names: Collection[str]) -> bytes:
    """The same footer, in which these columns, not those within others, mean nothing but their physical type."""
    try:
        return _Footer(footer).without_meaning(frozenset(one.encode() for one in names))
    except (IndexError, RecursionError) as problem:
        raise Damaged from problem


@dataclass(frozen=True, slots=True)
class _Field:
    """One field of a structure: its number, its type, and where its value stands."""

    number: int
    kind: int
    start: int
    end: int


class _Footer:
    """Reads the structures that matter, and steps over all others."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def without_meaning(self, names: frozenset[bytes]) -> bytes:
        fields, _ = self._fields(0)
        schema = next((one for one in fields if one.number == _SCHEMA and one.kind == _LIST), None)
        if schema is None:
            raise Damaged
        count, _, at = self._list_head(schema.start)
        made, within = [self._data[:at]], 0  # how many elements to come are within a column
        for place in range(count):
            parts, end = self._fields(at)
            known = {one.number: one for one in parts}
            children = self._signed(known[_CHILDREN].start) if _CHILDREN in known else 0
            own = self._bytes(known[_NAME].start) if _NAME in known else b""
            is_column = place > 0 and within == 0 and not children
            made.append(self._plain(parts) if is_column and own in names else self._data[at:end])
            within = (max(within - 1, 0) + children) if place > 0 else 0
            at = end
        return b"".join([*made, self._data[at:]])

    def _plain(self, fields: list[_Field]) -> bytes:
        """A schema element without what it means."""
        made, last = list[bytes](), 0
        for one in fields:
            if one.number not in _MEANING:
                made += [bytes([(one.number - last) << 4 | one.kind]), self._data[one.start : one.end]]
                last = one.number
        return b"".join([*made, bytes([_STOP])])

    def _fields(self, at: int) -> tuple[list[_Field], int]:
        """The fields of the structure that begins at a place, and where it ends."""
        found, number = list[_Field](), 0
        while (head := self._data[at]) != _STOP:
            kind, at = head & 15, at + 1
            if head >> 4:
                number += head >> 4
            else:
                number, at = self._signed(at), self._varint(at)[1]
            end = at if kind in (_TRUE, _FALSE) else self._after(kind, at)
            found.append(_Field(number, kind, at, end))
            at = end
        return found, at + 1

    def _after(self, kind: int, at: int) -> int:
        """Where a value of a type ends; in a list a truth value takes a byte."""
        if kind in (_TRUE, _FALSE, _BYTE):
            return at + 1
        if kind == _DOUBLE:
            return at + 8
        if kind == _BINARY:
            size, at = self._varint(at)
            return at + size
        if kind in (_LIST, _SET):
            count, inner, at = self._list_head(at)
            for _ in range(count):
                at = self._after(inner, at)
            return at
        if kind == _STRUCT:
            return self._fields(at)[1]
        if kind == _MAP:
            return self._after_map(at)
        return self._varint(at)[1]  # integers of 16, 32 and 64 bits

    def _after_map(self, at: int) -> int:
        count, at = self._varint(at)
        if count == 0:
            return at
        kinds, at = self._data[at], at + 1
        for _ in range(count):
            at = self._after(kinds & 15, self._after(kinds >> 4, at))
        return at

    def _list_head(self, at: int) -> tuple[int, int, int]:
        """How many elements, of which type, and where they begin."""
        head = self._data[at]
        if head >> 4 < 15:
            return head >> 4, head & 15, at + 1
        count, at = self._varint(at + 1)
        return count, head & 15, at

    def _bytes(self, at: int) -> bytes:
        size, at = self._varint(at)
        return self._data[at : at + size]

    def _signed(self, at: int) -> int:
        found, _ = self._varint(at)
        return found >> 1 ^ -(found & 1)

    def _varint(self, at: int) -> tuple[int, int]:
        found = shift = 0
        while True:
            byte = self._data[at]
            found |= (byte & 127) << shift
            at, shift = at + 1, shift + 7
            if byte < 128:
                return found, at
