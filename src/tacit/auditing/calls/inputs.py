"""What a call is given: a copy of its own, so that a function may use up what it was handed."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

__all__ = ["Again", "copies", "kept"]

_UNCHANGING = (bool, int, float, complex, str, bytes, type(None), range, np.generic)


class Again:
    """An iterator that can be had again: what was in it."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def __repr__(self) -> str:
        return f"iter({self.items!r})"


def kept(data: Any) -> Any:
    """The input, of which copies can be made: an iterator is used up once, here."""
    return Again(list(data)) if isinstance(data, Iterator) else data


def copies(data: Any) -> Callable[[], Any]:
    """A function that gives an equal input each time; what cannot be copied is handed over as it is.

    >>> fresh = copies([3, 5])
    >>> fresh().pop(), fresh()
    (5, [3, 5])
    >>> again = copies(kept(x for x in (1, 2)))
    >>> list(again()), list(again())
    ([1, 2], [1, 2])
    """
    if _unchanging(data):
        return lambda: data
    if isinstance(data, np.ndarray) and data.dtype != object:
        return lambda: data.copy()
    if isinstance(data, Again):
        return lambda: iter(copy.deepcopy(data.items))
    if type(data) is list and all(map(_unchanging, data)):
        kept = list(data)
        return lambda: list(kept)
    try:
        kept_apart = copy.deepcopy(data)
        copy.deepcopy(kept_apart)
    except Exception:  # a connection, a lock: whoever offers it as an input knows what calls do to it
        return lambda: data
    return lambda: copy.deepcopy(kept_apart)


def _unchanging(data: Any) -> bool:
    return isinstance(data, _UNCHANGING) or (type(data) is tuple and all(map(_unchanging, data)))
