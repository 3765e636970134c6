"""The hash chain: every entry's hash covers the entry and the hash before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

__all__ = ["BEGINNING", "Entry", "canonical", "linked", "now", "stamp"]

BEGINNING = hashlib.sha256(b"tacit ledger").hexdigest()
"""What the first entry is linked to."""

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode


def canonical(value: object) -> bytes:
    """The one way to write a JSON value: sorted keys, no spaces, ASCII.

    >>> canonical({"b": 1, "a": "é"})
    b'{"a":"\\\\u00e9","b":1}'
    """
    return _encode(value).encode("ascii")


def linked(previous: str, body: bytes) -> str:
    """The hash of an entry that follows the entry with the hash ``previous``."""
    return hashlib.sha256(previous.encode("ascii") + b"\n" + body).hexdigest()


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the book: ``opened``, ``reserved``, ``released``, ``amended``, ``unlocked``, ``restored``…"""

    number: int
    kind: str
    time: str
    values: Mapping[str, Any]
    hash: str

    @classmethod
    def read(cls, body: bytes, link: str) -> Entry:
        """The entry that these bytes describe."""
        values = json.loads(body)
        return cls(values["number"], values["kind"], values["time"], values, link)


def now() -> datetime:
    """The wall clock."""
    return datetime.now(UTC)


def stamp(moment: datetime) -> str:
    """A time as text whose alphabetical order is the order in time.

    >>> stamp(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    '2026-01-02T03:04:05.000000Z'
    """
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
