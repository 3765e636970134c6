"""Operators on dates and timestamps, written in arithmetic that cannot leave the engine's range.

Local times come from a table of ours, `expressions.offsets`: the engine has another one, of its own year.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from tacit.tables.engines.chain.form import Form, Given
from tacit.tables.engines.chain.terms import Term
from tacit.tables.engines.duckdb.terms import as_kind, in_calendar, once, text_literal
from tacit.tables.expressions.kinds import Kind, is_text
from tacit.tables.expressions.offsets import CYCLE, Offsets, offsets, starts
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
    """What clocks show in a time zone at a moment of UTC; null at the ends of time."""
    return once(lambda t: _shown(t, zone), as_kind(moment, Kind.TIMESTAMP))


def _shown(moment: str, zone: str) -> str:
    return in_calendar(_later(moment, _looked_up(offsets(zone), moment)), Kind.TIMESTAMP)


def _later(moment: str, seconds: str) -> str:
    return f"make_timestamp(epoch_us({moment}) + {seconds} * 1000000)"


def _looked_up(table: Offsets, moment: str) -> str:
    """The offset at a moment, in seconds: found by its year, in which it changes a few times at most.

    From the table's start on, the years of the calendar are those of the 400 years from there.
    """
    if not table.moments:
        return f"CAST({table.seconds[0]} AS BIGINT)"
    years = table.years()
    over = f"greatest((year({moment}) - {years.start}) // 400, 0)"
    place = f"least(greatest(year({moment}) - 400 * {over} - {years.first - 1}, 1), {len(years.each)})"
    within = f"epoch_us({moment}) - {over} * {CYCLE * 10**6}"

    def offset(now: str, of_year: str) -> str:
        cases = [
            f"WHEN {now} < {of_year}[{n}] * 1000000 THEN {of_year}[{years.most + n}]" for n in range(1, years.most + 1)
        ]
        return f"CASE {' '.join(cases)} ELSE {of_year}[{2 * years.most + 1}] END"

    return once(offset, within, f"{_listed(years.each)}[{place}]")


def _listed(years: Sequence[Sequence[int]]) -> str:
    """Read from a text: a list of constants would be made anew for every row inside of `once`."""
    each = ",".join(f"[{','.join(map(str, one))}]" for one in years)
    return f"CAST('[{each}]' AS BIGINT[][])"


def timestamp_trunc(moment: Term, unit: str, zone: str) -> str:
    """The moment of UTC at which the local unit of time began: `zones.first_moment`.

    Within a day by what clocks show now; a day and longer by the table of local midnights.
    """
    t = as_kind(moment, Kind.TIMESTAMP)
    if unit not in _MICROSECONDS:
        return once(
            lambda start: _midnight(start, zone),
            f"CAST(date_trunc('{unit}', {at_time_zone(moment, zone)}) AS TIMESTAMP)",
        )

    def began(now: str, there: str) -> str:
        passed = f"epoch_us({there}) - epoch_us(date_trunc('{unit}', {there}))"
        return in_calendar(f"make_timestamp(epoch_us({now}) - ({passed}))", Kind.TIMESTAMP)

    return once(lambda now: once(began, now, _shown(now, zone)), t)


def _midnight(local: str, zone: str) -> str:
    """When clocks first show the start of a local day; null where the day before that is not in the calendar."""
    table = starts(zone)
    first = datetime.datetime(1, 1, 2) + datetime.timedelta(seconds=max(table.seconds[0], 0))
    began = in_calendar(_later(local, f"-({_looked_up(table, local)})"), Kind.TIMESTAMP)
    return f"CASE WHEN {local} >= TIMESTAMP '{first.isoformat(sep=' ')}' THEN {began} END"


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
