"""Functions of dates and timestamps."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from tacit.tables.expressions.intervals import EVERYTHING
from tacit.tables.expressions.kinds import Kind, Kinds, is_text, is_whole
from tacit.tables.expressions.operator import FIRST, REST, TIMES, Constants, Method, Operator, always, only
from tacit.tables.expressions.time_formats import DAYS, MONTHS, read, read_problem, written, written_problem
from tacit.tables.expressions.values import as_moment, each
from tacit.tables.expressions.zones import first_moment, local_time, zone_problem

__all__ = ["ON_TIMES", "TIME_UNITS"]

TIME_UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
"""What date_trunc, date_add and date_diff can count in; a literal first argument."""

Moment = datetime.datetime
Time = datetime.date | datetime.datetime
_MONTHS = {"year": 12, "quarter": 3, "month": 1}
_SECONDS = {"week": 604_800, "day": 86_400, "hour": 3_600, "minute": 60, "second": 1}


def _is_time(kind: Kind | None) -> bool:
    return kind is None or kind.is_time


def _truncation(kinds: Kinds) -> Kind | None:
    fits = len(kinds) == 2 and kinds[0] is Kind.TEXT and _is_time(kinds[1])
    return (kinds[1] or Kind.TIMESTAMP) if fits else None


def _moved_time(kinds: Kinds) -> Kind | None:
    fits = len(kinds) == 3 and kinds[0] is Kind.TEXT and kinds[1] is Kind.INTEGER
    return Kind.TIMESTAMP if fits and _is_time(kinds[2]) else None


def _time_between(kinds: Kinds) -> Kind | None:
    fits = len(kinds) == 3 and kinds[0] is Kind.TEXT
    return Kind.INTEGER if fits and all(map(_is_time, kinds[1:])) else None


def _local(kinds: Kinds) -> Kind | None:
    fits = len(kinds) == 2 and kinds[0] in (None, Kind.TIMESTAMP) and kinds[1] is Kind.TEXT
    return Kind.TIMESTAMP if fits else None


def _local_truncation(kinds: Kinds) -> Kind | None:
    return _local(kinds[:2]) if len(kinds) == 3 and kinds[2] is Kind.TEXT else None


def _began(unit: str, moment: Moment) -> Moment:
    """When the year, … or second began that holds a moment."""
    kept = ("year", "month", "day", "hour", "minute", "second")
    if unit == "week":
        moment -= datetime.timedelta(days=moment.weekday())
        unit = "day"
    elif unit == "quarter":
        moment = moment.replace(month=moment.month - (moment.month - 1) % 3, day=1)
        unit = "month"
    parts = [getattr(moment, name) for name in kept[: kept.index(unit) + 1]]
    return Moment(*(parts + [1, 1, 1][len(parts) :]))


def _date_trunc(unit: str, value: Time) -> Time:
    made = _began(unit, as_moment(value))
    return made if isinstance(value, Moment) else made.date()


def _timestamp_trunc(moment: Moment, unit: str, zone: str) -> Moment | None:
    """When the local unit of time began; within a day by the offset from UTC that holds at the moment."""
    there = local_time(moment, zone)
    if there is None:
        return None
    start = _began(unit, there)
    if unit not in ("hour", "minute", "second"):
        return first_moment(start, moment - there, zone)
    try:
        return moment - (there - start)
    except OverflowError:
        return None


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


def _step_problem(constants: Constants) -> str:
    fits = len(constants) == 3 and (constants[1] is None or is_whole(constants[1], -(10**9), 10**9))
    return "" if fits else "a whole number of at most nine digits"


def _zone_problem(constants: Constants) -> str:
    return zone_problem(constants[1]) if len(constants) == 2 else "a timestamp and a time zone"


def _trunc_problem(constants: Constants) -> str:
    if len(constants) != 3 or constants[1] not in TIME_UNITS:
        return f"one of {', '.join(TIME_UNITS)}"
    return zone_problem(constants[2])


def _part(
    name: str, compute: Callable[[Any], int], ends: tuple[int, int] | None, says: str, *sql: str, of_day: bool = False
) -> Operator:
    """A whole number that EXTRACT takes out of a time, which lies between two ends."""
    return Operator(
        name,
        ("a timestamp" if of_day else "a date or timestamp") + ("; Monday is 1, Sunday 7" if name == "weekday" else ""),
        only(*(TIMES[1:] if of_day else TIMES), gives=Kind.INTEGER, least=1),
        each(compute),
        values=None if ends is None else lambda _: range(ends[0], ends[1] + 1),
        sql=sql or (name,),
        is_part=True,
        python=Method(name, says),
    )


def _named(name: str, compute: Callable[[Any], str], names: tuple[str, ...], says: str) -> Operator:
    """A name that a time has, one of a few."""
    return Operator(
        name,
        "a date or timestamp",
        only(*TIMES, gives=Kind.TEXT, least=1),
        each(compute),
        range=lambda arguments, find: EVERYTHING,
        values=lambda _: names,
        sql=(name,),
        python=Method(name, says),
    )


def _format_problem(constants: Constants, problem: Callable[[str], str]) -> str:
    form = constants[1] if len(constants) == 2 else None
    return problem(form if is_text(form) else "%")


ON_TIMES = (
    _part("year", lambda time: time.year, None, "The year of a date."),
    _part("quarter", lambda time: (time.month + 2) // 3, (1, 4), "1 to 4."),
    _part("month", lambda time: time.month, (1, 12), "1 to 12."),
    _part(
        "week",
        lambda time: time.isocalendar()[1],
        (1, 53),
        "The week of the year as ISO 8601 counts, 1 to 53.",
        "week",
        "weekofyear",
        "isoweek",
    ),
    _part("day", lambda time: time.day, (1, 31), "1 to 31.", "day", "dayofmonth"),
    _part("hour", lambda time: time.hour, (0, 23), "0 to 23.", of_day=True),
    _part("minute", lambda time: time.minute, (0, 59), "0 to 59.", of_day=True),
    _part("second", lambda time: time.second, (0, 59), "0 to 59.", of_day=True),
    _part("dayofyear", lambda time: time.timetuple().tm_yday, (1, 366), "1 to 366.", "dayofyear", "doy"),
    _part("isoyear", lambda time: time.isocalendar()[0], None, "The year to which its ISO week belongs."),
    _named("dayname", lambda time: DAYS[time.weekday()], DAYS, "Monday to Sunday, in English."),
    _named("monthname", lambda time: MONTHS[time.month - 1], MONTHS, "January to December, in English."),
    Operator(
        "strptime",
        "a text and a literal format; a timestamp, null where the text is written otherwise",
        lambda kinds: Kind.TIMESTAMP if len(kinds) == 2 and set(kinds) <= {None, Kind.TEXT} else None,
        each(read),
        sql=("strptime", "try_strptime"),
        google=("str_to_date",),
        python=Method("strptime", "The time that a text says, written as '%d/%m/%Y'; null otherwise.", ("format",)),
        literals=REST,
        problem=lambda constants: _format_problem(constants, read_problem),
        steps=always(5),
        weight=always(500),
    ),
    Operator(
        "strftime",
        "a date or timestamp, and a literal format",
        lambda kinds: Kind.TEXT if len(kinds) == 2 and _is_time(kinds[0]) and kinds[1] is Kind.TEXT else None,
        each(written),
        sql=("strftime",),
        python=Method("strftime", "The time as a text, written as '%Y-%m'.", ("format",)),
        literals=REST,
        problem=lambda constants: _format_problem(constants, written_problem),
        steps=always(1),
        weight=always(50),
    ),
    _part("weekday", lambda time: time.isoweekday(), (1, 7), "Monday is 1, Sunday 7.", "isodow"),
    Operator(
        "at_time_zone",
        "a timestamp, which is in UTC, and a literal name of a time zone",
        _local,
        each(local_time),
        literals=REST,
        problem=_zone_problem,
        weight=always(50),
        uses_zones=True,
    ),
    Operator(
        "timestamp_trunc",
        "a timestamp, which is in UTC, a unit of time, and a literal name of a time zone",
        _local_truncation,
        each(_timestamp_trunc),
        literals=REST,
        problem=_trunc_problem,
        weight=always(50),
        uses_zones=True,
    ),
    Operator(
        "date_trunc",
        "a unit of time and a date or timestamp",
        _truncation,
        each(_date_trunc),
        sql=("date_trunc", "datetrunc"),
        literals=FIRST,
        unit_first=True,
    ),
    Operator(
        "date_add",
        "a unit of time, a whole number, a date or timestamp",
        _moved_time,
        each(_date_add),
        sql=("date_add",),
        literals=FIRST,
        unit_first=True,
        problem=_step_problem,
    ),
    Operator(
        "date_diff",
        "a unit of time, and two dates or timestamps",
        _time_between,
        each(_date_diff),
        sql=("date_diff", "datediff"),
        literals=FIRST,
        unit_first=True,
        alike=REST,
    ),
)
