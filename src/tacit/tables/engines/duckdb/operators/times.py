"""Operators on dates and timestamps, written in arithmetic that cannot leave the engine's range."""

from __future__ import annotations

from tacit.tables.engines.chain.form import Form, Given
from tacit.tables.engines.chain.terms import Term
from tacit.tables.engines.duckdb.terms import as_kind, in_calendar, once, text_literal
from tacit.tables.expressions.kinds import Kind, is_text
from tacit.tables.expressions.operators import TIME_UNITS
from tacit.tables.expressions.time_formats import read_problem, reading, written_problem
from tacit.tables.expressions.zones import is_zone

__all__ = ["ON_TIMES"]

_STEPS = {
    "year": ("to_months", 12, 10_000),
    "quarter": ("to_months", 3, 40_000),
    "month": ("to_months", 1, 120_000),
    "week": ("to_days", 7, 530_000),
    "day": ("to_days", 1, 3_700_000),
    "hour": ("to_hours", 1, 90_000_000),
    "minute": ("to_minutes", 1, 5_300_000_000),
    "second": ("to_seconds", 1, 320_000_000_000),
}
"""How an interval is made of n units, and the n beyond which no date stays in the calendar: those are null at once."""

_MICROSECONDS = {"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000}


def date_trunc(unit: str, moment: Term) -> str:
    """The start of the unit of time, of the kind that was given."""
    kind = moment.kind or Kind.TIMESTAMP
    type_name = "DATE" if kind is Kind.DATE else "TIMESTAMP"
    return f"CAST(date_trunc('{unit}', {as_kind(moment, kind)}) AS {type_name})"


def at_time_zone(moment: Term, zone: str) -> str:
    """What clocks show in a time zone at a moment of UTC: null at the ends of time, and where the engine does not know
    the zone."""
    return _shown(as_kind(moment, Kind.TIMESTAMP), zone)


def _shown(moment: str, zone: str) -> str:
    return in_calendar(_clock(moment, zone), Kind.TIMESTAMP)


def _clock(moment: str, zone: str) -> str:
    return f"TRY(timezone({text_literal(zone)}, timezone('UTC', {moment})))"


def timestamp_trunc(moment: Term, unit: str, zone: str) -> str:
    """The moment of UTC at which the local unit of time began: what `zones.first_moment` finds, step by step.

    Mostly the offset from UTC is the same now, then, and a day before then: that is looked at first.
    """

    def calendar(sql: str) -> str:
        return in_calendar(sql, Kind.TIMESTAMP)

    def began(t: str, there: str) -> str:
        start = f"date_trunc('{unit}', {there})"
        near = calendar(f"{t} - ({there} - {start})")
        return near if unit in _MICROSECONDS else once(steady, f"CAST({start} AS TIMESTAMP)", near)

    def steady(start: str, near: str) -> str:
        day = "INTERVAL 1 DAY"
        inside = f"{start} >= TIMESTAMP '0001-01-04 00:00:00'"  # and so is all that is looked at
        same = f"{_clock(f'{near} - {day}', zone)} = {start} - {day} AND {_clock(near, zone)} = {start} AND {inside}"
        return f"CASE WHEN {same} THEN {near} ELSE {once(changed, start, calendar(f'{near} - {day}'))} END"

    def changed(start: str, before: str) -> str:
        return once(early, start, calendar(f"{start} - ({_shown(before, zone)} - {before})"))

    def early(start: str, moment: str) -> str:
        return once(first, start, moment, _shown(moment, zone))

    def first(start: str, moment: str, shown: str) -> str:
        late = once(last, start, moment, calendar(f"{moment} + ({start} - {shown})"))
        return f"CASE WHEN {shown} = {start} THEN {moment} ELSE {late} END"

    def last(start: str, moment: str, late: str) -> str:
        return f"CASE WHEN {_clock(late, zone)} = {start} THEN {late} WHEN {late} IS NOT NULL THEN {moment} END"

    return once(lambda t: once(began, t, _shown(t, zone)), as_kind(moment, Kind.TIMESTAMP))


def date_add(unit: str, count: str, moment: Term) -> str:
    """A timestamp so many units later; the last day of a shorter month if need be."""
    interval, factor, most = _STEPS[unit]
    whole = "INTEGER" if interval in ("to_months", "to_days") else "BIGINT"
    near = once(lambda n: f"CASE WHEN {n} BETWEEN -{most} AND {most} THEN {n} * {factor} END", count)
    later = f"{as_kind(moment, Kind.TIMESTAMP)} + {interval}(CAST({near} AS {whole}))"
    return in_calendar(later, Kind.TIMESTAMP)


def date_diff(unit: str, start: Term, end: Term) -> str:
    """How many starts of such units lie after ``start`` up to ``end``; weeks start on Monday."""
    return f"({_index(unit, end)} - {_index(unit, start)})"


def _index(unit: str, moment: Term) -> str:
    """The number of the unit that holds the moment, counted from some fixed one."""
    x = as_kind(moment, Kind.TIMESTAMP)
    if unit in _MICROSECONDS:
        return f"(epoch_us(date_trunc('{unit}', {x})) // {_MICROSECONDS[unit]})"
    if unit in ("day", "week"):
        start = f"CAST(date_trunc('{unit}', {x}) AS DATE)"
        days = f"CAST({start} - DATE '0001-01-01' AS BIGINT)"
        return days if unit == "day" else f"({days} // 7)"
    months = {"year": 12, "quarter": 3, "month": 1}[unit]
    return once(lambda y: f"((CAST(year({y}) AS BIGINT) * 12 + month({y}) - 1) // {months})", x)


def _part(function: str) -> Form:
    """year(x), week(x) (ISO 8601), isodow(x) (Monday is 1), …"""
    return lambda given: f"CAST({function}({given.sql(0, given.terms[0].kind or Kind.TIMESTAMP)}) AS BIGINT)"


def _at_time_zone(given: Given) -> str:
    """Null if there is no such zone."""
    zone = str(given.constants[1])
    return at_time_zone(given.terms[0], zone) if is_zone(zone) else given.nothing


def _timestamp_trunc(given: Given) -> str:
    """Null if there is no such unit or zone."""
    unit, zone = map(str, given.constants[1:])
    return timestamp_trunc(given.terms[0], unit, zone) if unit in TIME_UNITS and is_zone(zone) else given.nothing


def _named(function: str) -> Form:
    """dayname(x), monthname(x): in English, whatever the settings."""
    return lambda given: f"{function}({given.sql(0, given.terms[0].kind or Kind.TIMESTAMP)})"


def _strptime(given: Given) -> str:
    """Texts that are written as the format says, read by the engine; null if there is no such format."""
    form = given.constants[1]
    if not is_text(form) or read_problem(form):
        return given.nothing
    pattern, written = text_literal(reading(form)), text_literal(form)
    read = once(
        lambda t: f"CASE WHEN regexp_full_match({t}, {pattern}) THEN try_strptime({t}, {written}) END",
        f"trim({given.sql(0, Kind.TEXT)}, ' ')",
    )
    return in_calendar(read, Kind.TIMESTAMP)


def _strftime(given: Given) -> str:
    """Null if there is no such format."""
    form = given.constants[1]
    if not is_text(form) or written_problem(form):
        return given.nothing
    return f"strftime({given.sql(0, given.terms[0].kind or Kind.TIMESTAMP)}, {text_literal(form)})"


_PARTS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "dayofyear", "isoyear")

ON_TIMES: dict[str, Form] = {
    **{name: _part(name) for name in _PARTS},
    **{name: _named(name) for name in ("dayname", "monthname")},
    "strptime": _strptime,
    "strftime": _strftime,
    "weekday": _part("isodow"),
    "at_time_zone": _at_time_zone,
    "timestamp_trunc": _timestamp_trunc,
    "date_trunc": lambda given: date_trunc(str(given.constants[0]), given.terms[1]),
    "date_add": lambda given: date_add(str(given.constants[0]), given.sql(1, Kind.INTEGER), given.terms[2]),
    "date_diff": lambda given: date_diff(str(given.constants[0]), given.terms[1], given.terms[2]),
}
