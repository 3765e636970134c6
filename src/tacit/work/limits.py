"""How much work one draw may take: seconds, memory, disk; and the steps to which replies are held."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tacit.errors import InvalidParameter

__all__ = ["Work", "bytes_in"]

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")
_LONGEST = 10**6


@dataclass(frozen=True, slots=True)
class Work:
    """The limits of one draw; a draw that meets one ends, whichever it is, in the same error.

    ``memory`` and ``disk`` are bytes, or texts such as "2GB". ``reply_steps``: the reply to a payment is held until
    1, 2, 4, 8, … times so many seconds have passed; 0 replies at once. None of them shapes an answer, so that
    changing them voids none.

    >>> Work(memory="500MB").memory, Work().seconds
    (500000000, 300.0)
    """

    seconds: float = 300.0
    memory: Any = 2 * 10**9
    disk: Any = 10 * 10**9
    reply_steps: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "seconds", _seconds(self.seconds, "seconds", least=0.001))
        object.__setattr__(self, "memory", bytes_in(self.memory, "memory"))
        object.__setattr__(self, "disk", bytes_in(self.disk, "disk"))
        object.__setattr__(self, "reply_steps", _seconds(self.reply_steps, "reply_steps", least=0))

    def until_step(self, passed: float) -> float:
        """How long a reply is still held that is ready after so many seconds.

        >>> [round(Work(reply_steps=1).until_step(passed), 1) for passed in (0.3, 1.5, 5)], Work().until_step(9)
        ([0.7, 0.5, 3.0], 0.0)
        """
        if not self.reply_steps:
            return 0.0
        step = self.reply_steps
        while step < passed:
            step *= 2
        return step - passed


def bytes_in(given: object, name: str) -> int:
    """A size: a whole number of bytes, or a text with a unit.

    >>> bytes_in("1.5 GB", "memory"), bytes_in("64KiB", "disk"), bytes_in(10**9, "disk")
    (1500000000, 65536, 1000000000)
    """
    size = given if isinstance(given, int) and not isinstance(given, bool) else None
    found = _SIZE.fullmatch(given) if isinstance(given, str) else None
    if found is not None and found.group(2).upper() in _UNITS:
        size = int(float(found.group(1)) * _UNITS[found.group(2).upper()])
    if size is None or not 1 <= size <= 2**60:
        raise InvalidParameter(name, given=given, allowed='a size such as "2GB", or a number of bytes')
    return size


def _seconds(given: object, name: str, least: float) -> float:
    if isinstance(given, int | float) and not isinstance(given, bool) and least <= given <= _LONGEST:
        return float(given)
    raise InvalidParameter(name, given=given, allowed=f"seconds, from {least:g} to {_LONGEST:,}")
