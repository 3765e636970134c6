"""How often a key, or an address that has none, may ask for anything: a bucket that fills slowly."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

__all__ = ["Rates"]

_MOST = 10_000
"""Names that are remembered; those that were seen longest ago are forgotten first, with full buckets."""


class Rates:
    """At most ``per_minute`` on average and ``at_once`` in a row, for each name.

    >>> rates = Rates(per_minute=60, at_once=2, clock=lambda: 0.0)
    >>> [rates.wait("ada") for _ in range(3)], rates.wait("bob")
    ([0.0, 0.0, 1.0], 0.0)
    """

    def __init__(self, per_minute: float, at_once: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = per_minute / 60
        self._most = float(at_once)
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, name: str) -> float:
        """Seconds until this one may ask; 0 if it may now, which is then counted."""
        moment = self._clock()
        with self._lock:
            level, seen = self._buckets.pop(name, (self._most, moment))
            level = min(self._most, level + (moment - seen) * self._rate)
            taken = level >= 1
            self._buckets[name] = (level - 1 if taken else level, moment)
            while len(self._buckets) > _MOST:
                self._buckets.popitem(last=False)
        return 0.0 if taken else (1 - level) / self._rate
