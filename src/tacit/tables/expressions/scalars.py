"""Functions of texts and times, one Python value at a time: what `evaluate` applies to keys that are public."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable

from tacit.tables.expressions.literals import read_timestamp
from tacit.tables.expressions.texts import LONGEST_TEXT, fits, lower, upper
from tacit.tables.expressions.tree import Value
from tacit.tables.expressions.zones import first_moment, local_time

__all__ = ["SCALARS", "as_moment"]

Moment = datetime.datetime
Time = datetime.date | datetime.datetime


def as_moment(value: Time) -> Moment:
    """A date as its first moment."""
    return value if isinstance(value, Moment) else Moment(value.year, value.month, value.day)


def _substring(text: str, start: int, length: int | None = None) -> str:
    return text[start - 1 :] if length is None else text[start - 1 : start - 1 + length]


def _short(text: str) -> str | None:
    return text if fits(text) else None


def _concat(*texts: str) -> str | None:
    """Null where it would be too long: characters are no more than bytes."""
    return _short("".join(texts)) if sum(map(len, texts)) <= LONGEST_TEXT else None


def _date_trunc(unit: str, value: Time) -> Time:
    kept = ("year", "month", "day", "hour", "minute", "second")
    moment = as_moment(value)
    if unit == "week":
        moment -= datetime.timedelta(days=moment.weekday())
        unit = "day"
    elif unit == "quarter":
        moment = moment.replace(month=moment.month - (moment.month - 1) % 3, day=1)
        unit = "month"
    parts = [getattr(moment, name) for name in kept[: kept.index(unit) + 1]]
    made = Moment(*(parts + [1, 1, 1][len(parts) :])) if len(parts) < 3 else Moment(*parts)
    return made if isinstance(value, Moment) else made.date()


def _timestamp_trunc(moment: Moment, unit: str, zone: str) -> Moment | None:
    """When the local unit of time began; within a day by the offset from UTC that holds at the moment."""
    there = local_time(moment, zone)
    if there is None:
        return None
    start = as_moment(_date_trunc(unit, there))
    if unit not in ("hour", "minute", "second"):
        return first_moment(start, moment - there, zone)
    try:
        return moment - (there - start)
    except OverflowError:
        return None


_MONTHS = {"year": 12, "quarter": 3, "month": 1}
_SECONDS = {"week": 604_800, "day": 86_400, "hour": 3_600, "minute": 60, "second": 1}


def _date_add(unit: str, count: int, value: Time) -> Moment | None:
    moment = as_moment(value)
    try:
        if unit in _SECONDS:
            return moment + datetime.timedelta(seconds=_SECONDS[unit] * count)
        months = moment.year * 12 + moment.month - 1 + _MONTHS[unit] * count
        year, month = divmod(months, 12)
        return moment.replace(year=year, month=month + 1, day=min(moment.day, _days(year, month + 1)))
    except (OverflowError, ValueError):
        return None


def _days(year: int, month: int) -> int:
    start = datetime.date(year, month, 1)
    return 31 if month == 12 else (start.replace(month=month + 1) - start).days


def _date_diff(unit: str, start: Time, end: Time) -> int:
    return _index(unit, as_moment(end)) - _index(unit, as_moment(start))


def _index(unit: str, moment: Moment) -> int:
    """The number of the unit that holds the moment, from a fixed one on."""
    if unit in _MONTHS:
        return (moment.year * 12 + moment.month - 1) // _MONTHS[unit]
    days = moment.toordinal() - 1
    if unit == "week":
        return days // 7  # the first day of the calendar is a Monday
    return (days * 86_400 + moment.hour * 3_600 + moment.minute * 60 + moment.second) // _SECONDS[unit]


def _to_text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Moment):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, datetime.date) else str(value)


_WHOLE = re.compile(r"[+-]?[0-9]{1,30}")
_DECIMAL = re.compile(r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,4})?")
_TRUE = frozenset(("true", "t", "yes", "y", "on", "1"))
_FALSE = frozenset(("false", "f", "no", "n", "off", "0"))


def _to_integer(value: Value) -> int | None:
    """Of a text; numbers are cast as arrays. Times have no number."""
    if not isinstance(value, str) or not _WHOLE.fullmatch(value.strip(" ")):
        return None
    number = int(value.strip(" "))
    return number if abs(number) < 2**63 else None


def _to_real(value: Value) -> float | None:
    if not isinstance(value, str) or not _DECIMAL.fullmatch(value.strip(" ")):
        return None
    number = float(value.strip(" "))
    return number if abs(number) != float("inf") else None


def _to_boolean(value: Value) -> bool | None:
    if isinstance(value, int | float):
        return value != 0
    if not isinstance(value, str):
        return None
    word = value.strip(" ").lower()
    return True if word in _TRUE else False if word in _FALSE else None


def _to_date(value: Value) -> datetime.date | None:
    if isinstance(value, str):
        value = read_timestamp(value.strip(" "))
    if isinstance(value, Moment):
        return value.date()
    return value if isinstance(value, datetime.date) else None


def _to_timestamp(value: Value) -> Moment | None:
    if isinstance(value, str):
        return read_timestamp(value.strip(" "))
    return as_moment(value) if isinstance(value, datetime.date) else None


SCALARS: dict[str, Callable[..., Value]] = {
    "starts_with": lambda text, start: text.startswith(start),
    "contains": lambda text, part: part in text,
    "lower": lambda text: _short(lower(text)),
    "upper": lambda text: _short(upper(text)),
    "trim": lambda text: text.strip(" "),
    "length": len,
    "substring": _substring,
    "concat": _concat,
    "year": lambda time: time.year,
    "quarter": lambda time: (time.month + 2) // 3,
    "month": lambda time: time.month,
    "week": lambda time: time.isocalendar()[1],
    "day": lambda time: time.day,
    "weekday": lambda time: time.isoweekday(),
    "hour": lambda time: time.hour,
    "minute": lambda time: time.minute,
    "at_time_zone": local_time,
    "date_trunc": _date_trunc,
    "timestamp_trunc": _timestamp_trunc,
    "date_add": _date_add,
    "date_diff": _date_diff,
    "to_text": _to_text,
    "to_integer": _to_integer,
    "to_real": _to_real,
    "to_boolean": _to_boolean,
    "to_date": _to_date,
    "to_timestamp": _to_timestamp,
}
