"""How far clocks of a time zone are from UTC, as one table that every engine looks up, whatever tables it has itself.

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

__all__ = ["CYCLE", "ByYear", "Offsets", "by_year", "offsets", "starts"]

CYCLE = 146_097 * 86_400
"""400 years in seconds: a whole number of weeks."""
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_LEAST_YEAR = 2038
_DAY = 86_400
_STEP = 10 * _DAY
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
        return self.seconds[bisect.bisect_right(self.moments, within)]

    def years(self) -> Years:
        """The same by years, of a table with changes."""
        first, last, start = (_year(one) for one in (self.moments[0], self.moments[-1], self.start))
        listed = range(first, min(last + 2, start + 400))
        ends = [bisect.bisect_left(self.moments, _begin(year)) for year in (*listed, listed[-1] + 1)]
        most = max(high - low for low, high in itertools.pairwise(ends))
        never = _begin(listed[-1] + 1)
        each = [
            (*_filled(self.moments[low:high], most, never), *_filled(self.seconds[low : high + 1], most + 1))
            for low, high in itertools.pairwise(ends)
        ]
        return Years(first, start, most, tuple(each))


def _filled(some: tuple[int, ...], size: int, rest: int | None = None) -> tuple[int, ...]:
    return some + (some[-1] if rest is None else rest,) * (size - len(some))


@dataclass(frozen=True, slots=True)
class Years:
    """Of each year from ``first`` on, ``most`` moments of change, and the offsets before, between and after them.

    Later years than are listed are as the last one; from the year ``start`` on, all are as those of the 400 years then.
    """

    first: int
    start: int
    most: int
    each: tuple[tuple[int, ...], ...]


@functools.lru_cache(maxsize=64)
def offsets(zone: str) -> Offsets:
    """The table of a zone that `zones.is_zone` knows."""
    there = zoneinfo.ZoneInfo(zone)
    written = sorted(one for one in _written(zone) if one > _FIRST)
    start = _begin(max(_year(max([*written, 0])) + 1, _LEAST_YEAR))
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
    first, last = _year(moments[0]), _year(moments[-1])
    before = [bisect.bisect_left(moments, _begin(year)) for year in range(first, last + 2)]
    return ByYear(first, tuple(before[:-1]), max(high - low for low, high in itertools.pairwise(before)))


@functools.lru_cache(maxsize=64)
def starts(zone: str) -> Offsets:
    """By local midnights, in seconds of local time: the offset by which each is shown first, as `zones.first_moment`.

    So a local day, week, month or year has one look-up. Most have the offset of then; days near a change are tried.

    >>> midnight = 1_774_742_400  # Sunday the 29th of March 2026: clocks change in the night, after it began
    >>> [starts("Europe/Copenhagen").at(midnight + days * 86_400) for days in (-1, 0, 1)]
    [3600, 3600, 7200]
    """
    table = offsets(zone)
    later = [one for one in table.moments if table.start <= one < table.start + 2 * 366 * _DAY]  # the cycle, once more
    days = set[int]()
    for moment in (*table.moments, *(one + CYCLE for one in later)):
        ends = [moment + table.at(one) for one in (moment - 1, moment)]
        days |= set(range(min(ends) // _DAY - 1, max(ends) // _DAY + 4))
    shown, found = table.seconds[0], dict[int, int]()
    for midnight in (day * _DAY for day in sorted(days)):
        there = midnight - _first(table, midnight)
        if there != shown:
            shown = found[midnight] = there
    return Offsets(tuple(found), (table.seconds[0], *found.values()), _begin(_year(table.start) + 1))


def _first(table: Offsets, midnight: int) -> int:
    """When clocks show it first: by what held the day before, or by what came then if that skips it."""
    before = midnight - table.at(midnight) - _DAY
    early = midnight - table.at(before)
    late = midnight - table.at(early)
    return early if late == early or late + table.at(late) != midnight else late


def _by_rule(there: zoneinfo.ZoneInfo, first: int, last: int) -> list[int]:
    """The moments of change that are not written down: years that begin on the same day and are as long are alike."""
    found, alike = list[int](), dict[tuple[int, int], list[int]]()
    year = _year(first) + 1
    begin = _begin(year)
    found += _searched(there, first, begin)
    while begin < last:
        year += 1
        end = _begin(year)
        kind = begin // _DAY % 7, end - begin
        if kind not in alike:
            alike[kind] = [one - begin for one in _searched(there, begin, end)]
        found += [begin + one for one in alike[kind]]
        begin = end
    return found


def _searched(there: zoneinfo.ZoneInfo, first: int, last: int) -> list[int]:
    """The moments of change between two moments, found by halving."""
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


def _year(moment: int) -> int:
    return (_EPOCH + datetime.timedelta(seconds=moment)).year


def _begin(year: int) -> int:
    return _seconds(datetime.datetime(year, 1, 1, tzinfo=datetime.UTC))


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
