"""What was asked lately: how questions are called on record, and replies that were made of what is stored."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, NamedTuple, TypeVar

from tacit.ledger.requests import Request
from tacit.privacy import Guarantee
from tacit.server.given import Given

__all__ = ["Named", "Remembered", "Told"]

T = TypeVar("T")


class Named(NamedTuple):
    """A question as the ledger knows it: planned once, from the policy alone."""

    question: str
    cost: Guarantee


class Told(NamedTuple):
    """A reply that was given, and what it was made of."""

    request: Request
    cost: Guarantee
    answer: bytes
    given: Given


class Remembered(Generic[T]):
    """Values by names, of ``most`` characters in all; those asked for longest ago are forgotten first.

    >>> lately = Remembered[str](most=16)
    >>> for name in "abcdefghi":
    ...     lately.keep(name, name.upper(), size=2)
    >>> lately.get("a"), lately.get("c")
    (None, 'C')
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0
        self._lock = threading.Lock()
        self._values: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()

    def get(self, name: Hashable) -> T | None:
        """The value, if it was kept or asked for lately."""
        with self._lock:
            found = self._values.get(name)
            if found is None:
                return None
            self._values.move_to_end(name)
        return found[0]

    def keep(self, name: Hashable, value: T, size: int) -> None:
        """Know it again; what is larger than an eighth of all is not kept."""
        if size > self._most // 8:
            return
        with self._lock:
            self._held += size - self._values.pop(name, (value, 0))[1]
            self._values[name] = value, size
            while self._held > self._most:
                self._held -= self._values.popitem(last=False)[1][1]
