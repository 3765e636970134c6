"""What questions are called on record, by their text and price: planned once, from the policy alone."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import NamedTuple

from tacit.privacy import Guarantee

__all__ = ["LONGEST", "Named", "Remembered"]

_MOST = 1000
LONGEST = 4000
"""Characters of a text that is remembered."""


class Named(NamedTuple):
    """A question as the ledger knows it."""

    question: str
    cost: Guarantee


class Remembered:
    """The last thousand; long texts are planned each time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._named: OrderedDict[Hashable, Named] = OrderedDict()

    def get(self, asked: Hashable) -> Named | None:
        """What it is called, if it was asked lately."""
        with self._lock:
            found = self._named.get(asked)
            if found is not None:
                self._named.move_to_end(asked)
        return found

    def keep(self, asked: Hashable, named: Named) -> None:
        """Know it again."""
        if len(named.question) > LONGEST:
            return
        with self._lock:
            self._named[asked] = named
            while len(self._named) > _MOST:
                self._named.popitem(last=False)
