"""Functions that keep something from call to call: clocks, counters, buffers, budgets, inputs that are used up."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from tests.auditing.gallery.exhibit import Exhibit, coin, lap


def counted(scale: float) -> Callable[[int], Any]:
    number = count()
    return lambda x: [next(number), x + lap(scale)]


def timed(scale: float) -> Callable[[int], Any]:
    return lambda x: {"at": time.perf_counter_ns(), "total": x + lap(scale)}


def buffered(scale: float) -> Callable[[int], Any]:
    buffer = np.zeros(3)

    def function(x: int) -> np.ndarray[Any, Any]:
        buffer[:] = (x + lap(scale), coin.randrange(3), 1)
        return buffer

    return function


def listed(scale: float) -> Callable[[int], Any]:
    held: list[float] = []

    def function(x: int) -> list[float]:
        held.clear()
        held.extend((x + lap(scale), 1.0))
        return held

    return function


def emptied(scale: float) -> Callable[[list[int]], float]:
    def function(rows: list[int]) -> float:
        total = 0
        while rows:
            total += rows.pop()
        return total + lap(scale)

    return function


def iterated(scale: float) -> Callable[[Iterator[int]], float]:
    return lambda rows: sum(rows) + lap(scale)


def budgeted(scale: float, calls: int) -> Callable[[int], Any]:
    left = [calls]

    def function(x: int) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise RuntimeError("the budget is used up")
        return x + lap(scale)

    return function


def warming(scale: float) -> Callable[[int], Any]:
    """Noise that grows with the number of calls, alike for both."""
    calls = count()
    return lambda x: x + lap(scale * (1 + next(calls) / 10**6)) if scale else x


def alternating(scale: float) -> Callable[[int], Any]:
    """Answers that depend on whether the call is an odd one."""
    calls = count()
    return lambda x: (next(calls) % 2, x + lap(scale))


_ROWS = ([1, 1, 1], [1, 1])


def _iterators() -> tuple[Iterator[int], Iterator[int]]:
    return iter([1, 1, 1]), iter([1, 1])


BROKEN = [
    Exhibit("ε 3.3 beside a call number", partial(counted, 0.3), keeps_state=True),
    Exhibit("ε 3.3 beside a clock", timed(0.3)),
    Exhibit("ε 2 in a buffer that is used again", partial(buffered, 0.5), keeps_state=True),
    Exhibit("ε 2 in a list that is used again", partial(listed, 0.5), keeps_state=True),
    Exhibit("ε 2 of a list that the function empties", emptied(0.5), _ROWS),
    Exhibit("ε 2 of an iterator", iterated(0.5), _iterators, before=False),
    Exhibit("ε 2 until a budget runs out midway", partial(budgeted, 0.5, 130_000), keeps_state=True),
    Exhibit("ε 2, and whether the call is an odd one", partial(alternating, 0.5), keeps_state=True),
]
SOUND = [
    Exhibit("ε 1 beside a call number", partial(counted, 1.0), keeps_state=True),
    Exhibit("ε 1 beside a clock", timed(1.0)),
    Exhibit("ε 1 in a buffer that is used again", partial(buffered, 1.0), keeps_state=True),
    Exhibit("ε 1 in a list that is used again", partial(listed, 1.0), keeps_state=True),
    Exhibit("ε 1 of a list that the function empties", emptied(1.0), _ROWS),
    Exhibit("ε 1 of an iterator", iterated(1.0), _iterators, before=False),
    Exhibit("ε 1 until a budget runs out midway", partial(budgeted, 1.0, 130_000), keeps_state=True),
    Exhibit("ε 1 with noise that grows", partial(warming, 1.0), keeps_state=True),
    Exhibit("ε 1, and whether the call is an odd one", partial(alternating, 1.0), keeps_state=True),
]
