"""How far clocks of a time zone are from UTC, as one table: what an engine looks up that has no tables of its own.

The table is Python's: every moment at which the offset changes, up to where only the zone's yearly rule is left; from
there on 400 years, after which the calendar, days of the week among it, begins anew.
"""

from __future__ import annotations

import bisect
import datetime
import functools
import importlib.resources
import itertools
import struct
import zoneinfo
from dataclasses import dataclass
from pathlib import Path

__all__ = ["CYCLE", "ByYear", "Offsets", "by_year", "offsets"]

CYCLE = 146_097 * 86_400
"""400 years in seconds: a whole number of weeks."""
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_LEAST_YEAR = 2038
_STEP = 10 * 86_400
"""A yearly rule changes the offset less often."""
_FIRST = -62_135_596_800 + 2 * 86_400


@dataclass(frozen=True, slots=True)
class Offsets:
    """``seconds[i]`` holds from ``moments[i - 1]`` up to ``moments[i]``, in seconds since 1970; cyclic from ``start``.

    >>> found = offsets("Europe/Copenhagen")
    >>> found.at(1_782_907_200), found.at(1_782_907_200 + 5 * CYCLE), offsets("Asia/Kathmandu").at(0)
    (7200, 7200, 19800)
    """

    moments: tuple[int, ...]
    seconds: tuple[int, ...]
    start: int

    def at(self, moment: int) -> int:
        """The offset at a moment."""
        within = moment if moment < self.start else self.start + (moment - self.start) % CYCLE
        return self.seconds[sum(one <= within for one in self.moments)]


@functools.lru_cache(maxsize=64)
def offsets(zone: str) -> Offsets:
    """The table of a zone that `zones.is_zone` knows."""
    there = zoneinfo.ZoneInfo(zone)
    written = sorted(one for one in _written(zone) if one > _FIRST)
    last = datetime.datetime.fromtimestamp(max([*written, 0]), datetime.UTC).year + 1
    start = _seconds(datetime.datetime(max(last, _LEAST_YEAR), 1, 1, tzinfo=datetime.UTC))
    changes = [one for one in written if _offset(there, one - 1) != _offset(there, one)]
    changes += _by_rule(there, max([*written, 0]), start + CYCLE)
    moments = sorted(dict.fromkeys(changes))
    return Offsets(tuple(moments), tuple(_offset(there, one) for one in (_FIRST, *moments)), start)


@dataclass(frozen=True, slots=True)
class ByYear:
    """Where to look in a table: ``before[y]`` changes come before the year ``first + y``, at most ``most`` in it."""

    first: int
    before: tuple[int, ...]
    most: int


@functools.lru_cache(maxsize=64)
def by_year(zone: str) -> ByYear:
    """Of a zone whose offset changes: for engines that cannot search a list.

    >>> found = by_year("Europe/Copenhagen")
    >>> found.first, found.before[:3], found.most
    (1893, (0, 1, 1), 2)
    """
    moments = offsets(zone).moments
    first, last = (datetime.datetime.fromtimestamp(one, datetime.UTC).year for one in (moments[0], moments[-1]))
    begins = [_seconds(datetime.datetime(year, 1, 1, tzinfo=datetime.UTC)) for year in range(first, last + 2)]
    before = [bisect.bisect_left(moments, begin) for begin in begins]
    return ByYear(first, tuple(before[:-1]), max(high - low for low, high in itertools.pairwise(before)))


def _by_rule(there: zoneinfo.ZoneInfo, first: int, last: int) -> list[int]:
    """The moments of change that are not written down, found by halving."""
    found = []
    for low in range(first, last, _STEP):
        high = min(low + _STEP, last)
        if _offset(there, low) == _offset(there, high):
            continue
        before = _offset(there, low)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if _offset(there, middle) == before else (low, middle)
        found.append(high)
    return found


def _seconds(moment: datetime.datetime) -> int:
    return int((moment - _EPOCH).total_seconds())


def _offset(there: zoneinfo.ZoneInfo, moment: int) -> int:
    shown = (_EPOCH + datetime.timedelta(seconds=moment)).astimezone(there).utcoffset()
    assert shown is not None
    return int(shown.total_seconds())


def _written(zone: str) -> tuple[int, ...]:
    """The moments that a zone's file lists (RFC 8536, from its second version on)."""
    data = _file(zone)
    if data[4:5] < b"2":
        return ()
    counts = struct.unpack(">6l", data[20:44])
    utc, standard, leaps, times, kinds, letters = counts
    at = 44 + times * 5 + kinds * 6 + letters + leaps * 8 + standard + utc
    size = struct.unpack(">l", data[at + 32 : at + 36])[0]
    return struct.unpack(f">{size}q", data[at + 44 : at + 44 + 8 * size])


def _file(zone: str) -> bytes:
    for folder in zoneinfo.TZPATH:
        path = Path(folder, zone)
        if path.is_file():
            return path.read_bytes()
    return importlib.resources.files("tzdata").joinpath("zoneinfo", *zone.split("/")).read_bytes()
