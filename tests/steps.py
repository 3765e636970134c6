"""How much work a call is, counted in calls of functions: the same on every machine, however busy."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["TooManySteps", "at_most", "steps_of"]


class TooManySteps(BaseException):
    """More calls than were allowed; raised at the first one too many, and caught by nobody, so that nothing runs on."""


@contextmanager
def at_most(limit: float) -> Iterator[list[int]]:
    """Allow this many calls of functions, Python's and C's, in this thread; gives a list with the number so far.

    >>> with at_most(100) as made:
    ...     _ = [abs(x) for x in range(9)]
    >>> 9 <= made[0] < 20
    True
    >>> with at_most(100):
    ...     _ = [abs(x) for x in range(10**9)]
    Traceback (most recent call last):
    ...
    tests.steps.TooManySteps: more than 100 calls
    """
    made = [0]

    def count(frame: FrameType, event: str, argument: object) -> None:
        if event in ("call", "c_call"):
            made[0] += 1
            if made[0] > limit:
                raise TooManySteps(f"more than {limit} calls")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield made
    finally:
        sys.setprofile(before)


def steps_of(work: Callable[[], object]) -> int:
    """How many calls ``work`` takes."""
    with at_most(float("inf")) as made:
        work()
    return made[0]
