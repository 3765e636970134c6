"""Time zones by their public names: what `AT TIME ZONE` may name, and the local time that a moment has there.

Timestamps are in UTC, as the policy says; from there to local time there is one answer always, and back there may be
two or none. Engines have tables of their own, and use ours: `offsets`.
"""

from __future__ import annotations

import datetime
import difflib
import functools
import zoneinfo

__all__ = ["UTC", "first_moment", "is_zone", "local_time", "zone_problem"]

UTC = ("UTC", "Etc/UTC")
_NOT_PLACES = frozenset(("localtime", "posixrules", "Factory"))


@functools.lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    found = zoneinfo.available_timezones()
    return frozenset(one for one in found if one not in _NOT_PLACES and "posix/" not in one and "right/" not in one) | {
        "UTC"
    }


def is_zone(name: object) -> bool:
    """Whether it is the name of a time zone."""
    return isinstance(name, str) and name in _names()


def zone_problem(name: object) -> str:
    """What to write instead; empty for the name of a time zone."""
    if is_zone(name):
        return ""
    wanted = str(name).lower().replace(" ", "_")
    by_small = {one.lower(): one for one in sorted(_names())}
    near = difflib.get_close_matches(wanted, by_small, n=1) or [one for one in by_small if one.endswith(f"/{wanted}")]
    meant = f"; did you mean '{by_small[near[0]]}'?" if near else ", such as 'Europe/Copenhagen'"
    return f"a time zone by its name in the IANA's list{meant}"


def local_time(moment: datetime.datetime, zone: str) -> datetime.datetime | None:
    """What clocks show there at a moment of UTC; None outside of the years 1 to 9999.

    >>> local_time(datetime.datetime(2026, 7, 1, 12), "Europe/Copenhagen")
    datetime.datetime(2026, 7, 1, 14, 0)
    """
    try:
        there = moment.replace(tzinfo=datetime.UTC).astimezone(zoneinfo.ZoneInfo(zone))
    except (OverflowError, ValueError, zoneinfo.ZoneInfoNotFoundError):
        return None
    return there.replace(tzinfo=None, fold=0)


def first_moment(local: datetime.datetime, near: datetime.timedelta, zone: str) -> datetime.datetime | None:
    """When clocks first show a local time there, in UTC; if they skip it, when they do. None at the ends of time.

    ``near`` is UTC less local time, at some moment of about that year. The day before says what held until then.

    >>> first_moment(datetime.datetime(2026, 7, 1), datetime.timedelta(hours=-1), "Europe/Copenhagen")
    datetime.datetime(2026, 6, 30, 22, 0)
    """
    try:
        before = local + near - datetime.timedelta(days=1)
        seen = local_time(before, zone)
        if seen is None:
            return None
        early = local - (seen - before)
        shown = local_time(early, zone)
        if shown is None or shown == local:
            return None if shown is None else early
        late = early + (local - shown)
    except OverflowError:
        return None
    return late if local_time(late, zone) == local else early
