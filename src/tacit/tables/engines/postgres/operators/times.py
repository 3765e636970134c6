"""Operators on dates and timestamps, written in arithmetic that cannot leave the engine's range.

Local times come from a table of ours, `expressions.offsets`: servers have other ones, and raise for unknown names.
"""

from __future__ import annotations

from tacit.tables.engines.chain.form import Form, Given
from tacit.tables.engines.chain.terms import Term
from tacit.tables.engines.postgres.terms import in_calendar, once, text_literal
from tacit.tables.expressions.kinds import Kind, is_text
from tacit.tables.expressions.offsets import CYCLE, offsets
from tacit.tables.expressions.operators import TIME_UNITS
from tacit.tables.expressions.time_formats import MONTHS, read_problem, reading, signs_of, written_problem
from tacit.tables.expressions.zones import is_zone

__all__ = ["ON_TIMES"]

_STEPS = {
    "year": ("months", 12, 10_000),
    "quarter": ("months", 3, 40_000),
    "month": ("months", 1, 120_000),
    "week": ("days", 7, 530_000),
    "day": ("days", 1, 3_700_000),
    "hour": ("secs", 3600, 90_000_000),
    "minute": ("secs", 60, 5_300_000_000),
    "second": ("secs", 1, 320_000_000_000),
}
"""How an interval is made of n units, and the n beyond which no date stays in the calendar: those are null at once."""

_SECONDS = {"hour": 3600, "minute": 60, "second": 1}


def _moment(term: Term) -> str:
    return term.sql if term.kind is Kind.TIMESTAMP else f"CAST({term.sql} AS TIMESTAMP)"


def date_trunc(unit: str, moment: Term) -> str:
    """The start of the unit of time, of the kind that was given."""
    type_name = "DATE" if moment.kind is Kind.DATE else "TIMESTAMP"
    return f"CAST(date_trunc('{unit}', {_moment(moment)}) AS {type_name})"


def _shown(moment: str, zone: str) -> str:
    """What clocks show in a time zone at a moment of UTC; null outside of the calendar."""
    return in_calendar(_clock(moment, zone), Kind.TIMESTAMP)


def _clock(moment: str, zone: str) -> str:
    table = offsets(zone)
    if len(table.seconds) == 1:
        return f"({moment} + INTERVAL '{table.seconds[0]} seconds')"
    moments, seconds = (", ".join(map(str, some)) for some in (table.moments, table.seconds))

    def looked_up(e: str) -> str:
        within = f"CASE WHEN {e} < {table.start} THEN {e} ELSE {table.start} + ({e} - {table.start}) % {CYCLE} END"
        return f"('{{{seconds}}}'::int[])[width_bucket({within}, '{{{moments}}}'::bigint[]) + 1]"

    def clock(t: str) -> str:
        return f"({t} + {once(looked_up, f'floor(extract(epoch FROM {t}))::bigint')} * INTERVAL '1 second')"

    return once(clock, moment)


def timestamp_trunc(moment: Term, unit: str, zone: str) -> str:
    """The moment of UTC at which the local unit of time began: what `zones.first_moment` finds, step by step."""
    day = "INTERVAL '1 day'"

    def calendar(sql: str) -> str:
        return in_calendar(sql, Kind.TIMESTAMP)

    def began(t: str, there: str) -> str:
        start = f"date_trunc('{unit}', {there})"
        near = calendar(f"{t} - ({there} - {start})")
        return near if unit in _SECONDS else once(changed, start, calendar(f"{near} - {day}"))

    def changed(start: str, before: str) -> str:
        return once(early, start, calendar(f"{start} - ({_shown(before, zone)} - {before})"))

    def early(start: str, moment: str) -> str:
        return once(first, start, moment, _shown(moment, zone))

    def first(start: str, moment: str, shown: str) -> str:
        late = once(last, start, moment, calendar(f"{moment} + ({start} - {shown})"))
        return f"CASE WHEN {shown} = {start} THEN {moment} ELSE {late} END"

    def last(start: str, moment: str, late: str) -> str:
        return f"CASE WHEN {_clock(late, zone)} = {start} THEN {late} WHEN {late} IS NOT NULL THEN {moment} END"

    return once(lambda t: once(began, t, _shown(t, zone)), _moment(moment))


def date_add(unit: str, count: str, moment: Term) -> str:
    """A timestamp so many units later; the last day of a shorter month if need be."""
    what, factor, most = _STEPS[unit]
    whole = "float8" if what == "secs" else "int"
    near = once(lambda n: f"CASE WHEN {n} BETWEEN -{most} AND {most} THEN ({n} * {factor})::{whole} END", count)
    return in_calendar(f"({_moment(moment)} + make_interval({what} => {near}))", Kind.TIMESTAMP)


def date_diff(unit: str, start: Term, end: Term) -> str:
    """How many starts of such units lie after ``start`` up to ``end``; weeks start on Monday."""
    return f"({_index(unit, end)} - {_index(unit, start)})"


def _index(unit: str, moment: Term) -> str:
    """The number of the unit that holds the moment, counted from some fixed one."""
    x = _moment(moment)
    if unit in _SECONDS:
        return f"(extract(epoch FROM date_trunc('{unit}', {x}))::bigint / {_SECONDS[unit]})"
    if unit in ("day", "week"):
        days = f"(CAST(date_trunc('{unit}', {x}) AS DATE) - DATE '0001-01-01')::bigint"
        return days if unit == "day" else f"({days} / 7)"
    months = {"year": 12, "quarter": 3, "month": 1}[unit]
    year, month = "extract(year FROM {})::bigint", "extract(month FROM {})::bigint"
    return once(lambda y: f"(({year.format(y)} * 12 + {month.format(y)} - 1) / {months})", x)


def _part(field: str) -> Form:
    """year(x), week(x) (ISO 8601), isodow(x) (Monday is 1), …"""
    return lambda given: f"extract({field} FROM {_moment(given.terms[0])})::bigint"


def _at_time_zone(given: Given) -> str:
    """Null if there is no such zone."""
    zone = str(given.constants[1])
    return _shown(_moment(given.terms[0]), zone) if is_zone(zone) else given.nothing


def _timestamp_trunc(given: Given) -> str:
    """Null if there is no such unit or zone."""
    unit, zone = map(str, given.constants[1:])
    return timestamp_trunc(given.terms[0], unit, zone) if unit in TIME_UNITS and is_zone(zone) else given.nothing


def _written_as(form: str) -> Form:
    """As to_char writes it, in English whatever the settings."""
    return lambda given: f"(to_char({_moment(given.terms[0])}, '{form}') COLLATE \"C\")"


def _strftime(given: Given) -> str:
    """Null if there is no such format."""
    form = given.constants[1]
    if not is_text(form) or written_problem(form):
        return given.nothing

    def written(x: str) -> str:
        parts = [f"to_char({x}, '{_LETTERS[letter]}')" if letter else text_literal(text) for letter, text in signs]
        return f'CASE WHEN {x} IS NOT NULL THEN (({" || ".join(parts)}) COLLATE "C") END'

    signs = list(signs_of(form))
    return once(written, _moment(given.terms[0]))


def _strptime(given: Given) -> str:
    """Texts that are written as the format says; each part is looked at before a time is made of them."""
    form = given.constants[1]
    if not is_text(form) or read_problem(form):
        return given.nothing
    letters = [letter for letter, text in signs_of(form) if not text]
    group = {letter: f"g[{place}]" for place, letter in enumerate(letters, 1)}
    shown = {letter: f"{group[letter]}::int" if letter in group else first for letter, first in _FIRST.items()}
    if "y" in group:
        shown["Y"] = f"(({group['y']}::int + 31) % 100 + 1969)"
    if name := group.get("b") or group.get("B"):
        short = ", ".join(f"'{one[:3].lower()}'" for one in MONTHS)
        shown["m"] = f"array_position(ARRAY[{short}], lower(substr({name}, 1, 3)))"
    named = ", ".join(f"{sql} AS {_NAMES[letter]}" for letter, sql in shown.items())
    pattern = text_literal(f"^(?:{reading(form)})$")
    last = "CASE WHEN mo IN (4, 6, 9, 11) THEN 30 WHEN mo <> 2 THEN 31 "
    last += "WHEN y % 4 = 0 AND (y % 100 <> 0 OR y % 400 = 0) THEN 29 ELSE 28 END"
    known = f"y >= 1 AND mo BETWEEN 1 AND 12 AND d BETWEEN 1 AND {last} AND h <= 23 AND mi <= 59 AND s <= 59"
    text = f"btrim({given.sql(0, Kind.TEXT)}, ' ')"
    return (
        f"(SELECT CASE WHEN {known} THEN make_timestamp(y, mo, d, h, mi, s) END "
        f"FROM (SELECT {named} FROM (SELECT regexp_match({text}, {pattern}) AS g OFFSET 0) AS found "
        "WHERE g IS NOT NULL OFFSET 0) AS parts)"
    )


_FIRST = {"Y": "1", "m": "1", "d": "1", "H": "0", "M": "0", "S": "0"}
_NAMES = {"Y": "y", "m": "mo", "d": "d", "H": "h", "M": "mi", "S": "s"}
_LETTERS = {
    "Y": "YYYY", "y": "YY", "m": "MM", "d": "DD", "H": "HH24", "M": "MI", "S": "SS", "b": "Mon", "B": "FMMonth",
    "a": "Dy", "A": "FMDay", "j": "DDD", "V": "IW", "G": "IYYY", "u": "ID",
}  # fmt: skip


ON_TIMES: dict[str, Form] = {
    **{name: _part(name) for name in ("year", "quarter", "month", "week", "day", "hour", "minute", "isoyear")},
    "second": lambda given: f"floor(extract(second FROM {_moment(given.terms[0])}))::bigint",
    "dayofyear": _part("doy"),
    "dayname": _written_as("FMDay"),
    "monthname": _written_as("FMMonth"),
    "strptime": _strptime,
    "strftime": _strftime,
    "weekday": _part("isodow"),
    "at_time_zone": _at_time_zone,
    "timestamp_trunc": _timestamp_trunc,
    "date_trunc": lambda given: date_trunc(str(given.constants[0]), given.terms[1]),
    "date_add": lambda given: date_add(str(given.constants[0]), given.sql(1, Kind.INTEGER), given.terms[2]),
    "date_diff": lambda given: date_diff(str(given.constants[0]), given.terms[1], given.terms[2]),
}
