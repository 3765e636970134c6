"""How much time is left of what an audit may take."""

from __future__ import annotations

import numbers
import time

from tacit.errors import InvalidParameter

__all__ = ["Clock"]


class Clock:
    """Counts from when it is made; without a limit there is always time left."""

    def __init__(self, seconds: object = None) -> None:
        if seconds is not None and (
            isinstance(seconds, bool) or not isinstance(seconds, numbers.Real) or not float(seconds) > 0
        ):
            raise InvalidParameter("seconds", given=seconds, allowed="a number above 0")
        self.seconds = None if seconds is None else float(seconds)
        self._start = time.monotonic()
        self._work = time.process_time()

    @property
    def limited(self) -> bool:
        return self.seconds is not None

    @property
    def spent(self) -> float:
        return time.monotonic() - self._start

    @property
    def worked(self) -> float:
        """Seconds of work of this process, which others on the machine hardly stretch."""
        return time.process_time() - self._work

    def until(self, share: float) -> float:
        """The time, as `time.monotonic` gives it, when this share of the limit is used up."""
        return float("inf") if self.seconds is None else self._start + share * self.seconds

    def left(self, share: float = 1.0) -> float:
        """Seconds until then, at least 0."""
        return max(0.0, self.until(share) - time.monotonic())
